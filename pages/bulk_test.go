package pages

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func mustParse(spelling string) name.Name { return name.MustParse(spelling) }

// A site is moved after its old address was typed again, and moved back by undoing that.
func TestRelocate(t *testing.T) {
	s := newSite(t).as("editor")
	s.change(alb, "", at("https://old.example/1"))
	form := fill(s.get("relocate").form(relocatePath), "from", "https://old.example/", "to", "https://new.example/", "why", "moved")
	page, path := s.follow(s.send("relocate", form))
	page.want(200, "Relocation (dry run)", alb, "https://old.example/1", "https://new.example/1", "Whose names would change", "urn:dns:example.org", "Enter the old address again")
	if again := s.send("relocate", form).Header().Get("Location"); again != Root+path {
		t.Errorf("sent twice: %s, then %s", path, again)
	}
	apply := page.applyForm(path)
	for _, typed := range []string{"", "https://old.example"} {
		a := s.send(path+"/apply", fill(apply, "typed", typed))
		a.want(422, "Enter exactly this address: https://old.example/")
		if got := a.applyForm(path).Get("typed"); got != typed {
			t.Errorf("typed %q, the form has %q", typed, got)
		}
	}
	if got := s.record(alb).Locations[0].URL; got != "https://old.example/1" {
		t.Errorf("without confirmation: %s", got)
	}
	done, donePath := s.follow(s.send(path+"/apply", fill(apply, "typed", "https://old.example/")))
	done.want(200, "done", "Locations 1", "Undo this job")
	if got := s.record(alb).Locations[0].URL; got != "https://new.example/1" {
		t.Errorf("got %s", got)
	}
	undo := fill(done.form(Root+donePath+"/undo"), "why", "a mistake")
	page, path = s.follow(s.send(donePath+"/undo", undo))
	page.want(200, "Undo (dry run)", alb, "Restored 1")
	if again := s.send(donePath+"/undo", undo).Header().Get("Location"); again != Root+path {
		t.Errorf("sent twice: %s, then %s", path, again)
	}
	done, _ = s.follow(s.send(path+"/apply", page.applyForm(path)))
	done.want(200, "Restored 1")
	if got := s.record(alb).Locations[0].URL; got != "https://old.example/1" {
		t.Errorf("got %s", got)
	}
}

// Each error about an address is shown next to its field.
func TestRelocateFaults(t *testing.T) {
	s := newSite(t).as("editor")
	for _, tt := range []struct{ from, to, field string }{
		{"", "https://new.example/", "from"},
		{"https://old.example/", "javascript:alert(1)", "to"},
		{"https://old.example/", "https://old.example/", "to"},
	} {
		a := s.post("relocate", "from", tt.from, "to", tt.to, "why", "kept text")
		a.want(422, "There is a problem", "kept text")
		a.wantHarmless("relocate")
		if !hasTarget(a.elements("a"), "#"+tt.field) {
			t.Errorf("%+v: no link to the field:\n%s", tt, a.Body)
		}
	}
	s.get("relocate?from=https://a.example/&to=https://b.example/").want(200, "[https://a.example/]", "[https://b.example/]")
	s.change(alb, "", at("https://old.example/1"))
	other := s.as("other")
	page, _ := other.follow(other.post("relocate", "from", "https://old.example/", "to", "https://new.example/"))
	page.want(200, "Names 0")
	page.without(alb)
}

// Several names are retired at once. A name that does not exist makes no tombstone.
func TestRetireMany(t *testing.T) {
	s := newSite(t).as("editor")
	s.add("urn:dns:example.org:a1")
	s.add("urn:dns:example.org:a2")
	form := fill(s.get("retire").form(Root+"retire"), "names", "urn:dns:example.org:a1\r\nurn:dns:example.org:misprint", "reason", "withdrawn", "successors", alb)
	a := s.send("retire", form)
	a.want(422, "urn:dns:example.org:misprint does not exist.", "withdrawn")
	page, path := s.follow(s.send("retire", fill(form, "names", "urn:dns:example.org:a1\r\nurn:dns:example.org:a2\r\n")))
	page.want(200, "Changed 2", "withdrawn", alb)
	done, _ := s.follow(s.send(path+"/apply", page.applyForm(path)))
	done.want(200, "Changed 2")
	for _, n := range []string{"urn:dns:example.org:a1", "urn:dns:example.org:a2"} {
		if got := s.record(n); got.Status != nomen.Retired || got.Reason != "withdrawn" || len(got.Successors) != 1 || got.Successors[0] != alb {
			t.Errorf("%s: %+v", n, got)
		}
	}
	if _, err := s.find("urn:dns:example.org:misprint"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the misprint: %v", err)
	}
	for _, tt := range []struct{ names, reason, want string }{
		{"", "x", "Enter at least one name."},
		{alb, "", "Enter a reason"},
		{"no-name", "x", "no-name: "},
		{alb + " urn:dns:example.org:none", "x", "urn:dns:example.org:none does not exist."},
		{strings.Repeat(alb+"\n", maxRetired+1), "x", "You have entered 1001 names."},
	} {
		s.post("retire", "names", tt.names, "reason", tt.reason).want(422, tt.want)
	}
	s.as("other").post("retire", "names", alb, "reason", "x").want(422, "permission denied")
}

// A duplicate leads to the name that was kept.
func TestMerge(t *testing.T) {
	s := newSite(t).as("editor")
	s.add("urn:dns:example.org:dup")
	form := fill(s.get("merge").form(Root+"merge"), "keep", alb, "drop", "urn:dns:example.org:dup", "reason", "a duplicate")
	page, path := s.follow(s.send("merge", form))
	page.want(200, "Changed 2", "urn:dns:example.org:dup")
	s.follow(s.send(path+"/apply", page.applyForm(path)))
	kept, dropped := s.record(alb), s.record("urn:dns:example.org:dup")
	if dropped.Status != nomen.Retired || len(dropped.Successors) != 1 || dropped.Successors[0] != alb || dropped.Reason != "a duplicate" {
		t.Errorf("dropped: %+v", dropped)
	}
	if kept.Status != nomen.Active || len(kept.Locations) == 0 || len(kept.SameAs) == 0 || kept.SameAs[len(kept.SameAs)-1] != "urn:dns:example.org:dup" {
		t.Errorf("kept: %+v", kept)
	}
	for _, tt := range []struct{ keep, drop, want string }{
		{"x", alb, "keep"},
		{alb, "x", "drop"},
		{alb, strings.ToUpper("urn") + strings.TrimPrefix(alb, "urn"), "drop"},
		{alb, "urn:dns:example.org:none", "drop"},
		{"urn:dns:example.org:none", alb, "drop"},
	} {
		a := s.post("merge", "keep", tt.keep, "drop", tt.drop, "reason", "x")
		a.want(422)
		if !hasTarget(a.elements("a"), "#"+tt.want) {
			t.Errorf("%+v: %s", tt, a.text())
		}
	}
}
