// Command gen generates the file that package rfcindex embeds, from the compressed index of the RFC
// Editor in testdata/corpus.
//
//	go run ./gen INDEX OUTPUT
//
// Each RFC becomes a record with four locations; see package rfcindex.
package main

import (
	"compress/gzip"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen INDEX OUTPUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(index, output string) error {
	in, err := os.Open(index)
	if err != nil {
		return err
	}
	defer in.Close()
	lines, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	text, err := convert(lines)
	if err != nil {
		return err
	}
	return os.WriteFile(output, pack(text), 0o644)
}
