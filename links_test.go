package nomen_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestLinks checks that every relative link in a document leads to a file that exists
// and, where it has a fragment, to a heading of that file.
func TestLinks(t *testing.T) {
	documents := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}
	err := filepath.WalkDir("docs", func(file string, _ fs.DirEntry, err error) error {
		if filepath.Ext(file) == ".md" {
			documents = append(documents, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	read := func(file string) string {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(source)
	}
	checked := 0
	for _, document := range documents {
		for _, line := range textOfMarkdown([]byte(read(document))) {
			for _, m := range link.FindAllStringSubmatch(line.string, -1) {
				target, fragment, hasFragment := strings.Cut(m[1], "#")
				if strings.Contains(target, ":") {
					continue // an absolute URL
				}
				checked++
				file := filepath.Join(filepath.Dir(document), target)
				if target == "" {
					file = document
				}
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s:%d: link to %s: file not found", document, line.line, m[1])
				} else if hasFragment && !anchors(read(file))[fragment] {
					t.Errorf("%s:%d: link to %s: heading not found", document, line.line, m[1])
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d relative links found", checked)
	}
}

// TestIndex checks that docs/README.md links to every page.
func TestIndex(t *testing.T) {
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"tutorial", "howto", "reference", "explanation"} {
		pages, err := filepath.Glob("docs/" + dir + "/*.md")
		below, _ := filepath.Glob("docs/" + dir + "/*/*.md") // the pattern is the same
		if pages = append(pages, below...); err != nil || len(pages) == 0 {
			t.Fatalf("docs/%s: %q, %v", dir, pages, err)
		}
		for _, page := range pages {
			if !strings.Contains(string(index), "("+strings.TrimPrefix(page, "docs/")+")") {
				t.Errorf("docs/README.md has no link to %s", page)
			}
		}
	}
}

// link matches a link or a picture and captures its target.
var link = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// anchors returns the fragments by which GitHub links to the headings of a document.
func anchors(markdown string) map[string]bool {
	found := map[string]bool{}
	for _, line := range textOfMarkdown([]byte(markdown)) {
		title, ok := strings.CutPrefix(strings.TrimLeft(line.string, "#"), " ")
		if !ok || !strings.HasPrefix(line.string, "#") {
			continue
		}
		title = link.ReplaceAllString(title, "") // only the text of a link counts
		title = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		anchor := strings.ReplaceAll(title, " ", "-")
		for n := 1; found[anchor]; n++ {
			anchor = strings.ReplaceAll(title, " ", "-") + "-" + strconv.Itoa(n)
		}
		found[anchor] = true
	}
	return found
}

// notInAnchor matches what GitHub leaves out of an anchor.
var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)

func TestAnchors(t *testing.T) {
	got := anchors("# Who answers, and how\n## `--via`\n```\n# comment\n```\n## `--via`\n##x\n### [RFC 3986](a.md): *rules*\n")
	want := []string{"who-answers-and-how", "--via", "--via-1", "rfc-3986-rules"}
	for _, w := range want {
		if !got[w] {
			t.Errorf("anchor %q not found in %v", w, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %q", got, want)
	}
}
