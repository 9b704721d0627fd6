package bench

import (
	"bufio"
	"os"
	"testing"

	leodido "github.com/leodido/go-urn"

	"github.com/nomen-project/nomen/urn"
)

// urns returns URNs as they were met, and their length together; without the
// list, one of 33 bytes.
func urns(b *testing.B) (names []string, size int64) {
	b.Helper()
	names, size = []string{"urn:ietf:params:xml:ns:xmpp-sasl1"}, 33
	f, err := os.Open("../../shared/data/urns/urns-real.txt")
	if err != nil {
		b.Log("the list of URNs is not here: ", err)
		return names, size
	}
	defer f.Close()
	names, size = names[:0], 0
	for scan := bufio.NewScanner(f); scan.Scan(); {
		names = append(names, scan.Text())
		size += int64(len(scan.Text()))
	}
	return names, size
}

// urnLibraries are the libraries, and what of theirs is measured.
func urnLibraries() []struct {
	name string
	f    func([]byte, string)
} {
	machine := leodido.NewMachine(leodido.WithParsingMode(leodido.RFC8141Only))
	return []struct {
		name string
		f    func([]byte, string)
	}{
		{"urn.Parse", func(_ []byte, s string) { _, _ = urn.Parse(s) }},
		{"go-urn.Parse", func(b []byte, _ string) { _, _ = leodido.Parse(b, leodido.WithParsingMode(leodido.RFC8141Only)) }},
		{"go-urn.Machine", func(b []byte, _ string) { _, _ = machine.Parse(b) }},
		{"urn.ParseCanonical", func(_ []byte, s string) {
			u, _ := urn.Parse(s)
			_ = u.Canonical()
		}},
		{"go-urn.ParseNormalize", func(b []byte, _ string) {
			if u, ok := leodido.Parse(b, leodido.WithParsingMode(leodido.RFC8141Only)); ok {
				_ = u.Normalize()
			}
		}},
	}
}

// Where the two disagree, RFC 8141 says what urn does: an escape has two hex
// digits (2, RFC 3986 2.1), a component is not empty (2), and "?" inside one is
// data (2.3.1, 2.3.2).
func TestURNDifferences(t *testing.T) {
	for s, want := range map[string]bool{
		"urn:example:a%zz":     false,
		"urn:example:a?+r?=":   false,
		"urn:example:a?=q?=s":  true,
		"urn:example:a?+r?+s":  true,
		"urn:example:a?+r?=q#": true,
	} {
		_, err := urn.Parse(s)
		_, theirs := leodido.Parse([]byte(s), leodido.WithParsingMode(leodido.RFC8141Only))
		if got := err == nil; got != want {
			t.Errorf("%q: urn %v, want %v", s, got, want)
		}
		t.Logf("%q: urn %v, go-urn %v", s, want, theirs)
	}
}

// BenchmarkURN reads one name of 33 bytes.
func BenchmarkURN(b *testing.B) {
	const s = "urn:ietf:params:xml:ns:xmpp-sasl1"
	for _, lib := range urnLibraries() {
		b.Run(lib.name, func(b *testing.B) {
			in := []byte(s)
			b.ReportAllocs()
			for b.Loop() {
				lib.f(in, s)
			}
		})
	}
}

// BenchmarkURNs reads the names that were met.
func BenchmarkURNs(b *testing.B) {
	names, size := urns(b)
	bytes := make([][]byte, len(names))
	for i, s := range names {
		bytes[i] = []byte(s)
	}
	for _, lib := range urnLibraries() {
		b.Run(lib.name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for i, s := range names {
					lib.f(bytes[i], s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(names)), "ns/name")
		})
	}
}
