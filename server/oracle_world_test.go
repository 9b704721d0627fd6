package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A fate is the outcome of a request for a name: it is answered, or has one of the errors
// of RFC 2483, section 2.4, as distinguished by the contract.
type fate int

const (
	served  fate = iota // there is a record, a rule, or another resolver that answers
	gone                // retired without a successor
	moved               // retired with exactly one
	split               // retired with several
	hidden              // reserved: known, not yet public
	unknown             // nothing is registered
	noName              // not a name
	denied              // access denied
	legal               // access denied for legal reasons
	away                // the client is sent to another resolver
)

// A row is one record of the table, with everything the oracle knows about it.
type row struct {
	id   string
	name string // as requested
	fate fate

	places     []nomen.Location // ordered by default preference
	names      []string         // other names of the same resource
	title      string
	reason     string
	successors []string

	service  nomen.Service   // default of web paths, "" for I2L
	offers   []nomen.Service // nil for all
	redirect int             // status of redirects to HTTP/1.1, 0 for 303
	fetch    bool            // I2R and I2Rs are offered
	afar     bool            // answered by another resolver
	target   string          // of a delegation that redirects
}

// host returns the authority of 1995 and the ElementID, if the name has them.
func (r row) host() (host, element string, ok bool) {
	rest, ok := strings.CutPrefix(r.name, "urn:dns:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

const (
	worldURL   = "https://names.test"
	awayPrefix = "https://resolver.away.example/"
	oneURL     = "https://one.example/a"
	secretURL  = "https://secret.example/not-yet"
	deniedURL  = "https://denied.example/x"
	oldURL     = "https://old.example/x"
)

// severalPlaces differ in type, language and priority, so that the best one depends only
// on Accept. The first has characters that HTML and urc-0 must escape.
var severalPlaces = []nomen.Location{
	{URL: "https://several.example/page.html?a=1&b=2", Type: "text/html", Lang: "en", Priority: 1, Note: "for <people> & others"},
	{URL: "https://several.example/text.txt", Type: "text/plain", Lang: "de", Priority: 2},
	{URL: "https://several.example/paper.pdf", Type: "application/pdf", Lang: "en", Priority: 3},
}

func at(url string) []nomen.Location { return []nomen.Location{{URL: url}} }

// rows are the records of the table.
func rows() []row {
	several := []string{"urn:dns:names.example:several"}
	all := []row{
		{id: "one location", name: "urn:dns:names.example:one", places: at(oneURL), title: "One & only <one>"},
		{
			id: "several locations", name: "urn:dns:names.example:several", places: severalPlaces, title: "Several",
			names: []string{"urn:dns:names.example:also", "urn:doi:10.1234/too"},
		},
		{id: "no location", name: "urn:dns:names.example:none", title: "Nowhere"},
		{id: "retired", name: "urn:dns:names.example:gone", fate: gone, title: "Gone", reason: "burnt <down>"},
		{id: "retired, one successor", name: "urn:dns:names.example:moved", fate: moved, title: "Moved", reason: "a new edition", successors: several},
		{
			id: "retired, two successors", name: "urn:dns:names.example:split", fate: split, title: "Split", reason: "cut in two",
			successors: []string{"urn:dns:names.example:several", "urn:dns:names.example:one"},
		},
		{id: "reserved", name: "urn:dns:names.example:secret", fate: hidden},
		{id: "unknown", name: "urn:dns:names.example:nothing", fate: unknown},
		{id: "malformed", name: "urn:dns:names.example:a%zz", fate: noName},
		{id: "no authority", name: "urn:dns:unserved.example:x", fate: unknown},
		{id: "record without authority", name: "urn:example:loose", places: at("https://loose.example/"), title: "Loose"},
		{id: "rule", name: "urn:dns:rules.example:42", places: at("https://rules.example/n/42")},
		{id: "no rule matches", name: "urn:dns:rules.example:abc", fate: unknown},
		{id: "suffix", name: "urn:dns:suffix.example:base:more", places: at("https://suffix.example/base:more")},
		{id: "delegated, redirect", name: "urn:dns:away.example:x", fate: away, target: awayPrefix + "urn:dns:away.example:x"},
		{id: "delegated, asked", name: "urn:dns:afar.example:x", places: at("https://afar.example/x"), title: "Afar", afar: true},
		{id: "delegated, not known there", name: "urn:dns:afar.example:nothing", fate: unknown, afar: true},
		{id: "denied", name: "urn:dns:denied.example:x", fate: denied},
		{id: "denied for legal reasons", name: "urn:dns:legal.example:x", fate: legal},
		{id: "own redirect status", name: "urn:dns:lasting.example:x", places: at("https://lasting.example/x"), title: "Lasting", redirect: 308},
		{
			id: "own default, few services", name: "urn:dns:few.example:x", places: at("https://few.example/x"), title: "Few",
			service: nomen.I2C, offers: []nomen.Service{nomen.I2C, nomen.I2L},
		},
	}
	for i := range all {
		all[i].fetch = strings.HasPrefix(all[i].name, "urn:dns:names.example:")
	}
	return all
}

func worldAuthorities() (here, afar []*store.Authority) {
	authority := func(host string, change func(*store.Authority)) *store.Authority {
		a := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:" + host), Owners: []string{"archive", "library"}}
		change(a)
		return a
	}
	here = []*store.Authority{
		authority("names.example", func(a *store.Authority) { a.Default, a.Fetch = true, true }),
		authority("rules.example", func(a *store.Authority) {
			a.Rules = rule.Set{{
				Match: "{n:d}", Locations: at("https://rules.example/n/{n}"),
				Tests: []rule.Test{{From: "urn:dns:rules.example:7", To: []string{"https://rules.example/n/7"}}},
			}}
		}),
		authority("suffix.example", func(a *store.Authority) { a.Suffix = store.SuffixAppend }),
		authority("away.example", func(a *store.Authority) {
			a.Delegation = &store.Delegation{Mode: store.ModeRedirect, To: awayPrefix + "{+name}"}
		}),
		authority("afar.example", func(a *store.Authority) {
			a.Delegation = &store.Delegation{Mode: store.ModeAsk, To: "upstream.example:4500"}
		}),
		authority("denied.example", func(a *store.Authority) { a.Access, a.AccessNote = store.AccessDenied, "members only" }),
		authority("legal.example", func(a *store.Authority) { a.Access = store.AccessLegal }),
		authority("lasting.example", func(a *store.Authority) { a.Redirect = 308 }),
		authority("few.example", func(a *store.Authority) {
			a.Service, a.Services = nomen.I2C, []nomen.Service{nomen.I2C, nomen.I2L}
		}),
	}
	return here, []*store.Authority{authority("afar.example", func(*store.Authority) {})}
}

// worldRecords returns the records for the rows.
func worldRecords() (here, afar []*store.Record) {
	for _, r := range rows() {
		rec := &store.Record{
			Spelling: r.name, Status: nomen.Active, Locations: r.places, SameAs: r.names,
			Reason: r.reason, Successors: r.successors,
		}
		if r.title != "" {
			rec.Metadata = nomen.Metadata{"title": {r.title}}
		}
		switch {
		case r.fate == unknown || r.fate == noName || r.fate == away || r.id == "rule":
			continue
		case r.id == "suffix": // ends at a delimiter of the namespace (C5)
			rec.Spelling, rec.Locations = "urn:dns:suffix.example:base", at("https://suffix.example/base")
		case r.fate == hidden:
			rec.Status, rec.Locations = nomen.Reserved, at(secretURL)
		case r.fate == denied || r.fate == legal:
			rec.Locations = at(deniedURL)
		case r.reason != "":
			rec.Status, rec.Locations = nomen.Retired, at(oldURL)
		}
		if r.afar {
			afar = append(afar, rec)
		} else {
			here = append(here, rec)
		}
	}
	return here, afar
}

// storeOf returns a store of records and authorities.
func storeOf(t testing.TB, authorities []*store.Authority, records []*store.Record) *memstore.Store {
	t.Helper()
	var changes []store.Change
	for _, a := range authorities {
		changes = append(changes, store.Change{Authority: a, Time: modified})
	}
	for _, r := range records {
		r.Name = name.MustParse(r.Spelling)
		changes = append(changes, store.Change{Record: r, Time: modified})
	}
	s := memstore.New()
	if _, err := s.Apply(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
	return s
}

// content returns the resource at a location of the world, with the type in the record,
// or text/plain.
func content(url string) (mediaType, body string) {
	mediaType = "text/plain"
	for _, l := range severalPlaces {
		if l.URL == url {
			mediaType = l.Type
		}
	}
	return mediaType, "what is at " + url + "\n"
}

// newWorld returns a server for the rows.
func newWorld(t testing.TB) *Listening {
	t.Helper()
	hereAuthorities, afarAuthorities := worldAuthorities()
	hereRecords, afarRecords := worldRecords()
	now := func() time.Time { return testNow }
	afar := resolve.New(storeOf(t, afarAuthorities, afarRecords), resolve.Options{Now: now})
	s := storeOf(t, hereAuthorities, hereRecords)
	srv, err := New(Options{
		Store:     s,
		PublicURL: worldURL,
		Version:   "1.2.3",
		Now:       now,
		Limits:    Limits{Timeout: time.Minute},
		Resolver: resolve.New(s, resolve.Options{
			Now: now,
			Fetch: func(_ context.Context, url string) (*nomen.Resource, error) {
				mediaType, body := content(url)
				return &nomen.Resource{Type: mediaType, Size: int64(len(body)), URL: url, Body: io.NopCloser(bytes.NewReader([]byte(body)))}, nil
			},
			Ask: func(to string) (nomen.Resolver, error) {
				if to != "upstream.example:4500" {
					return nil, errors.New("no other resolver")
				}
				return afar, nil
			},
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return listen(t, srv)
}
