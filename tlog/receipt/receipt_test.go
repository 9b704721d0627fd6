package receipt_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/receipt"
)

// TestLeafAndContent checks receipts of a log whose operator has made a leaf that says something else
// than its content, although the digest is right.
func TestLeafAndContent(t *testing.T) {
	const origin = "names.example.org/-/log"
	skey, vkey, err := tlog.GenerateKey(rand.Reader, origin, false)
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
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	change := func(key string, status nomen.Status, revision uint64, at time.Time, redacts ...uint64) *store.Change {
		n := name.MustParse(key)
		return &store.Change{Expected: revision - 1, Time: at, Redacts: redacts, Record: &store.Record{
			Name: n, Spelling: n.Key(), Status: status, Revision: revision, Modified: at, Locations: []nomen.Location{{URL: "https://example.org/a"}},
		}}
	}
	for _, tt := range []struct {
		name string
		leaf *store.Change
		want error
	}{
		{"as logged", change("urn:x-a:n", nomen.Active, 2, at), nil},
		{"other status", change("urn:x-a:n", nomen.Retired, 2, at), receipt.ErrContent},
		{"other revision", change("urn:x-a:n", nomen.Active, 3, at), receipt.ErrContent},
		{"other time", change("urn:x-a:n", nomen.Active, 2, at.Add(-time.Hour)), receipt.ErrContent},
		{"other redaction", change("urn:x-a:n", nomen.Active, 2, at, 1), receipt.ErrContent},
	} {
		salt := [store.SaltSize]byte{1, 2, 3}
		content := codec.Append(nil, change("urn:x-a:n", nomen.Active, 2, at))
		leaf := codec.AppendLeaf(nil, &store.Entry{Change: tt.leaf, Digest: codec.Digest(salt, content)})
		msg, err := tlog.Checkpoint{Origin: origin, Size: 1, Root: tlog.EntryHash(leaf)}.Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		extra, err := json.Marshal(receipt.Extra{Format: "nomen-receipt/1", Part: receipt.Part{Leaf: leaf, Salt: salt[:], Content: content}})
		if err != nil {
			t.Fatal(err)
		}
		text := (&tlog.Proof{Extra: extra, Checkpoint: msg}).Append(nil)
		if _, err := receipt.Check(text, v); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}
