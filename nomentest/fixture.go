package nomentest

import (
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// Host is the naming authority of most names in the fixture. In the scheme urn:dns, it is also the
// host that resolves them.
const Host = "names.example.org"

// foldingHost is an authority that folds case. The elements of its names are stored in lower case.
const foldingHost = "fold.example.org"

// dns returns the name of the authority [Host] with the given element.
func dns(element string) string { return "urn:dns:" + Host + ":" + element }

// Spellings under which the names of the fixture are registered.
var (
	single     = dns("single")
	ranked     = dns("ranked")
	typed      = dns("typed")
	noted      = dns("noted")
	bare       = dns("bare")
	reserved   = dns("reserved")
	retired    = dns("retired")
	replaced   = dns("replaced")
	divided    = dns("divided")
	hinting    = dns("hinting")
	aliased    = dns("aliased")
	worldly    = dns("worldly")
	structured = dns("structured")
	dated      = dns("dated")
	escaped    = "URN:DNS:Names.Example.ORG:Alb%2d002%2fa"
	folded     = "urn:dns:" + foldingHost + ":alb002"
	rfc        = "urn:ietf:rfc:2648"
	nbn        = "urn:nbn:fi-fe19991055"
	ark        = "ark:/12345/x-54/xz.321"
	purl       = "https://purl.example/Net/~x"
	missing    = dns("missing")
	longer     = "urn:example:longer"
	failing    = dns("failing")
	closed     = "urn:x-closed:1"
	forbidden  = "urn:x-forbidden:1"
	delegated  = "urn:x-elsewhere:a/b"
	fetchable  = "urn:x-fetched:1"
)

// Authorities returns the authorities of the fixture. The caller may modify them.
func Authorities() []*store.Authority {
	return []*store.Authority{
		{
			Prefix: name.MustParsePrefix("urn:dns:" + Host), Hosts: []string{Host}, Default: true,
			Owners: []string{"archive", "library-it"}, Contact: "mailto:names@example.org", List: true,
		},
		{
			Prefix: name.MustParsePrefix("urn:dns:" + foldingHost), Hosts: []string{foldingHost},
			Owners: []string{"archive", "library-it"}, FoldCase: true,
		},
		{Prefix: name.MustParsePrefix("urn:ietf:rfc"), Owners: []string{"archive", "library-it"}},
		{Prefix: name.MustParsePrefix("urn:nbn:fi"), Owners: []string{"archive", "library-it"}},
		{Prefix: name.MustParsePrefix("https://purl.example/Net"), Owners: []string{"archive", "library-it"}},
		{
			Prefix: name.MustParsePrefix("urn:example"), Owners: []string{"archive", "library-it"},
			Policy: store.Policy{
				Suffix: store.SuffixAppend, Services: []nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2C},
				Rules: rule.Set{{
					Match: "n{number:d}", Locations: []nomen.Location{{URL: "https://rule.example/{number}"}},
					Tests: []rule.Test{{From: "urn:example:n1", To: []string{"https://rule.example/1"}}},
				}},
			},
		},
		{Prefix: name.MustParsePrefix("urn:x-closed"), Owners: []string{"archive", "library-it"}, Policy: store.Policy{Access: store.AccessDenied}},
		{Prefix: name.MustParsePrefix("urn:x-forbidden"), Owners: []string{"archive", "library-it"}, Policy: store.Policy{Access: store.AccessLegal}},
		{
			Prefix: name.MustParsePrefix("urn:x-elsewhere"), Owners: []string{"archive", "library-it"},
			Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://elsewhere.example/{+name}"}},
		},
		{Prefix: name.MustParsePrefix("urn:x-fetched"), Owners: []string{"archive", "library-it"}, Policy: store.Policy{Fetch: true}},
		{Prefix: name.MustParsePrefix("ark:12345"), Owners: []string{"archive", "library-it"}, Service: nomen.I2C},
	}
}

// Records returns the records of the fixture, without revisions and times. The caller may modify
// them.
func Records() []*store.Record {
	all := slices.Concat(activeRecords(), variedRecords(), deadRecords())
	for _, r := range all {
		r.Name = name.MustParse(r.Spelling)
	}
	return all
}

func activeRecords() []*store.Record {
	return []*store.Record{
		active(single, nomen.Location{URL: "https://example.org/single"}),
		{
			Spelling: ranked, Status: nomen.Active,
			Locations: []nomen.Location{ // not sorted by priority
				{URL: "https://archive.example/ranked", Rel: "archive", Priority: 3, Note: "kept for ever"},
				{URL: "https://example.org/ranked?a=1&b=%2F#top", Type: "text/html", Lang: "en", Priority: 1, Weight: 2},
				{URL: "ftp://mirror.example/ranked", Type: "text/html", Lang: "fi", Country: "FI", Priority: 2},
			},
			Metadata: nomen.Metadata{"title": {"Ranked"}, "creator": {"B. Author", "A. Author"}, "date": {"1999-08"}},
		},
		{
			Spelling: noted, Status: nomen.Active,
			Locations: []nomen.Location{
				{URL: "https://example.org/noted", Lang: "en", Note: "Two lines,\nthe second with <markup> & \"quotes\".", Priority: 1},
				{URL: "gopher://example.org/0/noted", Lang: "fr", Charset: "ISO-8859-1", Note: "Numéro périmé", Priority: 2},
			},
		},
		{Spelling: bare, Status: nomen.Active, Metadata: nomen.Metadata{"title": {"Nothing but a title"}}},
		{
			Spelling: aliased, Status: nomen.Active,
			Locations: []nomen.Location{{URL: "https://example.org/aliased"}},
			SameAs:    []string{"urn:doi:10.17487/rfc2648", "https://example.com/another/name"},
		},
		{
			Spelling: hinting, Status: nomen.Active,
			Locations:  []nomen.Location{{URL: "https://example.org/hinting"}},
			Successors: []string{single},
		},
		{
			Spelling: worldly, Status: nomen.Active,
			Locations: []nomen.Location{{URL: "https://example.org/%E2%98%83"}},
			Metadata: nomen.Metadata{
				"title":   {"Żółć — 雪人 ☃ \U0001F600", "e\u0301 is not \u00e9"},
				"creator": {"Иванов, И.", "\"quoted\" <b>&amp;</b>\u2028"},
			},
		},
	}
}

// variedRecords returns records whose answers depend on the preferences of the client.
func variedRecords() []*store.Record {
	return []*store.Record{
		active(typed,
			nomen.Location{URL: "https://example.org/typed.pdf", Type: "application/pdf", Lang: "en"},
			nomen.Location{URL: "https://example.org/typed.txt", Type: "text/plain", Lang: "de"},
			nomen.Location{URL: "https://example.org/typed.ps", Type: "application/postscript", Lang: "sv", Country: "SE"},
		),
		active(structured,
			nomen.Location{URL: "https://example.org/structured/toc", Component: "toc", Priority: 1},
			nomen.Location{URL: "https://example.org/structured", Priority: 2},
			nomen.Location{URL: "https://example.org/structured/abstract", Component: "abstract", Priority: 3},
		),
		active(dated,
			nomen.Location{URL: "https://example.org/once", ValidUntil: "2001-01-01T00:00:00Z", Priority: 1},
			nomen.Location{URL: "https://example.org/since", ValidFrom: "2001-01-01T00:00:00Z", Priority: 2},
			nomen.Location{URL: "https://example.org/some-day", ValidFrom: "9001-01-01T00:00:00Z", Priority: 1},
		),
		active(failing,
			nomen.Location{URL: "https://example.org/failing", Priority: 1, Down: true},
			nomen.Location{URL: "https://example.org/standing", Priority: 2},
		),
		active(closed, nomen.Location{URL: "https://example.org/closed"}),
		active(forbidden, nomen.Location{URL: "https://example.org/forbidden"}),
		active(fetchable,
			nomen.Location{URL: "https://example.org/fetched.txt", Type: "text/plain", Priority: 1},
			nomen.Location{URL: "https://example.org/fetched.html", Type: "text/html", Priority: 2},
		),
		active(escaped, nomen.Location{URL: "https://example.org/escaped"}),
		active(folded, nomen.Location{URL: "https://example.org/folded"}),
		active(rfc, nomen.Location{URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain"}),
		active(nbn, nomen.Location{URL: "https://example.org/nbn"}),
		active(purl, nomen.Location{URL: "https://example.org/purl"}),
		active(longer, nomen.Location{URL: "https://example.org/longer"}),
		active(ark, nomen.Location{URL: "https://example.org/ark"}),
	}
}

func deadRecords() []*store.Record {
	return []*store.Record{
		{
			Spelling: reserved, Status: nomen.Reserved,
			Locations: []nomen.Location{{URL: "https://example.org/secret"}},
			Metadata:  nomen.Metadata{"title": {"Not yet"}},
		},
		{
			Spelling: retired, Status: nomen.Retired, Reason: "withdrawn by its author",
			Metadata: nomen.Metadata{"title": {"What it was"}},
		},
		{Spelling: replaced, Status: nomen.Retired, Reason: "a new edition", Successors: []string{single}},
		{Spelling: divided, Status: nomen.Retired, Reason: "split in two", Successors: []string{single, ranked}},
	}
}

func active(spelling string, locations ...nomen.Location) *store.Record {
	return &store.Record{Spelling: spelling, Status: nomen.Active, Locations: locations}
}
