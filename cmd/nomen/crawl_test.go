package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen/crawl"
	"github.com/nomen-project/nomen/discover"
)

// A forest answers as a resolver of 1995 does, in lines: each authority has two
// children, up to a number of them.
func forest(conn net.Conn, authorities int) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	first, _ := in.ReadString('\n')
	for line := first; strings.TrimSpace(line) != ""; {
		var err error
		if line, err = in.ReadString('\n'); err != nil {
			return
		}
	}
	var n int
	var body string
	if _, err := fmt.Sscanf(first, "GET urn:dns:n%d.example:urn+c ", &n); err == nil {
		for child := 2*n + 1; child <= 2*n+2 && child < authorities; child++ {
			body += fmt.Sprintf("n%d.example\r\n", child)
		}
	} else if _, err := fmt.Sscanf(first, "GET urn:dns:n%d.example:urn+p ", &n); err == nil && n > 0 {
		body = fmt.Sprintf("n%d.example\r\n", (n-1)/2)
	}
	_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n"+body)
}

// TestCrawlKilled kills a crawl again and again, and each time resumes it. The result is that of an
// uninterrupted crawl, and authorities that were already asked are not asked again.
func TestCrawlKilled(t *testing.T) {
	const authorities = 40
	s, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			go forest(conn, authorities)
		}
	}()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "walk")
	crawl := func(delay string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
		cmd := exec.Command(exe, append([]string{"crawl", "--via", s.Addr().String(), "--delay", delay, "n0.example"}, args...)...)
		cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		return cmd, &out, &said
	}
	whole, want, said := crawl("0s")
	if err := whole.Run(); err != nil {
		t.Fatal(err, said)
	}
	if n := strings.Count(want.String(), "\n"); n != 2*(authorities-1) {
		t.Fatalf("%d lines", n)
	}
	for last := 0; last < authorities/2; {
		cmd, _, _ := crawl("5ms", "--state", state)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		before := last
		for deadline := time.Now().Add(startTimeout); last < before+5 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			text, _ := os.ReadFile(state)
			last = bytes.Count(text, []byte("\n")) - 1
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if last < before+5 {
			t.Fatalf("the crawl does not go on from %d authorities", before)
		}
	}
	cmd, got, said := crawl("0s", "--state", state)
	if err := cmd.Run(); err != nil || got.String() != want.String() {
		t.Errorf("gone on: %v, %s\ngot %s, want %s", err, said, got, want)
	}
	if !strings.Contains(said.String(), "continuing after ") {
		t.Errorf("said %s", said)
	}
}

// TestCrawlIsPolite: authorities at one address wait for each other.
func TestCrawlIsPolite(t *testing.T) {
	s, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var mu sync.Mutex
	var asked []time.Time
	go func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			asked = append(asked, time.Now())
			mu.Unlock()
			go forest(conn, 5)
		}
	}()
	r := &crawling{cli: &cli{}, relation: "both", format: crawlText}
	r.options.MaxDepth = crawl.DefaultMaxDepth
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	r.client.DNS, r.client.Finder, r.client.Via = oneHost{}, nil, s.Addr().String()
	const delay = 50 * time.Millisecond
	r.options.Delay, r.allowPrivate = delay, true
	ask, end, err := r.queriers("n0.example")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	nodes := 0
	for n, err := range crawl.New(ask, r.options).Walk(t.Context(), "n0.example") {
		if err != nil || len(n.Errors) > 0 {
			t.Fatal(n, err)
		}
		nodes++
	}
	if nodes != 5 || len(asked) != 10 {
		t.Fatalf("%d nodes, %d requests", nodes, len(asked))
	}
	if least := 9 * delay; asked[9].Sub(asked[0]) < least-delay/2 {
		t.Errorf("10 requests to one address in %v, want %v", asked[9].Sub(asked[0]), least)
	}
}

// oneHost has every host at one address.
type oneHost struct{ discover.DNS }

func (oneHost) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}
