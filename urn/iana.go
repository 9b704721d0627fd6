package urn

import (
	"strings"
	"sync"
)

// IANANamespaces returns the namespaces that IANA has registered: 97 formal and 8
// informal ones, as of 28 July 2026. Security refers to the documents; templates
// of informal namespaces from before 2017 have no such field.
func IANANamespaces() Namespaces { return ianaNamespaces() }

var ianaNamespaces = sync.OnceValue(func() Namespaces {
	rows := ianaRows()
	entries := make([]Namespace, len(rows))
	for i, r := range rows {
		entries[i] = r.namespace()
	}
	return Namespaces{}.with(entries...)
})

// An ianaRow is a row of IANA's table.
type ianaRow struct {
	nid       string
	reference string // RFCs, or the registrant; "" if only the template has it
	date      string
	template  bool // whether there is a template, at the usual URL for its kind
}

func (r ianaRow) namespace() Namespace {
	kind := KindOf(r.nid)
	n := Namespace{NID: r.nid, Kind: kind, Reference: r.reference, Registered: r.date}
	if r.template {
		n.Template = "https://www.iana.org/assignments/urn-" + kind.String() + "/" + r.nid
	}
	switch {
	case strings.HasPrefix(r.reference, "RFC "):
		n.Security = r.reference + ", security considerations"
	case r.template && (kind == KindFormal || r.date != ""):
		n.Security = "registration template, security and privacy"
	}
	return n
}

func ianaRows() []ianaRow {
	return []ianaRow{
		{"3gpp", "RFC 5279", "", false},
		{"3gpp2", "RFC 8464", "2018-06-19", true},
		{"adid", "RFC 8107", "2017-01-20", false},
		{"alert", "RFC 7462", "2014-11-14", false},
		{"bbf", "RFC 8057", "2016-12-06", false},
		{"broadband-forum-org", "RFC 8057", "2016-12-06", false},
		{"c2pa", "C2PA <https://c2pa.org/>", "2025-02-04", true},
		{"cablelabs", "RFC 6289", "", false},
		{"ccsds", "RFC 7738", "2015-10-19", false},
		{"cdx", "The OWASP Foundation Inc. <https://owasp.org/>", "2022-03-28", true},
		{"cgi", "RFC 5138", "", false},
		{"clei", "RFC 4152", "", false},
		{"csa", "Connectivity Standards Alliance <https://csa-iot.org/>", "2025-04-14", true},
		{"cta", "Consumer Technology Association <https://cta.tech/>", "2023-08-04", true},
		{"ddi", "RFC 9517", "2021-05-18", false},
		{"dev", "RFC 9039", "2021-03-24", true},
		{"dgiwg", "RFC 6288", "", false},
		{"doi", "DOI Foundation <https://doi.org>", "2023-03-14", true},
		{"dslforum-org", "RFC 8057", "2016-12-06", false},
		{"dvb", "RFC 5328; RFC 7354", "", false},
		{"ebu", "RFC 5174", "", false},
		{"eic", "European Network of Transmission System Operators for Electricity (ENTSO-E) <https://www.entsoe.eu/>", "2021-12-31", true},
		{"eidr", "RFC 7972", "2014-06-02", false},
		{"epc", "RFC 5134", "", false},
		{"epcglobal", "RFC 5134", "", false},
		{"etsi", "RFC 8515", "2018-11-26", true},
		{"eurosystem", "RFC 7207", "2014-02-18", false},
		{"example", "RFC 6963", "", false},
		{"fdc", "RFC 4198", "", false},
		{"fipa", "RFC 3616", "", false},
		{"gdr", "GoDaddy Registry <https://registry.godaddy/>", "2026-03-11", true},
		{"gdst", "Institute of Food Technologists <https://ift.org>", "2021-12-01", true},
		{"geant", "RFC 4926", "", false},
		{"globus", "RFC 7853", "2016-03-18", false},
		{"gs1", "GS1 AISBL <https://www.gs1.org/>", "2026-07-28", true},
		{"gsma", "RFC 7254", "2014-03-06", false},
		{"gvat", "Bundeskanzleramt der Republik Österreich <https://www.bundeskanzleramt.gv.at/>", "2023-05-02", true},
		{"hbbtv", "RFC 7528", "2015-03-11", false},
		{"ieee", "RFC 8069", "2016-12-06", false},
		{"ietf", "RFC 2648", "", false},
		{"iptc", "RFC 3937", "", false},
		{"isan", "RFC 4246", "", false},
		{"isbn", "International ISBN Agency <https://www.isbn-international.org>", "", true},
		{"iso", "RFC 5141", "", false},
		{"isni", "ISNI International Agency <https://isni.org/>", "2025-10-16", true},
		{"issn", "ISSN International Centre <http://www.issn.org>", "", true},
		{"itu", "International Telecommunications Union (ITU) <https://www.itu.int/>", "2018-07-26", true},
		{"ivis", "RFC 4617", "", false},
		{"knx", "KNX Association cvba <https://knx.org>", "2023-09-29", true},
		{"lei", "Global Legal Entity Identifier Foundation (GLEIF) <https://www.gleif.org>", "2021-12-22", true},
		{"lex", "RFC 9676", "2022-11-18", true},
		{"liberty", "RFC 3622", "", false},
		{"mace", "RFC 3613", "", false},
		{"mef", "RFC 7818", "2016-02-08", false},
		{"meta", "Juha Hakala", "2022-11-17", true},
		{"mpeg", "RFC 3614", "", false},
		{"mrn", "International Association of Marine Aids to Navigation and Lighthouse Authorities (IALA) <http://www.iala-aism.org>", "2017-11-27", true},
		{"nan", "The National Archives of Finland <https://kansallisarkisto.fi/>", "2023-08-04", true},
		{"nato", "RFC 7467", "2015-01-08", false},
		{"nbn", "RFC 8458", "", true},
		{"nena", "RFC 6061", "", false},
		{"newsml", "RFC 3085", "", false},
		{"nfc", "RFC 4729", "", false},
		{"nfi", "Neuro-Foundation <https://neuro-foundation.io/>", "2025-08-12", true},
		{"nzl", "RFC 4350", "", false},
		{"oasis", "RFC 3121", "", false},
		{"ogc", "RFC 5165", "", false},
		{"ogf", "RFC 6453", "", false},
		{"oid", "RFC 3061", "", false},
		{"oipf", "RFC 6893", "", false},
		{"oma", "RFC 4358", "", false},
		{"onem2m", "oneM2M Partnership Project <https://www.onem2m.org/>", "2022-11-17", true},
		{"onf", "Open Networking Foundation <https://www.opennetworking.org/>", "2018-06-25", true},
		{"pin", "RFC 3043", "", false},
		{"pno", "PROFIBUS Nutzerorganisation e.V. <https://www.profibus.com/>", "2024-05-29", true},
		{"publicid", "RFC 3151", "", false},
		{"pwid", "Eld Zierau", "2022-11-18", true},
		{"reso", "Real Estate Standards Organization (RESO) <https://www.reso.org>", "2021-03-01", true},
		{"s1000d", "RFC 4688", "", false},
		{"said", "Wenjing Chu", "2026-03-18", true},
		{"schac", "RFC 6338", "", false},
		{"service", "RFC 5031", "", false},
		{"smpte", "RFC 5119", "", false},
		{"stalwart", "Stalwart Labs LLC <https://stalw.art/>", "2025-04-14", true},
		{"swift", "RFC 3615", "", false},
		{"thread", "Thread Group, Inc. <https://www.threadgroup.org/>", "2024-12-09", true},
		{"trivore", "Trivore Corp. <https://www.trivore.com/>", "2026-05-04", true},
		{"tva", "RFC 4195", "", false},
		{"uci", "RFC 4179", "", false},
		{"ucode", "RFC 6588, errata 3188 and 3189", "", false},
		{"uic", "Union International de Chemin de Fer <https://uic.org/>", "2023-08-04", true},
		{"uuid", "RFC 9562", "", false},
		{"web3d", "RFC 3541", "", false},
		{"wfa", "Wi-Fi Alliance <https://www.wi-fi.org/>", "2026-05-28", true},
		{"wmo", "World Meteorological Organization <https://wmo.int/>", "2025-06-05", true},
		{"xmlorg", "RFC 3120", "", false},
		{"xmpp", "RFC 4854", "", false},
		{"urn-1", "", "", true},
		{"urn-2", "", "", true},
		{"urn-3", "", "", true},
		{"urn-4", "", "", true},
		{"urn-5", "", "", true},
		{"urn-6", "", "", true},
		{"urn-7", "", "", false},
		{"urn-8", "", "2025-07-02", true},
	}
}
