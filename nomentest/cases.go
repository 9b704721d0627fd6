package nomentest

import (
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// services are the services that most cases use.
var services = [...]nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2C, nomen.I2Cs, nomen.I2N, nomen.I2Ns}

// A testCase is a question and the expected answer or error. The error Gone comes with an answer,
// which is the tombstone.
type testCase struct {
	name      string
	question  nomen.Question
	kind      nomen.Kind    // kind of the expected error, or 0
	answer    *nomen.Answer // nil if no answer is expected
	legal     bool          // the error is Denied for legal reasons
	unordered bool          // locations are equally good, so their order can vary
}

type fixture map[string]*store.Record

func newFixture() fixture {
	f := fixture{}
	for _, r := range Records() {
		f[r.Spelling] = r
	}
	return f
}

func (f fixture) cases(c Capabilities) []testCase {
	all := slices.Concat(
		f.services(), f.nothing(), f.unknown(), f.retired(c), f.spellings(), f.schemes(), f.defaults(c), f.malformed(),
	)
	if !c.Unranked {
		all = append(all, f.ranking()...)
	}
	if !c.Uncomponented {
		all = append(all, f.components()...)
	}
	if !c.Uncountried {
		all = append(all, f.countries()...)
	}
	if c.Ruled {
		all = append(all, f.policies(c)...)
		all = append(all, f.access()...)
		all = append(all, f.delegation(c)...)
		all = append(all, f.equality()...)
	}
	if c.Timed {
		all = append(all, f.times()...)
	}
	return slices.DeleteFunc(all, func(tc testCase) bool { return !c.carries(tc.question) })
}

// policies returns questions about names of an authority with a policy. The names match a rule,
// have a suffix, or match nothing. One question is for a service that the authority does not offer
// (N12-32).
func (f fixture) policies(c Capabilities) []testCase {
	base := func(s nomen.Service, spelling string, urls ...string) *nomen.Answer {
		a := &nomen.Answer{Service: s, Name: name.MustParse(spelling), Status: nomen.Active}
		for _, u := range urls {
			a.Locations = append(a.Locations, nomen.Location{URL: u})
		}
		return a
	}
	ruled, extended := "urn:example:n7", longer+":part"
	cases := []testCase{
		{name: "by rule", question: ask(nomen.I2L, ruled), answer: base(nomen.I2L, ruled, "https://rule.example/7")},
		{name: "all by rule", question: ask(nomen.I2Ls, ruled), answer: base(nomen.I2Ls, ruled, "https://rule.example/7")},
		{name: "by suffix", question: ask(nomen.I2L, extended), answer: base(nomen.I2L, extended, "https://example.org/longer:part")},
		{name: "no rule", question: ask(nomen.I2L, "urn:example:m7"), kind: nomen.Unknown},
	}
	if !c.Undefaulted {
		cases = append(cases, testCase{name: "not offered", question: ask(nomen.I2Ns, ruled), answer: base(nomen.I2L, ruled, "https://rule.example/7")})
	}
	return cases
}

// access returns questions about names with restricted access. The error is the same whether or not
// the name exists.
func (f fixture) access() []testCase {
	var cases []testCase
	for _, s := range services {
		for _, n := range []string{closed, closed + "23"} {
			cases = append(cases, testCase{name: "denied", question: ask(s, n), kind: nomen.Denied})
		}
		cases = append(cases, testCase{name: "denied for legal reasons", question: ask(s, forbidden), kind: nomen.Denied, legal: true})
	}
	return cases
}

// delegation returns a question whose answer is a redirect to another resolver. It returns no
// question if the resolver under test follows redirects.
func (f fixture) delegation(c Capabilities) []testCase {
	if c.Follows || c.Undelegated {
		return nil
	}
	answer := &nomen.Answer{Service: nomen.I2L, Name: name.MustParse(delegated), Status: nomen.Active, Redirect: "https://elsewhere.example/" + delegated}
	return []testCase{{name: "delegated", question: ask(nomen.I2L, delegated), answer: answer}}
}

// equality returns questions for the service I=I (RFC 2483, section 4.9).
func (f fixture) equality() []testCase {
	compare := func(a, b string) nomen.Question {
		q := ask(nomen.IisI, a)
		q.Other = uri.MustParse(b)
		return q
	}
	verdict := func(spelling string, same bool) *nomen.Answer {
		a := f.base(nomen.IisI, spelling)
		a.Same = same
		return a
	}
	return []testCase{
		{name: "spellings", question: compare(single, "URN:DNS:"+Host+":s%69ngle"), answer: verdict(single, true)},
		{name: "the same as", question: compare(aliased, f[aliased].SameAs[0]), answer: verdict(aliased, true)},
		{name: "not known to be", question: compare(single, aliased), answer: verdict(single, false)},
		{name: "neither known", question: compare(missing, dns("missing-too")), kind: nomen.Unknown},
	}
}

// times returns questions about the state before all changes and in the future.
func (f fixture) times() []testCase {
	var cases []testCase
	for _, s := range services {
		before, later := ask(s, aliased), ask(s, single)
		before.At = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
		later.At = time.Date(2999, 12, 31, 0, 0, 0, 0, time.UTC)
		cases = append(cases, testCase{name: "before everything", question: before, kind: nomen.Unknown})
		if s == nomen.I2L || s == nomen.I2Ls {
			cases = append(cases, testCase{name: "as of a future time", question: later, answer: f.locations(s, single, 0)})
		}
	}
	return cases
}

func (c Capabilities) carries(q nomen.Question) bool {
	n := q.Name
	if n.IsZero() {
		n, _ = name.FromURI(q.Subject)
	}
	if !c.Under.IsZero() && !n.IsZero() && !c.Under.Covers(n) {
		return false
	}
	return c.Services == nil || !q.Service.Known() || slices.Contains(c.Services, q.Service)
}

func ask(s nomen.Service, spelling string) nomen.Question {
	return nomen.Question{Name: name.MustParse(spelling), Subject: uri.MustParse(spelling), Service: s}
}

// base returns an answer with the fields that all answers from one record have in common.
func (f fixture) base(s nomen.Service, spelling string) *nomen.Answer {
	r := f[spelling]
	return &nomen.Answer{Service: s, Name: r.Name, Status: r.Status}
}

func (f fixture) locations(s nomen.Service, spelling string, indexes ...int) *nomen.Answer {
	a := f.base(s, spelling)
	for _, i := range indexes {
		a.Locations = append(a.Locations, f[spelling].Locations[i])
	}
	return a
}

func (f fixture) names(s nomen.Service, spelling string, names ...string) *nomen.Answer {
	a := f.base(s, spelling)
	a.Names = names
	return a
}

// description returns an answer with the whole description. The indexes select the locations of the
// record and their order.
func (f fixture) description(s nomen.Service, spelling string, indexes ...int) *nomen.Answer {
	r, a := f[spelling], f.locations(s, spelling, indexes...)
	a.Metadata, a.Names, a.Reason = r.Metadata, r.SameAs, r.Reason
	if r.Spelling != r.Name.Key() {
		a.Spelling = r.Spelling
	}
	for _, successor := range r.Successors {
		a.Successors = append(a.Successors, name.MustParse(successor))
	}
	a.Revision = 1
	return a
}

// services returns questions for the services of RFC 2483, sections 4.1, 4.2 and 4.5 to 4.8.
func (f fixture) services() []testCase {
	cases := []testCase{
		{name: "one location", question: ask(nomen.I2L, single), answer: f.locations(nomen.I2L, single, 0)},
		{name: "the best of several", question: ask(nomen.I2L, ranked), answer: f.locations(nomen.I2L, ranked, 1)},
		{name: "the best of several with notes", question: ask(nomen.I2L, noted), answer: f.locations(nomen.I2L, noted, 0)},
		{name: "all locations of one", question: ask(nomen.I2Ls, single), answer: f.locations(nomen.I2Ls, single, 0)},
		{name: "all, the best first", question: ask(nomen.I2Ls, ranked), answer: f.locations(nomen.I2Ls, ranked, 1, 2, 0)},
		{name: "not down", question: ask(nomen.I2L, failing), answer: f.locations(nomen.I2L, failing, 1)},
		{name: "all, those that are down last", question: ask(nomen.I2Ls, failing), answer: f.locations(nomen.I2Ls, failing, 1, 0)},
		{name: "valid now", question: ask(nomen.I2L, dated), answer: f.locations(nomen.I2L, dated, 1)},
		{name: "all that are valid now", question: ask(nomen.I2Ls, dated), answer: f.locations(nomen.I2Ls, dated, 1)},
		{name: "successors of an active name never redirect", question: ask(nomen.I2L, hinting), answer: f.locations(nomen.I2L, hinting, 0)},
		{name: "the first name", question: ask(nomen.I2N, aliased), answer: f.names(nomen.I2N, aliased, f[aliased].SameAs[0])},
		{name: "all names", question: ask(nomen.I2Ns, aliased), answer: f.names(nomen.I2Ns, aliased, f[aliased].SameAs...)},
	}
	for _, s := range []nomen.Service{nomen.I2C, nomen.I2Cs} {
		cases = append(cases,
			testCase{name: "description", question: ask(s, single), answer: f.description(s, single, 0)},
			testCase{name: "description of several", question: ask(s, ranked), answer: f.description(s, ranked, 1, 2, 0)},
			testCase{name: "description with notes", question: ask(s, noted), answer: f.description(s, noted, 0, 1)},
			testCase{name: "description without a location", question: ask(s, bare), answer: f.description(s, bare)},
			testCase{name: "description with names", question: ask(s, aliased), answer: f.description(s, aliased, 0)},
			testCase{name: "description with a successor", question: ask(s, hinting), answer: f.description(s, hinting, 0)},
			testCase{name: "description in Unicode", question: ask(s, worldly), answer: f.description(s, worldly, 0)},
			testCase{name: "description with a spelling", question: ask(s, escaped), answer: f.description(s, escaped, 0)},
		)
	}
	return cases
}

// The records for these questions lack the requested data. A service for one item then returns an
// error, and a service for a list returns an empty list (RFC 2483, section 4).
func (f fixture) nothing() []testCase {
	return []testCase{
		{name: "no location", question: ask(nomen.I2L, bare), kind: nomen.NoResult},
		{name: "no locations", question: ask(nomen.I2Ls, bare), answer: f.locations(nomen.I2Ls, bare)},
		{name: "no name", question: ask(nomen.I2N, single), kind: nomen.NoResult},
		{name: "no names", question: ask(nomen.I2Ns, single), answer: f.names(nomen.I2Ns, single)},
	}
}

// unknown returns questions about unknown names. A reserved name is unknown, because it is not
// public yet.
func (f fixture) unknown() []testCase {
	var cases []testCase
	for _, s := range append(services[:], "") {
		cases = append(cases,
			testCase{name: "missing", question: ask(s, missing), kind: nomen.Unknown},
			testCase{name: "reserved", question: ask(s, reserved), kind: nomen.Unknown},
			testCase{name: "outside every authority", question: ask(s, "urn:x-unknown:1"), kind: nomen.Unknown},
		)
	}
	return cases
}

// retired returns questions about retired names (Y95-25). The expected error comes with a
// tombstone, which has the description, the reason and the successors. If a name has exactly one
// successor, I2L redirects to the successor.
func (f fixture) retired(c Capabilities) []testCase {
	var cases []testCase
	for _, s := range services {
		cases = append(cases,
			testCase{name: "retired", question: ask(s, retired), kind: nomen.Gone, answer: f.description(s, retired)},
			testCase{name: "retired for two", question: ask(s, divided), kind: nomen.Gone, answer: f.description(s, divided)},
		)
		switch {
		case c.Succeeds && s != nomen.I2L:
			cases = append(cases, f.succeeded(s)...)
		case s != nomen.I2L || c.Unsuccessive:
			cases = append(cases, testCase{
				name: "retired for one", question: ask(s, replaced), kind: nomen.Gone, answer: f.description(s, replaced),
			})
		}
	}
	if c.Unsuccessive {
		return cases
	}
	redirect := testCase{name: "retired for one", question: ask(nomen.I2L, replaced), answer: f.base(nomen.I2L, replaced)}
	redirect.answer.Redirect = single
	if c.Follows {
		redirect.answer = f.locations(nomen.I2L, single, 0)
	}
	return append(cases, redirect)
}

// succeeded returns a question about a retired name for a service other than I2L. The answer comes
// from the record of the successor (Y95-43, Y95-64).
func (f fixture) succeeded(s nomen.Service) []testCase {
	tc := testCase{name: "retired for one", question: ask(s, replaced)}
	switch s {
	case nomen.I2C, nomen.I2Cs:
		tc.answer = f.description(s, single, 0)
	case nomen.I2Ls:
		tc.answer = f.locations(s, single, 0)
	default:
		return nil // the successor has no aliases
	}
	return []testCase{tc}
}

// spellings returns questions with other spellings of existing names, and with similar spellings of
// names that do not exist (Y95-02, Y95-03, Y95-04, Y95-13).
func (f fixture) spellings() []testCase {
	same := []struct{ record, spelling string }{
		{single, "URN:DNS:" + Host + ":single"},
		{single, "urn:dns:NAMES.Example.org:single"},
		{single, dns("s%69ngle")},
		{escaped, dns("Alb-002%2Fa")},
		{escaped, dns("Alb%2D002%2fa")},
		{escaped, dns("%41lb-002%2Fa")},
		{folded, "urn:dns:" + foldingHost + ":ALB002"},
		{rfc, "URN:IETF:rfc:2648"},
		{nbn, "urn:nbn:FI-fe19991055"},
		{purl, "HTTPS://PURL.example:443/Net/%7Ex"},
		{ark, "ark:12345/x54/xz.321"},
		{ark, "ARK:/12345/x54-/xz.321/"},
	}
	var cases []testCase
	for _, v := range same {
		cases = append(cases, testCase{
			name: v.spelling, question: ask(nomen.I2L, v.spelling), answer: f.locations(nomen.I2L, v.record, 0),
		})
		byName, bySubject := ask(nomen.I2L, v.spelling), ask(nomen.I2L, v.spelling)
		byName.Subject, bySubject.Name = uri.URI{}, name.Name{}
		cases = append(cases,
			testCase{name: v.spelling + " by name", question: byName, answer: f.locations(nomen.I2L, v.record, 0)},
			testCase{name: v.spelling + " by subject", question: bySubject, answer: f.locations(nomen.I2L, v.record, 0)},
		)
	}
	for _, other := range []string{dns("Single"), dns("Alb-002/a"), dns("single/"), "urn:dns:sub." + Host + ":single", "urn:nbn:fi-FE19991055"} {
		cases = append(cases, testCase{name: other, question: ask(nomen.I2L, other), kind: nomen.Unknown})
	}
	return cases
}

// schemes returns questions about names of several schemes.
func (f fixture) schemes() []testCase {
	var cases []testCase
	for _, n := range []string{rfc, nbn, ark, purl} {
		cases = append(cases,
			testCase{name: n, question: ask(nomen.I2L, n), answer: f.locations(nomen.I2L, n, 0)},
			testCase{name: n, question: ask(nomen.I2C, n), answer: f.description(nomen.I2C, n, 0)},
		)
	}
	return cases
}

// defaults returns questions with a missing or unknown service. The answer uses the default service
// (N12-30, N12-32, N12-61).
func (f fixture) defaults(c Capabilities) []testCase {
	var cases []testCase
	for _, s := range []nomen.Service{"", "I2X", "i2l"} {
		for _, n := range []string{single, ark} {
			want := f.locations(nomen.I2L, n, 0)
			if c.Default == nomen.I2C || c.Default == "" && n == ark {
				want = f.description(nomen.I2C, n, 0)
			}
			cases = append(cases, testCase{name: "default for " + string(s), question: ask(s, n), answer: want})
		}
	}
	return cases
}

// components returns questions about components of a resource, such as the abstract. An unknown
// component is ignored (N12-34, N12-31).
func (f fixture) components() []testCase {
	var cases []testCase
	for component, i := range map[string]int{"": 1, "toc": 0, "abstract": 2, "index": 1} {
		for _, s := range []nomen.Service{nomen.I2L, nomen.I2Ls} {
			q := ask(s, structured)
			q.Component = component
			cases = append(cases, testCase{name: "component " + component, question: q, answer: f.locations(s, structured, i)})
		}
	}
	return cases
}

// countries returns a question in which the country of the client decides between locations of
// equal rank.
func (f fixture) countries() []testCase {
	q := ask(nomen.I2L, typed)
	q.Country = "SE"
	return []testCase{{name: "from Sweden", question: q, answer: f.locations(nomen.I2L, typed, 2)}}
}

// ranking returns questions in which media types and languages decide between locations of equal
// rank.
func (f fixture) ranking() []testCase {
	const pdf, text, ps = 0, 1, 2
	all := testCase{name: "equally good", question: ask(nomen.I2Ls, typed), unordered: true}
	all.answer = f.locations(nomen.I2Ls, typed, pdf, text, ps)
	cases := []testCase{all}
	for _, v := range []struct {
		accept, languages string
		want              int
	}{
		{accept: "application/pdf", want: pdf},
		{accept: "text/plain", want: text},
		{accept: "text/*", want: text},
		{accept: "application/pdf;q=0.5, application/postscript", want: ps},
		{accept: "*/*;q=0.1, application/pdf", want: pdf},
		{accept: "application/pdf;q=0, application/postscript;q=0, */*", want: text},
		{languages: "de", want: text},
		{languages: "sv-SE, sv;q=0.9", want: ps},
		{languages: "en;q=0.5, de;q=0.2", want: pdf},
		{languages: "EN", want: pdf},
	} {
		q := ask(nomen.I2L, typed)
		q.Accept, q.Languages = v.accept, v.languages
		cases = append(cases, testCase{
			name: "ranked by " + v.accept + v.languages, question: q, answer: f.locations(nomen.I2L, typed, v.want),
		})
	}
	return cases
}

// malformed returns questions with malformed names (RFC 2483, section 2).
func (f fixture) malformed() []testCase {
	var cases []testCase
	for _, s := range []string{
		"urn:dns:" + Host,                 // Y95-01: a field is missing
		"urn:dns:-bad-.example:x",         // Y95-20
		"urn:dns:192.0.2.1:x",             // Y95-20
		"urn:x:1",                         // RFC 8141, section 2.1: NID of one letter
		"ark:12345",                       // a NAAN without a name
		"urn:example:a%00b",               // N12-20
		"urn:dns:" + Host + ":" + "a%00b", // N12-20
	} {
		q := nomen.Question{Subject: uri.MustParse(s), Service: nomen.I2C}
		cases = append(cases, testCase{name: "malformed " + s, question: q, kind: nomen.Malformed})
	}
	return append(cases, testCase{name: "empty name", question: nomen.Question{Service: nomen.I2L}, kind: nomen.Malformed})
}
