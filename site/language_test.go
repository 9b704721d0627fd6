package site

import (
	"strings"
	"testing"
)

// French has a space that does not break before a colon, and a narrow one before other signs. All
// languages have typographic apostrophes.
func TestPunctuation(t *testing.T) {
	set, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.All()[1:] {
		for _, key := range c.Keys() {
			for _, text := range c.Forms(key) {
				if strings.HasPrefix(key, "format.") {
					continue
				}
				plain := strings.NewReplacer("urn:isbn:", "").Replace(text)
				if strings.Contains(plain, "'") || c.Tag() == "fr" && isBadlySpaced(plain) {
					t.Errorf("%s: %s: %q", c.Tag(), key, text)
				}
			}
		}
	}
	for text, want := range map[string]bool{"Motif\u00a0: x": false, "Motif : x": true, "Motif: x": true, "Quoi\u202f?": false, "Quoi ?": true, "x\u202f; y": false, "x; y": true} {
		if isBadlySpaced(text) != want {
			t.Errorf("%q: got %v", text, !want)
		}
	}
}

// isBadlySpaced reports whether a sign of a French text has another space before it than it must.
func isBadlySpaced(text string) bool {
	for sign, space := range map[string]string{":": "\u00a0", "?": "\u202f", "!": "\u202f", ";": "\u202f"} {
		if strings.Count(text, sign) != strings.Count(text, space+sign) {
			return true
		}
	}
	return false
}
