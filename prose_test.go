package nomen_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// phrases are the phrases that comments, strings and documents must not use, and what to write
// instead. The terms are those of docs/glossary.md.
var phrases = []struct{ instead, said string }{
	{`"is not a", "must be", "invalid", "cannot"`, "is no, are no, was no, were no"},                  // but "there is no", "is no longer"
	{`"there is no X", "does not exist", "must be one of"`, "is none, are none, was none, were none"}, // also after "there"
	{`"needs", "expects", "must have"`, "wants"},
	{`"no client", "no user"; or say what does not happen`, "nobody"},
	{`"a client", "another user", "the caller"`, "somebody"},
	{`"without success", "failed"`, "in vain"},
	{`"is logged", "is notified", "is reported"`, "is told, are told, was told, were told"},
	{`"needs the role"`, "takes the role"},
	{`"releases"`, "let go of, lets go of"},
	{`"the client"`, "who asks, whoever asks"},
	{`"client"`, "asker, askers"},
	{`"owner", "server", "store"`, "keeper, keepers"},
	{`"is supported"`, "is spoken, are spoken"},
	{`"module", "layer"`, "house, floor, floors"},
	{`"is responsible for", "maintains"`, "look after, looks after"},
	{`"meanwhile", "concurrently"`, "in between"},
	{`"as entered"`, "as it was typed"},
}

// A lexicon says for each of these phrases what to write instead.
type lexicon map[string]string

func newLexicon() lexicon {
	l := lexicon{}
	for _, p := range phrases {
		for said := range strings.SplitSeq(p.said, ", ") {
			l[said] = p.instead
		}
	}
	return l
}

// maxPhrase is the number of words in the longest phrase.
const maxPhrase = 4

// find returns the phrases of the lexicon that a text contains. Only single spaces are between the
// words of a phrase.
func (l lexicon) find(text string) (found []string) {
	words := wordsOf(text)
	for i := range words {
		for n := 1; n <= min(maxPhrase, len(words)-i); n++ {
			said := strings.Join(words[i:i+n], " ")
			_, ok := l[said]
			if ok && words[i+n-1] == "no" {
				next := append(slices.Clone(words[i+n:]), "")[0]
				ok = (i == 0 || words[i-1] != "there") && next != "longer" && next != "more" && next != "less"
			}
			if ok {
				found = append(found, said)
			}
		}
	}
	return found
}

// wordsOf returns the words of a text in lower case. Between two words that are not separated by a
// single space, it returns an empty word.
func wordsOf(text string) (words []string) {
	text = strings.ToLower(text)
	isWord := func(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' }
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && isWord(text[j]) {
			j++
		}
		if i < j {
			words = append(words, text[i:j])
		}
		k := j
		for k < len(text) && !isWord(text[k]) {
			k++
		}
		if text[j:k] != " " {
			words = append(words, "")
		}
		i = k
	}
	return words
}

// allowed are the phrases that a file may use: quotations, and words of a specification.
var allowed = map[string][]string{
	"docs/glossary.md": { // the words not to use
		"as it was typed", "house, registrar", "| keeper |", "| asker |", "house, room, floor",
	},
	"cmd/nomen/transfer_clients_test.go": {"User nobody", "as nobody"}, // the Unix user
	"store/pgstore/pgtest/pgtest.go":     {`"nobody"`},                 // the Unix user
}

// TestProse checks that comments, strings and documents do not use these phrases.
func TestProse(t *testing.T) {
	lexicon := newLexicon()
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
			for _, said := range lexicon.find(x.string) {
				if !isAllowed(file, x.string, said) {
					found[dir] = append(found[dir], fmt.Sprintf("%s:%d: %q: say %s", file, x.line, said, lexicon[said]))
				}
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
		t.Errorf("%d phrases in %s; docs/glossary.md has the terms:\n%s", len(places), dir, strings.Join(places, "\n"))
	}
}

func isAllowed(file, text, phrase string) bool {
	for _, a := range allowed[file] {
		if strings.Contains(text, a) && strings.Contains(strings.ToLower(a), phrase) {
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
