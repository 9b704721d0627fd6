package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// Rich returns a record in which every field is set except Modified and Revision.
func Rich() *store.Record {
	return &store.Record{
		Name:     name.FromKey("urn:ietf:rfc:2648"),
		Spelling: "URN:IETF:rfc:2648",
		Status:   nomen.Retired,
		Locations: []nomen.Location{
			{
				URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain", Lang: "en", Rel: "item",
				Priority: 1, Weight: 3, Country: "US", Component: "toc", Charset: "US-ASCII",
				Note: "Zwölf Boxkämpfer\r\nжук 道\x00", ValidFrom: "2020-01-01T00:00:00Z", ValidUntil: "2030-01-01T00:00:00Z",
				Down: true,
			},
			{URL: "https://example.org/", Priority: -7, Weight: 1 << 30, Index: 1, Attributes: `id="0" http_role="conneg"`},
			{},
		},
		Metadata: nomen.Metadata{
			"title":   {"A URN Namespace for IETF Documents", ""},
			"creator": {"R. Moats"},
			"":        {"x"},
		},
		SameAs:     []string{"urn:doi:10.17487/rfc2648", ""},
		Successors: []string{"urn:ietf:rfc:9999", "urn:ietf:rfc:9998"},
		Reason:     "superseded ☂",

		ShowLocations: true,
		Values: []nomen.Value{
			{Index: 1, Type: "10320/loc", Data: "<locations/>", TTL: "86400", Permissions: "1110", Timestamp: "2020-01-01T00:00:00Z"},
			{Index: 2, Type: "HS_PUBKEY", Data: "AP8=", Format: nomen.FormatBase64, TTL: "2030-01-01T00:00:00Z", Permissions: "1100", References: `[{"handle":"1/2","index":3}]`},
			{Index: 1<<31 - 1, Type: "", Data: "Zwölf\r\n\x00"},
		},
	}
}

// RichAuthority returns an authority in which every field is set.
func RichAuthority() *store.Authority {
	return &store.Authority{
		Prefix:      name.PrefixFromKey("urn:dns:example.org"),
		Owners:      []string{"archive", "library-it"},
		Hosts:       []string{"example.org", "www.example.org"},
		Addresses:   []string{"192.0.2.1", "2001:db8::1"},
		Default:     true,
		Parents:     []string{"urn:dns:org:registry"},
		Children:    []string{"urn:dns:a.example.org:x", "urn:dns:b.example.org:x"},
		Contact:     "mailto:names@example.org",
		Description: "names of the Archiv für Namen",
		List:        true,
		Service:     nomen.I2C,
		FoldCase:    true,
		Redirect:    307,
		Policy:      richPolicy(),
	}
}

func richRules() rule.Set {
	return rule.Set{
		{
			Match: "{series:a}-{number:d1-5}", IgnoreCase: true,
			Parts: map[string]rule.Part{"number": {Drop: "-", Trim: "0", Case: "lower", Pad: 4}, "series": {Case: "upper"}},
			Locations: []nomen.Location{
				{
					URL: "https://example.org/{series}/{number}{?name}", Type: "text/html", Lang: "fi", Rel: "item", Priority: 2, Weight: 1,
					Country: "FI", Component: "toc", Charset: "ISO-8859-1", Note: "Ääni <&> \u2028", Down: true,
					ValidFrom: "2020-01-01T00:00:00Z", ValidUntil: "2030-01-01T00:00:00Z",
				},
				{URL: "https://mirror.example/{+element}"},
			},
			SameAs: []string{"urn:x-other:{number}"},
			Tests: []rule.Test{
				{From: "urn:dns:example.org:a-007", To: []string{"https://example.org/A/0007?name=urn%3Adns%3Aexample.org%3Aa-007", "https://mirror.example/a-007"}},
				{From: "urn:dns:example.org:other"},
			},
		},
		{
			Regexp: `x(?P<all>.*)`, Raw: true, Locations: []nomen.Location{{URL: "https://example.org/{+all}"}},
			Tests: []rule.Test{{From: "urn:dns:example.org:x%2F1", To: []string{"https://example.org/%2F1"}}},
		},
	}
}

func richPolicy() store.Policy {
	return store.Policy{
		Rules:      richRules(),
		Delegation: &store.Delegation{Mode: store.ModeAsk, To: "resolver.example:4500"},
		Suffix:     store.SuffixAppend,
		Access:     store.AccessLegal,
		AccessNote: "by order of a court",
		Services:   []nomen.Service{nomen.I2L, nomen.I2Ls, nomen.IisI},
		Keywords:   map[string][]string{"c": {"toc", "index"}, "s": nil},
		RComponent: map[string]string{"toc": "c=toc", "all": "s=I2Ls"},
		QComponent: store.PassIgnore,
		Query:      store.PassAppend,
		Fragment:   true,
		Fetch:      true,
		Choice:     store.ChoiceFixed,
		Failover:   store.FailoverArchive,
		MaxAge:     3600,
		Commitment: "Permanent: Stable Content",
		CheckDigit: "noid",
		Mint:       []string{"x{seq}", "r7{noid:eedk:add3:2191}"},
	}
}

func missing(s *suite) {
	for _, k := range []string{"urn:ietf:rfc:1", "", "urn", strings.Repeat("x", name.MaxLength+1), "urn:\x00", "\xff\xff"} {
		for _, when := range []time.Time{{}, minute(0)} {
			s.equal("record of an empty store: "+k, s.getAt(k, when), (*store.Record)(nil))
		}
	}
	s.equal("authority of an empty store", s.authority(name.Prefix{}, time.Time{}), (*store.Authority)(nil))
	s.equal("List of an empty store", s.keys(store.Scan{}), []string(nil))
	s.equal("Authorities of an empty store", read(s, s.Authorities(s.Context(), time.Time{})), []*store.Authority(nil))
	s.equal("results of no changes", len(s.apply()), 0)
	s.apply(put("urn:x-a:b", "https://example.org/", 0))
	for _, k := range []string{"urn:x-a:", "urn:x-a:b0", "urn:x-a:a", "URN:x-a:b"} {
		s.equal("record of "+k, s.get(k), (*store.Record)(nil))
	}
}

func roundTrip(s *suite) {
	c := write(Rich(), 0)
	c.Time = c.Time.Add(1999999) // rounded down to milliseconds
	c.Time = c.Time.In(time.FixedZone("", 3600))
	s.equal("result", s.apply(c), []store.Result{changed(1)})
	want := Rich()
	want.Modified, want.Revision = minute(0).Add(time.Millisecond), 1
	s.equal("record", s.get("urn:ietf:rfc:2648"), want)
	s.equal("listed", s.list(store.Scan{}), []*store.Record{want})
}

func normalForm(s *suite) {
	s.apply(write(&store.Record{
		Name:       key("urn:x-a:b"),
		Locations:  []nomen.Location{},
		Metadata:   nomen.Metadata{"title": {}, "creator": nil},
		SameAs:     []string{},
		Successors: []string{},
		Values:     []nomen.Value{},
		Modified:   minute(77),
		Revision:   77,
	}, 0))
	want := &store.Record{
		Name: key("urn:x-a:b"), Spelling: "urn:x-a:b", Status: nomen.Active, Modified: minute(0), Revision: 1,
	}
	s.equal("record", s.get("urn:x-a:b"), want)
}

func anyBytes(s *suite) {
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	for i, text := range []string{string(all), "\xff\xfe", " ", "\x00", strings.Repeat("ä", store.MaxText/2)} {
		r := &store.Record{
			Name: key("urn:x-a:b"), Status: nomen.Active, Reason: text,
			Locations: []nomen.Location{{URL: text, Note: text}},
			Metadata:  nomen.Metadata{text: {text, text}},
			SameAs:    []string{text},
			Values:    []nomen.Value{{Index: 1, Type: text, Data: text, Format: text, TTL: nomen.TTL(text), Permissions: text, Timestamp: text, References: text}},
		}
		s.apply(write(r, i))
		r.Spelling, r.Modified, r.Revision = "urn:x-a:b", minute(i), uint64(i+1)
		s.equal("record", s.get("urn:x-a:b"), r)
	}
}

// ownership checks that a caller may modify values after it has passed them to the store, and
// values that the store has returned.
func ownership(s *suite) {
	r, a, tok := Rich(), RichAuthority(), &store.Token{ID: "t", Prefixes: []string{"urn:x-a"}}
	s.apply(write(r, 0), store.Change{Authority: a, Time: minute(0)}, store.Change{Token: tok, Time: minute(0)})
	want := Rich()
	want.Modified, want.Revision = minute(0), 1
	for range 2 {
		spoilRecord(r)
		slices.Reverse(a.Owners)
		r, a = s.get("urn:ietf:rfc:2648"), s.authority(RichAuthority().Prefix, time.Time{})
		if r == nil || a == nil {
			s.Fatal("the record or the authority is gone")
		}
		s.equal("record", r, want)
		s.equal("owners", a.Owners, RichAuthority().Owners)
		if tok.Prefixes[0] = "spoilt"; has[store.Tokens](s.Store) {
			tok = s.token("t")
			s.equal("prefixes of a token", tok.Prefixes, []string{"urn:x-a"})
		}
	}
	for _, r := range s.list(store.Scan{}) {
		spoilRecord(r)
	}
	if has[store.Historian](s.Store) {
		for _, c := range read(s, store.History(s.Context(), s.Store, want.Name)) {
			spoilRecord(c.Record)
		}
	}
	s.equal("the record after changing what List and History returned", s.get("urn:ietf:rfc:2648"), want)
}

func spoilRecord(r *store.Record) {
	r.Locations[0].URL = "spoilt"
	r.Metadata["title"][0] = "spoilt"
	r.Metadata["new"] = []string{"spoilt"}
	r.Values[0].Data = "spoilt"
	r.SameAs[0], r.Successors[0], r.Status = "spoilt", "spoilt", "spoilt"
}
