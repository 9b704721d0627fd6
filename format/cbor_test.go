package format

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// The octets of a small answer, assembled by hand from RFC 8949: a map of eight, with the keys
// sorted by their encoding (shorter first).
func TestCBOROctets(t *testing.T) {
	a := &nomen.Answer{Name: name.MustParse("urn:x-y:z"), Status: nomen.Active, Revision: 300}
	octets := strings.Join([]string{
		"a8",
		"646e616d65", "6975726e3a782d793a7a", // "name": "urn:x-y:z"
		"66726561736f6e", "60", // "reason": ""
		"66737461747573", "66616374697665", // "status": "active"
		"6773616d655f6173", "80", // "same_as": []
		"686d65746164617461", "a0", // "metadata": {}
		"687265766973696f6e", "19012c", // "revision": 300
		"696c6f636174696f6e73", "80", // "locations": []
		"6a737563636573736f7273", "80", // "successors": []
	}, "")
	if got := hex.EncodeToString([]byte(written(t, writeCBOR, a))); got != octets {
		t.Errorf("Y95-76: got %s, want %s", got, octets)
	}
}

// Equal answers are equal octets, however their maps were built.
func TestCBORIsDeterministic(t *testing.T) {
	want := written(t, writeCBOR, rich())
	for range 20 {
		a := rich()
		keys := slices.Sorted(maps.Keys(a.Metadata))
		m := nomen.Metadata{}
		for i := range keys {
			k := keys[len(keys)-1-i]
			m[k] = a.Metadata[k]
		}
		a.Metadata = m
		if got := written(t, writeCBOR, a); got != want {
			t.Fatalf("Y95-76: got %x, want %x", got, want)
		}
	}
	other := rich()
	other.Revision++
	if written(t, writeCBOR, other) == want {
		t.Error("Y95-76: two revisions are the same octets")
	}
}

// Input that is not an answer returns an error, without a panic.
func TestReadCBORRefuses(t *testing.T) {
	for _, in := range []string{
		"", "ff", "a1", "a161", "80", "00", "f6f6", // empty, malformed, truncated, not a map, trailing data
		"a2646e616d6560646e616d6560",                 // a key twice
		"a1687265766973696f6ec249010000000000000000", // a tag
		"a1626e6162c328",                             // not UTF-8
		"bf646e616d6560ff",                           // an indefinite length
		"a10000",                                     // a key that is not text
		strings.Repeat("81", 100) + "80",             // too deep
		"5a7fffffff00", "9a7fffffff",                 // longer than the input
		"a1687265766973696f6e20",   // a revision below zero
		"a1696c6f636174696f6e73a0", // not a list
	} {
		b, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(in, err)
		}
		if a, err := readCBOR(strings.NewReader(string(b)), nomen.I2C); err == nil {
			t.Errorf("%s: got %+v", in, a)
		}
	}
	if _, err := readCBOR(strings.NewReader(strings.Repeat("a", maxSize+1)), nomen.I2C); !isRule(err, "size") {
		t.Errorf("too long: %v", err)
	}
}

func FuzzCBOR(f *testing.F) {
	for _, a := range shapes() {
		f.Add([]byte(written(f, writeCBOR, a)))
	}
	f.Fuzz(func(t *testing.T, body []byte) { settles(t, "cbor", body) })
}
