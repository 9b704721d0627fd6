package namespace

import (
	"cmp"
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// opaqueNamespaces are the registered namespaces for which only the general
// syntax is checked: their rules are up to the organisation, or not public.
func opaqueNamespaces() []Namespace {
	list := make([]Namespace, 0, len(opaque)+len("12345678"))
	registry := urn.IANANamespaces()
	for _, o := range opaque {
		r, _ := registry.Lookup(o.nid)
		list = append(list, opaqueNamespace(o.name, r))
	}
	for r := range registry.All() {
		if r.Kind == urn.KindInformal {
			list = append(list, opaqueNamespace("Informal namespace "+strings.TrimPrefix(r.NID, "urn-"), r))
		}
	}
	return list
}

func opaqueNamespace(name string, r urn.Namespace) Namespace {
	n := Namespace{NID: r.NID, Name: name, Kind: r.Kind, Reference: r.Reference, Note: "syntax only", Security: r.Security}
	n.Reference = cmp.Or(n.Reference, r.Template, "urn-"+r.Kind.String()+"/"+r.NID)
	n.Security = cmp.Or(n.Security, "not stated")
	switch n.NID {
	case "dvb", "onf", "trivore", "urn-3", "urn-7": // RFC 5328; the registrations
		return folding(n, "letters in either case", foldCase)
	case "mpeg": // RFC 3614
		return folding(n, "the name of the standard in either case", foldField)
	case "meta", "uci": // the registration; RFC 4179
		return folding(n, "the part before the first hyphen in either case", foldHyphened)
	}
	return n
}

// foldHyphened converts the part before the first hyphen to lower case, if there
// is one.
func foldHyphened(nss string) string {
	if end := until(nss, 0, '-'); end < len(nss) {
		return lowerUntil(nss, end)
	}
	return nss
}

// opaque are the names of the formal opaque namespaces.
var opaque = [...]struct{ nid, name string }{
	{"bbf", "Broadband Forum"},
	{"broadband-forum-org", "Broadband Forum, its longer identifier"},
	{"csa", "Connectivity Standards Alliance"},
	{"cta", "Consumer Technology Association"},
	{"ddi", "Data Documentation Initiative"},
	{"dgiwg", "Defence Geospatial Information Working Group"},
	{"dslforum-org", "Broadband Forum, under its former name"},
	{"dvb", "Digital Video Broadcasting"},
	{"ebu", "European Broadcasting Union"},
	{"eurosystem", "Eurosystem of central banks"},
	{"fipa", "Foundation for Intelligent Physical Agents"},
	{"gdr", "GoDaddy Registry"},
	{"geant", "GEANT research networks"},
	{"globus", "Globus research data services"},
	{"gvat", "Federal Chancellery of Austria"},
	{"hbbtv", "Hybrid Broadcast Broadband TV"},
	{"ieee", "Institute of Electrical and Electronics Engineers"},
	{"itu", "International Telecommunication Union"},
	{"ivis", "Internet Video and Sound"},
	{"knx", "KNX Association"},
	{"liberty", "Liberty Alliance"},
	{"mace", "Middleware Architecture Committee for Education"},
	{"mef", "MEF Forum"},
	{"meta", "Metadata elements"},
	{"mpeg", "Moving Picture Experts Group"},
	{"nato", "North Atlantic Treaty Organization"},
	{"nena", "National Emergency Number Association"},
	{"nfc", "NFC Forum"},
	{"nzl", "New Zealand Government"},
	{"ogf", "Open Grid Forum"},
	{"oipf", "Open IPTV Forum"},
	{"oma", "Open Mobile Alliance"},
	{"onf", "Open Networking Foundation"},
	{"publicid", "Public identifiers of SGML and XML"},
	{"reso", "Real Estate Standards Organization"},
	{"s1000d", "S1000D technical publications"},
	{"schac", "Schema for Academia"},
	{"smpte", "Society of Motion Picture and Television Engineers"},
	{"thread", "Thread Group"},
	{"trivore", "Trivore"},
	{"uci", "Universal Content Identifier"},
	{"ucode", "ucode of the Ubiquitous ID Center"},
	{"wfa", "Wi-Fi Alliance"},
	{"xmlorg", "XML.org"},
}
