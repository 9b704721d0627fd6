package namespace

// opaqueNamespaces are the registered namespaces of which no more is checked than
// the general syntax: their rules are up to the organisation, or not public.
func opaqueNamespaces() []Namespace {
	list := make([]Namespace, 0, len(opaque)+len(informal))
	for _, o := range opaque {
		list = append(list, Namespace{
			NID: o.nid, Name: o.name, Kind: Formal, Reference: o.reference,
			Note: "syntax only", Security: "as stated in " + o.reference,
		})
	}
	for _, nid := range informal {
		list = append(list, Namespace{
			NID: nid, Name: "Informal namespace " + nid[len("urn-"):], Kind: Informal, Reference: "urn-informal/" + nid,
			Note: "syntax only", Security: "as stated in the registration",
		})
	}
	return list
}

var informal = [...]string{"urn-1", "urn-2", "urn-3", "urn-4", "urn-5", "urn-6", "urn-7", "urn-8"}

var opaque = [...]struct{ nid, name, reference string }{
	{"bbf", "Broadband Forum", "RFC 8057"},
	{"broadband-forum-org", "Broadband Forum, its longer identifier", "RFC 8057"},
	{"csa", "Connectivity Standards Alliance", "urn-formal/csa (2025)"},
	{"cta", "Consumer Technology Association", "urn-formal/cta (2023)"},
	{"ddi", "Data Documentation Initiative", "RFC 9517"},
	{"dgiwg", "Defence Geospatial Information Working Group", "RFC 6288"},
	{"dslforum-org", "Broadband Forum, under its former name", "RFC 8057"},
	{"dvb", "Digital Video Broadcasting", "RFC 5328, RFC 7354"},
	{"ebu", "European Broadcasting Union", "RFC 5174"},
	{"eurosystem", "Eurosystem of central banks", "RFC 7207"},
	{"fipa", "Foundation for Intelligent Physical Agents", "RFC 3616"},
	{"gdr", "GoDaddy Registry", "urn-formal/gdr (2026)"},
	{"geant", "GEANT research networks", "RFC 4926"},
	{"globus", "Globus research data services", "RFC 7853"},
	{"gvat", "Federal Chancellery of Austria", "urn-formal/gvat (2023)"},
	{"hbbtv", "Hybrid Broadcast Broadband TV", "RFC 7528"},
	{"ieee", "Institute of Electrical and Electronics Engineers", "RFC 8069"},
	{"itu", "International Telecommunication Union", "urn-formal/itu (2018)"},
	{"ivis", "Internet Video and Sound", "RFC 4617"},
	{"knx", "KNX Association", "urn-formal/knx (2023)"},
	{"liberty", "Liberty Alliance", "RFC 3622"},
	{"mace", "Middleware Architecture Committee for Education", "RFC 3613"},
	{"mef", "MEF Forum", "RFC 7818"},
	{"meta", "Metadata elements", "urn-formal/meta (2022)"},
	{"mpeg", "Moving Picture Experts Group", "RFC 3614"},
	{"nato", "North Atlantic Treaty Organization", "RFC 7467"},
	{"nena", "National Emergency Number Association", "RFC 6061"},
	{"nfc", "NFC Forum", "RFC 4729"},
	{"nzl", "New Zealand Government", "RFC 4350"},
	{"ogf", "Open Grid Forum", "RFC 6453"},
	{"oipf", "Open IPTV Forum", "RFC 6893"},
	{"oma", "Open Mobile Alliance", "RFC 4358"},
	{"onf", "Open Networking Foundation", "urn-formal/onf (2018)"},
	{"publicid", "Public identifiers of SGML and XML", "RFC 3151"},
	{"reso", "Real Estate Standards Organization", "urn-formal/reso (2021)"},
	{"s1000d", "S1000D technical publications", "RFC 4688"},
	{"schac", "Schema for Academia", "RFC 6338"},
	{"smpte", "Society of Motion Picture and Television Engineers", "RFC 5119"},
	{"thread", "Thread Group", "urn-formal/thread (2024)"},
	{"trivore", "Trivore", "urn-formal/trivore (2026)"},
	{"uci", "Universal Content Identifier", "RFC 4179"},
	{"ucode", "ucode of the Ubiquitous ID Center", "RFC 6588"},
	{"wfa", "Wi-Fi Alliance", "urn-formal/wfa (2026)"},
	{"xmlorg", "XML.org", "RFC 3120"},
}
