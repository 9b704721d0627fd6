package pages

import (
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/store"
)

// If a second person must approve a redaction, the form leads to the job that waits.
func TestRedactWaits(t *testing.T) {
	s := newSite(t)
	s.change(alb, "with a phone number", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {"Call 555"}} })
	s.change(alb, "removed", func(r *store.Record) { r.Metadata = nil })
	before := s.record(alb).Revision
	s.api.Set(admin.Settings{SecondPerson: adminapi.SecondPerson{Redact: true}})
	form := fill(s.open(alb, "redact"), "revisions", "2", "reason", "personal data", "typed", alb)
	page, path := s.follow(s.send(nameAt(alb)+"/redact", form))
	page.want(200, "Redaction", "waiting for a second person", "Nothing has been changed yet.", alb)
	if again, same := s.follow(s.send(nameAt(alb)+"/redact", form)); same != path {
		t.Errorf("sent twice, it made another job:\n%s", again.Body)
	}
	if got := s.record(alb).Revision; got != before {
		t.Errorf("revision %d, expected %d", got, before)
	}
	s.as("other").get(path).want(404)
}
