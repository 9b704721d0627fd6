// Gen writes records as JSON Lines to standard output:
//
//	go run ./bulk/bulktest/gen -n 68000000 | nomen import -
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/nomen-project/nomen/bulk/bulktest"
)

func main() {
	n := flag.Uint64("n", 100_000, "how many")
	var o bulktest.Options
	flag.BoolVar(&o.Shuffled, "shuffled", false, "in no order")
	flag.BoolVar(&o.Rich, "rich", false, "several locations, and metadata")
	flag.Parse()
	if _, err := bulktest.NewReader(*n, o).WriteTo(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen: "+err.Error())
		os.Exit(1)
	}
}
