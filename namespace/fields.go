package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// partsColon returns a Parts function for names that consist of fields separated by colons, such as
// "a:b:c". The arguments are the names of the fields. The last field is the rest of the text, and
// may contain colons.
func partsColon(names ...string) func(string) []Part {
	return func(nss string) []Part {
		parts := make([]Part, 0, len(names))
		for i, name := range names {
			field, rest, more := strings.Cut(nss, ":")
			if i == len(names)-1 || !more {
				return append(parts, Part{name, nss})
			}
			parts = append(parts, Part{name, field})
			nss = rest
		}
		return parts
	}
}

// checkFields returns a Check function for names that consist of fields separated by colons, such
// as "a:b:c". The arguments are the names of the rules for the fields, which findings cite. A field
// must not be empty. The last field is the rest of the text, and may contain colons.
func checkFields(rules ...string) func(string) *Finding {
	return func(nss string) *Finding {
		i := 0
		for n, rule := range rules {
			end := until(nss, i, ':')
			switch last := n == len(rules)-1; {
			case i == len(nss), end == i && !last:
				return broken(i, i, rule, "is empty")
			case last:
				return nil
			case end == len(nss):
				return broken(end, end, rules[n+1], "is missing, expected "+strings.Join(rules, ":"))
			}
			i = end + 1
		}
		return nil
	}
}

// structured returns a namespace whose only known rule is that names consist of fields separated by
// colons.
func structured(nid, name, reference, example string, rules ...string) Namespace {
	return Namespace{
		NID: nid, Name: name, Kind: urn.KindFormal, Reference: reference, Example: example,
		Note:     "only the number of fields is checked; their values are up to the organisation",
		Security: "as stated in " + reference,
		Rules:    Rules{Check: checkFields(rules...), Parts: partsColon(rules...)},
	}
}

func folding(n Namespace, equivalence string, canonical func(string) string) Namespace {
	n.Equivalence, n.Rules.Canonical = equivalence, canonical
	return n
}

// In the namespace xmpp, only the first field is required (RFC 4854).
var xmpp = Namespace{
	NID: "xmpp", Name: "XMPP Standards Foundation", Kind: urn.KindFormal,
	Reference: "RFC 4854", Example: "urn:xmpp:jingle:1", Security: "as stated in RFC 4854",
	Note:  "a short name and, after a colon, a sub-name; only the fields are checked",
	Rules: Rules{Check: checkXMPP, Parts: partsColon("ShortName", "SubName")},
}

func checkXMPP(nss string) *Finding {
	switch end := until(nss, 0, ':'); {
	case end == 0:
		return broken(0, 0, "ShortName", "is empty")
	case end == len(nss)-1:
		return broken(len(nss), len(nss), "SubName", "nothing follows the colon")
	}
	return nil
}

func structuredNamespaces() []Namespace {
	return []Namespace{
		structured("cablelabs", "CableLabs", "RFC 6289", "urn:cablelabs:oui:example", "CLclass", "CLClassSpecificString"),
		structured("cgi", "Commission for the Management and Application of Geoscience Information", "RFC 5138", "urn:cgi:classifier:CGI:example", "CGIResource", "ResourceSpecificString"),
		structured("ogc", "Open Geospatial Consortium", "RFC 5165", "urn:ogc:def:crs:EPSG::4326", "OGCresource", "ResourceSpecificString"),
		structured("pno", "PROFIBUS Nutzerorganisation", "urn-formal/pno (2024)", "urn:pno:example:1", "PNOresource", "ResourceSpecificString"),
		folding(structured("stalwart", "Stalwart Labs", "urn-formal/stalwart (2025)", "urn:stalwart:jmap:mailfilter", "resource-type", "specific-identifier"), "letters in either case", foldCase),
		folding(structured("tva", "TV-Anytime Forum", "RFC 4195", "urn:tva:metadata:2002", "category", "string"), "the category in either case", foldField),
		structured("uic", "International Union of Railways", "urn-formal/uic (2023)", "urn:uic:example:1", "UICResource", "ResourceSpecificString"),
		structured("web3d", "Web3D Consortium", "RFC 3541", "urn:web3d:vrml97:node", "subgroup", "subgroup-specific string"),
		structured("wmo", "World Meteorological Organization", "urn-formal/wmo (2025)", "urn:wmo:md:ca-eccc-msc:weather.observations.swob-realtime", "resource-type", "centre-id", "local-id"),
		structured("epcglobal", "EPCglobal", "RFC 5134", "urn:epcglobal:cbv:bizstep:accepting", "branch", "string"),
	}
}
