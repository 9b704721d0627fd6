package main

import (
	"strings"
	"testing"
)

// TestConfigErrors: all errors of a file are reported at once, each with its place.
func TestConfigErrors(t *testing.T) {
	known := knownOptions((&cli{}).root())
	known["sample.every"], known["sample.to"] = true, true
	for _, c := range []struct{ name, text, want string }{
		{"syntax", "listen = = 1\n", `f:1:10: `},
		{"unknown key", "\nlistn = 4500\n", `f:2:1: unknown key "listn"; did you mean "listen"?`},
		{"unknown table", "[nothing]\nlike = 1\n", `f:1:2: unknown key "nothing"`},
		{"several", "listn = 1\nhots = 2\nstore = {a = 1}\n", "f:1:1: unknown key \"listn\"; did you mean \"listen\"?\nf:2:1: unknown key \"hots\"; did you mean \"host\"?\nf:3:9: store: expected a string, a number, true or false, or a list of these"},
		{"types in tables", "[[authority]]\nprefix = \"urn:x-a\"\nowners = 3\nlist = 4\n[[authority]]\nmax_age = \"x\"\n", "f:3:10: authority.owners cannot be an integer\nf:4:8: authority.list cannot be an integer\nf:6:11: authority.max_age cannot be a string"},
		{"options and tables", "json = []\njsn = 1\n[[authority]]\nprefix = \"urn:x-a\"\nownrs = []\n", "f:2:1: unknown key \"jsn\"; did you mean \"json\"?\nf:5:1: unknown key \"authority.ownrs\""},
		{"prefix", "[[authority]]\nprefix = \"urn:x-a\"\n[[authority]]\nlist = true\n", "f:3:3: authority 2: prefix is missing"},
		{"invalid prefix", "[[authority]]\n  prefix = \"??\"\n", `f:2:12: `},
		{"table of options", "[sample]\nevery = \"1h\"\nevry = 1\n", `f:3:1: unknown key "sample.evry"; did you mean "sample.every"?`},
		{"no table", "sample = 3\n", "f:1:10: sample: must be a table"},
		{"inline", "authority = [{prefix = \"urn:x-a\", ownrs = []}]\n", `f:1:35: unknown key "ownrs"`},
	} {
		_, err := parseConfig("f", []byte(c.text), known)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
}

// TestConfigPlaces checks the line and column of each value.
func TestConfigPlaces(t *testing.T) {
	const text = `listen = 4500 # a comment
trusted-proxy = [
  "10.0.0.0/8",
  "bad",
]
[sample]
to = "/x"

[[authority]]
prefix = "urn:x-a"
[[authority.rules]]
match = "a"
[[authority.rules]]
match = "b"
locations = [{url = "https://a.example/"}, { url = "https://b.example/" }]
[[authority]]
prefix = "urn:x-b"
delegation = {mode = "ask"}
`
	known := knownOptions((&cli{}).root())
	known["sample.to"] = true
	f, err := parseConfig("f", []byte(text), known)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]filePlace{
		"listen": {1, 10}, "trusted-proxy": {2, 17}, "trusted-proxy.2": {4, 3}, "sample.to": {7, 6},
		"authority.1.prefix": {10, 10}, "authority.1.rules.1": {11, 3}, "authority.1.rules.2.match": {14, 9},
		"authority.1.rules.2.locations.2.url": {15, 52}, "authority.1.contact": {9, 3},
		"authority.2": {16, 3}, "authority.2.delegation.mode": {18, 22}, "unknown": {},
	} {
		if got := f.place(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if got, want := len(f.tables.Authority), 2; got != want {
		t.Errorf("%d authorities, want %d", got, want)
	}
}

// TestPortNumbers: a number where an address is expected is a port. The admin listener stays
// private.
func TestPortNumbers(t *testing.T) {
	var public, admin string
	for _, c := range []struct{ text, public, admin string }{
		{"4500", ":4500", "127.0.0.1:4500"},
		{":80", ":80", ":80"},
		{"[::1]:80", "[::1]:80", "[::1]:80"},
		{"host", "host", "host"},
		{"70000", "70000", "70000"},
	} {
		if err := newAddress(&public, "", "").Set(c.text); err != nil || public != c.public {
			t.Errorf("listen %q: got %q, %v; want %q", c.text, public, err, c.public)
		}
		if err := newAddress(&admin, "", "127.0.0.1").Set(c.text); err != nil || admin != c.admin {
			t.Errorf("admin %q: got %q, %v; want %q", c.text, admin, err, c.admin)
		}
	}
}
