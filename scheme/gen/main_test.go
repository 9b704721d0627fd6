package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// TestFresh checks that the committed table is what the generator produces.
func TestFresh(t *testing.T) {
	text, _ := testrun.Corpus(t, "iana/uri-schemes.tsv")
	got, err := generate(string(text))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../schemes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("schemes.tsv is stale: run go generate ./scheme")
	}
}

const header = "scheme\tstatus\tdescription\treference\ttemplate\n"

func TestGenerate(t *testing.T) {
	got, err := generate(header +
		"Zed (OBSOLETE)\tHistorical\told one\tRFC 1\t\n" +
		"ay\tPermanent\t(see reviewer notes)\tRFC 2\thttps://t.example/\n" +
		"bee\tProvisional\tbee. It hums. (see reviewer notes)\tVendor\t\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "# IANA, Uniform Resource Identifier (URI) Schemes; written by go generate.\n" +
		"ay\tpermanent\tay\tRFC 2\thttps://t.example/\n" +
		"bee\tprovisional\tbee\tVendor\t\n" +
		"zed\thistorical\told one (obsolete)\tRFC 1\t\n"
	if string(got) != want {
		t.Errorf("generate: got %q, want %q", got, want)
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, text := range []string{
		"", "scheme\n", header,
		header + "a\tPermanent\n",
		header + "a\tGone\td\tr\t\n",
		header + "a\tPermanent\td\tr\t\nA\tPermanent\td\tr\t\n",
	} {
		if _, err := generate(text); err == nil {
			t.Errorf("generate(%q): no error", text)
		}
	}
}
