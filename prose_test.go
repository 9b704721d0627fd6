package nomen_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// phrases are what comments, strings and documents do not say, and what they say instead.
// The terms are those of docs/glossary.md.
var phrases = []struct{ pattern, instead string }{
	{`(is|are|was) no( longer| more| less)?`, `"is not a", "must be", "invalid", "cannot"`},
	{`(is|are|was|were) none`, `"there is no", "must be one of"`},
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

// allowed are phrases that are right where they stand, by file: quotations, and words of a
// specification.
var allowed = map[string][]string{}

// remaining is how many phrases are still to be replaced in a directory and all below it.
var remaining = map[string]int{}

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
		case file == "prose_test.go", d.IsDir():
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
			for _, m := range pattern.FindAllString(x.string, -1) {
				if lower := strings.ToLower(m); strings.HasSuffix(lower, "longer") || strings.HasSuffix(lower, "more") || strings.HasSuffix(lower, "less") || isAllowed(file, x.string, m) {
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
