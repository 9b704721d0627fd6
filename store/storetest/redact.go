package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// secret is what must be found nowhere once it was redacted.
const secret = "a-persons-secret"

// redaction: content that is redacted is gone from every answer, the log stays
// what it was, and all else stays.
func redaction(s *suite) {
	k := "urn:x-a:b"
	secretly := func(n int) store.Change {
		r := Rich()
		r.Name, r.Spelling = key(k), "urn:x-a:B"+secret
		r.Locations[0].URL, r.Locations[1].Note = fmt.Sprint("https://example.org/", secret, n), secret
		r.Metadata = nomen.Metadata{secret: {secret}}
		r.SameAs, r.Successors, r.Reason = []string{secret}, []string{secret}, secret
		c := write(r, n)
		c.Who, c.Why = secret, secret
		return c
	}
	s.apply(secretly(1), put(k, "u:2", 2), secretly(3), put("urn:x-a:c", "u:c", 3))
	if !s.isFeed() {
		s.redactUnlogged(k)
		return
	}
	n := 4
	head := s.sealed(n)
	before := s.entries(0)
	clean := put(k, "u:4", 4)
	clean.Redacts, clean.Why = []uint64{3, 1}, "the law"
	s.equal("redaction", s.apply(clean), []store.Result{changed(4)})
	n++
	s.sealed(n)
	s.nowhere(k)
	after := s.entries(0)
	for i, e := range before {
		if got, want := after[i], e.Change; got.Digest != e.Digest || got.Change.Subject() != want.Subject() ||
			got.Change.Revision() != want.Revision() || !got.Change.Time.Equal(want.Time) {
			s.Errorf("entry %d was %+v, and became %+v", e.Seq, e, got)
		}
	}
	s.equal("head of what was there before", headOf(after[:4]), head)
	s.equal("head", s.sealed(n), headOf(after))
	kept1, kept3 := kept(secretly(1), 0, 1).Redact(), kept(secretly(3), 2, 3).Redact()
	s.equal("the redacted change", after[0].Change, kept1)
	s.equal("the redaction", after[4].Change, kept(clean, 3, 4))
	s.equal("record at minute 1", s.getAt(k, minute(1)), kept1.Record)
	s.equal("record at minute 2", s.getAt(k, minute(2)), kept(put(k, "u:2", 2), 1, 2).Record)
	s.equal("record at minute 3", s.getAt(k, minute(3)), kept3.Record)
	s.equal("records at minute 1", s.list(s.Context(), store.Scan{At: minute(1)}), []*store.Record{kept1.Record})
	s.verifies()

	s.refuseRedactions(k)
	s.redactAgain(k, n)
	s.redactOthers()
}

// redactUnlogged: a store without a log of changes has a past all the same, which
// redacted content has to leave.
func (s *suite) redactUnlogged(k string) {
	s.Helper()
	clean := put(k, "u:4", 4)
	clean.Redacts, clean.Why = []uint64{3, 1}, "the law"
	s.equal("redaction", s.apply(clean), []store.Result{changed(4)})
	s.nowhere(k)
	s.refuseRedactions(k)
}

// refuseRedactions: only earlier revisions can be redacted, and what was redacted
// does not come back.
func (s *suite) refuseRedactions(k string) {
	s.Helper()
	for _, revisions := range [][]uint64{{5}, {1, 6}, {1 << 63}} {
		c := put(k, "u:5", 5)
		c.Redacts = revisions
		var got *store.StateError
		if err := s.refused(put("urn:x-a:d", "u:1", 0), c); !errors.As(err, &got) || got.Index != 1 || got.Key != k {
			s.Errorf("redacting %d after revision 4: %v, want a StateError of change 1", revisions, err)
		}
	}
	zero := put(k, "u:5", 5)
	zero.Redacts = []uint64{0}
	back := store.Change{Record: s.getAt(k, minute(1)), Expected: store.AnyRevision, Time: minute(5)}
	for _, c := range []store.Change{zero, back} {
		var got *store.ChangeError
		if err := s.refused(c); !errors.As(err, &got) {
			s.Errorf("%+v: %v, want a ChangeError", c, err)
		}
	}
}

// redactAgain redacts what was redacted, in a batch of its own making, and the
// redaction itself.
func (s *suite) redactAgain(k string, n int) {
	s.Helper()
	once := put(k, "u:5", 5)
	once.Why = secret
	same := put(k, "u:5", 5)
	same.Redacts = []uint64{1, 5, 4}
	s.equal("again, in one batch", s.apply(once, same), []store.Result{changed(5), changed(6)})
	s.sealed(n + 2)
	s.nowhere(k)
	all := s.entries(0)
	s.equal("a redaction, redacted", all[4].Change.Redacts, []uint64{1, 3})
	if !all[4].Change.Redacted || !all[5].Change.Redacted || all[6].Change.Redacted {
		s.Errorf("after the redaction of a redaction: %+v", changesOf(all))
	}
	s.equal("head", s.sealed(n+2), headOf(all))
	s.verifies()
}

// redactOthers redacts revisions of an authority and of a deleted name.
func (s *suite) redactOthers() {
	s.Helper()
	a := RichAuthority()
	a.Contact, a.Description = "mailto:"+secret, secret
	first := store.Change{Authority: a, Expected: store.AnyRevision, Time: minute(1), Who: secret}
	second := store.Change{Authority: RichAuthority(), Expected: store.AnyRevision, Time: minute(2), Redacts: []uint64{1}}
	gone := remove("urn:x-a:r", 2)
	gone.Who = secret
	again := remove("urn:x-a:r", 3)
	again.Redacts = []uint64{1, 2}
	reserved := write(&store.Record{Name: key("urn:x-a:r"), Status: nomen.Reserved, Reason: secret}, 1)
	s.equal("results", s.apply(first, second, reserved, gone, again), []store.Result{
		changed(1), changed(2), changed(1), changed(2), changed(3),
	})
	if s.get("urn:x-a:r") != nil {
		s.Error("a redaction has brought back a deleted name")
	}
	s.sealed(12)
	s.nowhere("urn:x-a:r")
	got, err := s.Authority(s.Context(), a.Prefix, minute(1))
	if err != nil {
		s.Fatal(err)
	}
	s.equal("authority at minute 1", got, keptAuthority(first, 0, 1).Redact().Authority)
	s.equal("head", s.sealed(12), headOf(s.entries(0)))
	s.verifies()
}

// nowhere checks that nothing that can be read has the secret.
func (s *suite) nowhere(k string) {
	s.Helper()
	var all []any
	if s.isFeed() {
		all = append(all, s.entries(0))
	}
	for n := range 7 {
		at := minute(n)
		if n == 6 {
			at = time.Time{}
		}
		all = append(all, s.list(s.Context(), store.Scan{At: at}), s.getAt(k, at))
		authorities, err := collect(s.Authorities(s.Context(), at))
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, authorities)
	}
	places, err := collect(store.Find(s.Context(), s.Store, "", store.Place{}))
	if err != nil {
		s.Fatal(err)
	}
	all = append(all, places)
	if _, ok := s.Store.(store.Historian); ok {
		changes, err := collect(store.History(s.Context(), s.Store, key(k)))
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, changes)
	}
	for _, v := range all {
		text, err := json.Marshal(v)
		if err != nil {
			s.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			s.Errorf("redacted, and still there: %s", text)
		}
	}
}
