package receipt_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/mod/sumdb/note"
	xtlog "golang.org/x/mod/sumdb/tlog"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/receipt"
)

// newLog returns the keys of a log.
func newLog(t *testing.T) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := tlog.GenerateKey(rand.Reader, "names.example.org/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := tlog.NewSigner(skey, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return signer, v
}

// splitEntry returns an entry with an author, a reason and a location, whose digest is split.
func splitEntry() *store.Entry {
	n := name.MustParse("urn:x-a:n")
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	e := &store.Entry{Seq: 1, Salt: [store.SaltSize]byte{1, 2, 3}, Change: &store.Change{
		Time: at, Who: "anna", Why: "moved", Batch: "b-1", Split: true,
		Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Revision: 1, Modified: at, Locations: []nomen.Location{{URL: "https://example.org/a"}}},
	}}
	e.Digest = codec.Digest(e.Salt, codec.Append(nil, e.Change))
	return e
}

// TestPublicReceipt checks that a receipt proves the public content of a change without its author,
// reason and batch, and that nothing in it can be altered.
func TestPublicReceipt(t *testing.T) {
	signer, v := newLog(t)
	e := splitEntry()
	part := receipt.NewPart(e, receipt.Public)
	msg, err := tlog.Checkpoint{Origin: v.Name(), Size: 1, Root: tlog.EntryHash(part.Leaf)}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	r, err := receipt.Check(receipt.New(e, receipt.Public, nil, msg, nil), v)
	if err != nil || !r.Public || r.Change.Who+r.Change.Why+r.Change.Batch != "" || r.Change.Record.Locations[0].URL != "https://example.org/a" {
		t.Errorf("public receipt: %+v, %v", r, err)
	}
	r, err = receipt.Check(receipt.New(e, receipt.All, nil, msg, nil), v)
	if err != nil || r.Public || r.Change.Who != "anna" || r.Change.Why != "moved" {
		t.Errorf("whole receipt: %+v, %v", r, err)
	}
	whole := receipt.NewPart(e, receipt.All)
	flip := func(b []byte, i int) []byte {
		b = bytes.Clone(b)
		b[i] ^= 1
		return b
	}
	const first, second = "nomen-receipt/1", "nomen-receipt/2"
	for _, tt := range []struct {
		name   string
		format string
		part   receipt.Part
		want   error
	}{
		{"as it is", second, part, nil},
		{"private hash altered", second, receipt.Part{Leaf: part.Leaf, Content: part.Content, PrivateHash: flip(part.PrivateHash, 7)}, receipt.ErrContent},
		{"location altered", second, receipt.Part{Leaf: part.Leaf, Content: flip(part.Content, len(part.Content)-4), PrivateHash: part.PrivateHash}, receipt.ErrContent},
		{"private hash cut", second, receipt.Part{Leaf: part.Leaf, Content: part.Content, PrivateHash: part.PrivateHash[1:]}, receipt.ErrContent},
		{"private hash and salt", second, receipt.Part{Leaf: part.Leaf, Content: part.Content, PrivateHash: part.PrivateHash, Salt: whole.Salt}, receipt.ErrContent},
		{"private hash of the whole value", second, receipt.Part{Leaf: part.Leaf, Content: whole.Content, PrivateHash: part.PrivateHash}, receipt.ErrContent},
		{"private hash without content", second, receipt.Part{Leaf: part.Leaf, PrivateHash: part.PrivateHash}, receipt.ErrContent},
		{"salt with the public part", first, receipt.Part{Leaf: part.Leaf, Content: part.Content, Salt: whole.Salt}, receipt.ErrContent},
		{"first format with a private hash", first, part, receipt.ErrFormat},
		{"second format without a private hash", second, whole, receipt.ErrFormat},
		{"third format", "nomen-receipt/3", part, receipt.ErrFormat},
		{"whole", first, whole, nil},
		{"author altered", first, receipt.Part{Leaf: part.Leaf, Salt: whole.Salt, Content: slices.Concat(bytes.Replace(whole.Content, []byte("anna"), []byte("Anna"), 1))}, receipt.ErrContent},
		{"without content", first, receipt.Part{Leaf: part.Leaf}, nil},
	} {
		extra, err := json.Marshal(receipt.Extra{Format: tt.format, Part: tt.part})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := receipt.Check((&tlog.Proof{Extra: extra, Checkpoint: msg}).Append(nil), v); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %+v, %v, want %v", tt.name, r, err, tt.want)
		}
	}
}

// TestRedactionReceipt checks that the receipt for redacted content proves the number and time of the
// change, and the number, the time and the reason of the redaction, but not who made it.
func TestRedactionReceipt(t *testing.T) {
	signer, v := newLog(t)
	e := splitEntry()
	by := splitEntry()
	by.Seq, by.Change.Expected, by.Change.Redacts, by.Change.Why = 2, 1, []uint64{1}, "a court order"
	by.Change.Time = by.Change.Time.Add(time.Hour)
	by.Change.Record.Revision, by.Change.Record.Modified = 2, by.Change.Time
	by.Digest = codec.Digest(by.Salt, codec.Append(nil, by.Change))
	redacted := &store.Entry{Seq: 1, Change: e.Change.Redact(), Digest: e.Digest}
	leaves := [2]tlog.Hash{tlog.EntryHash(codec.AppendLeaf(nil, redacted)), tlog.EntryHash(codec.AppendLeaf(nil, by))}
	if before := tlog.EntryHash(codec.AppendLeaf(nil, e)); leaves[0] != before {
		t.Errorf("the leaf after the redaction: %x, before it %x", leaves[0], before)
	}
	tree := tlog.Hash(xtlog.NodeHash(leaves[0], leaves[1]))
	msg, err := tlog.Checkpoint{Origin: v.Name(), Size: 2, Root: tree}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	redaction := &receipt.Redaction{Part: receipt.NewPart(by, receipt.Public), Index: 1, Hashes: [][]byte{leaves[0][:]}}
	r, err := receipt.Check(receipt.New(redacted, receipt.Public, []tlog.Hash{leaves[1]}, msg, redaction), v)
	if err != nil {
		t.Fatal(err)
	}
	if r.Change != nil || r.Seq != 1 || !r.Leaf.Time.Equal(e.Change.Time) {
		t.Errorf("the redacted change: %+v", r)
	}
	if is := r.RedactedBy; is == nil || is.Seq != 2 || is.Change.Why != "a court order" || is.Change.Who != "" || !is.Leaf.Time.Equal(by.Change.Time) {
		t.Errorf("the redaction: %+v", is)
	}
}

// TestAlteredReceipts flips each bit of receipts, and breaks the rules of the format. Such a receipt is
// never valid, unless it says exactly the same.
func TestAlteredReceipts(t *testing.T) {
	signer, v := newLog(t)
	e := splitEntry()
	part := receipt.NewPart(e, receipt.None)
	msg, err := tlog.Checkpoint{Origin: v.Name(), Size: 1, Root: tlog.EntryHash(part.Leaf)}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []receipt.Content{receipt.None, receipt.Public, receipt.All} {
		text := receipt.New(e, content, nil, msg, nil)
		want, err := receipt.Check(text, v)
		if err != nil {
			t.Fatal(err)
		}
		for i := range text {
			for bit := range 8 {
				altered := bytes.Clone(text)
				altered[i] ^= 1 << bit
				r, err := receipt.Check(altered, v)
				if err != nil {
					continue
				}
				if diff := cmp.Diff(r, want, cmp.Comparer(func(a, b name.Name) bool { return a == b }), cmpopts.IgnoreFields(receipt.Result{}, "Log")); diff != "" || r.Log.Size != want.Log.Size || r.Log.Root != want.Log.Root || r.Log.Origin != want.Log.Origin {
					t.Errorf("bit %d of byte %d (%q): the receipt is valid and says something else\n%s", bit, i, altered, diff)
				}
			}
		}
		line := strings.Repeat("A", 43) + "=\n"
		for what, altered := range map[string]string{
			"CRLF":                  strings.ReplaceAll(string(text), "\n", "\r\n"),
			"leading zero":          strings.Replace(string(text), "index 0\n", "index 00\n", 1),
			"64 proof lines":        strings.Replace(string(text), "index 0\n", "index 0\n"+strings.Repeat(line, 64), 1),
			"a proof line too many": strings.Replace(string(text), "index 0\n", "index 0\n"+line, 1),
			"index beyond the size": strings.Replace(string(text), "index 0\n", "index 1\n", 1),
			"another origin":        strings.Replace(string(text), v.Name()+"\n", "other.example.org/-/log\n", 1),
			"cut":                   string(text[:len(text)-1]),
			"text after it":         string(text) + "x",
		} {
			if altered == string(text) {
				t.Errorf("%s: the receipt is not altered", what)
			}
			if r, err := receipt.Check([]byte(altered), v); err == nil {
				t.Errorf("%s: the receipt is valid: %+v", what, r)
			}
		}
		_, foreign := newLog(t)
		if r, err := receipt.Check(text, foreign); err == nil {
			t.Errorf("with another key, the receipt is valid: %+v", r)
		}
	}
}
