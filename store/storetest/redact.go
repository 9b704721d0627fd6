package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// secret is the text that the tests redact.
const secret = "a-persons-secret"

func secretly(n int) store.Change {
	r := Rich()
	r.Name, r.Spelling = key("urn:x-a:b"), "urn:x-a:B"+secret
	r.Locations[0].URL, r.Locations[1].Note = fmt.Sprint("https://example.org/", secret, n), secret
	r.Metadata = nomen.Metadata{secret: {secret}}
	r.SameAs, r.Successors, r.Reason = []string{secret}, []string{secret}, secret
	r.Locations[1].Attributes = secret
	r.Values = []nomen.Value{{Index: 1, Type: secret, Data: secret, Format: secret, TTL: secret, Permissions: secret, Timestamp: secret, References: secret}}
	c := write(r, n)
	c.Who, c.Why = secret, secret
	return c
}

// redaction checks that no read returns redacted content, and that the log and all other content
// stay the same.
func redaction(s *suite) {
	k := "urn:x-a:b"
	s.apply(secretly(1), put(k, "u:2", 2), secretly(3), put("urn:x-a:c", "u:c", 3))
	head, before := s.sealed(), s.entries(0)
	clean := put(k, "u:4", 4)
	clean.Redacts, clean.Why = []uint64{3, 1}, "the law"
	s.equal("redaction", s.apply(clean), []store.Result{changed(4)})
	s.nowhere()
	kept1, kept3 := kept(secretly(1), 0, 1).Redact(), kept(secretly(3), 2, 3).Redact()
	s.equal("record at minute 1", s.getAt(k, minute(1)), kept1.Record)
	s.equal("record at minute 2", s.getAt(k, minute(2)), kept(put(k, "u:2", 2), 1, 2).Record)
	s.equal("record at minute 3", s.getAt(k, minute(3)), kept3.Record)
	s.equal("records at minute 1", s.list(store.Scan{At: minute(1)}), []*store.Record{kept1.Record})
	s.refuseRedactions(k)
	if !has[store.Feed](s.Store) {
		return // a store without a log still has histories, which were checked above
	}
	after := s.entries(0)
	for i, e := range before {
		if got, want := after[i], e.Change; got.Digest != e.Digest || got.Change.Subject() != want.Subject() ||
			got.Change.Revision() != want.Revision() || !got.Change.Time.Equal(want.Time) {
			s.Errorf("entry %d was %+v, and became %+v", e.Seq, e, got)
		}
	}
	s.equal("head of what was there before", headOf(after[:4]), head)
	s.equal("head", s.sealed(), headOf(after))
	s.equal("the redacted change", after[0].Change, kept1)
	s.equal("the redaction", after[4].Change, kept(clean, 3, 4))
	s.redactAgain(k)
	s.redactOthers()
}

// refuseRedactions checks that only earlier revisions can be redacted, and that
// redacted content does not come back.
func (s *suite) refuseRedactions(k string) {
	s.Helper()
	for _, revisions := range [][]uint64{{5}, {1, 6}, {1 << 63}} {
		c := put(k, "u:5", 5)
		c.Redacts = revisions
		if got := refusal[*store.StateError](s, put("urn:x-a:d", "u:1", 0), c); got.Index != 1 || got.Key != k {
			s.Errorf("redacting %d after revision 4: %v, want a StateError of change 1", revisions, got)
		}
	}
	zero := put(k, "u:5", 5)
	zero.Redacts = []uint64{0}
	back := store.Change{Record: s.getAt(k, minute(1)), Expected: store.AnyRevision, Time: minute(5)}
	refusal[*store.ChangeError](s, zero)
	refusal[*store.ChangeError](s, back)
}

// redactAgain redacts, in one batch, a revision that is already redacted, a revision of the same
// batch, and the redaction itself.
func (s *suite) redactAgain(k string) {
	s.Helper()
	once := put(k, "u:5", 5)
	once.Why = secret
	same := put(k, "u:5", 5)
	same.Redacts = []uint64{1, 5, 4}
	s.equal("again, in one batch", s.apply(once, same), []store.Result{changed(5), changed(6)})
	s.nowhere()
	all := s.entries(0)
	s.equal("a redaction, redacted", all[4].Change.Redacts, []uint64{1, 3})
	if !all[4].Change.Redacted || !all[5].Change.Redacted || all[6].Change.Redacted {
		s.Errorf("after the redaction of a redaction: %+v", changesOf(all))
	}
	s.equal("head", s.sealed(), headOf(all))
}

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
	s.nowhere()
	s.equal("authority at minute 1", s.authority(a.Prefix, minute(1)), kept(first, 0, 1).Redact().Authority)
	s.equal("head", s.sealed(), headOf(s.entries(0)))
}

// nowhere checks that no read returns the constant secret.
func (s *suite) nowhere() {
	s.Helper()
	for what, v := range s.contents() {
		text, err := json.Marshal(v)
		if err != nil {
			s.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			s.Errorf("redacted, and still there: %s: %s", what, text)
		}
	}
}
