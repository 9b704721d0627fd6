package store_test

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/store"
)

func TestDecodeText(t *testing.T) {
	for text, want := range map[string]string{
		`{"prefix": "urn:x-a", "max_age": 3}`: "",
		"{\"prefix\": \"urn:x-a\"}\n\n":       "",
		"{\n  \"max_age\": \"x\"\n}":          "line 2, column 16: max_age cannot be a string",
		`[]`:                                  "line 1, column 1: the value cannot be an array",
		`{"list": 1}`:                         "line 1, column 10: list cannot be a number",
		`{"max_age": true}`:                   "line 1, column 16: max_age cannot be true or false",
		"{\"owners\": [\n\n  x]}":             "line 3, column 3: invalid character 'x'",
		`{"no": 1}`:                           `unknown field "no"`,
		`{} {}`:                               "unexpected text after the value",
		"":                                    "line 1, column 1: EOF",
		`{"prefix": `:                         "unexpected EOF",
		`{"prefix": "urn:x-a", "delegation": {"to": 1}}`: "delegation.to cannot be a number",
	} {
		err := store.DecodeText([]byte(text), &store.Authority{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), "line ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
