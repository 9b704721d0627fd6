// Command gen generates the table of registered schemes in package scheme. Its input is the IANA
// registry as tab-separated values.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
)

func main() {
	in := flag.String("registry", "", "read the registry from this tab-separated `file`")
	out := flag.String("out", "schemes.tsv", "write the table to this `file`")
	flag.Parse()
	text, err := os.ReadFile(*in)
	if err != nil {
		log.Fatal(err)
	}
	table, err := generate(string(text))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, table, 0o644); err != nil {
		log.Fatal(err)
	}
}

var columns = [...]string{"scheme", "status", "description", "reference", "template"}

// An entry is a row of the registry.
type entry [len(columns)]string

// generate returns the table, which has a line for each scheme.
func generate(text string) ([]byte, error) {
	entries, err := read(text)
	if err != nil {
		return nil, err
	}
	table := []byte("# IANA, Uniform Resource Identifier (URI) Schemes; written by go generate.\n")
	for i, e := range entries {
		if !slices.Contains([]string{"permanent", "provisional", "historical"}, e[1]) {
			return nil, fmt.Errorf("scheme %q: unknown status %q", e[0], e[1])
		}
		if i > 0 && e[0] == entries[i-1][0] {
			return nil, fmt.Errorf("scheme %q: duplicate entry", e[0])
		}
		table = append(table, strings.Join(e[:], "\t")+"\n"...)
	}
	return table, nil
}

func read(text string) ([]entry, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	header := strings.Split(lines[0], "\t")
	var place [len(columns)]int
	for i, name := range columns {
		if place[i] = slices.Index(header, name); place[i] < 0 {
			return nil, fmt.Errorf("column %q not found", name)
		}
	}
	var entries []entry
	for n, line := range lines[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != len(header) {
			return nil, fmt.Errorf("line %d: found %d fields, want %d", n+2, len(fields), len(header))
		}
		var e entry
		for i, at := range place {
			e[i] = strings.TrimSpace(fields[at])
		}
		entries = append(entries, tidy(e))
	}
	if len(entries) == 0 {
		return nil, errors.New("no entries")
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a[0], b[0]) })
	return entries, nil
}

// tidy writes the name and the status in lower case, and removes notes for reviewers. Of a
// description with several sentences it keeps the first.
func tidy(e entry) entry {
	name, note, _ := strings.Cut(e[0], " ")
	e[0], e[1] = strings.ToLower(name), strings.ToLower(e[1])
	e[2] = strings.TrimSpace(strings.TrimSuffix(e[2], "(see reviewer notes)"))
	e[2], _, _ = strings.Cut(e[2], ". ")
	if e[2] == "" {
		e[2] = name
	}
	if note != "" {
		e[2] += " " + strings.ToLower(note)
	}
	return e
}
