// Command ada compares package uri with net/url and with ada, the parser of URLs in Node.js. It
// parses lists of URLs from the web, in turn with each parser, and prints the nanoseconds per URL
// in the fastest pass over each list. Run it in the folder bench:
//
//	go run ./ada [NODE]
//
// The argument NODE is the program node. The command needs a C++ compiler, and the header files of
// Node.js.
package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nomen-project/nomen/uri"
)

func main() {
	node := "node"
	if len(os.Args) > 1 {
		node = os.Args[1]
	}
	if err := compare(node); err != nil {
		fmt.Fprintln(os.Stderr, "ada:", err)
		os.Exit(1)
	}
}

func compare(node string) error {
	dir, err := os.MkdirTemp("", "ada")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	addon, err := build(node, dir)
	if err != nil {
		return err
	}
	fmt.Println("list URLs uri.Parse uri+Normalize net/url ada.can_parse ada.aggregator")
	for _, name := range []string{"kasztp", "node_files", "debian-homepages-vcs"} {
		urls, err := read("../../shared/data/urls/" + name + ".txt.gz")
		if err != nil {
			return err
		}
		list := filepath.Join(dir, name)
		if err := os.WriteFile(list, []byte(strings.Join(urls, "\n")), 0o600); err != nil {
			return err
		}
		least, err := measure(urls, node, addon, list)
		if err != nil {
			return err
		}
		fmt.Printf("%s %d %.1f\n", name, len(urls), least)
	}
	return nil
}

// build compiles the addon for Node.js and returns its file.
func build(node, dir string) (string, error) {
	out, err := exec.Command(node, "-p", `path.resolve(process.execPath, "../../include/node") + "\n" + process.versions.ada`).Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w", node, err)
	}
	include, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	fmt.Println("ada", version)
	addon := filepath.Join(dir, "ada.node")
	c := exec.Command("c++", "-O2", "-std=c++20", "-shared", "-fPIC", "-I", include, "-o", addon, "ada/addon/ada.cc")
	c.Stderr = os.Stderr
	return addon, c.Run()
}

// read returns the lines of a list that are URIs.
func read(name string) (urls []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	scan := bufio.NewScanner(z)
	for scan.Scan() {
		if _, err := uri.Parse(scan.Text()); err == nil {
			urls = append(urls, scan.Text())
		}
	}
	return urls, scan.Err()
}

// measure returns the best time of five rounds for each column, in nanoseconds.
func measure(urls []string, node, addon, list string) (least [5]float64, err error) {
	for i := range least {
		least[i] = math.Inf(1)
	}
	for range 5 {
		now := [5]float64{
			best(urls, func(s string) { _, _ = uri.Parse(s) }),
			best(urls, func(s string) {
				u, _ := uri.Parse(s)
				u.Normalize(uri.LevelPath)
			}),
			best(urls, func(s string) { _, _ = url.Parse(s) }),
		}
		c := exec.Command(node, "-e", "require(process.argv[1])", addon)
		c.Env = append(os.Environ(), "LIST="+list)
		out, err := c.Output()
		if err != nil {
			return least, fmt.Errorf("run %s: %w", node, err)
		}
		if _, err := fmt.Sscan(string(out), &now[3], &now[4]); err != nil {
			return least, err
		}
		for i := range least {
			least[i] = min(least[i], now[i])
		}
	}
	return least, nil
}

// best returns the nanoseconds per URL in the fastest of 20 passes.
func best(urls []string, f func(string)) float64 {
	least := time.Duration(math.MaxInt64)
	for range 20 {
		start := time.Now()
		for _, s := range urls {
			f(s)
		}
		least = min(least, time.Since(start))
	}
	return float64(least.Nanoseconds()) / float64(len(urls))
}
