package extract

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/nomen-project/nomen/urn"
)

// spellings returns the spellings found in a text.
func spellings(text string, o Options) []string {
	list := []string{}
	for f := range Bytes([]byte(text), o) {
		list = append(list, f.Spelling)
	}
	return list
}

func TestVectors(t *testing.T) {
	type vector struct {
		ID, Dialect, Text string
		Expect            []string
		Candidates        [][]string
	}
	data, err := os.ReadFile("../docs/spec/vectors/extract.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		t.Run(v.ID, func(t *testing.T) {
			var o Options
			switch v.Dialect {
			case "1995":
				o.URN = urn.Draft1995
			case "2012":
				o.URN = urn.Draft2012
			}
			got, candidates := []string{}, [][]string(nil)
			for f := range Bytes([]byte(v.Text), o) {
				if f.Other != "" {
					candidates = append(candidates, []string{f.Spelling, f.Other})
				} else {
					got = append(got, f.Spelling)
				}
			}
			if !slices.Equal(got, v.Expect) {
				t.Errorf("found %q, want %q", got, v.Expect)
			}
			if !slices.EqualFunc(candidates, v.Candidates, slices.Equal) {
				t.Errorf("candidates %q, want %q", candidates, v.Candidates)
			}
		})
	}
	if len(file.Vectors) < 27 {
		t.Errorf("%d vectors, want 27 or more", len(file.Vectors))
	}
}
