package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomen-project/nomen/internal/rfcindex"
)

func TestFresh(t *testing.T) {
	index, err := os.Open(filepath.FromSlash("../../../../shared/data/collections/rfc-index.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the index of the RFC Editor is not there: ../shared/data/collections/rfc-index.jsonl")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	want, err := convert(index)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rfcindex.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the embedded file is not what gen makes of the index: run go generate ./internal/rfcindex")
	}
}

func TestMonth(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"April 1969", "1969-04"},
		{"1 April 1978", "1978-04"},
	} {
		got, err := month(c.in)
		if err != nil || got != c.want {
			t.Errorf("month(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "1969", "Avril 1969"} {
		if got, err := month(in); err == nil {
			t.Errorf("month(%q) = %q, want an error", in, got)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	for _, in := range []string{
		`{`,
		`{"urn":"urn:ietf:std:1","title":"t","doi":"10.1/x","date":"April 1969"}`,
		`{"urn":"urn:ietf:rfc:1","doi":"10.1/x","date":"April 1969"}`,
		`{"urn":"urn:ietf:rfc:1","title":"t","doi":"10.1/x","date":""}`,
		`{"urn":"urn:ietf:rfc:1","title":"t","doi":"10.1/ x","date":"April 1969"}`,
	} {
		if got, err := convert(bytes.NewReader([]byte(in))); err == nil {
			t.Errorf("convert(%s) = %s, want an error", in, got)
		}
	}
}
