// Command gen generates the table of ISBN ranges in package namespace. Its input is the range
// message of the International ISBN Agency, in the JSON form of the library
// libbusiness-isbn-data-perl.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	in := flag.String("ranges", "", "the ranges, a JSON file")
	out := flag.String("out", "isbn.tsv", "the table to write")
	flag.Parse()
	text, err := os.ReadFile(*in)
	if err != nil {
		log.Fatal(err)
	}
	table, err := generate(text)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, table, 0o644); err != nil {
		log.Fatal(err)
	}
}

type message struct {
	Date   string
	Groups map[string]struct {
		Name   string
		Ranges [][2]string
	}
}

// generate returns the table. It has a line for each registration group, with the prefix, the name
// and the ranges of the group.
func generate(text []byte) ([]byte, error) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	table := fmt.Appendf(nil, "# International ISBN Agency, RangeMessage of %s; written by go generate.\n", m.Date)
	for _, key := range slices.SortedFunc(maps.Keys(m.Groups), byPrefix) {
		group := m.Groups[key]
		var ranges []string
		for _, r := range group.Ranges {
			if !isRange(r) {
				return nil, fmt.Errorf("group %s: range %q to %q", key, r[0], r[1])
			}
			ranges = append(ranges, r[0]+"-"+r[1])
		}
		table = fmt.Appendf(table, "%s\t%s\t%s\n", prefix(key), group.Name, strings.Join(ranges, " "))
	}
	return table, nil
}

func prefix(key string) string { return strings.ReplaceAll(key, "-", "") }

func byPrefix(a, b string) int { return strings.Compare(prefix(a), prefix(b)) }

func isRange(r [2]string) bool {
	const longest = 7
	digits := strings.Trim(r[0]+r[1], "0123456789") == ""
	return digits && len(r[0]) == len(r[1]) && r[0] != "" && len(r[0]) <= longest
}
