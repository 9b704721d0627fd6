package pages

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// usedTexts returns the keys that templates and code use, with where.
func usedTexts(t *testing.T) map[string]string {
	t.Helper()
	used := map[string]string{}
	files, _ := filepath.Glob("html/*.html")
	code, _ := filepath.Glob("*.go")
	for _, file := range append(files, code...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range []string{`t "`, `text("`, `, "error.`} {
			parts := strings.Split(string(b), before)
			for _, rest := range parts[1:] {
				key, _, _ := strings.Cut(rest, `"`)
				if strings.HasPrefix(before, ", ") {
					key = "error." + key
				}
				if section, k, ok := strings.Cut(key, "."); ok && isWord(section) && isWord(k) {
					used[key] = file
				}
			}
		}
		for _, rest := range strings.Split(string(b), `return "error.`)[1:] {
			key, _, _ := strings.Cut(rest, `"`)
			used["error."+key] = file
		}
	}
	return used
}

func isWord(s string) bool { return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" }

// Every text that is used is in the catalogue, and every text of the catalogue is used.
func TestTextsAreComplete(t *testing.T) {
	texts, err := parseCatalogue(english)
	if err != nil {
		t.Fatal(err)
	}
	used := usedTexts(t)
	for key, file := range used {
		if texts[key] == "" {
			t.Errorf("%s: no text for %q", file, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if used[key] == "" {
			t.Errorf("%q is not used", key)
		}
	}
	if len(used) < 50 {
		t.Errorf("found only %d uses", len(used))
	}
}

func TestLookup(t *testing.T) {
	c := catalogue{"a.b": "from {1} to {2}, {1}"}
	if got, err := c.lookup("a.b", "{2}", 7); err != nil || got != "from {2} to 7, {2}" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := c.lookup("a.c"); err == nil {
		t.Error("an unknown key has a text")
	}
}
