// Command gen writes the tables of prefixes in package public. Its input is the data of two
// registries, with a JSON object on each line. The file prefixes.jsonl.gz comes from Bioregistry
// (CC0). The file identifiers-org.jsonl.gz comes from identifiers.org (EMBL-EBI, CC BY 4.0).
//
// Usage: gen DIR, where DIR has both files. The tables are written to the working directory.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const license = `# The prefixes of %s: see package public for the columns.
# Source: %s.
`

func main() {
	if len(os.Args) != 2 {
		fatal(fmt.Errorf("usage: gen DIR"))
	}
	for _, t := range []struct {
		from, to, who, source string
		row                   func([]byte) (string, error)
	}{
		{"prefixes.jsonl.gz", "bioregistry.tsv", "Bioregistry", "https://bioregistry.io, CC0", bioregistry},
		{"identifiers-org.jsonl.gz", "identifiers.tsv", "identifiers.org", "https://registry.identifiers.org, EMBL-EBI, CC BY 4.0; shortened and put into another form", identifiersOrg},
	} {
		b := fmt.Appendf(nil, license, t.who, t.source)
		b, err := table(b, filepath.Join(os.Args[1], t.from), t.row)
		if err != nil {
			fatal(err)
		}
		if err := os.WriteFile(t.to, b, 0o644); err != nil {
			fatal(err)
		}
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "gen:", err)
	os.Exit(1)
}

// table appends a line for each object in a file.
func table(b []byte, file string, row func([]byte) (string, error)) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line, err := row(bytes.TrimSpace(lines.Bytes()))
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, n, err)
		}
		b = append(b, line+"\n"...)
	}
	return b, lines.Err()
}

// A place is a provider of the resources with a prefix.
type place struct {
	url, country string
	rank         int
}

// join returns a line of the table.
func join(prefix, name, pattern, example string, deprecated bool, places []place) string {
	flags := ""
	if deprecated {
		flags = "deprecated"
	}
	columns := []string{prefix, name, pattern, example, flags}
	for _, p := range places {
		columns = append(columns, fmt.Sprintf("%d %s %s", p.rank, cmp.Or(p.country, "-"), p.url))
	}
	for i, c := range columns {
		columns[i] = strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, c)
	}
	return strings.Join(columns, "\t")
}

func bioregistry(line []byte) (string, error) {
	var o struct {
		Prefix, Name, Pattern, Example string
		Format                         string `json:"uri_format"`
		Deprecated                     bool
		Providers                      []struct {
			Code   string
			Format string `json:"uri_format"`
		}
	}
	if err := json.Unmarshal(line, &o); err != nil {
		return "", err
	}
	var places []place
	if o.Format != "" {
		places = append(places, place{url: strings.ReplaceAll(o.Format, "$1", "$"), rank: 1})
		for _, p := range o.Providers {
			if p.Code != "CURATOR_REVIEW" && strings.Contains(p.Format, "$1") {
				places = append(places, place{url: strings.ReplaceAll(p.Format, "$1", "$"), rank: 2})
			}
		}
	}
	return join(o.Prefix, o.Name, o.Pattern, o.Example, o.Deprecated, places), nil
}

func identifiersOrg(line []byte) (string, error) {
	var o struct {
		Prefix, Name, Pattern, Example string
		Embedded, Deprecated           bool
		Providers                      []struct {
			Format     string `json:"uri_format"`
			Official   bool
			Deprecated bool
			Country    string
		}
	}
	if err := json.Unmarshal(line, &o); err != nil {
		return "", err
	}
	var places, gone []place
	for _, p := range o.Providers {
		at := place{url: strings.ReplaceAll(p.Format, "{$id}", "$"), country: p.Country, rank: 2}
		switch {
		case p.Deprecated:
			at.rank = 3
			gone = append(gone, at)
			continue
		case p.Official:
			at.rank = 1
		}
		places = append(places, at)
	}
	if len(places) == 0 {
		places = gone
	}
	if o.Embedded {
		var err error
		if o.Prefix, o.Pattern, err = withoutPrefix(o.Prefix, o.Pattern); err != nil {
			return "", err
		}
	}
	return join(o.Prefix, o.Name, o.Pattern, o.Example, o.Deprecated, places), nil
}

// withoutPrefix splits a pattern that begins with a prefix and a colon. It returns the prefix as
// the pattern spells it, and the pattern after the colon.
func withoutPrefix(prefix, pattern string) (_, rest string, _ error) {
	head, rest, ok := strings.Cut(pattern, ":")
	if !ok {
		return "", "", fmt.Errorf("%s: no prefix in %s", prefix, pattern)
	}
	letters := head[strings.LastIndexAny(head, "^()?")+1:]
	if p := strings.TrimSuffix(letters, `\`); strings.EqualFold(p, prefix) {
		prefix = p
	}
	return prefix, "^" + strings.TrimPrefix(rest, ")"), nil
}
