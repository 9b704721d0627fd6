package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// TestFresh compares the committed table with what the range message gives.
func TestFresh(t *testing.T) {
	text, _ := testrun.Corpus(t, "isbn/isbn-ranges.json")
	got, err := generate(text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../isbn.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("isbn.tsv is stale: run go generate ./namespace")
	}
}

func TestGenerate(t *testing.T) {
	got, err := generate([]byte(`{"date":"today","groups":{
		"979-8":{"name":"Here","ranges":[["200","229"]]},
		"978-99":{"name":"There","ranges":[["0","4"],["50","99"]]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "# International ISBN Agency, RangeMessage of today; written by go generate.\n" +
		"97899\tThere\t0-4 50-99\n9798\tHere\t200-229\n"
	if string(got) != want {
		t.Errorf("generate: got %q, want %q", got, want)
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, text := range []string{
		`{`,
		`{"groups":{"978-0":{"ranges":[["0","99"]]}}}`,
		`{"groups":{"978-0":{"ranges":[["",""]]}}}`,
		`{"groups":{"978-0":{"ranges":[["x","y"]]}}}`,
		`{"groups":{"978-0":{"ranges":[["00000000","00000001"]]}}}`,
	} {
		if _, err := generate([]byte(text)); err == nil {
			t.Errorf("generate(%s): no error", text)
		}
	}
}
