package nomen_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// phrases are what comments, strings and documents do not say, and what they say instead.
// The terms are those of docs/glossary.md.
var phrases = []struct{ pattern, instead string }{
	{`(there )?(is|are|was|were) no( longer| more| less)?`, `"is not a", "must be", "invalid", "cannot"`},
	{`(there )?(is|are|was|were) none`, `"there is no", "must be one of"`},
	{`wants`, `"needs", "expects", "must have"`},
	{`nobody`, `"no client", "no user"; or say what does not happen`},
	{`somebody`, `"a client", "another user", "the caller"`},
	{`in vain`, `"without success", "failed"`},
	{`(is|are|was|were) told`, `"is logged", "is notified", "is reported"`},
	{`takes the role`, `"needs the role"`},
	{`lets? go of`, `"releases"`},
	{`(who|whoever) asks`, `"the client"`},
	{`askers?`, `"client"`},
	{`keepers?`, `"owner", "server", "store"`},
	{`(is|are) spoken`, `"is supported"`},
	{`house|floors?`, `"module", "layer"`},
	{`looks? after`, `"is responsible for", "maintains"`},
	{`in between`, `"meanwhile", "concurrently"`},
	{`as it was typed`, `"as entered"`},
}

// natural are phrases that match a pattern and are good English.
var natural = regexp.MustCompile(`(?i)^there | (longer|more|less)$`)

// allowed are phrases that are right where they stand, by file: quotations, and words of a
// specification.
var allowed = map[string][]string{}

// remaining is how many phrases may still stand in a directory until its texts are rewritten.
var remaining = map[string]int{
	".":                     8,
	"adminapi":              30,
	"bulk":                  61,
	"bulk/bulktest/scale":   7,
	"client":                61,
	"client/cache":          33,
	"cmd/nomen":             78,
	"docs":                  7,
	"docs/bench":            2,
	"docs/decisions":        29,
	"docs/spec":             2,
	"docs/tutorial":         7,
	"fetch":                 49,
	"format":                63,
	"gateway":               79,
	"internal/accept":       8,
	"internal/codec":        9,
	"internal/durable":      7,
	"internal/gate":         7,
	"internal/guard":        7,
	"internal/location":     7,
	"internal/race":         9,
	"internal/rfcindex/gen": 7,
	"internal/shown":        7,
	"internal/wire":         20,
	"iri":                   7,
	"misses":                11,
	"name":                  16,
	"nomentest":             17,
	"public":                8,
	"registrar":             45,
	"resolve":               33,
	"rule":                  10,
	"scripts/attacks":       11,
	"scripts/faults":        8,
	"scripts/ha":            11,
	"server":                198,
	"store":                 41,
	"store/cachestore":      11,
	"store/memstore":        8,
	"store/pebblestore":     51,
	"store/pgstore":         49,
	"store/pgstore/pgtest":  10,
	"store/storetest":       14,
}

// TestProse holds comments, strings and documents to the words that people use.
func TestProse(t *testing.T) {
	var all []string
	for _, p := range phrases {
		all = append(all, p.pattern)
	}
	pattern := regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
	found := map[string][]string{}
	files := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(file); {
		case err != nil:
			return err
		case d.IsDir() && (base == "testdata" || base == "vectors" || base == "bin" || base != "." && strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case file == "prose_test.go", file == "docs/reference/commands.md", d.IsDir(): // the help texts are read in their sources
			return nil
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var texts []text
		switch filepath.Ext(file) {
		case ".go":
			texts = textOfGo(t, file, source)
		case ".md":
			texts = textOfMarkdown(source)
		default:
			return nil
		}
		files++
		dir := filepath.Dir(file)
		for _, x := range texts {
			if !mayHold(x.string) {
				continue
			}
			for _, m := range pattern.FindAllString(x.string, -1) {
				if natural.MatchString(m) || isAllowed(file, x.string, m) {
					continue
				}
				found[dir] = append(found[dir], file+":"+strconv.Itoa(x.line)+": "+m)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Errorf("only %d files were read", files)
	}
	for dir, places := range found {
		if len(places) > remaining[dir] {
			t.Errorf("%d phrases in %s, %d before; docs/glossary.md has the words to use:\n%s", len(places), dir, remaining[dir], strings.Join(places, "\n"))
		}
	}
	if os.Getenv("PROSE") != "" {
		for dir, places := range found {
			t.Logf("%q: %d,", dir, len(places))
		}
	}
}

// hints are in every text that has a phrase. Looking for them first is some ten times as
// fast as the pattern alone.
var hints = []string{
	" no ", " no\n", " none", "wants", "nobody", "somebody", "vain", " told", " role", " go of", " asks", "asker", "keeper", " spoken", "house", "floor", " after", " between", " typed",
}

func mayHold(text string) bool {
	text = strings.ToLower(text) + "\n"
	return slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(text, h) })
}

func isAllowed(file, text, phrase string) bool {
	for _, a := range allowed[file] {
		if strings.Contains(text, a) && strings.Contains(a, phrase) {
			return true
		}
	}
	return false
}

// A text is a comment, a string or a line of a document.
type text struct {
	line int
	string
}

// textOfGo returns the comments and strings of a Go file.
func textOfGo(t *testing.T, file string, source []byte) (texts []text) {
	t.Helper()
	files := token.NewFileSet()
	var s scanner.Scanner
	f := files.AddFile(file, -1, len(source))
	s.Init(f, source, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			return texts
		case token.COMMENT, token.STRING:
			texts = append(texts, text{f.Line(pos), literal})
		}
	}
}

// textOfMarkdown returns the lines of a document but for its blocks of code.
func textOfMarkdown(source []byte) (texts []text) {
	code, n := false, 0
	for line := range strings.Lines(string(source)) {
		n++
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code {
			texts = append(texts, text{n, line})
		}
	}
	return texts
}
