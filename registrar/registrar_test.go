package registrar

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// A desk is a registrar on a new store with the authority urn:dns:example.org.
type desk struct {
	*testing.T
	*Registrar
	store store.Store
	ctx   context.Context
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	d := &desk{t, New(s, Options{Now: func() time.Time { return noon }}), s, context.Background()}
	d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:dns:example.org"), Owners: []string{"archive", "library-it"}})
	return d
}

func (d *desk) authority(a *store.Authority) Outcome {
	d.Helper()
	out, err := d.PutAuthority(d.ctx, Operator(), a, store.AnyRevision, "")
	if err != nil {
		d.Fatalf("PutAuthority(%s): %v", a.Prefix, err)
	}
	return out
}

// put puts a record as the operator.
func (d *desk) put(rec *store.Record) Outcome {
	d.Helper()
	return d.ask(Operator(), Request{Record: rec, Expected: store.AnyRevision})
}

func (d *desk) ask(a Actor, req Request) Outcome {
	d.Helper()
	out, err := d.Put(d.ctx, a, req, "because")
	if err != out.Err {
		d.Fatalf("Put: error %v, in the outcome %v", err, out.Err)
	}
	return out
}

func (d *desk) good(out Outcome) Outcome {
	d.Helper()
	if out.Err != nil {
		d.Fatalf("%s: %v", out.Name, out.Err)
	}
	return out
}

const alb = "urn:dns:example.org:alb002"

func places(urls ...string) (all []nomen.Location) {
	for _, u := range urls {
		all = append(all, nomen.Location{URL: u})
	}
	return all
}

func editor(prefixes ...string) Actor { return actor(Editor, prefixes...) }

func actor(r Role, prefixes ...string) Actor {
	g := Grant{Role: r}
	for _, p := range prefixes {
		g.Prefixes = append(g.Prefixes, name.MustParsePrefix(p))
	}
	return Actor{Who: "someone", Grants: []Grant{g}}
}

// refusal returns the field, rule and offset of a RefusalError.
func refusal(err error) (field, rule string, offset int) {
	var e *RefusalError
	if errors.As(err, &e) {
		return e.Field, e.Rule, e.Offset
	}
	return "", "", 0
}

func TestCreate(t *testing.T) {
	d := newDesk(t)
	out := d.good(d.put(&store.Record{Spelling: "URN:DNS:Example.ORG:alb002", Locations: places("https://example.org/1")}))
	want := &store.Record{
		Name: name.MustParse(alb), Spelling: "URN:DNS:Example.ORG:alb002", Status: nomen.Active,
		Locations: places("https://example.org/1"), Modified: noon, Revision: 1,
	}
	if diff := cmp.Diff(want, out.Record, cmp.Comparer(func(a, b name.Name) bool { return a == b })); diff != "" {
		t.Errorf("record (-want +got)\n%s", diff)
	}
	if !out.Created || !out.Result.Changed || out.Warnings != nil {
		t.Errorf("outcome %+v; want created, changed, no warnings", out)
	}
	// The delimiters of a text, and white space within them, are not part of a name.
	bracketed := &store.Record{Spelling: "<URN:DNS:Example.ORG:\n alb002>", Locations: places("https://example.org/1")}
	if again := d.good(d.put(bracketed)); again.Created || again.Result.Changed {
		t.Errorf("Y95-05: the same name in brackets: %+v", again)
	}
	if again := d.good(d.put(&store.Record{Spelling: "URN:DNS:Example.ORG:alb002", Locations: places("https://example.org/1")})); again.Created || again.Result.Changed || again.Result.Revision != 1 {
		t.Errorf("again: %+v; want unchanged at revision 1", again.Result)
	}
	got, err := d.Get(d.ctx, name.MustParse(alb))
	if err != nil || got.Spelling != want.Spelling {
		t.Errorf("Get = %v, %v; want spelling %s", got, err, want.Spelling)
	}
}

func TestHistoryHasWhoAndWhy(t *testing.T) {
	d := newDesk(t)
	d.good(d.ask(editor(), Request{Record: &store.Record{Spelling: alb}, Expected: 0}))
	for c, err := range d.store.(store.Historian).History(d.ctx, name.MustParse(alb)) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Who != "someone" || c.Why != "because" || !c.Time.Equal(noon) {
			t.Errorf("history: who %q, why %q, time %v", c.Who, c.Why, c.Time)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		id, spelling string
		field, rule  string // "" for allowed
		offset       int
	}{
		{"plain", alb, "", "", 0},
		{"Y95-09", "urn:dns:example.org:urn+foo", "name", "ElementID", 20},
		{"Y95-09", "urn:dns:example.org:urn%2Bfoo", "name", "ElementID", 20},
		{"Y95-09", "urn:dns:example.org:%75rn+foo", "name", "ElementID", 20},
		{"Y95-09", "urn:ietf:rfc:%75rn+x", "name", "ElementID", 13},
		{"Y95-09", "urn:dns:example.org:URN+foo", "", "", 0},
		{"Y95-09", "urn:dns:other.example:urn+m", "name", "ElementID", 22},
		{"Y95-61", "urn:ietf:rfc:urn+x", "name", "ElementID", 13},
		{"Y95-08", "urn:dns:example.org:a?b", "name", "rq-components", 21},
		{"Y95-08", "urn:dns:example.org:a#b", "name", "assigned-name", 21},
		{"Y95-08", "urn:dns:example.org:a%3Fb%23c", "", "", 0},
		{"Y95-16", "urn:x-foo:authority:1", "", "", 0},
		{"Y95-18", "urn:zzz:authority:1", "", "", 0},
		{"Y95-20", "urn:dns:-bad-.com:x", "name", "AuthorityID", 8},
		{"Y95-20", "urn:dns:192.0.2.1:x", "name", "AuthorityID", 16},
		{"N12-20", "urn:dns:example.org:a%00b", "name", "NUL", 21},
		{"N12-20", "urn:dns:example.org:a\x00b", "name", "NSS", 21},
		{"N12-24", "urn:foo:a?+x", "name", "assigned-name", 9},
		{"N12-36", "urn:foo:a#x", "name", "assigned-name", 9},
		{"no scheme", "alb002", "name", "scheme", 6},
		{"empty", "", "name", "name", 0},
		{"script", "javascript:alert(1)", "name", "scheme", 0},
		{"script", "DATA:text/html,x", "name", "scheme", 0},
		{"ark", "ark:/12345/x5", "", "", 0},
	} {
		t.Run(c.id+" "+c.spelling, func(t *testing.T) {
			d := newDesk(t)
			d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:ietf:rfc")})
			out := d.put(&store.Record{Spelling: c.spelling})
			field, rule, offset := refusal(out.Err)
			if (out.Err == nil) != (c.field == "") || field != c.field || rule != c.rule || offset != c.offset {
				t.Errorf("got %q %q %d (%v), want %q %q %d", field, rule, offset, out.Err, c.field, c.rule, c.offset)
			}
		})
	}
}

func TestFields(t *testing.T) {
	loc := func(l nomen.Location) *store.Record {
		if l.URL == "" {
			l.URL = "https://example.org/"
		}
		return &store.Record{Locations: []nomen.Location{{URL: "https://example.org/ok"}, l}}
	}
	meta := func(k string, v ...string) *store.Record { return &store.Record{Metadata: nomen.Metadata{k: v}} }
	for _, c := range []struct {
		rec   *store.Record
		field string // "" for allowed
	}{
		{loc(nomen.Location{URL: "ftp://user@example.org/a;type=i"}), ""},
		{loc(nomen.Location{URL: "HTTPS://example.org/%0D%0A"}), ""},
		{loc(nomen.Location{URL: "mailto:names@example.org"}), ""},
		{loc(nomen.Location{URL: "ark:12345/x5"}), ""},
		{loc(nomen.Location{URL: "gopher://example.org/1x#top"}), ""},
		{loc(nomen.Location{URL: "/relative"}), "locations[1].url"},
		{loc(nomen.Location{URL: "//example.org/"}), "locations[1].url"},
		{loc(nomen.Location{URL: "javascript:alert(1)"}), "locations[1].url"},
		{loc(nomen.Location{URL: "JavaScript:alert(1)"}), "locations[1].url"},
		{loc(nomen.Location{URL: " javascript:alert(1)"}), "locations[1].url"},
		{loc(nomen.Location{URL: "java\tscript:alert(1)"}), "locations[1].url"},
		{loc(nomen.Location{URL: "data:text/html,x"}), "locations[1].url"},
		{loc(nomen.Location{URL: "vbscript:x"}), "locations[1].url"},
		{loc(nomen.Location{URL: "blob:https://example.org/1"}), "locations[1].url"},
		{loc(nomen.Location{URL: "about:blank"}), "locations[1].url"},
		{loc(nomen.Location{URL: "view-source:https://example.org/"}), "locations[1].url"},
		{loc(nomen.Location{URL: "file:///etc/passwd"}), "locations[1].url"},
		{loc(nomen.Location{URL: "unheard-of:x"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https://example.org/\r\nSet-Cookie: a=b"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https://example.org/\n"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https://example.org/a b"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https://example.org/ä"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https://example.org/\x00"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https://user:secret@example.org/"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https:example.org"}), "locations[1].url"},
		{loc(nomen.Location{URL: "https:///x"}), "locations[1].url"},
		{loc(nomen.Location{URL: "ftp://example.org/a%0d%0aDELE%20x"}), "locations[1].url"},
		{loc(nomen.Location{URL: "gopher://example.org/%7f"}), "locations[1].url"},
		{loc(nomen.Location{Type: "text/html"}), ""},
		{loc(nomen.Location{Type: "text/html; charset=utf-8"}), ""},
		{loc(nomen.Location{Type: "application/ld+json;profile=\"https://example.org/\""}), ""},
		{loc(nomen.Location{Type: "html"}), "locations[1].type"},
		{loc(nomen.Location{Type: "text/"}), "locations[1].type"},
		{loc(nomen.Location{Type: "/html"}), "locations[1].type"},
		{loc(nomen.Location{Type: "text/html;x"}), "locations[1].type"},
		{loc(nomen.Location{Type: "text/html\r\nX: y"}), "locations[1].type"},
		{loc(nomen.Location{Type: "text/html, text/plain"}), "locations[1].type"},
		{loc(nomen.Location{Lang: "de-CH-1901"}), ""},
		{loc(nomen.Location{Lang: "x-unspecified"}), ""}, // Y95-47
		{loc(nomen.Location{Lang: "de-x-a"}), ""},
		{loc(nomen.Location{Lang: "x"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "e"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "e-n"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "en_GB"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "en-"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "english-language-x"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "de-a"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "x-unspecified2"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "abcdefghi"}), "locations[1].lang"},
		{loc(nomen.Location{Lang: "1a"}), "locations[1].lang"},
		{loc(nomen.Location{Rel: "item"}), ""},
		{loc(nomen.Location{Rel: "https://example.org/rel"}), ""},
		{loc(nomen.Location{Rel: "Item"}), "locations[1].rel"},
		{loc(nomen.Location{Rel: "item archive"}), "locations[1].rel"},
		{loc(nomen.Location{Priority: 65535, Weight: 65535}), ""},
		{loc(nomen.Location{Priority: -1}), "locations[1].priority"},
		{loc(nomen.Location{Weight: 65536}), "locations[1].weight"},
		{loc(nomen.Location{Country: "de"}), ""},
		{loc(nomen.Location{Country: "DEU"}), "locations[1].country"},
		{loc(nomen.Location{Country: "D1"}), "locations[1].country"},
		{loc(nomen.Location{Component: "toc"}), ""},
		{loc(nomen.Location{Component: "a\nb"}), "locations[1].component"},
		{loc(nomen.Location{Charset: "ISO-8859-9"}), ""}, // Y95-46
		{loc(nomen.Location{Charset: "ISO-8859-10"}), "locations[1].charset"},
		{loc(nomen.Location{Charset: "ISO-8859-0"}), "locations[1].charset"},
		{loc(nomen.Location{Charset: "UTF-8"}), "locations[1].charset"},
		{loc(nomen.Location{Note: "one\n\ttwo ü"}), ""},
		{loc(nomen.Location{Note: "one\r\ntwo"}), "locations[1].note"},
		{loc(nomen.Location{Note: "\x1b[31m"}), "locations[1].note"},
		{loc(nomen.Location{Note: "ä\x1b"}), "locations[1].note"},
		{loc(nomen.Location{Note: "ä\u009b"}), "locations[1].note"},
		{loc(nomen.Location{Note: "\xff"}), "locations[1].note"},
		{loc(nomen.Location{ValidFrom: "2026-01-01T00:00:00Z", ValidUntil: "2026-01-01T00:00:00.5+00:00"}), ""},
		{loc(nomen.Location{ValidFrom: "2026-01-01"}), "locations[1].valid_from"},
		{loc(nomen.Location{ValidUntil: "tomorrow"}), "locations[1].valid_until"},
		{loc(nomen.Location{ValidFrom: "2026-01-02T00:00:00Z", ValidUntil: "2026-01-02T01:00:00+01:00"}), "locations[1].valid_until"},
		{meta("title", "A", "B"), ""},
		{meta("rights", "free\nfor all"), ""},
		{meta("Title", "A"), "metadata.Title"},
		{meta("color", "A"), "metadata.color"},
		{meta("title", "A", ""), "metadata.title[1]"},
		{meta("title", "A\x07"), "metadata.title[0]"},
		{&store.Record{SameAs: []string{"urn:doi:10.17487/rfc2648", "https://example.org/"}}, ""},
		{&store.Record{SameAs: []string{"alb002"}}, "same_as[0]"},
		{&store.Record{SameAs: []string{"urn:x"}}, "same_as[0]"},
		{&store.Record{SameAs: []string{"javascript:x"}}, "same_as[0]"},
		{&store.Record{Successors: []string{"urn:dns:example.org:alb003", "ark:12345/x"}}, ""},
		{&store.Record{Successors: []string{"alb003"}}, "successors[0]"},
		{&store.Record{Successors: []string{"urn:dns:EXAMPLE.org:alb002"}}, "successors[0]"},
		{&store.Record{Successors: []string{"javascript:x"}}, "successors[0]"},
		{&store.Record{Status: "gone"}, "status"},
		{&store.Record{Status: nomen.Retired, Reason: "lost\x00"}, "reason"},
		{&store.Record{Reason: "none"}, "reason"},
		{&store.Record{Status: nomen.Retired, Reason: "lost"}, ""},
	} {
		d := newDesk(t)
		c.rec.Spelling = alb
		out := d.put(c.rec)
		if field, _, _ := refusal(out.Err); field != c.field || (out.Err == nil) != (c.field == "") {
			t.Errorf("Put(%+v): refused field %q (%v), want %q", c.rec, field, out.Err, c.field)
		}
	}
}

func TestRights(t *testing.T) {
	for _, c := range []struct {
		id, name string
		actor    Actor
		need     Role // 0 for allowed
	}{
		{"no grant", alb, Actor{}, Editor},
		{"reader", alb, actor(Reader), Editor},
		{"editor everywhere", alb, editor(), 0},
		{"editor here", alb, editor("urn:dns:example.org"), 0},
		{"editor elsewhere", alb, editor("urn:dns:example.com"), Editor},
		{"Y95-11", "urn:dns:sub.example.org:x", editor("urn:dns:example.org"), Editor},
		{"Y95-21 no authority", "urn:dns:other.example:x", editor(), Administrator},
		{"Y95-21 no authority", "urn:dns:other.example:x", actor(Owner), Administrator},
		{"Y95-21 no registration is required", "urn:dns:other.example:x", actor(Administrator), 0},
		{"administrator elsewhere", alb, actor(Administrator, "urn:dns:example.com"), Editor},
	} {
		d := newDesk(t)
		out := d.ask(c.actor, Request{Record: &store.Record{Spelling: c.name}, Expected: store.AnyRevision})
		var denied *DeniedError
		ok := errors.As(out.Err, &denied)
		if ok != (c.need > 0) || ok && denied.Need != c.need || !ok && out.Err != nil {
			t.Errorf("%s: Put(%s): %v, want the role %v to be needed", c.id, c.name, out.Err, c.need)
		}
	}
}

func TestNoAuthorityIsWarnedAbout(t *testing.T) {
	d := newDesk(t)
	out := d.good(d.put(&store.Record{Spelling: "urn:dns:other.example:x"}))
	if len(out.Warnings) != 1 || out.Warnings[0].Code != WarnNoAuthority {
		t.Errorf("warnings %v, want %s", out.Warnings, WarnNoAuthority)
	}
}

// TestWrongNameIsWarnedAbout checks that a doubtful name is created with a warning.
func TestWrongNameIsWarnedAbout(t *testing.T) {
	d := newDesk(t)
	d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:isbn"), Owners: []string{"a", "b"}})
	out := d.good(d.put(&store.Record{Spelling: "urn:isbn:9780395363417"}))
	if len(out.Warnings) != 1 || out.Warnings[0].Code != WarnDoubtful || !strings.Contains(out.Warnings[0].Message, "did you mean urn:isbn:9780395363416") {
		t.Errorf("warnings %v, want %s with the right number", out.Warnings, WarnDoubtful)
	}
	if out := d.good(d.put(&store.Record{Spelling: "urn:isbn:9780395363416"})); len(out.Warnings) != 0 {
		t.Errorf("a right number: %v", out.Warnings)
	}
}

func TestFoldCase(t *testing.T) {
	d := newDesk(t)
	d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:dns:fold.example"), FoldCase: true})
	out := d.good(d.put(&store.Record{Spelling: "urn:dns:fold.example:ALB%2f2"}))
	if got, want := out.Name.Key(), "urn:dns:fold.example:alb%2F2"; got != want {
		t.Errorf("Y95-04: key %s, want %s", got, want)
	}
	back, err := d.Get(d.ctx, name.MustParse("urn:dns:fold.example:Alb%2F2"))
	if err != nil {
		t.Fatal(err)
	}
	if again := d.good(d.put(back)); again.Result.Changed {
		t.Error("the record as read, put again, is a change")
	}
	d.good(d.put(&store.Record{Spelling: "urn:dns:example.org:Big"}))
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:example.org"), FoldCase: true}
	if _, err := d.PutAuthority(d.ctx, Operator(), a, store.AnyRevision, ""); !strings.Contains(err.Error(), "Big") {
		t.Errorf("folding an authority with the name Big: %v", err)
	}
	off := d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:dns:fold.example"), Owners: []string{"a", "b"}})
	if len(off.Warnings) != 1 || off.Warnings[0].Code != WarnFoldOff {
		t.Errorf("warnings %v, want %s", off.Warnings, WarnFoldOff)
	}
}
