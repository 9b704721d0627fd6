package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/nomen-project/nomen/internal/rfcindex"
	"github.com/nomen-project/nomen/internal/testrun"
)

func TestFresh(t *testing.T) {
	index, _ := testrun.Corpus(t, "collections/rfc-index.jsonl")
	want, err := convert(bytes.NewReader(index))
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
	for _, c := range []struct{ number, date, want string }{
		{"1", "April 1969", "1969-04"},
		{"748", "1 April 1978", "1978-04"},
		{"1123", "September 1989", "1989-10"}, // the text: October 1989
		{"1292", "January 1992", "1992-01"},
		{"1321", "March 1992", "1992-04"},    // the text: April 1992
		{"2141", "April 1997", "1997-05"},    // the text: May 1997
		{"2276", "December 1997", "1998-01"}, // the text: January 1998
		{"2555", "April 1999", "1999-04"},
		{"2648", "July 1999", "1999-08"},    // the text: August 1999
		{"4291", "January 2006", "2006-02"}, // the text: February 2006
		{"4340", "March 2006", "2006-03"},
		{"4041", "1 April 2005", "2005-04"},
		{"8141", "April 2017", "2017-04"}, // the text: April 2017
	} {
		got, err := month(c.number, c.date)
		if err != nil || got != c.want {
			t.Errorf("month(%s, %q) = %q, %v; want %q", c.number, c.date, got, err, c.want)
		}
	}
	for _, in := range []string{"", "1969", "Avril 1969"} {
		if got, err := month("1", in); err == nil {
			t.Errorf("month(%q) = %q, want an error", in, got)
		}
	}
}
