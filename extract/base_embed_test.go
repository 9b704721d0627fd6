package extract

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"

	"github.com/nomen-project/nomen/uri"
)

// A saved copy of a document contains its base.
func TestEmbedBase(t *testing.T) {
	base := uri.MustParse("http://a.example/b/c?d&e#f")
	const put = `<base href="http://a.example/b/c?d&amp;e">`
	for _, tt := range []struct{ name, doc, want string }{
		{"head", "<!doctype html>\n<html><head id=x><title>t</title></head>", "<!doctype html>\n<html><head id=x>" + put + "<title>t</title></head>"},
		{"no head", "<html>\n<body><a href=x>", "<html>" + put + "\n<body><a href=x>"},
		{"no html", "<!doctype html><!-- <head> --> <a href=x>", "<!doctype html><!-- <head> --> " + put + "<a href=x>"},
		{"text", "\uFEFF hello <head>", "\uFEFF" + put + " hello <head>"},
		{"nothing", "", put},
		{"relative BASE", "<head><link href=x><base target=y><BASE HREF='../z'>", "<head><link href=x><base target=y>" + `<base href="http://a.example/z"><BASE HREF='../z'>`},
		{"absolute BASE", "<title>t</title><base href=http://e.example/><a href=x>", "<title>t</title><base href=http://e.example/><a href=x>"},
		{"second BASE", "<base href=x><base href=http://e.example/>", `<base href="http://a.example/b/x"><base href=x><base href=http://e.example/>`},
		{"invalid BASE", "<p><base href='javascript:x'>", "<p>" + put + "<base href='javascript:x'>"},
		{"BASE in a template", "<template><base href=http://e.example/></template>", put + "<template><base href=http://e.example/></template>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := EmbedBase(&b, strings.NewReader(tt.doc), base); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got  %q\nwant %q", b.String(), tt.want)
			}
			checkSameTargets(t, HTML(strings.NewReader(tt.doc), Options{Base: base}), HTML(strings.NewReader(b.String()), Options{}))
		})
	}
}

// checkSameTargets checks that the links of a copy without an external base
// have the same targets as those of the original.
func checkSameTargets(t *testing.T, original, moved func(func(Finding, error) bool)) {
	t.Helper()
	var want, got []string
	for f := range original {
		if !strings.HasPrefix(f.Where, "base") && !strings.HasSuffix(f.Where, "header Content-Location") {
			want = append(want, f.Target.String())
		}
	}
	for f := range moved {
		if !strings.HasPrefix(f.Where, "base") && !strings.HasSuffix(f.Where, "header Content-Location") {
			got = append(got, f.Target.String())
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("U97-57, U03-77: the targets of the copy are %q, want %q", got, want)
	}
}

func TestEmbedBaseUTF16(t *testing.T) {
	enc := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	doc, err := enc.NewEncoder().String("<head><a href=x>")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := EmbedBase(&b, strings.NewReader(doc), uri.MustParse("http://a.example/")); err != nil {
		t.Fatal(err)
	}
	got, err := enc.NewDecoder().String(b.String())
	if want := `<head><base href="http://a.example/"><a href=x>`; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestEmbedBaseErrors(t *testing.T) {
	for _, embed := range []func(io.Writer, io.Reader, uri.URI) error{EmbedBase, EmbedBaseMIME} {
		if err := embed(io.Discard, strings.NewReader("x"), mustReference(t, uri.RFC3986, "x")); !errors.Is(err, ErrEmbeddedBase) {
			t.Errorf("relative base: got %v", err)
		}
		broken := errors.New("broken")
		r := io.MultiReader(strings.NewReader("a: b\n\n<p>"), iotest.ErrReader(broken))
		if err := embed(io.Discard, r, uri.MustParse("http://a.example/")); !errors.Is(err, broken) {
			t.Errorf("broken reader: got %v", err)
		}
	}
	var b strings.Builder
	err := EmbedBaseMIME(&b, strings.NewReader(strings.Repeat("X: "+strings.Repeat("x", 10000)+"\n", 200)), uri.MustParse("http://a.example/"))
	if err == nil || b.Len() > 0 {
		t.Errorf("header too long: got %v and %d octets", err, b.Len())
	}
}

// A saved copy of a message contains its base.
func TestEmbedBaseMIME(t *testing.T) {
	base := uri.MustParse("http://a.example/b/c#f")
	long := "http://a.example/" + strings.Repeat("x", 1000)
	hyphens := "http://a.example/" + strings.Repeat("x", 800) + strings.Repeat("-", 200) + "y"
	html := "Content-Type: text/html\n"
	for _, tt := range []struct {
		name, doc, want string
		base            uri.URI
	}{
		{"none", html + "\n<a href=x>", html + "Content-Location: http://a.example/b/c\n\n<a href=x>", base},
		{"with CR", "A: b\r\n\r\n", "A: b\r\nContent-Location: http://a.example/b/c\r\n\r\n", base},
		{"no end", "A: b", "A: b\r\nContent-Location: http://a.example/b/c\r\n", base},
		{"relative", "A: b\nContent-Location:\n ../d\n" + html + "\n<a href=x>", "A: b\nContent-Location: http://a.example/d\n" + html + "\n<a href=x>", base},
		{"broken", "Content-Location: [\n" + html + "\n<a href=x>", "Content-Location: http://a.example/b/c\n" + html + "\n<a href=x>", base},
		{"absolute", "Content-Location: http://e.example/\n\n", "Content-Location: http://e.example/\n\n", base},
		{"Content-Base", "Content-Location: x\nContent-Base: http://e.example/\n\n", "Content-Location: x\nContent-Base: http://e.example/\n\n", base},
		{"long", html + "\n<a href=y>", html + "Content-Location: " + long[:900] + "\n " + long[900:976] + "\n " + long[976:] + "\n\n<a href=y>", uri.MustParse(long)},
		{"U97-73, U03-71 no break after a hyphen", html + "\n<a href=y>", html + "Content-Location: " + hyphens[:817] + "\n " + hyphens[817:] + "\n\n<a href=y>", uri.MustParse(hyphens)},
		{"mailbox", "From a 10:10:10\n" + html + "\n<a href=x>", "From a 10:10:10\n" + html + "Content-Location: http://a.example/b/c\n\n<a href=x>", base},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := EmbedBaseMIME(&b, strings.NewReader(tt.doc), tt.base); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got  %q\nwant %q", b.String(), tt.want)
			}
			checkSameTargets(t, MIME(strings.NewReader(tt.doc), Options{Base: tt.base}), MIME(strings.NewReader(b.String()), Options{}))
		})
	}
}
