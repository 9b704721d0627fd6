package handover

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/tlog"
)

// filled returns a store with all kinds of subjects, and with a redaction.
func filled(t testing.TB) *memstore.Store {
	t.Helper()
	s := memstore.New()
	rec := func(url string) *store.Record {
		return &store.Record{Name: name.FromKey("urn:x-a:b"), Spelling: "URN:x-a:b", Status: nomen.Active, Locations: []nomen.Location{{URL: url}}}
	}
	token := &store.Token{ID: "k7", Hash: [32]byte{1, 31: 2}, Role: "editor", Who: "Ada"}
	for i, c := range []store.Change{
		{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-a"), Owners: []string{"archive"}}},
		{Record: rec("https://example.org/secret")},
		{User: &store.User{ID: "u-1", Name: "Ada", Grants: []store.UserGrant{{Role: "owner"}}}},
		{Token: token},
		{Rights: token.Rights()},
		{Record: rec("https://example.org/"), Redacts: []uint64{1}},
		{Record: &store.Record{Name: name.FromKey("urn:x-a:r"), Status: nomen.Reserved}},
		{Delete: name.FromKey("urn:x-a:r")},
	} {
		c.Expected, c.Time = store.AnyRevision, time.Unix(int64(i), 0)
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// written returns the archive of a store.
func written(t testing.TB, s *memstore.Store, h Header) (string, store.Head) {
	t.Helper()
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(t.Context(), &b, h, head, s.Changes(t.Context(), 0)); err != nil {
		t.Fatal(err)
	}
	return b.String(), head
}

// keys returns the keys of a log and of its successor: the private one, the public ones.
func keys(t testing.TB) (skey, from, to string) {
	t.Helper()
	skey, from, err := tlog.GenerateKey(rand.Reader, "old.example/-/log", false)
	if err == nil {
		_, to, err = tlog.GenerateKey(rand.Reader, "new.example/-/log", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return skey, from, to
}

// TestArchive checks that another store loads from an archive with the same head and without faults,
// that the archive has no secrets, and that an archive of an empty store is valid.
func TestArchive(t *testing.T) {
	s := filled(t)
	text, head := written(t, s, Header{})
	a, n, err := Verify(strings.NewReader(text), "")
	if err != nil || n != nil || a.Head != head {
		t.Fatalf("Verify: %+v, %v, %v", a, n, err)
	}
	if strings.Contains(text, "secret") {
		t.Error("the archive has what was redacted")
	}
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	to := memstore.New()
	if err := to.Load(t.Context(), r.Entries()); err != nil {
		t.Fatal(err)
	}
	got, err := to.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil)
	if err != nil || got != head {
		t.Errorf("head %v, %v, want %v", got, err, head)
	}
	if _, err := to.Token(t.Context(), "k7"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a token was handed over: %v", err)
	}
	if r, err := to.TokenRights(t.Context(), "k7", time.Time{}); err != nil || r.Who != "Ada" {
		t.Errorf("rights %+v, %v", r, err)
	}
	if text, _ := written(t, memstore.New(), Header{}); text == "" {
		t.Error("no archive of an empty store")
	} else if _, _, err := Verify(strings.NewReader(text), ""); err != nil {
		t.Errorf("archive of an empty store: %v", err)
	}
}

// TestSignedArchive checks that an archive is bound to the old key, to the head and to the published
// checkpoint.
func TestSignedArchive(t *testing.T) {
	s := filled(t)
	head, _ := s.Head(t.Context())
	skey, from, to := keys(t)
	_, other, _ := keys(t)
	signer, err := tlog.NewSigner(skey, nil)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(h store.Head) string {
		msg, err := tlog.Handover{Origin: signer.Name(), Size: h.Size, Root: RootOf(h), From: from, To: to}.Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		return string(msg)
	}
	published := func(h store.Head) string {
		msg, err := tlog.Checkpoint{Origin: signer.Name(), Size: h.Size, Root: RootOf(h)}.Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		return string(msg)
	}
	text, _ := written(t, s, Header{Note: sign(head), Checkpoint: published(head)})
	if _, n, err := Verify(strings.NewReader(text), from); err != nil || n.To != to {
		t.Errorf("a signed archive: %+v, %v", n, err)
	}
	forged := head
	forged.Hash[0]++
	stranger, _, err := tlog.GenerateKey(rand.Reader, "elsewhere.example/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	second, err := tlog.NewSigner(stranger, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := func(origin string) string {
		msg, err := tlog.Checkpoint{Origin: origin, Size: head.Size, Root: RootOf(head)}.Sign(second)
		if err != nil {
			t.Fatal(err)
		}
		return string(msg)
	}
	elsewhere, unsigned := by(second.Name()), by(signer.Name())
	for what, tt := range map[string]struct {
		h    Header
		key  string
		want string
	}{
		"another key":            {Header{Note: sign(head)}, other, "not signed by the old key"},
		"no note":                {Header{}, from, "no hand-over note"},
		"note of another head":   {Header{Note: sign(forged)}, from, "another head"},
		"rewritten log":          {Header{Note: sign(head), Checkpoint: published(forged)}, from, "was rewritten"},
		"shorter than published": {Header{Checkpoint: published(store.Head{Size: 99, Hash: head.Hash})}, "", "only 7"},
		"no note at all":         {Header{Note: "x"}, "", "invalid note"},
		"another log":            {Header{Note: sign(head), Checkpoint: elsewhere}, from, "the checkpoint is of another log"},
		"forged checkpoint":      {Header{Note: sign(head), Checkpoint: strings.Replace(published(head), "\n7\n", "\n6\n", 1)}, from, "invalid checkpoint"},
		"unsigned checkpoint":    {Header{Note: sign(head), Checkpoint: unsigned}, from, "no signature by the key"},
		"earlier checkpoint":     {Header{Ended: []string{"x"}}, "", "invalid checkpoint of an earlier origin"},
		"earlier note":           {Header{Notes: []string{"x"}}, "", "invalid note of an earlier hand-over"},
		"forged earlier note":    {Header{Notes: []string{strings.Replace(sign(head), "size 7", "size 8", 1)}}, "", "invalid note of an earlier hand-over"},
		"too many earlier ones":  {Header{Ended: slices.Repeat([]string{published(head)}, 1000)}, "", "the checkpoints and notes have"},
	} {
		text, _ := written(t, s, tt.h)
		if _, _, err := Verify(strings.NewReader(text), tt.key); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", what, err, tt.want)
		}
	}
}

// TestHostileArchives checks that an archive in which anything was changed is rejected, with the
// line.
func TestHostileArchives(t *testing.T) {
	text, head := written(t, filled(t), Header{})
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	without := func(i int) string { return strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "") }
	for what, bad := range map[string]string{
		"empty":             "",
		"no archive":        "name,url\n",
		"later version":     strings.Replace(text, `"version":1`, `"version":2`, 1),
		"unknown field":     strings.Replace(text, `"rules"`, `"path":"../../etc/passwd","rules"`, 1),
		"huge size":         strings.Replace(text, `"head":"7:`, `"head":"18446744073709551615:`, 1),
		"smaller size":      strings.Replace(text, `"head":"7:`, `"head":"6:`, 1),
		"another head":      strings.Replace(text, head.String()[:6], "7:"+flip(head.String()[2:6]), 1),
		"altered location":  strings.Replace(text, "https://example.org/\"", "https://example.com/\"", 1),
		"altered right":     strings.Replace(text, `"role":"editor"`, `"role":"owner"`, 1),
		"dropped change":    without(3),
		"dropped end":       without(len(lines) - 1),
		"swapped":           strings.Join([]string{lines[0], lines[2], lines[1]}, "") + strings.Join(lines[3:], ""),
		"twice":             strings.Replace(text, lines[4], lines[4]+lines[4], 1),
		"trailing data":     text + "x",
		"carriage returns":  strings.ReplaceAll(text, "\n", "\r\n"),
		"two values a line": strings.Replace(text, "}\n", "} {}\n", 1),
		"many objects":      strings.Replace(text, `"locations":[`, `"locations":[`+strings.Repeat("{},", MaxObjects), 1),
		"many lists":        strings.Replace(text, `"head":`, `"ended":[`+strings.Repeat("[],", MaxObjects)+`[]],"head":`, 1),
		"deep lists":        strings.Replace(text, `"head":`, `"ended":`+strings.Repeat("[", MaxObjects)+`,"head":`, 1),
	} {
		if bad == text {
			t.Fatalf("%s: nothing changed", what)
		}
		if _, _, err := Verify(strings.NewReader(bad), ""); !errors.As(err, new(*Error)) {
			t.Errorf("%s: %v, want an Error", what, err)
		}
	}
	for i := range len(text) {
		if _, _, err := Verify(strings.NewReader(text[:i]), ""); err == nil {
			t.Fatalf("cut after %d bytes: accepted", i)
		}
	}
	var long *Error
	if _, _, err := Verify(io.LimitReader(endless{}, 1<<40), ""); !errors.As(err, &long) || !strings.Contains(long.Reason, "longer than") {
		t.Errorf("an endless line: %v", err)
	}
}

// TestCountObjects checks that brackets in strings do not count as objects.
func TestCountObjects(t *testing.T) {
	for text, want := range map[string]int{
		`{}`: 1, `{"a":[{},{}]}`: 4, `{"[{":"\"{[\\"}`: 1, `"\\",[]`: 1, `{"a":"\`: 1, "": 0,
	} {
		if got := countObjects([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func flip(hex string) string {
	if hex[0] == '0' {
		return "1" + hex[1:]
	}
	return "0" + hex[1:]
}

// endless is a text without an end of a line.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

// TestWriteRefuses checks that no archive is written of entries that a reader may not see, or that
// are not those of the head.
func TestWriteRefuses(t *testing.T) {
	s := filled(t)
	head, _ := s.Head(t.Context())
	for what, spoil := range map[string]func(e *store.Entry){
		"users hidden": func(e *store.Entry) {
			if e.Change.User != nil {
				*e = store.Entry{Seq: e.Seq, Change: e.Change.Redact(), Digest: e.Digest}
			}
		},
		"content altered": func(e *store.Entry) { e.Change.Why = "x" },
		"digest altered":  func(e *store.Entry) { e.Digest[0]++ },
	} {
		entries := func(yield func(*store.Entry, error) bool) {
			for e, err := range s.Changes(t.Context(), 0) {
				if spoil(e); !yield(e, err) {
					return
				}
			}
		}
		if err := Write(t.Context(), io.Discard, Header{}, head, entries); err == nil {
			t.Errorf("%s: written", what)
		}
	}
}

func FuzzVerify(f *testing.F) {
	text, _ := written(f, filled(f), Header{})
	f.Add([]byte(text))
	empty, _ := written(f, memstore.New(), Header{})
	f.Add([]byte(empty))
	f.Add([]byte(`{"format":"nomen-handover","version":1,"rules":3,"head":"0:` + strings.Repeat("0", 64) + "\"}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, _, err := Verify(bytes.NewReader(b), "")
		if err == nil && a.Head.Size > uint64(len(b)) {
			t.Errorf("%d changes in %d bytes", a.Head.Size, len(b))
		}
		_ = fmt.Sprint(err)
	})
}
