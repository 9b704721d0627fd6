package fetch

import "testing"

// TestHosts checks that a host is the one that package iri shows, and that nothing changes it
// later.
func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		host, want string // "" for an error
	}{
		{"example.org", "example.org"},
		{"EXAMPLE.org", "EXAMPLE.org"},
		{"::1", "::1"},
		{"r3---sn-abc.example", "r3---sn-abc.example"},
		{"b\u00FCcher.example", "xn--bcher-kva.example"},
		{"r3---sn-\u00FC.example", "xn--r3---sn--e6a.example"},
		{"stra\u00DFe.example", "xn--strae-oqa.example"},
		{"stra\u1E9Ee.example", "xn--strae-oqa.example"},
		{"\uFF11\uFF12\uFF17.0.0.1", "127.0.0.1"},
		{"\u00AD", ""},
		{"\u00AD.example", ""},
		{"\u2100.example", ""},
		{"bank.example\uFF0Flogin.evil.test", ""},
		{"host\u2A74" + "80", ""},
	} {
		if got, err := toASCII(tt.host); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%q: %q, %v, want %q", tt.host, got, err, tt.want)
		}
	}
}
