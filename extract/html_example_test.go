package extract_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nomen-project/nomen/extract"
	"github.com/nomen-project/nomen/uri"
)

func ExampleHTML() {
	doc := `<base href="/d/"><a href="x?a&amp;b">see http://b.example/</a> <img srcset="i.png, j.png 2x">`
	o := extract.Options{Base: uri.MustParse("http://a.example/")}
	for f, err := range extract.HTML(strings.NewReader(doc), o) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%d-%d %q %s\n", f.Start, f.End, f.Where, f.Target)
	}
	// Output:
	// 12-15 "base href" http://a.example/d/
	// 26-35 "a href" http://a.example/d/x?a&b
	// 41-58 "" http://b.example/
	// 76-81 "img srcset" http://a.example/d/i.png
	// 83-88 "img srcset" http://a.example/d/j.png
}

func ExampleHTML_errors() {
	doc := `<a href="http://[x">one</a> <a href="http://a.example/">two</a>`
	for f, err := range extract.HTML(strings.NewReader(doc), extract.Options{}) {
		var e *extract.DocumentError
		if errors.As(err, &e) {
			fmt.Println("at", e.Offset, "there is no URI:", f.Spelling)
			continue
		}
		fmt.Println(f.Target)
	}
	// Output:
	// at 9 there is no URI: http://[x
	// http://a.example/
}

func ExampleMIME() {
	message := `Subject: two links
Content-Base: http://a.example/d/
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable

<a href=3D"x">one</a> and http://b.exam=
ple/
`
	for f, err := range extract.MIME(strings.NewReader(message), extract.Options{}) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%q is %s\n", f.Text, f.Target)
	}
	// Output:
	// "http://a.example/d/" is http://a.example/d/
	// "x" is http://a.example/d/x
	// "http://b.exam=\nple/" is http://b.example/
}

func ExampleEmbedBase() {
	doc := `<html><head><title>t</title></head><body><a href="x">one</a>`
	if err := extract.EmbedBase(os.Stdout, strings.NewReader(doc), uri.MustParse("http://a.example/d/")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <html><head><base href="http://a.example/d/"><title>t</title></head><body><a href="x">one</a>
}

func ExampleEmbedBaseMIME() {
	message := "Content-Type: text/html\n\n<a href=x>one</a>\n"
	if err := extract.EmbedBaseMIME(os.Stdout, strings.NewReader(message), uri.MustParse("http://a.example/d/")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Content-Type: text/html
	// Content-Location: http://a.example/d/
	//
	// <a href=x>one</a>
}

func ExampleLinks() {
	doc := `<a href="old">one</a> <a href="a b">two</a>`
	found := extract.HTML(strings.NewReader(doc), extract.Options{Base: uri.MustParse("http://a.example/")})
	history := func(target uri.URI) extract.Visit {
		if target.Path() == "/old" {
			return extract.Visit{Retrieved: time.Date(1993, time.July, 14, 0, 0, 0, 0, time.UTC)}
		}
		return extract.Visit{}
	}
	for l := range extract.Links(found, history) {
		fmt.Printf("%s: %s, %s\n", l.Target, l.Writing, l.State)
	}
	// Output:
	// http://a.example/old: well-formed, retrieved earlier
	// http://a.example/a%20b: mended, never retrieved
}
