// Gen writes records as JSON Lines to standard output:
//
//	go run ./bulk/bulktest/gen -n 68000000 | nomen import -
//	go run ./bulk/bulktest/gen -n 68000000 -contents contents.tsv -subs 7 | nomen import -
//
// The second form takes the names from a list of the files in a Linux
// distribution, in which each line has a path, a tab and the packages that contain
// the file. With -authorities, gen writes the prefixes of the naming authorities
// instead of records.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/nomen-project/nomen/bulk/bulktest"
)

func main() {
	n := flag.Uint64("n", 100_000, "how many")
	file := flag.String("contents", "", "a list of paths and packages")
	subs := flag.Int("subs", 1, "under how many authorities the paths are named, 1 to 9")
	authorities := flag.Bool("authorities", false, "write the prefixes of the authorities")
	var o bulktest.Options
	flag.BoolVar(&o.Shuffled, "shuffled", false, "in no order")
	flag.BoolVar(&o.Rich, "rich", false, "several locations, and metadata")
	flag.Parse()
	var err error
	switch {
	case *subs < 1 || *subs > len(bulktest.SubAuthorities()):
		err = fmt.Errorf("-subs %d: want 1 to %d", *subs, len(bulktest.SubAuthorities()))
	case *authorities:
		printAuthorities(*file != "", *subs)
	case *file != "":
		err = bulktest.WriteContents(os.Stdout, *n, *subs, func() (io.ReadCloser, error) { return os.Open(*file) })
	default:
		_, err = bulktest.NewReader(*n, o).WriteTo(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen: "+err.Error())
		os.Exit(1)
	}
}

func printAuthorities(contents bool, subs int) {
	if contents {
		for _, s := range bulktest.SubAuthorities()[:subs] {
			fmt.Println("urn:dns:" + s)
		}
		return
	}
	for _, a := range bulktest.Authorities() {
		fmt.Println(a.Prefix)
	}
}
