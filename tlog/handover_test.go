package tlog

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

// handedOver returns a signed hand-over note with its keys.
func handedOver(t testing.TB) (h Handover, msg []byte) {
	t.Helper()
	skey, from, err := GenerateKey(rand.Reader, "old.example/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	_, to, err := GenerateKey(rand.Reader, "new.example/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := NewSigner(skey, nil)
	if err != nil {
		t.Fatal(err)
	}
	h = Handover{Origin: "old.example/-/log", Size: 7, Root: Hash{1, 31: 2}, From: from, To: to}
	if msg, err = h.Sign(signer); err != nil {
		t.Fatal(err)
	}
	return h, msg
}

// TestHandover checks that a signed note gives back what it was made from, that nothing in it can be
// changed, and that it is not a checkpoint.
func TestHandover(t *testing.T) {
	h, msg := handedOver(t)
	if got, err := OpenHandover(msg, h.From); err != nil || got != h {
		t.Fatalf("got %+v, %v, want %+v", got, err, h)
	}
	if _, err := Peek(msg); err == nil {
		t.Error("a hand-over note is a checkpoint")
	}
	other, foreign := handedOver(t)
	if _, err := OpenHandover(foreign, h.From); !errors.Is(err, ErrUnsignedHandover) {
		t.Errorf("a note by another key: %v", err)
	}
	for what, change := range map[string][2]string{
		"size":            {"size 7", "size 8"},
		"root":            {"root A", "root B"},
		"new key":         {h.To, other.To},
		"origin":          {"origin old", "origin odd"},
		"leading zero":    {"size 7", "size 07"},
		"carriage return": {"size 7\n", "size 7\r\n"},
		"another line":    {"\nto ", "\nby x\nto "},
		"header":          {"handover/v1", "handover/v2"},
		"no signature":    {"\n\n", "\n"},
	} {
		bad := bytes.Replace(msg, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(bad, msg) {
			t.Fatalf("%s: nothing changed", what)
		}
		if got, err := OpenHandover(bad, h.From); err == nil {
			t.Errorf("%s: accepted as %+v", what, got)
		}
	}
	if _, err := OpenHandover([]byte(strings.Repeat("a", MaxHandover+1)), h.From); err == nil {
		t.Error("a note that is too long was accepted")
	}
}

func FuzzHandover(f *testing.F) {
	_, msg := handedOver(f)
	text, _, _ := bytes.Cut(msg, []byte("\n\n"))
	f.Add(string(text) + "\n")
	f.Add("nomen-handover/v1\norigin a\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHandover(text)
		if err == nil && h.Text() != text {
			t.Errorf("%q became %q", text, h.Text())
		}
	})
}
