package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/store"
)

// entry returns the first change of urn:x-a:b, with the number 300 in the log.
func entry(t testing.TB) *store.Entry {
	e := &store.Entry{Seq: 300, Change: samples(t)["bare"]}
	for i := range e.Salt {
		e.Salt[i] = byte(i)
	}
	e.Digest = Digest(e.Salt, Append(nil, e.Change))
	return e
}

// redact returns the entry e after its redaction.
func redact(e *store.Entry) *store.Entry {
	return &store.Entry{Seq: e.Seq, Change: e.Change.Redact(), Digest: e.Digest}
}

// TestEntries checks that the bytes that are hashed never change, because a head must stay the same
// for ever. The expected bytes were computed by hand and with another program.
func TestEntries(t *testing.T) {
	text, err := os.ReadFile("testdata/entries.v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	e := entry(t)
	user := &store.Entry{Seq: 1, Change: samples(t)["user"], Salt: e.Salt}
	user.Digest = Digest(user.Salt, Append(nil, user.Change))
	rights := &store.Entry{Seq: 1, Change: samples(t)["rights"], Salt: e.Salt}
	rights.Digest = Digest(rights.Salt, Append(nil, rights.Change))
	for what, got := range map[string][]byte{
		"entry":          AppendEntry(nil, e),
		"leaf":           AppendLeaf(nil, e),
		"redacted":       AppendEntry(nil, redact(e)),
		"user-leaf":      AppendLeaf(nil, user),
		"rights-leaf":    AppendLeaf(nil, rights),
		"redaction-leaf": AppendLeaf(nil, &store.Entry{Change: samples2(t)["redaction"]}),
	} {
		if line := what + " " + hex.EncodeToString(got) + "\n"; !strings.Contains("\n"+string(text), "\n"+line) {
			t.Errorf("testdata/entries.v1.txt does not have\n%s", line)
		}
	}
	if got, want := AppendLeaf(nil, redact(e)), AppendLeaf(nil, e); !bytes.Equal(got, want) {
		t.Errorf("leaf after the redaction:\n%x, before it\n%x", got, want)
	}
}

func TestEntriesRoundTrip(t *testing.T) {
	for what, c := range allSamples(t) {
		if c.Token != nil {
			continue
		}
		e := &store.Entry{Seq: 1 << 40, Change: c, Digest: [32]byte{1, 31: 2}}
		if !c.Redacted {
			e.Salt = [16]byte{3, 15: 4}
			e.Digest = Digest(e.Salt, Append(nil, c))
		}
		value := AppendEntry(nil, e)
		got, err := DecodeEntry(c.Subject(), value)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(got, e, compareNames); diff != "" {
			t.Errorf("%s: (-got +want)\n%s", what, diff)
		}
		change, err := DecodeEntryChange(c.Subject(), value)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(change, c, compareNames); diff != "" {
			t.Errorf("%s, the change alone: (-got +want)\n%s", what, diff)
		}
		for n := range value {
			refuseEntry(t, what, c.Subject(), value[:n])
		}
		refuseEntry(t, what, c.Subject(), append(bytes.Clone(value), 0))
	}
	bare := Append(nil, samples(t)["bare"])
	refuseEntry(t, "no place", samples(t)["bare"].Subject(), append(append(bare, 0), make([]byte, 16)...))
	token := samples(t)["token"]
	refuseEntry(t, "a token", token.Subject(), AppendEntry(nil, &store.Entry{Seq: 1, Change: token}))
}

// TestStoredLeaf checks that the leaf of a stored entry is the leaf of the decoded entry. For a
// value of another position, a truncated value and a value that must be decoded, there must be no
// leaf.
func TestStoredLeaf(t *testing.T) {
	for what, c := range allSamples(t) {
		if c.Token != nil {
			continue
		}
		e := &store.Entry{Seq: 300, Change: c, Salt: [store.SaltSize]byte{3, 15: 4}}
		if !c.Redacted {
			e.Digest = Digest(e.Salt, Append(nil, c))
		}
		p := Position{c.Subject(), e.Seq, c.Revision(), c.Time}
		value := AppendEntry(nil, e)
		if got := RevisionOf(value); got != c.Revision() {
			t.Errorf("%s: revision %d, want %d", what, got, c.Revision())
		}
		leaf, ok := AppendStoredLeaf([]byte("x"), p, value)
		if want := AppendLeaf([]byte("x"), e); ok && !bytes.Equal(leaf, want) {
			t.Errorf("%s: leaf %x, want %x", what, leaf, want)
		}
		if decode := c.Redacted || len(c.Redacts) > 0; ok == decode {
			t.Errorf("%s: a leaf without decoding: %t, want %t", what, ok, !decode)
		}
		for n := range value {
			if _, ok := AppendStoredLeaf(nil, p, value[:n]); ok {
				t.Errorf("%s: a leaf of the first %d bytes", what, n)
			}
		}
		for field, p := range map[string]Position{
			"number":   {p.Subject, p.Seq + 1, p.Revision, p.Time},
			"revision": {p.Subject, p.Seq, p.Revision + 1, p.Time},
			"time":     {p.Subject, p.Seq, p.Revision, p.Time.Add(time.Millisecond)},
		} {
			if _, ok := AppendStoredLeaf(nil, p, value); ok {
				t.Errorf("%s: a leaf at a position with another %s", what, field)
			}
		}
	}
	for _, short := range [][]byte{nil, {version1}, {version1, 'A'}, {version1, 'A', 0x80}, append([]byte{version1, 'A'}, bytes.Repeat([]byte{0xff}, 10)...)} {
		if got := RevisionOf(short); got != 0 {
			t.Errorf("%x: revision %d, want none", short, got)
		}
	}
}

func refuseEntry(t *testing.T, what string, s store.Subject, value []byte) {
	t.Helper()
	var got *CorruptError
	if e, err := DecodeEntry(s, value); e != nil || !errors.As(err, &got) || got.Key != s.Key || got.Reason == "" {
		t.Errorf("%s: DecodeEntry(%x): %+v, %v, want a CorruptError", what, value, e, err)
	}
	if c, err := DecodeEntryChange(s, value); c != nil || !errors.As(err, &got) {
		t.Errorf("%s: DecodeEntryChange(%x): %+v, %v, want a CorruptError", what, value, c, err)
	}
}

// TestDigest checks the digests of short and long values.
func TestDigest(t *testing.T) {
	salt := [16]byte{7, 15: 9}
	for _, n := range []int{0, 1, digestBuffer - 17, digestBuffer - 16, digestBuffer - 15, 1 << 20} {
		value := bytes.Repeat([]byte{'x'}, n)
		if got, want := Digest(salt, value), sha256.Sum256(append(salt[:], value...)); got != want {
			t.Errorf("Digest of %d bytes: %x, want %x", n, got, want)
		}
	}
}

func TestSealingAllocs(t *testing.T) {
	e := entry(t)
	value, leaf := Append(nil, e.Change), make([]byte, 0, 4096)
	got := testing.AllocsPerRun(100, func() {
		e.Digest = Digest(e.Salt, value)
		leaf = AppendLeaf(leaf[:0], e)
	})
	if got != 0 {
		t.Errorf("digest and leaf of an entry: %v allocations, want none", got)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(false, AppendEntry(nil, entry(f)))
	f.Add(false, AppendEntry(nil, redact(entry(f))))
	f.Add(true, AppendEntry(nil, &store.Entry{Seq: 1, Change: samples(f)["authority"]}))
	f.Fuzz(func(t *testing.T, authority bool, value []byte) {
		s := store.Subject{Kind: store.KindName, Key: "urn:x-a:b"}
		if authority {
			s.Kind = store.KindAuthority
		}
		e, err := DecodeEntry(s, value)
		if err != nil {
			return
		}
		if again := AppendEntry(nil, e); !bytes.Equal(again, value) {
			t.Errorf("DecodeEntry(%x) took what is written as\n%x", value, again)
		}
		if e.Seq == 0 || e.Digest == [32]byte{} || e.Change.Subject() != s {
			t.Errorf("DecodeEntry(%x): %+v", value, e)
		}
	})
}

// BenchmarkSeal measures the processor time that the history and the log take for a change, without
// the tree.
func BenchmarkSeal(b *testing.B) {
	e := &store.Entry{Seq: 1, Change: samples(b)["typical"]}
	var value, leaf []byte
	b.ReportAllocs()
	for b.Loop() {
		value = Append(value[:0], e.Change)
		e.Digest = Digest(e.Salt, value)
		leaf = AppendLeaf(leaf[:0], e)
	}
}

func BenchmarkEncode(b *testing.B) {
	c := samples(b)["typical"]
	var value []byte
	b.ReportAllocs()
	for b.Loop() {
		value = Append(value[:0], c)
	}
}
