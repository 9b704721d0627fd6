package pages

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

const rfc = "urn:ietf:rfc:2648"

// fill returns a form with other values.
func fill(form url.Values, pairs ...string) url.Values {
	form = maps.Clone(form)
	for i := 0; i < len(pairs); i += 2 {
		form[pairs[i]] = []string{pairs[i+1]}
	}
	return form
}

// editForm opens the form of a name.
func (s *site) editForm(spelling string) url.Values {
	s.t.Helper()
	a := s.get(nameAt(spelling) + "/edit")
	a.want(200)
	return a.form(namePath(spelling) + "/edit")
}

func TestEdit(t *testing.T) {
	s := newSite(t)
	form := s.editForm(rfc)
	a := s.send(nameAt(rfc)+"/edit", fill(form, "do", "save", "location-1-url", "https://example.org/rfc", "location-1-note", "a\r\nb",
		"location-1-priority", "7", "metadata-1-value", "Ryan Moats", "same_as", "urn:x-a:1\r\n\r\n urn:x-a:2 \r\n", "why", "moved", "accept", "1"))
	a.wantSee(namePath(rfc) + "?done=saved")
	s.get(nameAt(rfc)+"?done=saved").want(200, "The changes have been saved")
	got := s.record(rfc)
	want := []nomen.Location{
		{URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain", Priority: 1},
		{URL: "https://example.org/rfc", Type: "text/html", Priority: 7, Note: "a\nb"},
	}
	if diff := cmp.Diff(want, got.Locations); diff != "" {
		t.Error(diff)
	}
	if got.Metadata["title"][0] != "Ryan Moats" || got.Metadata["creator"][0] != "R. Moats" || !slices.Equal(got.SameAs, []string{"urn:x-a:1", "urn:x-a:2"}) {
		t.Errorf("got %v, %q", got.Metadata, got.SameAs)
	}
	s.get(nameAt(rfc)+"/history").want(200, "u-admin moved")
}

// Saving a form as it was changes nothing, whatever fields the record has.
func TestEditKeepsEverything(t *testing.T) {
	s := newSite(t)
	full := nomen.Location{
		URL: "https://example.org/full", Type: "text/plain", Lang: "de", Rel: "item", Priority: 2, Weight: 3, Country: "FI", Component: "a b",
		Charset: "ISO-8859-1", Note: "line\nline \u202e\n", Down: true, ValidFrom: "2020-01-01T00:00:00Z", ValidUntil: "2030-01-01T00:00:00Z",
		Index: 7, Attributes: `id="0" http_role="a <b> & c"`,
	}
	values := []nomen.Value{{Index: 7, Type: "10320/loc", Data: "<locations/>"}, {Index: 100, Type: "HS_SECKEY", Data: "<b>hush", Permissions: "1100", TTL: "60"}}
	s.change(alb, "full", func(r *store.Record) {
		r.Locations = []nomen.Location{full, {URL: "https://example.org/b"}}
		r.Metadata = nomen.Metadata{"title": {"\nA <b>\n", " \" ' "}, "date": {"2020"}}
		r.SameAs = []string{"urn:x-a:1"}
		r.Values = values
	})
	before := s.record(alb)
	s.send(nameAt(alb)+"/edit", fill(s.editForm(alb), "do", "save")).wantSee(namePath(alb) + "?done=unchanged")
	if diff := cmp.Diff(before.Locations, s.record(alb).Locations); diff != "" || s.record(alb).Revision != before.Revision {
		t.Errorf("revision %d\n%s", s.record(alb).Revision, diff)
	}
	s.send(nameAt(alb)+"/edit", fill(s.editForm(alb), "do", "save", "location-1-url", "https://example.org/c")).wantSee(namePath(alb) + "?done=saved")
	after := s.record(alb)
	if diff := cmp.Diff(before.Locations[0], after.Locations[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(values, after.Values); diff != "" {
		t.Error(diff)
	}
	s.get(nameAt(alb)).want(200, "Typed values", "HS_SECKEY", "hush", "Private", "https://example.org/full")
	if diff := cmp.Diff(before.Metadata, after.Metadata); diff != "" {
		t.Error(diff)
	}
}

func TestEditRows(t *testing.T) {
	s := newSite(t)
	form := fill(s.editForm(rfc), "why", "not yet saved")
	step := func(button string) {
		t.Helper()
		a := s.send(nameAt(rfc)+"/edit", fill(form, "do", button))
		a.want(200)
		form = a.form(namePath(rfc) + "/edit")
	}
	step("add-location")
	form.Set("location-2-url", "https://example.org/third")
	step("remove-location-0")
	step("add-metadata")
	form.Set("metadata-2-element", "date")
	form.Set("metadata-2-value", "1999")
	step("remove-metadata-0")
	step("remove-location-9")
	if got := []string{form.Get("locations"), form.Get("metadata"), form.Get("location-1-url"), form.Get("metadata-1-value"), form.Get("why")}; !slices.Equal(got, []string{"2", "2", "https://example.org/third", "1999", "not yet saved"}) {
		t.Errorf("got %q", got)
	}
	if s.record(rfc).Revision != 1 {
		t.Error("a row button has saved")
	}
	s.send(nameAt(rfc)+"/edit", fill(form, "do", "save")).wantSee(namePath(rfc) + "?done=saved")
	if got := s.record(rfc); len(got.Locations) != 2 || got.Locations[1].URL != "https://example.org/third" || got.Metadata["date"][0] != "1999" {
		t.Errorf("got %+v", got)
	}
}

func TestEditIsRefused(t *testing.T) {
	s := newSite(t)
	form := fill(s.editForm(alb), "do", "save", "location-0-url", "https://example.org/stolen")
	for _, who := range []string{"reader", "other", "none"} {
		s.as(who).get(nameAt(alb) + "/edit").want(403)
		s.as(who).send(nameAt(alb)+"/edit", form).want(403)
	}
	s.as("").send(nameAt(alb)+"/edit", form).want(401)
	s.as("editor").get(nameAt(rfc) + "/edit").want(403)
	s.as("editor").send(nameAt(rfc)+"/edit", form).want(403)
	s.as("editor").get(nameAt("urn:dns:example.org:none") + "/edit").want(404)
	if s.record(alb).Revision != 1 || s.record(rfc).Revision != 1 {
		t.Error("a refused change was made")
	}
	s.as("editor").send(nameAt(alb)+"/edit", form).wantSee(namePath(alb) + "?done=saved")
}

func TestEditWithBadInput(t *testing.T) {
	s := newSite(t)
	form := fill(s.editForm(rfc), "do", "save", "why", "because <i>")
	for _, tt := range []struct{ field, value, id, part string }{
		{"location-1-url", "javascript:alert(1)", "location-1-url", "javascript"},
		{"location-1-url", "https://example.org/a b", "location-1-url", "offset 21"},
		{"location-1-url", "example.org/a", "location-1-url", "An address must begin with https://"},
		{"location-1-url", "", "location-1-url", ""},
		{"location-1-priority", "first", "location-1-priority", "must be a number"},
		{"location-1-weight", "-4", "location-1-weight", "between 0 and 65535"},
		{"location-1-valid_from", "soon", "location-1-valid_from", "RFC 3339"},
		{"location-1-type", "text", "location-1-type", "expected type"},
		{"location-0-note", "nul \x00", "location-0-note", "U+0000"},
		{"metadata-1-value", "bell \a", "metadata-1-value", "U+0007"},
		{"same_as", "no uri", "same_as", ""},
		{"why", "bell \a", "why", "U+0007"},
		{"status", "odd", "status", "must be reserved, active or retired"},
		{"metadata-0-element", "colour", "metadata-0-value", "Dublin Core"},
		{"metadata-0-value", strings.Repeat("x", 70_000), "", "limit"},
	} {
		a := s.send(nameAt(rfc)+"/edit", fill(form, tt.field, tt.value))
		a.want(422, "There is a problem", tt.part)
		if !strings.HasPrefix(a.elements("title")[0].FirstChild.Data, "Error: ") {
			t.Errorf("%s: title %q", tt.field, a.elements("title")[0].FirstChild.Data)
		}
		got := a.form(namePath(rfc) + "/edit")
		if got.Get("why") != form.Get("why") && tt.field != "why" || !isVisible(tt.value) && got.Get("why") == "" || isVisible(tt.value) && tt.field != "status" && tt.field != "metadata-0-element" && got.Get(tt.field) != tt.value {
			t.Errorf("%s: the form keeps %q", tt.field, got)
		}
		if tt.id != "" && !slices.Contains(a.invalid(), tt.id) {
			t.Errorf("%s: invalid fields %q, want %q\n%s", tt.field, a.invalid(), tt.id, a.text())
		}
	}
	for _, count := range []string{"", "-1", "501", "1e9"} {
		s.send(nameAt(rfc)+"/edit", fill(form, "locations", count)).want(400, "must be a number from 0 to 500")
	}
	s.send(nameAt(rfc)+"/edit", fill(form, "why", "\xff")).want(400, "is not UTF-8")
	if s.record(rfc).Revision != 1 {
		t.Error("invalid input was saved")
	}
}

func isVisible(s string) bool { return !strings.ContainsAny(s, "\x00\a") }

// invalid returns the IDs of the fields that are marked, if the summary links to them.
func (a *answer) invalid() (ids []string) {
	links := map[string]bool{}
	for _, l := range a.elements("a") {
		links[attribute(l, "href")] = true
	}
	for _, kind := range []string{"input", "textarea", "select"} {
		for _, n := range a.elements(kind) {
			if id := attribute(n, "id"); attribute(n, "aria-invalid") == "true" && links["#"+id] {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func TestEditConflict(t *testing.T) {
	s := newSite(t)
	form := fill(s.editForm(alb), "do", "save", "metadata", "1", "metadata-0-element", "title", "metadata-0-value", "Mine", "why", "my reason")
	s.change(alb, "moved", at("https://example.org/theirs"))
	a := s.send(nameAt(alb)+"/edit", form)
	a.want(409, "Another user has saved this name", "u-colleague", "moved",
		"locations https://example.org/albums/2 (note: The second album) (nothing) https://example.org/albums/2 (note: The second album)",
		"locations (nothing) https://example.org/theirs (nothing)", "metadata.title (nothing) (nothing) Mine")
	if s.record(alb).Revision != 2 {
		t.Fatal("a conflicting change was saved")
	}
	kept := a.form(namePath(alb) + "/edit")
	if kept.Get("metadata-0-value") != "Mine" || kept.Get("why") != "my reason" || kept.Get("revision") != "2" {
		t.Errorf("kept %q", kept)
	}
	s.send(nameAt(alb)+"/edit", fill(kept, "do", "save")).wantSee(namePath(alb) + "?done=saved")
	if got := s.record(alb); got.Revision != 3 || got.Metadata["title"][0] != "Mine" || got.Locations[0].URL != "https://example.org/albums/2" {
		t.Errorf("got %+v", got)
	}
	s.send(nameAt(alb)+"/edit", fill(form, "revision", "", "metadata-0-value", "x")).want(409)
}

func TestEditTwice(t *testing.T) {
	s := newSite(t)
	form := fill(s.editForm(alb), "do", "save", "location-0-url", "https://example.org/once")
	for range 2 {
		s.send(nameAt(alb)+"/edit", form).wantSee(namePath(alb) + "?done=saved")
	}
	if got := s.record(alb).Revision; got != 2 {
		t.Errorf("revision %d", got)
	}
}

func TestEditWarns(t *testing.T) {
	s := newSite(t)
	form := fill(s.editForm(rfc), "do", "save", "metadata-0-element", "date", "metadata-0-value", "3.4.2020")
	a := s.send(nameAt(rfc)+"/edit", form)
	a.want(422, "Check this before you save", "3.4.2020")
	if s.record(rfc).Revision != 1 {
		t.Error("saved without consent")
	}
	s.send(nameAt(rfc)+"/edit", fill(a.form(namePath(rfc)+"/edit"), "do", "save", "accept", "1")).wantSee(namePath(rfc) + "?done=saved")
}

func TestReactivate(t *testing.T) {
	s := newSite(t)
	const old = "urn:dns:example.org:old"
	form := fill(s.editForm(old), "do", "save", "status", "active")
	s.as("editor").send(nameAt(old)+"/edit", form).want(403)
	s.as("owner").send(nameAt(old)+"/edit", form).wantSee(namePath(old) + "?done=saved")
	if got := s.record(old); got.Status != nomen.Active || got.Reason != "" {
		t.Errorf("got %+v", got)
	}
	const secret = "urn:dns:example.org:secret"
	s.as("editor").send(nameAt(secret)+"/edit", fill(s.editForm(secret), "do", "save", "status", "active")).wantSee(namePath(secret) + "?done=saved")
	if got := s.record(secret); got.Status != nomen.Active {
		t.Errorf("got %+v", got)
	}
}

func TestNew(t *testing.T) {
	s := newSite(t)
	const fresh = "urn:dns:example.org:fresh"
	a := s.as("editor").get("new?name=" + fresh)
	a.want(200, "["+fresh+"]")
	form := fill(a.form(Root+"new"), "do", "save", "location-0-url", "https://example.org/fresh", "metadata-0-value", "Fresh", "status", "reserved", "why", "ordered")
	s.as("reader").send("new", form).want(403)
	s.as("other").send("new", form).want(403)
	s.as("editor").send("new", form).wantSee(namePath(fresh) + "?done=created")
	got := s.record(fresh)
	if got.Status != nomen.Reserved || got.Locations[0].URL != "https://example.org/fresh" || got.Metadata["title"][0] != "Fresh" {
		t.Errorf("got %+v", got)
	}
	s.as("editor").send("new", form).wantSee(namePath(fresh) + "?done=created") // a double submit
	if got := s.record(fresh).Revision; got != 1 {
		t.Errorf("revision %d", got)
	}
	a = s.as("editor").send("new", fill(form, "metadata-0-value", "Other"))
	a.want(409, "exists already", "Other")
	s.as("editor").send("new", fill(form, "do", "add-location")).want(200, "Location 2")
}

func TestNewWithBadInput(t *testing.T) {
	s := newSite(t)
	form := fill(s.get("new").form(Root+"new"), "do", "save", "metadata-0-value", "Kept")
	for _, tt := range []struct{ name, part string }{
		{"", "Invalid at offset 0"},
		{"urn:dns:example.org:a|b", "Invalid at offset 21"},
		{"urn:dns:example.org:\u202eb", "Invalid at offset 20"},
		{"javascript:alert(1)", "javascript"},
	} {
		a := s.send("new", fill(form, "name", tt.name))
		a.want(422, tt.part, "Kept")
		if !slices.Contains(a.invalid(), "name") || a.form(Root+"new").Get("name") != tt.name {
			t.Errorf("%q: invalid %q", tt.name, a.invalid())
		}
	}
	a := s.send("new", fill(form, "name", "urn:isbn:0451450524", "location-0-url", "x y"))
	a.want(422)
	a = s.send("new", fill(form, "name", "urn:isbn:0451450520"))
	a.want(422, "Check this before you save", "no authority")
	s.send("new", fill(a.form(Root+"new"), "do", "save", "accept", "1")).wantSee(namePath("urn:isbn:0451450520") + "?done=created")
}

// Of users who save different forms of one revision at the same time, one succeeds.
func TestEditAtOnce(t *testing.T) {
	s := newSite(t)
	form := fill(s.editForm(alb), "do", "save")
	codes := make([]int, 8)
	var wg sync.WaitGroup
	for i := range codes {
		wg.Go(func() {
			codes[i] = s.send(nameAt(alb)+"/edit", fill(form, "location-0-url", "https://example.org/"+strconv.Itoa(i))).Code
		})
	}
	wg.Wait()
	slices.Sort(codes)
	if want := []int{303, 409, 409, 409, 409, 409, 409, 409}; !slices.Equal(codes, want) {
		t.Errorf("got %d, want %d", codes, want)
	}
	if got := s.record(alb).Revision; got != 2 {
		t.Errorf("revision %d", got)
	}
}
