package codec

import (
	"fmt"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// These records and this authority have the encoded values in testdata. They equal those of the
// suite of stores, but must not change if the suite changes.

// rich returns a record in which every field is set except the time and the revision.
func rich() *store.Record {
	return &store.Record{
		Name:     name.FromKey("urn:ietf:rfc:2648"),
		Spelling: "URN:IETF:rfc:2648",
		Status:   nomen.Retired,
		Locations: []nomen.Location{
			{
				URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain", Lang: "en", Rel: "item",
				Priority: 1, Weight: 3, Country: "US", Component: "toc", Charset: "US-ASCII",
				Note: "Zwölf Boxkämpfer\r\nжук 道\x00", ValidFrom: "2020-01-01T00:00:00Z", ValidUntil: "2030-01-01T00:00:00Z",
			},
			{URL: "https://example.org/", Priority: -7, Weight: 1 << 30},
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
	}
}

// richAuthority returns an authority in which every field is set.
func richAuthority() *store.Authority {
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
	}
}

// policy returns a policy in which some fields are set.
func policy() store.Policy {
	return store.Policy{
		Rules: rule.Set{{
			Match: "{n:d}", Locations: []nomen.Location{{URL: "https://h.example/{n}", Down: true}},
			Tests: []rule.Test{{From: "urn:x-a:7", To: []string{"https://h.example/7"}}},
		}},
		Delegation: &store.Delegation{Mode: store.ModeAsk, To: "h.example"},
		Services:   []nomen.Service{nomen.I2L, nomen.IisI},
		Keywords:   map[string][]string{"s": nil, "c": {"toc"}},
		Fetch:      true,
		MaxAge:     60,
	}
}

// typical returns a record like most records in practice: one location, a title and a creator.
func typical(i int) *store.Record {
	return &store.Record{
		Name:      name.FromKey(benchKey(i)),
		Status:    nomen.Active,
		Locations: []nomen.Location{{URL: fmt.Sprintf("https://repository.example.org/items/%07d/document.pdf", i), Type: "application/pdf"}},
		Metadata: nomen.Metadata{
			"title":   {fmt.Sprintf("Report %d of the committee on persistent names", i)},
			"creator": {"Committee on Persistent Names"},
		},
	}
}

// valued returns a record with typed values, and with a location that is a view of one.
func valued() *store.Record {
	return &store.Record{
		Name:      name.FromKey("urn:x-a:b"),
		Locations: []nomen.Location{{URL: "u:1", Index: 1, Attributes: `id="0"`}},
		Values: []nomen.Value{
			{Index: 1, Type: "URL", TTL: "86400"},
			{Index: 300, Type: "K", Data: "AP8=", Format: nomen.FormatBase64, Permissions: "1100", Timestamp: "2026-11-22T13:00:00Z"},
			{Index: 301},
		},
	}
}

func benchKey(i int) string { return fmt.Sprintf("urn:nbn:fi:example-%07d", i) }
