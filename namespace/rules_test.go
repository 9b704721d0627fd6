package namespace_test

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

// good are namespace-specific strings that their rules accept, by namespace.
var good = map[string][]string{
	"isbn": {"9789510184356", "978-951-0-18435-6", "951-0-18435-7", "9510184357", "080442957X", "080442957x", "979-10-90636-07-1"},
	"issn": {"1234-1231", "12341231", "1050-124X", "1050-124x", "1560-1560"},
	"ismn": {"979-0-2600-0043-8", "9790260000438", "M-2600-0043-8", "m260000438"},
	"isni": {"0000000121241960", "000000012146438X", "000000012146438x"},
	"isan": {
		"0000-0001-8947-0000", "0000-0001-8947-0000-8", "0000-0001-8947-0000-8-0000-0000-D", "000000018947000000000000",
		"0000-0000-9E59-0000-O-0000-0000-2", "0000-0000-2CEA-0000-1-0000-0000-Y", "1881-66C7-3420-6541-Y-9F3A-0245-O",
		"0000-0000-D07A-0090-Q-0000-0000-X", "0000-0000-3A8D-0000-Z-0000-0000-6", "00000001894700008",
	},
	"lei":  {"7LTWFZYICNSX8D621K86", "7ltwfzyicnsx8d621k86", "HWUPKR0MPOU8FGXBT394", "5493001KJTIIGC8Y1R12"},
	"eic":  {"10YFR-RTE------C", "10YAT-APG------L", "10YGB----------A", "10X1001A1001A450", "10YNO-0--------C"},
	"eidr": {"10.5240:7791-8534-2C23-9030-8610-5", "10.5240:7791-8534-2c23-9030-8610-5", "10.5237:9241-6C0A"},
	"oid":  {"1.3.6.1", "2.999", "2.16.840.1.113883", "0.39", "1", "0.9.2342.19200300.100.1.1"},
	"uuid": {"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "00000000-0000-0000-0000-000000000000"},
	"nbn": {
		"de:101:1-201102033592", "de:gbv:7-isbn-90-6984-508-3-8", "DE:101:1-201102033592",
		"de:kobv:11-100217673", "de:hebis:30:3-429197", "de:0221-2025012349849", "de:bsz:ch1-qucosa-86443", "de:kobv:83-opus4-39397",
		"de:kobv:517-opus-55789", "de:0030-drops-130471", "de:gbv:46:1-162417", "de:0168-ssoar-347295", "de:hbz:6:1-143638",
		"de:hbz:386-kluedo-38558", "de:hbz:1044-opus-60219", "de:hbz:385-1468", "de:bvb:12-bsb00023199-0",
		"de:bvb:12-bsb00023250-6", "de:bvb:12-bsb00035303-6", "de:bvb:12-bsb00034304-6", "de:bvb:12-bsb10325793-3", "de:bvb:29-opus4-58089",
		"de:bvb:29-opus4-146221", "de:bvb:19-epub-61860-0", "de:bvb:573-47451",
		"fi-fe201003181510", "fi-fe19981001", "ch:bel-9039", "se:uu:diva-3475", "hu-3006", "cz:aba001-00elz2", "nl:ui:10-1-115852",
		"it:unimi-12345", "no-nb_digibok_2006082800121", "si:FSD:MAG-1DC22KA", "fi:st:x-a/b",
	},
	"nan":  {"fi:ka:a-123", "fi-a"},
	"ietf": {"rfc:2648", "RFC:2648", "bcp:14", "std:66", "fyi:4", "id:ietf-urn-ietf-06", "mtg:41", "params:xml:ns:yang:1", "params:scim:schemas:core:2.0:User", "wg:oauth:2.0:oob"},
	"doi":  {"10.1000/182", "10.1000/456%23789", "15434/x", "10.1000%2F182", "10.1000/%C3%A9"},
	"epc": {
		"id:sgtin:0614141.107346.2018", "id:sscc:0614141.1234567890", "id:sgln:0614141.12345.400", "id:grai:0614141.12345.400",
		"id:giai:0614141.12345400", "id:gsrn:0614141.1234567890", "id:gdti:0614141.12345.400", "id:cpi:0614141.123ABC.123456789",
		"id:sgcn:4012345.67890.04711", "id:gsin:0614141.123456789", "id:itip:4012345.012345.01.02.987", "id:upui:1234567.089456.51qIgY)%3C%26Jp3*j7'SDB",
		"id:pgln:1234567.89012", "id:ginc:0614141.xyz3311cba", "id:gid:31415.271828.1414", "id:imovn:9176187",
		"class:lgtin:4012345.012345.998877", "idpat:sgtin:4012345.098765.*", "idpat:sgtin:*.*.*", "idpat:sgtin:4012345.098765", "tag:sgtin-96:3.0614141.112345.400",
		"id:sgtin:0614141.107346.20.18",
	},
	"gs1": {
		"01:09506000134352:10:ABC123:17:250101", "gdd:bie:TradeItem", "gdd:bie:TradeItem.netContent", "gdd:bie:TradeItem.brandOwner.PartyInRole",
		"gdd:bie:A.B", "gdd:bdt:StringAttributeValuePair", "gdd:cl:ContainerMaterialCode:STAINLESS_STEEL", "GDD:CL:ContainerMaterialCode",
		"std:genspec", "std:genspec:25.0", "std:genspec:25.0:4.14.2", "00:106141412345678908", "8004:0614141abc", "414:9521321000018:254:1",
	},
	"iso": {
		"std:iso:9999:-1:ed-1:en", "std:iso:9999:-1:ed-1:en,fr", "std:iso-iec:tr:9999:-1:ed-1:en", "std:iso-iec:9075:-3:stage-95.99:ed-2:en",
		"std:iso:9999:-1:ed-1:v1-amd1.v1:en,fr:amd:2:v2:en:clause:3.1,a.2-b.9", "std:iso:14496", "STD:ISO:14496:tech:x",
	},
	"ogc":   {"def:crs:EPSG::4326"},
	"oasis": {"names:tc:SAML:2.0:assertion", "names:specification:docbook:dtd:xml:4.1.2", "member:A00024:x"},
	"gsma":  {"imei:90420156-025763-0", "imei:90420156-025763-0;svn=42", "imei:90420156-025763-0;vers=0", "IMEI:90420156-025763-0;svn=42;vers=1", "imei:new", "other:a;b=c;d"},
	"3gpp2": {"meid:A04B0D56-02A7E3", "meid:a04b0d56-02a7e3", "other"},
	"mrn":   {"imo:imo-number:9743368", "iala:aton:us:1234.5", "stm:voyage:id:xcus231230", "ab:cd:e/f"},
	"dev": {
		"mac:0024befffe804ff1", "ow:10e2073a01080063", "org:32473-1234-5678", "os:32473-123456", "ops:32473-Refrigerator-5002",
		"ops:32473-Refrigerator-5002:a_b_c", "mac:acde48234567019f_b", "example:new-1-2-3_comp", "org:32473-foo:a:b_c",
	},
	"lex": {"eu:council:directive:2010-03-09;2010-19-UE", "br;ceara;fortaleza:camara.municipal:projeto.lei:2026;042", "it:stato:legge:2006-05-14;22", "eu:commission:directive:2010-03-09;2010-19-EU", "br;sao.paulo:governo:decreto:2010;1"},
	"nir": {"stato:legge:2006-05-14;22~art3", "stato:costituzione", "stato", "stato:decreto.legge:2008-11-10;180"},
	"cts": {
		"latinLit:phi0472.phi001.perseus-lat2:39", "greekLit:tlg0012.tlg001:1.1-1.5", "greekLit:tlg0012", "greekLit:tlg0012.tlg001.a.b:1.1@men[1]",
		"greekLit:", "greekLit:tlg0012.tlg001:",
	},
	"sha1":      {"PLSTHIPQGSSZTS5FJUPAKUZWUGYQYPFB", "plsthipqgsszts5fjupakuzwugyqypfb", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	"md5":       {"d41d8cd98f00b204e9800998ecf8427e", "2QOYZWMPACZAJ2MABGMOZ6CCPY"},
	"sha256":    {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	"btih":      {"c12fe1c06bba254a9dc9f519b335aa7c1367a88a"},
	"ed2k":      {"31d6cfe0d16ae931b73c59d7e0c089c0"},
	"aich":      {"plsthipqgsszts5fjupakuzwugyqypfb"},
	"tree":      {"tiger:LWPNACQDBZRYXW3VHJVCJ64QBZNGHOHHHZWCLNQ", "TIGER:lwpnacqdbzryxw3vhjvcj64qbznghohhhzwclnq", "sha1:x"},
	"bitprint":  {"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ.LWPNACQDBZRYXW3VHJVCJ64QBZNGHOHHHZWCLNQ"},
	"dns":       {"example.com:alb002", "EXAMPLE.com:a~b"},
	"adid":      {"ABCD0001000", "abcd0001000h", "1BCD0001000D"},
	"alert":     {"service:call-waiting", "source:internal", "source:x@example:y"},
	"c2pa":      {"F9168C5E-CEB2-4FAA-B6BF-329BF39FA1E4", "F9168C5E-CEB2-4FAA-B6BF-329BF39FA1E4:acme", "F9168C5E-CEB2-4FAA-B6BF-329BF39FA1E4:acme:v2_1", "F9168C5E-CEB2-4FAA-B6BF-329BF39FA1E4::2_1"},
	"ccsds":     {"schema:example:1"},
	"cdx":       {"f08a6ccd-4dce-4759-bd84-c626675d60a7/1", "f08a6ccd-4dce-4759-bd84-c626675d60a7/12"},
	"clei":      {"D4CE18B7AA", "d4ce18b7aa"},
	"fdc":       {"example.com:2002:A572007", "a.b:1:x", "peppol.eu:201711:poacc:billing", "x.org:20021231:r"},
	"newsml":    {"iptc.org:20001006:NewsMLv1.0:1", "iptc.org:20001006:NewsMLv1.0:12U"},
	"nfi":       {"iot:concentrator:1.0", "iot:leg:id:1.0"},
	"pwid":      {"archive.org:2016-01-22T10:08:23Z:page:https://www.dr.dk", "archive.org:2016-01-22Z:part:x", "a:2016-01-22T10:08:23.5Z:page:x", "a:2016-01-22T10Z:page:x", "a:2016-01-22T10:08Z:page:x", "A:2016-01-22t10:08z:PAGE:X"},
	"iptc":      {"std:NewsML:1.2:spec:NewsML-dtd:2", "std-draft:a:1:doc", "workdoc:a:b:1"},
	"service":   {"sos", "sos.fire", "SOS.Police"},
	"said":      {"E8wYuBjhslETYaLZcxMkWrhVbMcA8RS1pKYl7nJ77ntA", "Xabc"},
	"wmo":       {"md:ca-eccc-msc:weather.observations.swob-realtime"},
	"xmpp":      {"jingle:1", "ping"},
	"epcglobal": {"cbv:bizstep:accepting", "xsd:1"},
}

// TestGood checks that the rules of each namespace accept its valid strings.
func TestGood(t *testing.T) {
	for nid, list := range good {
		n := mustLookup(t, nid)
		for _, nss := range list {
			if got := n.Check(nss); got != nil {
				t.Errorf("N12-11: %s: Check(%q) = %v, want nil", nid, nss, got)
			}
			if len(n.Parts(nss)) == 0 && n.Rules.Parts != nil {
				t.Errorf("%s: Parts(%q): none", nid, nss)
			}
			canonical := n.Canonical(nss)
			if got := n.Check(canonical); got != nil {
				t.Errorf("%s: Check(%q), canonical of %q: %v", nid, canonical, nss, got)
			}
			if got := n.Canonical(canonical); got != canonical {
				t.Errorf("%s: Canonical(%q) = %q, not a fixed point", nid, canonical, got)
			}
			if got, err := urn.Parse("urn:" + nid + ":" + nss); err == nil {
				for _, f := range n.Lint(got.NSS()) {
					if f.Offset < 0 || f.End < f.Offset || f.End > len(nss) {
						t.Errorf("%s: Lint(%q): %+v out of bounds", nid, nss, f)
					}
				}
			}
		}
	}
}

// TestBad checks the offset, the rule and the correction in the finding about an invalid string.
func TestBad(t *testing.T) {
	for _, tt := range []struct {
		nid, nss string
		offset   int
		rule     string // beginning of the rule
		right    string
	}{
		{"isbn", "978-951-0-18435-7", 16, "ISBN-13 check digit", "6"},
		{"isbn", "951-0-18435-8", 12, "ISBN-10 check digit", "7"},
		{"isbn", "97895101843O6", 11, "ISBN", "0"},
		{"isbn", "978951018435", 12, "ISBN", ""},
		{"isbn", "97895101843560", 13, "ISBN", ""},
		{"isbn", "978--9510184356", 4, "ISBN", ""},
		{"isbn", "-9789510184356", 0, "ISBN", ""},
		{"isbn", "9789510184356-", 13, "ISBN", ""},
		{"isbn", "977-951-0-18435-6", 0, "GS1 element", ""},
		{"isbn", "979-0-2600-0043-8", 0, "GS1 element", ""},
		{"isbn", "95X0184357", 2, "ISBN", ""},
		{"isbn", "978%39510184356", 3, "ISBN", ""},
		{"issn", "1234-1232", 8, "ISSN check digit", "1"},
		{"issn", "1050-1242", 8, "ISSN check digit", "X"},
		{"issn", "123-41231", 3, "ISSN", ""},
		{"issn", "1234-l231", 5, "ISSN", "1"},
		{"issn", "1234-123", 8, "ISSN", ""},
		{"issn", "1234-12312", 9, "ISSN", ""},
		{"ismn", "979-0-2600-0043-9", 16, "ISMN check digit", "8"},
		{"ismn", "978-0-2600-0043-8", 0, "ISMN prefix", ""},
		{"ismn", "0260000438", 0, "ISMN prefix", ""},
		{"ismn", "M26000043", 9, "ISMN", ""},
		{"ismn", "MM60000438", 1, "ISMN", ""},
		{"isni", "0000000121241961", 15, "ISNI-CHECK-DIGIT", "0"},
		{"isni", "0000 0001 2124 1960", 4, "ISNI-NSS", ""},
		{"isni", "000000012124196", 15, "ISNI-NSS", ""},
		{"isni", "00000001212419600", 16, "ISNI-NSS", ""},
		{"isan", "0000-0001-8947-0000-9", 20, "ISAN check character", "8"},
		{"isan", "0000-0001-8947-0000-8-0000-0000-E", 32, "ISAN check character", "D"},
		{"isan", "0000-0001-8947-000G", 18, "ISAN", ""},
		{"isan", "0000-0001", 9, "ISAN", ""},
		{"lei", "7LTWFZYICNSX8D621K87", 18, "LEI check digits", "86"},
		{"lei", "7LTWFZYICNSX8D621K8", 19, "LEI", ""},
		{"lei", "7LTWFZYICNSX8D621KX6", 18, "LEI", ""},
		{"lei", "7LTWFZYICNSX8D621K866", 20, "LEI", ""},
		{"eic", "10YFR-RTE------D", 15, "EIC check character", "C"},
		{"eic", "10yFR-RTE------C", 2, "EIC", "Y"},
		{"eic", "1OYFR-RTE------C", 1, "EIC", "0"},
		{"eic", "10YFR-RTE", 9, "EIC", ""},
		{"eidr", "10.5240:7791-8534-2C23-9030-8610-6", 33, "EIDR check character", "5"},
		{"eidr", "10.5240:7791-8534", 17, "suffix", ""},
		{"eidr", "11.5240:x", 0, "prefix", ""},
		{"oid", "1.03.6", 2, "number", "3"},
		{"oid", "1..3", 2, "number", ""},
		{"oid", "1.3.", 4, "number", ""},
		{"oid", "3.1", 0, "X.660, first arc", ""},
		{"oid", "1.40", 2, "X.660, second arc", ""},
		{"oid", "1.3,6", 3, "oid", ""},
		{"oid", "2.000", 2, "number", "0"},
		{"uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf", 35, "UUID", ""},
		{"uuid", "f81d4fae7dec-11d0-a765-00a0c91e6bf6", 8, "UUID", ""},
		{"uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bfO", 35, "hexDigit", "0"},
		{"uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf66", 36, "UUID", ""},
		{"nbn", "de:101:1-201102033593", 20, "check digit of the German", "2"},
		{"nbn", "de:gbv:7-isbn-90-6984-508-3-9", 28, "check digit of the German", "8"},
		{"nbn", "deu:101-1", 0, "iso-cc", ""},
		{"nbn", "fi:-x", 3, "subspc", ""},
		{"nbn", "fi", 2, "nbn-nss", ""},
		{"nbn", "fi-", 3, "nbn-string", ""},
		{"nbn", "fi-/a", 3, "nbn-string", ""},
		{"nbn", "fi_x", 2, "prefix", ""},
		{"nan", "fi:ka", 5, "nan-nss", ""},
		{"ietf", "rfc:x", 4, "rfc-nss", ""},
		{"ietf", "rfc:", 4, "NSS", ""},
		{"ietf", "rfc", 3, "NSS", ""},
		{"ietf", "params:a::b", 9, "params", ""},
		{"doi", "10.1000", 7, "DOI-NSS", ""},
		{"doi", "10.1000:182", 7, "DOI-NSS", "/"},
		{"doi", "10.1000/", 8, "DOI-SUFFIX", ""},
		{"doi", "/182", 0, "DOI-PREFIX", ""},
		{"doi", "10.1000/a%00", 9, "DOI-CHARS", ""},
		{"epc", "id:sgtin:0614141.10734.2018", 9, "sgtin", ""},
		{"epc", "id:sgtin:06141.107346.2018", 9, "CompanyPrefix", ""},
		{"epc", "id:sgtin:0614141.107346", 23, "serial", ""},
		{"epc", "id:sscc:0614141.123456789o", 25, "reference", "0"},
		{"epc", "id:sscc:0614141.1234567890.1", 26, "EPC", ""},
		{"epc", "id:sgtin:", 9, "EPC", ""},
		{"epc", "id", 2, "epc", ""},
		{"gs1", "01:09506000134353", 16, "check digit of the GTIN", "2"},
		{"gs1", "10:ABC", 0, "ai-branch", ""},
		{"gs1", "01:09506000134352:10:a:10:b", 23, "ai-branch", ""},
		{"gs1", "01", 2, "ai-value", ""},
		{"gs1", "gdd:bie:tradeItem", 8, "class-name", ""},
		{"gs1", "gdd:bie:A.b.C.D", 13, "bie-ref", ""},
		{"gs1", "gdd:cl:A:b", 9, "code-value", ""},
		{"gs1", "std:genspec:25", 14, "version", ""},
		{"gs1", "std:genspec:25.0:", 17, "clause", ""},
		{"gs1", "x", 0, "gs1-nss", ""},
		{"iso", "std:iso:tr", 10, "docnumber", ""},
		{"iso", "std:iso:9a", 9, "docnumber", ""},
		{"iso", "std", 3, "originator", ""},
		{"iso", "is:iso:1", 0, "std-nss", ""},
		{"iso", "std:iso:1:-", 11, "partnumber", ""},
		{"ogc", "GML", 3, "ResourceSpecificString", ""},
		{"ogc", ":def", 0, "OGCresource", ""},
		{"xmpp", ":jingle", 0, "ShortName", ""},
		{"xmpp", "jingle:", 7, "SubName", ""},
		{"oasis", "names", 5, "names", ""},
		{"oasis", "x:y", 0, "NSS", ""},
		{"oasis", "member:a", 8, "string", ""},
		{"gsma", "imei:9042015-025763-0", 12, "imeival", ""},
		{"gsma", "imei:90420156-025763-01", 22, "imeival", ""},
		{"gsma", "imei:90420156-025763-0;svn=4", 27, "software-version", ""},
		{"gsma", "imei:90420156-025763-0;", 23, "par-name", ""},
		{"3gpp2", "meid:A04B0D56-02A7E", 19, "meidval", ""},
		{"mrn", "a:b:c", 0, "OID", ""},
		{"mrn", "imo:imo-number:", 15, "OSNS", ""},
		{"mrn", "-imo:ab:c", 0, "OID", ""},
		{"dev", "mac:0024befffe804ff", 19, "hexstring", ""},
		{"dev", "MAC:00", 0, "subtype", ""},
		{"dev", "org:0-a", 4, "posnumber", ""},
		{"dev", "org:1", 5, "orgbody", ""},
		{"dev", "ops:1-a", 7, "opsbody", ""},
		{"dev", "ops:1--a", 6, "product", ""},
		{"dev", "mac:00:a", 6, "componentpart", ""},
		{"lex", "i:x", 0, "jurisdiction-code", ""},
		{"lex", "it", 2, "local-name", ""},
		{"lex", "it:stato::x", 9, "local-name", ""},
		{"nir", "stato:legge:2006-13-14;22", 12, "date", ""},
		{"cts", "latinLit", 8, "work", ""},
		{"cts", "a:b..c", 4, "work", ""},
		{"cts", "a:b.c.d.e.f", 2, "work", ""},
		{"cts", "a:b:1-2-3", 7, "passage", ""},
		{"cts", "a:b:1:2", 5, "passage", ""},
		{"sha1", "PLSTHIPQGSSZTS5FJUPAKUZWUGYQYPF1", 31, "base32", ""},
		{"sha1", "abc", 3, "digest", ""},
		{"md5", "2QOYZWMPACZAJ2MABGMOZ6CCPZ", 25, "base32", ""},
		{"tree", "tiger:LWPNACQDBZRYXW3VHJVCJ64QBZNGHOHHHZWCLN1", 44, "base32", ""},
		{"bitprint", "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", 32, "bitprint", ""},
		{"bitprint", "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY.A", 31, "bitprint", ""},
		{"dns", "example:com", 0, "", ""},
		{"dns", "exa_mple.com:x", 3, "AuthorityID", ""},
		{"dns", "example.com:", 12, "ElementID", ""},
		{"adid", "ABCD0001000X", 11, "full-adid-suffix", ""},
		{"adid", "0BCD0001000", 0, "full-adid-prefix", ""},
		{"adid", "ABCD", 4, "full-adid-identifier", ""},
		{"adid", "ABCD0001000HH", 12, "full-adid-identifier", ""},
		{"adid", "ABCD-001000", 4, "full-adid-identifier", ""},
		{"ccsds", "schema:", 7, "SUBNAMESPACE-SPECIFIC-STRING", ""},
		{"mrn", "imo", 3, "OID", ""},
		{"mrn", "imo:a_b:c", 5, "OSNID", ""},
		{"fdc", "example.com", 11, "DateId", ""},
		{"fdc", "a.b:2002", 8, "ResourceId", ""},
		{"fdc", "a.b:20021232:x", 10, "DD", ""},
		{"gs1", "gdd", 3, "gdd-branch", ""},
		{"gs1", "gdd:bie", 7, "gdd-branch", ""},
		{"gs1", "gdd:xxx:A", 4, "gdd-branch", ""},
		{"gs1", "gdd:bdt:A-", 9, "class-name", ""},
		{"gs1", "01:0950600013435", 3, "GTIN", ""},
		{"gs1", "std", 3, "std-id", ""},
		{"alert", "service", 7, "alert-identifier", ""},
		{"alert", "a:-b", 2, "alert-label", ""},
		{"c2pa", "F9168C5E", 8, "UUID", ""},
		{"c2pa", "F9168C5E-CEB2-4FAA-B6BF-329BF39FA1E4:a:v", 40, "version", ""},
		{"cdx", "f08a6ccd-4dce-4759-bd84-c626675d60a7/0", 38, "bom-version", ""},
		{"clei", "D4CE18B7A", 9, "CLEI code", ""},
		{"fdc", "example:2002:a", 0, "ProviderId", ""},
		{"fdc", "a.b:200213:x", 8, "MM", ""},
		{"newsml", "a:20001306:b:1", 2, "DateId", ""},
		{"newsml", "a:20001006:b:0", 13, "RevisionId", ""},
		{"nfi", "iot:1.0", 4, "name", ""},
		{"nfi", "iot:a:1", 7, "version", ""},
		{"pwid", "a:2016-01-22:page:x", 2, "archival-time", ""},
		{"pwid", "a:2016-01-22T25Z:page:x", 12, "archival-time", ""},
		{"pwid", "a:2016-01-22Z:book:x", 14, "precision-spec", ""},
		{"iptc", "std:a:1:x", 8, "res-group", ""},
		{"iptc", "a:b", 0, "NSS", ""},
		{"iptc", "workdoc:a:b", 11, "doc-version", ""},
		{"service", "sos.", 4, "let-dig", ""},
		{"isbn", "ISBN9789510184356", 0, "ISBN", "1"}, // the finding is about the letter, not about the number of digits
		{"isbn", "978-951018435X6", 13, "ISBN", ""},
		{"isbn", "97895101843561", 13, "ISBN", ""},
		{"isbn", "9789510184356x", 13, "ISBN", ""},
		{"ismn", "ISMN979-0-2600-0043-8", 0, "ISMN", "1"},
		{"ismn", "979-0-2600-0043-88", 17, "ISMN", ""},
		{"service", "sos-.a", 3, "let-dig", ""},
		{"said", "E8wY", 4, "said", ""},
	} {
		f := mustLookup(t, tt.nid).Check(tt.nss)
		if tt.rule == "" { // accepted, or rejected by package urn
			continue
		}
		if f == nil {
			t.Errorf("N12-11: %s: Check(%q) = nil, want offset %d, rule %s", tt.nid, tt.nss, tt.offset, tt.rule)
			continue
		}
		if f.Offset != tt.offset || !strings.HasPrefix(f.Rule, tt.rule) || f.Right != tt.right {
			t.Errorf("%s: Check(%q) = offset %d, rule %s, right %q (%s), want %d, %s, %q", tt.nid, tt.nss, f.Offset, f.Rule, f.Right, f.Message, tt.offset, tt.rule, tt.right)
		}
	}
}

// TestEquivalences checks the equivalences that namespaces add to those of the general syntax
// (N12-54).
func TestEquivalences(t *testing.T) {
	for _, tt := range []struct{ nid, a, b, canonical string }{
		{"isbn", "951-0-18435-7", "9789510184356", "9789510184356"},
		{"isbn", "080442957x", "978-0-8044-2957-3", "9780804429573"},
		{"issn", "1050124x", "1050-124X", "1050-124X"},
		{"ismn", "M-2600-0043-8", "979-0-2600-0043-8", "9790260000438"},
		{"isni", "000000012146438x", "000000012146438X", "000000012146438X"},
		{"isan", "0000-0001-8947-0000-8", "0000000189470000", "0000000189470000"},
		{"isan", "0000-0001-8947-0000-8-0000-0000-D", "000000018947000000000000", "000000018947000000000000"},
		{"lei", "7ltwfzyicnsx8d621k86", "7LTWFZYICNSX8D621K86", "7LTWFZYICNSX8D621K86"},
		{"uuid", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"nbn", "FI:St-aB", "fi:st-aB", "fi:st-aB"},
		{"doi", "10.1000/ABC%2fd", "10.1000/abc/d", "10.1000/abc/d"},
		{"doi", "10.1000%2F182", "10.1000/182", "10.1000/182"},
		{"doi", "%2f%2fA", "%2F/a", "%2F/a"}, // no name begins with a slash
		{"doi", "10.1000/a%3ca", "10.1000/A%3CA", "10.1000/a%3Ca"},
		{"ietf", "RFC:2648", "rfc:2648", "rfc:2648"},
		{"iso", "STD:ISO:9999:-1", "std:iso:9999:-1", "std:iso:9999:-1"},
		{"gsma", "IMEI:90420156-025763-0;vers=0", "imei:90420156-025763-0", "imei:90420156-025763-0"},
		{"3gpp2", "MEID:a04b0d56-02a7e3", "meid:A04B0D56-02A7E3", "meid:A04B0D56-02A7E3"},
		{"mrn", "IALA:Aton:Us:1", "iala:aton:Us:1", "iala:aton:Us:1"},
		{"gs1", "GDD:BIE:TradeItem", "gdd:bie:TradeItem", "gdd:bie:TradeItem"},
		{"sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "3i42h3s6nnfq2msvx7xzkyayscx5qbyj", "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},
		{"md5", "2QOYZWMPACZAJ2MABGMOZ6CCPY", "D41D8CD98F00B204E9800998ECF8427E", "d41d8cd98f00b204e9800998ecf8427e"},
		{"dns", "EXAMPLE.com:a%2Db", "example.com:a-b", "example.com:a-b"},
		{"etsi", "Yang:a%2fB", "yang:A%2Fb", "yang:a%2Fb"},
		{"newsml", "IPTC.org:20001006:NewsMLv1.0:1u", "iptc.ORG:20001006:newsmlV1.0:1U", "iptc.org:20001006:newsmlv1.0:1u"},
		{"fdc", "Example.COM:2002:A1", "example.com:2002:A1", "example.com:2002:A1"},
		{"tva", "MetaData:2002:Ab", "metadata:2002:Ab", "metadata:2002:Ab"},
		{"mpeg", "MPEG7:Schema:2001", "mpeg7:Schema:2001", "mpeg7:Schema:2001"},
		{"ccsds", "Schema:Ab", "SCHEMA:Ab", "schema:Ab"},
		{"dvb", "MetaData:CS:a%2fB", "metadata:cs:A%2Fb", "metadata:cs:a%2Fb"},
		{"onf", "Yang:A", "yang:a", "yang:a"},
		{"trivore", "ID:Ab", "id:aB", "id:ab"},
		{"stalwart", "davlock:A1B2", "DAVLOCK:a1b2", "davlock:a1b2"},
		{"gdst", "Example.com:product:class:A1.Bc", "example.COM:product:class:a1.bC", "example.com:product:class:a1.bc"},
		{"pwid", "ARCHIVE.org:2016-01-22t10:08:23z:Page:http://a.example/B", "archive.org:2016-01-22T10:08:23Z:page:http://a.example/B", "archive.org:2016-01-22T10:08:23Z:page:http://a.example/B"},
		{"meta", "MARC21:X-aB", "marc21:x-aB", "marc21:x-aB"},
		{"meta", "DC:Elements1.1-Title", "dc:elements1.1-Title", "dc:elements1.1-Title"},
		{"uci", "G3000+Music-Cii9", "g3000+music-Cii9", "g3000+music-Cii9"},
		{"urn-3", "ABC:d", "abc:D", "abc:d"},
		{"urn-7", "SOS.Fire", "sos.fire", "sos.fire"},
	} {
		a, b := urn.MustParse("urn:"+tt.nid+":"+tt.a), urn.MustParse("URN:"+strings.ToUpper(tt.nid)+":"+tt.b)
		want := "urn:" + tt.nid + ":" + tt.canonical
		if got := namespace.Canonical(a); got != want {
			t.Errorf("Canonical(%s) = %q, want %q", a, got, want)
		}
		if got := namespace.Canonical(b); got != want {
			t.Errorf("Canonical(%s) = %q, want %q", b, got, want)
		}
		if !namespace.Equivalent(a, b) {
			t.Errorf("Equivalent(%s, %s) = false", a, b)
		}
	}
}

// TestKeptApart checks names that must not become equivalent: case after the prefix of an NBN,
// versions, and spellings that break the rules.
func TestKeptApart(t *testing.T) {
	for _, tt := range [][2]string{
		{"urn:nbn:fi-aB", "urn:nbn:fi-ab"},
		{"urn:nbn:fi:a-b", "urn:nbn:fi-a:b"},
		{"urn:isan:0000-0001-8947-0000-8", "urn:isan:0000-0001-8947-0000-8-0000-0000-D"},
		{"urn:isbn:9510184358", "urn:isbn:9789510184356"},
		{"urn:isbn:95-10184358", "urn:isbn:9510184358"},
		{"urn:oid:1.2", "urn:oid:1.02"},
		{"urn:dev:mac:0024BEFFFE804FF1", "urn:dev:mac:0024befffe804ff1"},
		{"urn:gs1:01:09506000134352:10:a", "urn:gs1:01:09506000134352:10:A"},
		{"urn:epc:id:sgtin:0614141.107346.a", "urn:epc:id:sgtin:0614141.107346.A"},
		{"urn:ietf:rfc:20", "urn:ietf:rfc:020"},
		{"urn:doi:10.1000/a%3Fb", "urn:doi:10.1000/a%3fc"},
		{"urn:fdc:example.com:2002:A1", "urn:fdc:example.com:2002:a1"},
		{"urn:tva:metadata:A", "urn:tva:metadata:a"},
		{"urn:mpeg:mpeg7:A", "urn:mpeg:mpeg7:a"},
		{"urn:ccsds:schema:A", "urn:ccsds:schema:a"},
		{"urn:meta:marc21-A", "urn:meta:marc21-a"},
		{"urn:uci:g3000-A", "urn:uci:g3000-a"},
		{"urn:uci:A", "urn:uci:a"},
		{"urn:pwid:a.org:2016-01-22Z:page:http://a.example/B", "urn:pwid:a.org:2016-01-22Z:page:http://a.example/b"},
		{"urn:urn-1:A", "urn:urn-1:a"},
		{"urn:urn-4:A", "urn:urn-4:a"},
		{"urn:swift:A", "urn:swift:a"},
		{"urn:unknown:A", "urn:unknown:a"},
		{"urn:example:A", "urn:example:a"},
	} {
		if namespace.Equivalent(urn.MustParse(tt[0]), urn.MustParse(tt[1])) {
			t.Errorf("Equivalent(%s, %s) = true", tt[0], tt[1])
		}
	}
	if namespace.Equivalent(urn.URN{}, urn.URN{}) {
		t.Error("the zero URN is equivalent to itself")
	}
}

func TestParts(t *testing.T) {
	for _, tt := range []struct{ nid, nss, want string }{
		{"isbn", "951-0-18435-7", "gs1=978 group=951 agency=Finland registrant=0 publication=18435 check=6 isbn13=9789510184356 isbn10=9510184357"},
		{"isbn", "979-10-90636-07-1", "gs1=979 group=10 agency=France registrant=90636 publication=07 check=1 isbn13=9791090636071"},
		{"issn", "0378-5955", "number=0378595 check=5 gtin13=9770378595002"},
		{"ismn", "9790260000438", "prefix=9790 publisher=2600 item=0043 check=8"},
		{"isni", "000000012146438x", "number=000000012146438 check=X"},
		{"isan", "0000-0000-D07A-0090-Q-0000-0000-X", "root=00000000D07A episode=0090 version=00000000"},
		{"lei", "7LTWFZYICNSX8D621K86", "issuer=7LTW entity=FZYICNSX8D621K check=86"},
		{"eic", "10YFR-RTE------C", "office=10 type=Y code=FR-RTE------ check=C"},
		{"oid", "1.3.6.1", "root=iso arcs=1.3.6.1"},
		{"uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "variant=RFC 9562 version=1 time=1997-02-03T17:43:12.216875Z"},
		{"uuid", "1EC9414C-232A-6B00-B3C8-9F6BDECED846", "variant=RFC 9562 version=6 time=2022-02-22T19:22:22Z"},
		{"uuid", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "variant=RFC 9562 version=7 time=2022-02-22T19:22:22Z"},
		{"uuid", "919108f7-52d1-4320-9bac-f847db4148a8", "variant=RFC 9562 version=4"},
		{"uuid", "00000000-0000-0000-0000-000000000000", "special=nil"},
		{"nbn", "DE:101:1-201102033592", "country=de sub-namespace=101:1 nbn-string=201102033592 check=2"},
		{"doi", "10.1000/182", "prefix=10.1000 suffix=182"},
		{"ietf", "rfc:2648", "series=rfc id=2648"},
		{"epc", "id:sgtin:0614141.107346.2018", "kind=id scheme=sgtin company=0614141 reference=107346 gtin=10614141073464 serial=2018"},
		{"epc", "id:sscc:0614141.1234567890", "kind=id scheme=sscc company=0614141 reference=1234567890 sscc=106141412345678908"},
		{"epc", "id:sgln:0614141.12345.400", "kind=id scheme=sgln company=0614141 reference=12345 gln=0614141123452 extension=400"},
		{"epc", "id:giai:0614141.12345400", "kind=id scheme=giai company=0614141 reference=12345400"},
		{"gs1", "01:09506000134352:10:ABC123", "ai 01=09506000134352 ai 10=ABC123"},
		{"gs1", "std:genspec:25.0:4.14.2", "branch=std standard=genspec version=25.0 clause=4.14.2"},
		{"iso", "std:iso-iec:tr:9999:-1:ed-1:v1:en:amd:1", "originator=iso-iec type=tr number=9999 part=1 edition=1 version=v1 language=en rest=amd:1"},
		{"iso", "std:iso:80601:-2-12:ed-2:stage-60.60:amd:2022:v1", "originator=iso number=80601 part=2-12 edition=2 status=stage-60.60 rest=amd:2022:v1"},
		{"iso", "std:iso:1:stage-draft.v2", "originator=iso number=1 status=stage-draft.v2"},
		{"gsma", "imei:90420156-025763-0;svn=42", "specifier=imei tac=90420156 snr=025763 spare=0 svn=42"},
		{"cts", "latinLit:phi0472.phi001.perseus-lat2:39", "namespace=latinLit textgroup=phi0472 work=phi001 version=perseus-lat2 passage=39"},
		{"nir", "stato:legge:2006-05-14;22~art3", "authority=stato measure=legge details=2006-05-14;22 version or part=~art3"},
		{"lex", "it:stato:legge:2006-05-14;22", "jurisdiction=it authority=stato measure=legge details=2006-05-14;22"},
		{"dns", "example.com:alb002", "AuthorityID=example.com ElementID=alb002"},
		{"pwid", "archive.org:2016-01-22T10:08:23Z:page:https://www.dr.dk", "archive=archive.org time=2016-01-22T10:08:23Z precision=page uri=https://www.dr.dk"},
		{"isbn", "9510184358", ""},
		{"example", "a:b", ""},
	} {
		var parts []string
		for _, p := range mustLookup(t, tt.nid).Parts(tt.nss) {
			parts = append(parts, p.Name+"="+p.Value)
		}
		if got := strings.Join(parts, " "); got != tt.want {
			t.Errorf("%s: Parts(%q) = %q, want %q", tt.nid, tt.nss, got, tt.want)
		}
	}
}

func TestDisplay(t *testing.T) {
	for _, tt := range []struct{ nid, nss, want string }{
		{"isbn", "9789510184356", "978-951-0-18435-6"},
		{"isbn", "080442957x", "0-8044-2957-X"},
		{"isbn", "9786500000008", "9786500000008"}, // invalid: returned unchanged
		{"issn", "10501242", "10501242"},
		{"issn", "1050124x", "1050-124X"},
		{"ismn", "M260000438", "979-0-2600-0043-8"},
		{"ismn", "9790001122337", "979-0-001-12233-7"},
		{"isni", "000000012146438x", "ISNI 0000 0001 2146 438X"},
		{"isan", "0000000189470000", "0000-0001-8947-0000-8"},
		{"isan", "000000018947000000000000", "0000-0001-8947-0000-8-0000-0000-D"},
		{"doi", "10.1000/ABC", "doi:10.1000/abc"},
		{"ietf", "rfc:2648", "RFC 2648"},
		{"ietf", "params:xml", "params:xml"},
		{"eidr", "10.5240:7791-8534-2c23-9030-8610-5", "10.5240/7791-8534-2C23-9030-8610-5"},
		{"example", "a%3Ab", "a%3Ab"},
	} {
		if got := mustLookup(t, tt.nid).Display(tt.nss); got != tt.want {
			t.Errorf("%s: Display(%q) = %q, want %q", tt.nid, tt.nss, got, tt.want)
		}
	}
}

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		nid, nss    string
		code        namespace.Code
		offset, end int
		right       string
	}{
		{"isbn", "9510184357", namespace.CodeForm, 0, 10, "9789510184356"},
		{"isbn", "9-78-9510184356", namespace.CodeForm, 0, 15, "978-951-0-18435-6"},
		{"isbn", "9789991373768", namespace.CodeUnassigned, 0, 13, ""},
		{"issn", "12341231", namespace.CodeForm, 0, 8, "1234-1231"},
		{"ismn", "M260000438", namespace.CodeForm, 0, 10, "979-0-2600-0043-8"},
		{"isni", "000000012146438x", namespace.CodeForm, 15, 16, ""},
		{"lei", "7ltwfzyicnsx8d621k86", namespace.CodeForm, 0, 20, "7LTWFZYICNSX8D621K86"},
		{"uuid", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", namespace.CodeForm, 0, 36, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"uuid", "f81d4fae-7dec-91d0-a765-00a0c91e6bf6", namespace.CodeUnassigned, 14, 15, ""},
		{"uuid", "f81d4fae-7dec-11d0-c765-00a0c91e6bf6", namespace.CodeUnassigned, 19, 20, ""},
		{"nbn", "xx-1", namespace.CodeUnassigned, 0, 2, ""},
		{"nbn", "cz:aba001-1", namespace.CodeForm, 0, 11, ""},
		{"nbn", "nl:ui:x-1", namespace.CodeForm, 0, 9, ""},
		{"nbn", "fi-fe1", namespace.CodeForm, 0, 6, ""},
		{"nbn", "it-1", namespace.CodeForm, 0, 4, ""},
		{"nbn", "de:101-1_", namespace.CodeForm, 8, 9, ""},
		{"nan", "xx-1", namespace.CodeUnassigned, 0, 2, ""},
		{"ietf", "rfc:020", namespace.CodeForm, 4, 7, "20"},
		{"ietf", "params:scim:model:a", namespace.CodeUnassigned, 12, 17, ""},
		{"ietf", "params:scim:schemas", namespace.CodeForm, 19, 19, ""},
		{"ietf", "id:a.b", namespace.CodeForm, 4, 5, ""},
		{"ietf", "wg:x", namespace.CodeUnassigned, 0, 2, ""},
		{"doi", "abc/x", namespace.CodeForm, 0, 3, ""},
		{"doi", "1O.1000/x", namespace.CodeForm, 0, 7, "10.1000"},
		{"doi", "doi:10.1000/x", namespace.CodeForm, 0, 11, "10.1000"},
		{"doi", "10..1/x", namespace.CodeForm, 0, 5, ""},
		{"iso", "std:xyz:1", namespace.CodeUnassigned, 4, 7, ""},
		{"iso", "std:iso:1:stage-60.60", namespace.CodeForm, 10, 21, ""},
		{"iso", "std:iso:1:ed-1:xyz", namespace.CodeForm, 15, 18, ""},
		{"iso", "std:iso-sae:1", namespace.CodeUnassigned, 4, 11, ""},
		{"iso", "std:iso:1:ed-2:stage-60.60:amd:2022:v1", namespace.CodeForm, 15, 26, ""},
		{"iso", "std:iso:1:ed-2:en:v1", namespace.CodeForm, 18, 20, ""},
		{"iso", "std:iso:1:stage-draft.v2:ed-1", namespace.CodeForm, 10, 24, ""},
		{"iso", "std:iso:1:ed-2:sup:2022:v1", namespace.CodeForm, 15, 18, ""},
		{"iso", "std:iso:1:ed-2:amd:x", namespace.CodeForm, 15, 20, ""},
		{"iso", "std:iso:1:ed-2:clause", namespace.CodeForm, 15, 21, ""},
		{"gsma", "imei:90420156-025763-1", namespace.CodeCheckDigit, 21, 22, ""},
		{"mrn", "imo:imo-number:9743369", namespace.CodeCheckDigit, 21, 22, "8"},
		{"dev", "mac:0024BEFFFE804FF1", namespace.CodeForm, 4, 20, "0024befffe804ff1"},
		{"dev", "mac:0024be", namespace.CodeForm, 4, 10, ""},
		{"lex", "it:Stato:x", namespace.CodeForm, 3, 4, ""},
		{"oasis", "names:tc:a::b", namespace.CodeForm, 11, 11, ""},
		{"gs1", "01:09506000134352:17:250101:10:a", namespace.CodeForm, 28, 30, ""},
		{"gs1", "01:09506000134352:21:a:10:a", namespace.CodeForm, 23, 25, ""},
		{"gs1", "01:09506000134352:17:250101:15:250101", namespace.CodeForm, 28, 30, ""},
	} {
		found := mustLookup(t, tt.nid).Lint(tt.nss)
		if len(found) == 0 {
			t.Errorf("%s: Lint(%q): nothing", tt.nid, tt.nss)
			continue
		}
		f := found[0]
		if tt.nid == "gsma" {
			tt.right = f.Right
		}
		if f.Code != tt.code || f.Offset != tt.offset || f.End != tt.end || f.Right != tt.right {
			t.Errorf("%s: Lint(%q) = %+v, want %s %d-%d %q", tt.nid, tt.nss, f, tt.code, tt.offset, tt.end, tt.right)
		}
	}
	for _, nss := range []string{
		"nl:ui:13-kwrv-3e", "nl:ui:28-60819", "NL:UI:10-1-105817", "it:UNIROMA1-212639", "it:unibo-26106", "it:bav-0000-004-01A2-F",
		"se:kth:diva-253051", "se:kb:dig-17390055", "fi:lb-201403262", "fi:amk-2026051813153", "fi-fe201003181510", "ch:unige-6880",
	} {
		if found := mustLookup(t, "nbn").Lint(nss); len(found) != 0 {
			t.Errorf("nbn: Lint(%q) = %+v, want nothing", nss, found)
		}
	}
	for nid, nss := range map[string]string{
		"isbn": "978-951-0-18435-6", "issn": "1234-1231", "uuid": "919108f7-52d1-4320-9bac-f847db4148a8", "nbn": "se:uu:diva-3475",
		"ietf": "params:xml:ns:yang:1", "doi": "10.1000/182", "iso": "std:iso:9999:-1:ed-1:v1-amd1.v1:en,fr:amd:2:v2:en:clause:3.1,a.2-b.9",
		"ogc": "def::property::x", "mrn": "imo:imo-number:9743368", "eic": "10YFR-RTE------C", "dev": "mac:0024befffe804ff1", "gs1": "01:09506000134352:10:ABC123:17:250101",
	} {
		if found := mustLookup(t, nid).Lint(nss); len(found) != 0 {
			t.Errorf("%s: Lint(%q) = %+v, want nothing", nid, nss, found)
		}
	}
}

func TestFindingError(t *testing.T) {
	err := error(mustLookup(t, "issn").Check("1234-1232"))
	if got, want := err.Error(), "offset 8: ISSN check digit (modulo 11): is 2, should be 1"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
