package extract

import (
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	for _, test := range []struct {
		want Type
		head string
	}{
		{TypeText, ""},
		{TypeText, "Network Working Group\n\nSee http://a.example/\n"},
		{TypeText, "Subject: this is not a message\nhttp://a.example/\n"},
		{TypeText, "From here to there\n"},
		{TypeText, "<?xml version='1.0'?>\n<rfc/>"},
		{TypeText, "<headers>"},
		{TypeText, "key: value\nother: value\n\n"},
		{TypeText, "content-type of it: a\nContent-Type: b\n\n"},
		{TypeHTML, "<!DOCTYPE html>"},
		{TypeHTML, "\ufeff\r\n <HTML lang=en>"},
		{TypeHTML, "<!-- a --> <!-- b --><head>"},
		{TypeHTML, "<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>"},
		{TypeMIME, "From jim@example.org Sat Nov 21 12:00:00 2026\nSubject: a\n\n"},
		{TypeMIME, "Subject: a\n b\r\nMessage-ID: <a@example.org>\r\n\r\nhttp://a.example/"},
		{TypeMIME, "MIME-Version: 1.0\nContent-Type: text/plain\n" + strings.Repeat("X", SniffSize)},
	} {
		if got := Sniff([]byte(test.head)); got != test.want {
			t.Errorf("Sniff(%q) = %v, want %v", test.head, got, test.want)
		}
	}
}

func TestTypes(t *testing.T) {
	for want := range types {
		if got, ok := ParseType(want.String()); got != want || !ok {
			t.Errorf("ParseType(%q) = %v, %t", want, got, ok)
		}
	}
	if _, ok := ParseType("pdf"); ok || types.String() != "unknown" {
		t.Error("a type that there is not is known")
	}
	for name, want := range map[string]string{"a.HTML": "html", "a.eml": "mime", "x/b.mbox": "mime", "a.go": "text", "a.txt": "", "a": ""} {
		got, ok := TypeOfName(name)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("TypeOfName(%q) = %v, %t; want %q", name, got, ok, want)
		}
	}
	for kind := range kinds {
		if kind.String() == "unknown" {
			t.Errorf("kind %d has no name", kind)
		}
	}
	if kinds.String() != "unknown" {
		t.Error("a kind that there is not has a name")
	}
}

func TestFind(t *testing.T) {
	for _, test := range []struct{ typ, doc, want string }{
		{"text", "http://a.example/ <a href=x>", "http://a.example/"},
		{"html", "<base href=http://a.example/><a href=x>", "http://a.example/ http://a.example/x"},
		{"mime", "Content-Base: http://a.example/\n\n", "http://a.example/"},
	} {
		typ, _ := ParseType(test.typ)
		var got []string
		for f, err := range typ.Find(strings.NewReader(test.doc), Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.Target.String())
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: found %q, want %s", test.typ, got, test.want)
		}
	}
}
