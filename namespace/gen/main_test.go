package main

import (
	"bytes"
	"os"
	"strings"
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
	want, err := os.ReadFile("../zisbn.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("zisbn.go is stale: run go generate ./namespace")
	}
}

func TestGenerate(t *testing.T) {
	got, err := generate([]byte(`{"date":"today","groups":{
		"979-8":{"name":"Here","ranges":[["200","229"]]},
		"978-99":{"name":"There","ranges":[["0","4"],["50","99"]]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"97899", "There", 0, 2},`, `{"9798", "Here", 2, 3},`,
		"{0, 4999999, 1}, {5000000, 9999999, 2}, {2000000, 2299999, 3},", "RangeMessage of today.",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("generate: no %q in\n%s", want, got)
		}
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
