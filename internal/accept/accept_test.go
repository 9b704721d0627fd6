package accept

import (
	"strings"
	"testing"
)

func mediaOf(text, mediaType string) Preference {
	var f Field
	f.ReadMedia(text)
	return f.Media(mediaType, "", !strings.HasPrefix(mediaType, "text/"))
}

// RFC 9110, 12.5.1 and 5.6.6.
func TestMedia(t *testing.T) {
	const u = Unmatched
	for _, tt := range []struct {
		field, mediaType string
		want             int
	}{
		{"", "text/html", u},
		{"*/*", "text/html", 1000},
		{"text/*;q=0.5", "text/html", 500},
		{"text/*;q=0.5", "application/json", u},
		{"TEXT/Html;Q=0.25", "text/html", 250},
		{"*/*;q=0.1, text/*;q=0.2, text/html;q=0.3", "text/html", 300},
		{"*/*;q=0.1, text/*;q=0.2, text/html;q=0.3", "text/plain", 200},
		{"*/*;q=0.1, text/*;q=0.2, text/html;q=0.3", "image/png", 100},
		{"text/html;q=0.3, text/html;q=0.9", "text/html", 300}, // of equal ranges, the first decides
		// A separator in a quoted string separates nothing.
		{`text/plain;x="a,application/json;b"`, "application/json", u},
		{`text/plain;x="a,application/json;b"`, "text/plain", u},
		{`text/plain;x="\",application/json", text/html`, "application/json", u},
		{`text/plain;x="\",application/json", text/html`, "text/html", 1000},
		{`text/plain;x="q=0;a";q=0.5, */*;q=0.1`, "text/plain", 100},
		{`text/html;x="a, text/plain`, "text/plain", u}, // the quoted string does not end
		// A malformed weight makes the element malformed.
		{"text/html;q=1.5", "text/html", u},
		{"text/html;q=1.5, */*;q=0.1", "text/html", 100},
		{"text/html;q=0.1;q=0.2", "text/html", u},
		{"text/html;q=", "text/html", u},
		{`text/html;q="1"`, "text/html", u},
		// Parameters of JSON-LD and linksets that a format does not have are ignored.
		{`application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted"`, "application/ld+json", 1000},
		{`application/ld+json; profile="a,b;c" ; q=0.7`, "application/ld+json", 700},
		{`application/linkset+json;profile="https://signposting.org/";q=0.9`, "application/linkset+json", 900},
		{`application/ld+json;profile=x;q=0.9, application/ld+json;q=0.5`, "application/ld+json", 500},
		{`application/ld+json;profile=x;q=0.9, application/*;q=0.5`, "application/ld+json", 900},
		{`application/ld+json;profile=x;q=0`, "application/ld+json", u},
		{`application/json;charset=utf-8`, "application/json", 1000},
		{`application/json;charset="ut\f-8"`, "application/json", 1000},
		{`application/json;charset=utf-16`, "application/json", u},
		{`application/json;charset=""`, "application/json", u},
		{`application/json;charset=utf-`, "application/json", u},
		{`application/json;charset="utf-88"`, "application/json", u},
		// Invalid media ranges.
		{"*", "text/html", u},
		{"text", "text/html", u},
		{"*/html", "text/html", u},
		{"text/html x", "text/html", u},
		{"text/html,, ,\t*/*;q=0.1", "text/plain", 100},
		{"text/html" + strings.Repeat(" ", MaxField), "text/html", u},
		{strings.Repeat("a/b,", MaxElements) + "text/html", "text/html", u},
		{strings.Repeat("a/b,", MaxElements-1) + "text/html", "text/html", 1000},
	} {
		if got := mediaOf(tt.field, tt.mediaType); got.Q != tt.want {
			t.Errorf("%.90q of %s: %+v, want %d", tt.field, tt.mediaType, got, tt.want)
		}
	}
	for field, want := range map[string]bool{"*/*": false, "text/*;charset=utf-8": false, "text/html": true, "text/html;charset=utf-8": true, "image/png": false} {
		if got := mediaOf(field, "text/html").Named(); got != want {
			t.Errorf("%s names text/html: %t", field, got)
		}
	}
	if !mediaOf("application/json;a=b", "application/json").Named() {
		t.Error("a type with parameters is not named")
	}
	var f Field // an unknown charset is treated like any other parameter
	f.ReadMedia("text/html;charset=utf-8;q=0.5")
	if got := f.Media("text/html", "*", true).Q; got != 500 {
		t.Errorf("a location: %d", got)
	}
}

// RFC 9110, 12.5.3 and 12.5.4; RFC 4647, 3.3.1 and 3.4.
func TestTokens(t *testing.T) {
	var f Field
	f.ReadTokens("gzip;q=0.5, *;q=0.1, br;q=2, identity;x=y;q=0")
	for token, want := range map[string]int{"GZIP": 500, "zstd": 100, "br": 100, "identity": 0} {
		if got := f.Token(token).Q; got != want {
			t.Errorf("%s: %d, want %d", token, got, want)
		}
	}
	f.ReadTokens("de-AT, en;q=0.5, *;q=0.1, de-CH-x;q=0.001")
	for tag, want := range map[string]int{"de-at": 1000, "de-AT-x": 1000, "de": 100, "en-GB": 500, "eng": 100, "": 100} {
		if got := f.Language(tag).Q; got != want {
			t.Errorf("%q: %d, want %d", tag, got, want)
		}
	}
	f.AddParents(1)
	for tag, want := range map[string]int{"de": 999, "de-CH": 999, "en": 500, "fi": 100} {
		if got := f.Language(tag).Q; got != want {
			t.Errorf("with parents, %q: %d, want %d", tag, got, want)
		}
	}
}

func TestNoMemory(t *testing.T) {
	if got := testing.AllocsPerRun(100, func() {
		var f Field
		f.ReadMedia(`text/html;charset="utf-8", application/json;q=0.5, */*;q=0.1`)
		if f.Media("text/html", "utf-8", false).Q != Most {
			t.Fatal("text/html is not wanted")
		}
		f.ReadTokens("de-AT, en;q=0.5")
		f.AddParents(1)
	}); got > 0 {
		t.Errorf("%v allocations", got)
	}
}

// The offsets of each element must be within the text, and a field that is written again in a plain
// form must have the same elements.
func FuzzField(f *testing.F) {
	for _, text := range []string{"", "*/*;q=0", `text/html;a="b,\"c";q=0.5, */*;q=1.000`, "text/*;q=0,,", `a/b;charset="\`, "de-AT, en;q=0.5", `text/plain;x="a,application/json;b"`} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, media bool) {
		var a, b Field
		a.read(text, media)
		if a.Len() > MaxElements {
			t.Fatalf("%d elements", a.Len())
		}
		var plain strings.Builder
		for i := range a.Len() {
			value, q := a.At(i)
			if value == "" || strings.ContainsAny(value, " \t,;\"") || q < 0 || q > Most || media != strings.Contains(value, "/") {
				t.Fatalf("element %d is %q, %d", i, value, q)
			}
			if plain.WriteString(value); a.elements[i].charset < a.elements[i].until {
				plain.WriteString(";charset=" + text[a.elements[i].charset:a.elements[i].until])
			}
			if a.elements[i].narrow {
				plain.WriteString(";x=y")
			}
			if q < Most {
				plain.WriteString(";q=0.")
				for _, unit := range []int{100, 10, 1} {
					plain.WriteByte(byte('0' + q/unit%10))
				}
			}
			plain.WriteByte(',')
		}
		if plain.Len() > MaxField {
			return
		}
		b.read(plain.String(), media)
		for _, what := range []string{"text/html", "application/json", "*/*", "de-at", "gzip"} {
			if a.Media(what, "", true) != b.Media(what, "", true) || a.Media(what, "iso-8859-1", false) != b.Media(what, "iso-8859-1", false) || a.Token(what) != b.Token(what) || a.Language(what) != b.Language(what) {
				t.Fatalf("%q and %q differ in %s", text, plain.String(), what)
			}
		}
	})
}
