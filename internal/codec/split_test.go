package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A splitVector is a line of testdata/values.v3.txt, which another program has computed: a value,
// and its private hash and digest with the salt 00 01 ... 0f.
type splitVector struct {
	what, value         string
	privateHash, digest [32]byte
}

func splitVectors(t testing.TB) (all []splitVector) {
	text, err := os.ReadFile("testdata/values.v3.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var part [3][]byte
		f := strings.Fields(line)
		for i := range part {
			if part[i], err = hex.DecodeString(f[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, splitVector{f[0], string(part[0]), [32]byte(part[1]), [32]byte(part[2])})
	}
	return all
}

// TestSplitDigests checks that split digests never change. The hashes are computed here as
// docs/reference/files.md describes them, from the bytes alone.
func TestSplitDigests(t *testing.T) {
	var salt [store.SaltSize]byte
	for i := range salt {
		salt[i] = byte(i)
	}
	vectors, samples := splitVectors(t), samples3(t)
	if len(vectors) != len(samples) {
		t.Errorf("%d vectors, want %d", len(vectors), len(samples))
	}
	for _, v := range vectors {
		c := samples[v.what]
		value := Append(nil, c)
		if string(value) != v.value {
			t.Errorf("%s: the value is %x, want %x", v.what, value, v.value)
		}
		if got := Digest(salt, value); got != v.digest {
			t.Errorf("%s: the digest is %x, want %x", v.what, got, v.digest)
		}
		public, private, ok := SplitValue(value)
		privateHash := sha256.Sum256(slices.Concat(salt[:], private))
		digest := sha256.Sum256(slices.Concat([]byte("nomen/digest/v2\n"), public, privateHash[:]))
		if !ok || privateHash != v.privateHash || digest != v.digest || PublicDigest(public, privateHash) != v.digest {
			t.Errorf("%s: private hash %x and digest %x, want %x and %x", v.what, privateHash, digest, v.privateHash, v.digest)
		}
	}
}

// TestPublicPart checks that the public part of a value has the public content, and nothing else.
func TestPublicPart(t *testing.T) {
	for what, c := range samples3(t) {
		public, private, ok := SplitValue(Append(nil, c))
		if !ok {
			t.Errorf("%s: the value is not split", what)
			continue
		}
		for _, secret := range []string{"archive", "moved", "b-1", "AP8=", "1100", "rfc2648.txt"} {
			if bytes.Contains(public, []byte(secret)) {
				t.Errorf("%s: the public part has %q: %q", what, secret, public)
			}
		}
		got, err := DecodePublic(c.Subject(), public)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		want := c.Clone()
		want.Who, want.Batch = "", ""
		if what != "redacting" {
			want.Why = ""
		}
		if what == "tombstone" || what == "view" {
			want.Record.Locations = nil
		}
		want.Record.Values = nomen.PublicValues(want.Record.Values)
		if diff := cmp.Diff(got, want, compareNames); diff != "" {
			t.Errorf("%s: (-got +want)\n%s", what, diff)
		}
		if c, err := DecodePublic(c.Subject(), Append(nil, c)); err == nil {
			t.Errorf("%s: the whole value as the public part: %+v, want an error", what, c)
		}
		for n := range public {
			if c, err := DecodePublic(c.Subject(), public[:n]); err == nil {
				t.Errorf("%s: %d bytes of the public part: %+v, want an error", what, n, c)
			}
		}
		if len(private) == 0 {
			t.Errorf("%s: no private part", what)
		}
	}
	if c, err := DecodePublic(store.Subject{Kind: store.KindName, Key: "urn:x-a:b"}, Append(nil, samples(t)["bare"])); err == nil {
		t.Errorf("a value that is not split: %+v, want an error", c)
	}
}

// TestSplitRefuses checks that a split value has only one spelling.
func TestSplitRefuses(t *testing.T) {
	const head = "\x03R\x00\x02"
	for what, value := range map[string]string{
		"no private part":                   head + "\x00\x00\x00\x00\x00",
		"empty mask":                        head + "\x00\x01\x00\x00\x00\x00",
		"private part too long":             head + "\x00\x7f\x01\x01a\x00\x00\x00",
		"author in the public part":         head + "\x00\x03\x01\x01a\x01\x01b\x00\x00",
		"reason in the public part":         head + "\x00\x03\x01\x01a\x08\x01b\x00\x00",
		"batch in the public part":          head + "\x00\x03\x01\x01a\x80\x01\x01b\x00\x00",
		"bytes after the private part":      head + "\x00\x04\x01\x01a\x00\x00\x00\x00",
		"unknown private field":             head + "\x00\x02\x20\x00\x00\x00\x00",
		"hidden locations of an active one": head + "\x00\x05\x11\x01a\x01\x00\x00\x00\x00",
		"redacted":                          head + "\x02\x03\x01\x01a\x00\x00\x00",
		"unknown parts":                     head + "\x04\x03\x01\x01a\x00\x00\x00",
		"public value in the private part":  head + "\x00\x04\x08\x01\x01\x02\x00\x00\x00",
		"deletion":                          "\x03D\x00\x02\x00\x03\x01\x01a\x00",
		"retired, locations in both parts":  "\x03X\x00\x02\x00\x07\x10\x01\x03u:1\x00\x00\x01\x03u:2\x00\x00",
		"retired, locations not hidden":     "\x03X\x00\x02\x00\x03\x01\x01a\x00\x01\x03u:2\x00\x00",
	} {
		refuse(t, what, store.Subject{Kind: store.KindName, Key: "a"}, []byte(value))
	}
	refuse(t, "authority", store.Subject{Kind: store.KindAuthority, Key: "a"}, []byte("\x03A\x00\x02\x00\x03\x01\x01a\x00"))
	one := &store.Change{Record: &store.Record{Name: name.FromKey("a"), Status: nomen.Active}, Split: true}
	if got := Append(nil, one); got[0] != version1 {
		t.Errorf("a change without private content has the version %d, want 1", got[0])
	}
}

func TestSplitAllocs(t *testing.T) {
	c := samples3(t)["batched"]
	e := &store.Entry{Seq: 1, Change: c}
	value := make([]byte, 0, 4096)
	got := testing.AllocsPerRun(100, func() {
		value = Append(value[:0], c)
		e.Digest = Digest(e.Salt, value)
	})
	if got != 0 {
		t.Errorf("value and split digest: %v allocations, want none", got)
	}
}

// FuzzDecodePublic checks that the public part of a value has only one spelling, and that it is
// never taken for more.
func FuzzDecodePublic(f *testing.F) {
	for _, v := range splitVectors(f) {
		public, _, _ := SplitValue([]byte(v.value))
		f.Add(public)
	}
	f.Fuzz(func(t *testing.T, public []byte) {
		c, err := DecodePublic(store.Subject{Kind: store.KindName, Key: "urn:x-a:b"}, public)
		if err != nil {
			return
		}
		c.Who = "someone"
		again, private, ok := SplitValue(Append(nil, c))
		if !ok || !bytes.Equal(again, public) || len(private) == 0 {
			t.Errorf("DecodePublic(%x) took what is written as\n%x", public, again)
		}
	})
}

// BenchmarkSealSplit is like BenchmarkSeal, with an author and a split digest.
func BenchmarkSealSplit(b *testing.B) {
	e := &store.Entry{Seq: 1, Change: samples(b)["typical"]}
	e.Change.Batch = "01JD8Z7G3V"
	for what, split := range map[string]bool{"one": false, "two": true} {
		b.Run(what, func(b *testing.B) {
			e.Change.Split = split
			var value, leaf []byte
			b.ReportAllocs()
			for b.Loop() {
				value = Append(value[:0], e.Change)
				e.Digest = Digest(e.Salt, value)
				leaf = AppendLeaf(leaf[:0], e)
			}
		})
	}
}
