package pebblestore

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// TestStampOrder checks that later changes come first in the history.
func TestStampOrder(t *testing.T) {
	var last []byte
	for _, ms := range []int64{int64(253402300799999), 1, 0, -1, minMillis} {
		for _, revision := range []uint64{math.MaxUint64, 256, 255, 1, 0} {
			stamp := appendStamp(nil, fromMillis(ms), revision)
			if len(stamp) != stampSize || last != nil && bytes.Compare(last, stamp) >= 0 {
				t.Errorf("stamp of %d, %d: %x, not after %x", ms, revision, stamp, last)
			}
			last = stamp
		}
	}
}

func TestSuccessor(t *testing.T) {
	for prefix, want := range map[string]string{
		"n":             "o",
		"na":            "nb",
		"n\xfe":         "n\xff",
		"n\xff":         "o",
		"n\xc3\xff\xff": "n\xc4",
		"n\xef\xbf\xbd": "n\xef\xbf\xbe",
		"n\x80\xff":     "n\x81",
		"n\xff\xff\x00": "n\xff\xff\x01",
		"n\xff\xff\xff": "o",
		"n\xed\xa0\x80": "n\xed\xa0\x81",
	} {
		if got := string(successor([]byte(prefix))); got != want {
			t.Errorf("successor(%q): %q, want %q", prefix, got, want)
		}
	}
}

// TestPlaceOrder checks that the index has locations in the order of their bytes, whatever bytes
// they contain, and returns them unchanged.
func TestPlaceOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(what string) store.Place {
			url := rapid.StringOfN(rapid.SampledFrom([]rune("\x00\x01\u00ffab")), 0, 5, -1).Draw(r, what+" url")
			return store.Place{URL: url, Name: name.FromKey(rapid.StringMatching("[!a~]{1,3}").Draw(r, what+" key"))}
		}
		a, b := draw("first"), draw("second")
		ka, kb := appendPlace(nil, a), appendPlace(nil, b)
		if got, want := bytes.Compare(ka, kb), a.Compare(b); got != want {
			r.Fatalf("%q and %q: order of keys %d, want %d", a, b, got, want)
		}
		if p, err := parsePlace(ka); err != nil || p != a {
			r.Fatalf("parsePlace of %q: %q, %v", a, p, err)
		}
		if got, want := bytes.HasPrefix(ka, appendEscaped([]byte{spaceLocation}, b.URL)), strings.HasPrefix(a.URL, b.URL); got != want {
			r.Fatalf("%q begins with %q: %t by the keys, want %t", a.URL, b.URL, got, want)
		}
	})
	for _, bad := range []string{"l", "la", "la\x00", "la\x00\x00", "la\x00\x01b", "n", "la\x00\x00b\x00"} {
		if p, err := parsePlace([]byte(bad)); !errors.As(err, new(*codec.CorruptError)) {
			t.Errorf("parsePlace(%q): %q, %v, want a CorruptError", bad, p, err)
		}
	}
}

// TestRows checks that each row of the log has exactly one encoding.
func TestRows(t *testing.T) {
	row := &logRow{seq: 7, subject: store.Subject{Kind: store.KindName, Key: "urn:x-a:b"}, revision: 300, time: fromMillis(-5), mark: [markSize]byte{1, 2, 3, 4}}
	value := row.append(nil)
	got, err := parseRow(appendSeq(nil, 7), value)
	if err != nil || got.seq != row.seq || got.subject != row.subject || got.revision != row.revision || !got.time.Equal(row.time) || got.mark != row.mark {
		t.Errorf("parseRow: %+v, %v, want %+v", got, err, row)
	}
	for n := range value {
		if got, err := parseRow(appendSeq(nil, 7), value[:n]); !errors.As(err, new(*codec.CorruptError)) {
			t.Errorf("parseRow of %x: %+v, %v, want a CorruptError", value[:n], got, err)
		}
	}
	for what, bad := range map[string][]byte{
		"more":        append(slices.Clone(value), 0),
		"a token":     append([]byte("\x01\x02\x03\x04t"), value[5:]...),
		"revision 0":  []byte("\x01\x02\x03\x04na\x00\x00\x02"),
		"no such one": []byte("\x01\x02\x03\x04na\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02"),
		"long number": []byte("\x01\x02\x03\x04na\x00\x81\x00\x02"),
	} {
		if got, err := parseRow(appendSeq(nil, 7), bad); !errors.As(err, new(*codec.CorruptError)) {
			t.Errorf("%s: parseRow: %+v, %v, want a CorruptError", what, got, err)
		}
	}
}
