package pages

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// open returns the form of a page of a name.
func (s *site) open(spelling, page string) url.Values {
	s.t.Helper()
	a := s.get(nameAt(spelling) + "/" + page)
	a.want(200)
	path, _, _ := strings.Cut(page, "?")
	for _, f := range a.elements("form") {
		if action := attribute(f, "action"); strings.HasPrefix(action, namePath(spelling)+"/"+path) {
			return formValues(f)
		}
	}
	s.t.Fatalf("no form:\n%s", a.Body)
	return nil
}

func TestRetire(t *testing.T) {
	s := newSite(t).as("editor")
	form := fill(s.open(alb, "retire"), "reason", "sold\r\nout", "successors", "urn:dns:example.org:data\r\nurn:dns:example.org:queried", "show_locations", "1", "why", "asked by the label")
	s.send(nameAt(alb)+"/retire", form).wantSee(namePath(alb) + "?done=retired")
	got := s.record(alb)
	if got.Status != nomen.Retired || got.Reason != "sold\nout" || !slices.Equal(got.Successors, []string{"urn:dns:example.org:data", "urn:dns:example.org:queried"}) || !got.ShowLocations {
		t.Errorf("got %+v", got)
	}
	s.get(nameAt(alb)+"?done=retired").want(200, "has been retired", "Change the tombstone")
	s.send(nameAt(alb)+"/retire", form).wantSee(namePath(alb) + "?done=retired") // a double submit
	if got := s.record(alb).Revision; got != 2 {
		t.Errorf("revision %d", got)
	}
	form = s.open(alb, "retire")
	s.send(nameAt(alb)+"/retire", fill(form, "successors", "")).wantSee(namePath(alb) + "?done=retired")
	if got := s.record(alb); len(got.Successors) > 0 || got.Reason != "sold\nout" {
		t.Errorf("got %+v", got)
	}
}

func TestRetireIsRefused(t *testing.T) {
	s := newSite(t)
	form := fill(s.open(alb, "retire"), "reason", "stolen")
	for _, who := range []string{"reader", "other", "none"} {
		s.as(who).get(nameAt(alb) + "/retire").want(403)
		s.as(who).send(nameAt(alb)+"/retire", form).want(403)
	}
	editor := s.as("editor")
	editor.send(nameAt(rfc)+"/retire", form).want(403)
	for _, tt := range []struct{ reason, successors, id, part string }{
		{"", "", "reason", "must not be empty"},
		{"bell \a", "", "reason", "U+0007"},
		{"kept <i>", "no name", "successors", ""},
		{"kept <i>", alb, "successors", "its own successor"},
		{"kept <i>", "javascript:alert(1)", "successors", "javascript"},
	} {
		a := editor.send(nameAt(alb)+"/retire", fill(form, "reason", tt.reason, "successors", tt.successors, "accept", "1"))
		a.want(422, tt.part)
		if !slices.Contains(a.invalid(), tt.id) {
			t.Errorf("%q: invalid %q\n%s", tt.successors, a.invalid(), a.text())
		}
		if got := a.form(namePath(alb) + "/retire"); isVisible(tt.reason) && (got.Get("reason") != tt.reason || got.Get("successors") != tt.successors) {
			t.Errorf("kept %q", got)
		}
	}
	a := editor.send(nameAt(alb)+"/retire", fill(form, "successors", "urn:dns:example.org:none"))
	a.want(422, "Check this", "urn:dns:example.org:none does not exist here", "sent to the name that replaces it")
	if s.record(alb).Revision != 1 {
		t.Fatal("a refused change was made")
	}
	s.change(alb, "moved", at("https://example.org/theirs"))
	a = editor.send(nameAt(alb)+"/retire", form)
	a.want(409, "Another user has saved this name", "stolen")
	editor.send(nameAt(alb)+"/retire", a.form(namePath(alb)+"/retire")).wantSee(namePath(alb) + "?done=retired")
}

// Restoring a revision restores its typed values and the locations that are views of them.
func TestRestoreValues(t *testing.T) {
	s := newSite(t)
	values := []nomen.Value{{Index: 1, Type: "URL", Permissions: "1100"}, {Index: 2, Type: "K", Data: "old"}}
	s.change(alb, "valued", func(r *store.Record) {
		r.Locations, r.Values = []nomen.Location{{URL: "https://example.org/private", Index: 1}}, values
	})
	s.change(alb, "changed", func(r *store.Record) { r.Values = []nomen.Value{{Index: 2, Type: "K", Data: "new"}} })
	s.get(nameAt(alb)+"/diff?a=2&b=3").want(200, "values[1]", "values[2]", "old", "new")
	s.send(nameAt(alb)+"/restore?to=2", s.open(alb, "restore?to=2")).wantSee(namePath(alb) + "?done=restored")
	if got := s.record(alb); !slices.Equal(got.Values, values) || got.Locations[0].Index != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestRestore(t *testing.T) {
	s := newSite(t)
	s.change(alb, "moved", at("https://example.org/new"))
	s.change(alb, "titled", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {"Two"}} })
	editor := s.as("editor")
	editor.get(nameAt(alb)+"/restore?undo=3").want(200, "Undo revision 3", "metadata.title Two (removed)")
	editor.get(nameAt(alb) + "/restore?undo=3").without("albums/2")
	form := fill(editor.open(alb, "restore?undo=3"), "why", "wrong title")
	editor.send(nameAt(alb)+"/restore?to=2", form).wantSee(namePath(alb) + "?done=restored")
	if got := s.record(alb); got.Revision != 4 || got.Metadata != nil || got.Locations[0].URL != "https://example.org/new" {
		t.Errorf("got %+v", got)
	}
	editor.send(nameAt(alb)+"/restore?to=2", form).wantSee(namePath(alb) + "?done=restored") // a double submit
	form = editor.open(alb, "restore?to=1")
	editor.send(nameAt(alb)+"/restore?to=1", form).wantSee(namePath(alb) + "?done=restored")
	if got := s.record(alb); got.Revision != 5 || got.Locations[0].Note != "The second album" {
		t.Errorf("got %+v", got)
	}
	editor.get(nameAt(alb)+"/history").want(200, "u-editor wrong title")
	editor.get(nameAt(alb)+"/restore?to=1").want(200, "has this content already")
}

func TestRestoreIsRefused(t *testing.T) {
	s := newSite(t)
	s.change(alb, "moved", at("https://example.org/new"))
	form := s.open(alb, "restore?to=1")
	for _, who := range []string{"reader", "other", "none"} {
		s.as(who).get(nameAt(alb) + "/restore?to=1").want(403)
		s.as(who).send(nameAt(alb)+"/restore?to=1", form).want(403)
	}
	for _, q := range []string{"", "?to=0", "?to=9", "?to=x", "?undo=1", "?undo=0", "?undo=-1", "?undo=99999999999999999999"} {
		s.get(nameAt(alb) + "/restore" + q).want(404)
	}
	s.send(nameAt(alb)+"/restore?to=1", fill(form, "why", "bell \a")).want(422, "U+0007")
	s.change(alb, "titled", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {"Two"}} })
	a := s.send(nameAt(alb)+"/restore?to=1", form)
	a.want(409, "Another user has saved", "metadata.title Two (removed)")
	if got := s.record(alb); got.Revision != 3 {
		t.Errorf("got %+v", got)
	}
	const old = "urn:dns:example.org:old" // reactivated, then restored by an editor who may not
	s.send(nameAt(old)+"/edit", fill(s.editForm(old), "do", "save", "status", "active")).wantSee(namePath(old) + "?done=saved")
	s.as("editor").send(nameAt(old)+"/restore?to=1", s.as("editor").open(old, "restore?to=1")).wantSee(namePath(old) + "?done=restored")
	s.as("editor").send(nameAt(old)+"/restore?to=2", s.as("editor").open(old, "restore?to=2")).want(403)
	if got := s.record(old); got.Status != nomen.Retired || got.Reason != "a new edition" || len(got.Successors) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestRedact(t *testing.T) {
	s := newSite(t)
	s.change(alb, "with a phone number", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {"Call 555"}} })
	s.change(alb, "removed", func(r *store.Record) { r.Metadata = nil })
	form := fill(s.open(alb, "redact"), "revisions", "2", "reason", "personal data", "typed", alb)
	for _, who := range []string{"reader", "editor", "owner", "other", "none"} {
		s.as(who).get(nameAt(alb) + "/redact").want(403)
		s.as(who).send(nameAt(alb)+"/redact", form).want(403)
	}
	for _, tt := range []struct{ field, value, id string }{
		{"typed", "urn:dns:example.org:alb003", "typed"}, {"reason", "", "reason"}, {"reason", "bell \a", "reason"},
	} {
		a := s.send(nameAt(alb)+"/redact", fill(form, tt.field, tt.value))
		a.want(422, "There is a problem")
		if !slices.Contains(a.invalid(), tt.id) {
			t.Errorf("invalid %q, want %q", a.invalid(), tt.id)
		}
		if got := a.form(namePath(alb) + "/redact"); got.Get("revisions") != "2" {
			t.Errorf("kept %q", got)
		}
	}
	without := fill(form)
	without.Del("revisions")
	s.send(nameAt(alb)+"/redact", without).want(422, "Choose at least one revision")
	s.send(nameAt(alb)+"/redact", fill(form, "revisions", "x")).want(404)
	s.send(nameAt(alb)+"/redact", fill(form, "revisions", "3")).want(422, "is the current one")
	s.send(nameAt(alb)+"/redact", fill(form, "revision", "2")).want(409, "Another user")
	s.get(nameAt(alb)+"/diff?a=1&b=2").want(200, "Call 555")
	s.send(nameAt(alb)+"/redact", form).wantSee(namePath(alb) + "?done=redacted")
	s.get(nameAt(alb)+"/diff?a=1&b=2").want(200, "cannot be compared")
	a := s.get(nameAt(alb) + "/history")
	a.want(200, "The content was removed", "Content removed from revisions: 2", "personal data")
	a.without("Call 555", "phone number")
	s.get(nameAt(alb)+"/restore?to=2").want(409, "has no content")
	s.send(nameAt(alb)+"/redact", form).wantSee(namePath(alb) + "?done=redacted") // a double submit
	s.send(nameAt(alb)+"/redact", fill(form, "key", "")).want(422, "The content of these revisions was removed before")
}

func TestDelete(t *testing.T) {
	s := newSite(t)
	const secret = "urn:dns:example.org:secret"
	s.get(nameAt(secret)).want(200, "Delete")
	s.get(nameAt(alb)).without("Delete")
	form := fill(s.open(secret, "delete"), "why", "not needed")
	for _, who := range []string{"reader", "other", "none"} {
		s.as(who).get(nameAt(secret) + "/delete").want(403)
		s.as(who).send(nameAt(secret)+"/delete", form).want(403)
	}
	editor := s.as("editor")
	editor.send(nameAt(alb)+"/delete", form).want(409, "only a reserved name")
	editor.send(nameAt(secret)+"/delete", fill(form, "why", "bell \a")).want(422, "U+0007")
	s.change(secret, "moved", at("https://example.org/theirs"))
	a := editor.send(nameAt(secret)+"/delete", form)
	a.want(409, "Another user has saved", "not needed")
	form = a.form(namePath(secret) + "/delete")
	for range 2 { // the second is a double submit
		editor.send(nameAt(secret)+"/delete", form).wantSee(Root + "names?done=deleted")
	}
	s.get("names?done=deleted").want(200, "The name has been deleted")
	s.get(nameAt(secret)).want(404)
	s.get(nameAt(secret)+"/history").want(200, "The name was deleted", "not needed")
	editor.send(nameAt("urn:dns:example.org:none")+"/delete", form).want(404)
}
