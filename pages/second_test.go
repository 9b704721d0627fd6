package pages

import (
	"net/url"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/servertest"
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

// The pages say before a request is sent that a second person must approve it, and who may.
func TestSecondPersonIsAnnounced(t *testing.T) {
	const redaction, relocation, button = "another administrator of this name", "another person who may edit all of these names", "Send the request to a second person"
	s := newSite(t)
	s.change(alb, "with a phone number", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {"Call 555"}} })
	s.addPeople("Berta", "anna@example.org")
	user := "users/" + berta + "/redact"
	dry := func(from string) *answer {
		t.Helper()
		page, _ := s.follow(s.send("relocate", fill(s.get("relocate").form(Root+"relocate"), "from", from, "to", "https://new.example/")))
		return page
	}
	announced := func(limit int, redact bool, yes, no []string) {
		t.Helper()
		s.api.Set(admin.Settings{SecondPerson: adminapi.SecondPerson{Redact: redact, RelocateAbove: limit}})
		for path, text := range map[string]string{nameAt(alb) + "/redact": redaction, user: "another administrator of all names"} {
			page := s.get(path)
			if !redact {
				page.without(text, button)
				continue
			}
			page.want(200, text, "at most 14 days", button)
		}
		for _, from := range yes {
			dry(from).want(200, relocation, "at most 14 days", button+": change")
		}
		for _, from := range no {
			dry(from).without(relocation, button)
		}
		if got := strings.Contains(s.get("relocate").text(), relocation); got != (limit > 0) {
			t.Errorf("limit %d: the form says %t", limit, got)
		}
	}
	many, one := "https://example.org/", "https://example.org/albums/2"
	announced(0, false, nil, []string{many, one})
	announced(1, true, []string{many}, []string{one})
	s.send(nameAt(alb)+"/redact", url.Values{"reason": {"x"}}).want(422, redaction)
	s.send(user, url.Values{"why": {"x"}}).want(422, "another administrator of all names")
	s.send("relocate", url.Values{"from": {many}, "to": {"x y"}}).want(422, relocation)
	announced(1000, true, nil, []string{many, one})
}

// waiting makes a redaction that waits for a second person, and returns its path and the revision
// of the name before.
func waiting(s *site) (path string, before uint64) {
	s.t.Helper()
	s.change(alb, "with a phone number", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {"Call 555"}} })
	s.change(alb, "removed", func(r *store.Record) { r.Metadata = nil })
	s.api.Set(admin.Settings{SecondPerson: adminapi.SecondPerson{Redact: true}})
	before = s.record(alb).Revision
	_, path = s.follow(s.send(nameAt(alb)+"/redact", fill(s.open(alb, "redact"), "revisions", "2", "reason", "personal data", "typed", alb)))
	return path, before
}

// TestSecondPerson: the overview leads the second person to what waits, whose page says what will
// be done; only another person can decide, and only once.
func TestSecondPerson(t *testing.T) {
	s := newSite(t)
	path, before := waiting(s)
	own := s.get(path)
	own.want(200, "Withdraw this request", "personal data")
	own.without("Approve")
	if leadsTo(s, path) {
		t.Error("the overview asks the requester")
	}
	s.send(path+"/approve", nil).want(403)
	for _, who := range []string{"owner", "other", "reader"} {
		s.as(who).send(path+"/approve", nil).want(404)
		s.as(who).send(path+"/reject", url.Values{"reason": {"no"}}).want(404)
	}
	if got := s.record(alb).Revision; got != before {
		t.Fatalf("revision %d, expected %d", got, before)
	}

	second := s.as("second")
	if !leadsTo(second, path) {
		t.Error("the overview does not lead to the job")
	}
	second.get(path).want(200, "Your decision as the second person", "personal data", "Approve: carry it out")
	second.send(path+"/reject", url.Values{"reason": {" "}}).want(422, "Enter a reason")
	page, _ := second.follow(second.send(path+"/approve", nil))
	page.want(200, "done", "u-second")
	after := s.record(alb).Revision
	if after <= before {
		t.Errorf("not redacted: revision %d", after)
	}
	second.follow(second.send(path+"/approve", nil)) // sent twice
	if got := s.record(alb).Revision; got != after {
		t.Errorf("sent twice: revision %d, expected %d", got, after)
	}
	second.send(path+"/reject", url.Values{"reason": {"too late"}}).want(422, "decided")
}

// TestSecondPersonRejects: the person who asked sees who has rejected the request, and why.
func TestSecondPersonRejects(t *testing.T) {
	s := newSite(t)
	path, before := waiting(s)
	second := s.as("second")
	second.follow(second.send(path+"/reject", url.Values{"reason": {"keep it"}}))
	page := s.get(path)
	page.want(200, "keep it", "u-second")
	page.without("Approve")
	if got := s.record(alb).Revision; got != before {
		t.Errorf("revision %d, expected %d", got, before)
	}
}

// TestWithdrawRequest: the person who asked can withdraw the request.
func TestWithdrawRequest(t *testing.T) {
	s := newSite(t)
	path, _ := waiting(s)
	s.follow(s.send(path+"/cancel", nil))
	if leadsTo(s.as("second"), path) {
		t.Error("the overview still leads to the job")
	}
	s.as("second").send(path+"/approve", nil).want(422)
}

// leadsTo reports whether the overview has a link to a page.
func leadsTo(s *site, path string) bool {
	for _, a := range s.get("").elements("a") {
		if attribute(a, "href") == Root+path {
			return true
		}
	}
	return false
}

// The list and the page of jobs show people by name.
func TestJobsNamePeople(t *testing.T) {
	s := newSite(t)
	j := adminapi.Job{ID: waitingJob, Kind: adminapi.JobRedact, State: adminapi.JobDone, Who: "u-01234567", WhoName: "Ada Lovelace", Started: servertest.Now}
	s.shows("jobs", &jobsView{Jobs: []adminapi.Job{j}}).want(200, "Ada Lovelace u-01234567")
	j.Approval = &adminapi.Approval{By: "u-76543210", ByName: "Charles Babbage", At: servertest.Now}
	s.shows("job", &jobView{Job: j}).want(200, "Ada Lovelace u-01234567", "Charles Babbage u-76543210")
}
