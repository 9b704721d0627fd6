package namespace

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// smallNamespaces returns namespaces with simple rules, sorted by identifier.
func smallNamespaces() []Namespace {
	return []Namespace{adid, alert, c2pa, ccsds, cdx, clei, etsi, example, fdc, gdst, iec, iptc, newsml, nfi, onem2m, pin, pwid, said, service, swift, threegpp, xmpp}
}

// folded returns the rules of a namespace that ignores case.
func folded(check func(string) *Finding) Rules {
	return Rules{Check: check, Canonical: foldCase, Display: strings.ToUpper}
}

var adid = Namespace{
	NID: "adid", Name: "Advertising Digital Identification", Kind: urn.KindFormal,
	Reference: "RFC 8107", Example: "urn:adid:ABCD0001000H", Security: "as stated in RFC 8107",
	Note:        "11 letters or digits, then H for high definition or D for three dimensions",
	Equivalence: "letters in either case",
	Rules:       folded(checkADID),
}

func checkADID(nss string) *Finding {
	switch end := ascii.Run(nss, 0, ascii.IsAlnum); {
	case end < len(nss):
		return wrongByte(nss, end, "full-adid-identifier", "letters and digits")
	case end < 11:
		return broken(end, end, "full-adid-identifier", "has "+strconv.Itoa(end)+" characters, expected 11, or 12 for video")
	case end > 12:
		return broken(12, end, "full-adid-identifier", "more than 12 characters")
	case nss[0] == '0':
		return broken(0, 1, "full-adid-prefix", "begins with 0")
	case end == 12 && nss[11]|0x20 != 'h' && nss[11]|0x20 != 'd':
		return broken(11, 12, "full-adid-suffix", "expected H or D")
	}
	return nil
}

var alert = Namespace{
	NID: "alert", Name: "Alerts of SIP", Kind: urn.KindFormal,
	Reference: "RFC 7462", Example: "urn:alert:service:call-waiting", Security: "as stated in RFC 7462",
	Note:        "the words themselves are in a registry of IANA",
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkAlert, Parts: partsColon("category", "indication"), Canonical: foldCase},
}

func checkAlert(nss string) *Finding {
	i, private := 0, false
	for n := 1; ; {
		end := ascii.Run(nss, i, isLDH)
		switch {
		case end == i || nss[i] == '-':
			return wrongByte(nss, i, "alert-label", "a letter or digit")
		case nss[end-1] == '-':
			return broken(end-1, end, "alert-label", "ends with a hyphen")
		case end < len(nss) && nss[end] == '@' && !private:
			private = true
		case end < len(nss) && nss[end] == ':':
			n, private = n+1, false
		case end < len(nss):
			return wrongByte(nss, end, "alert-label", "letters, digits and hyphens")
		case n == 1:
			return broken(end, end, "alert-identifier", "expected a colon and an indication")
		default:
			return nil
		}
		i = end + 1
	}
}

var c2pa = Namespace{
	NID: "c2pa", Name: "Coalition for Content Provenance and Authenticity", Kind: urn.KindFormal,
	Reference: "urn-formal/c2pa (2025)", Example: "urn:c2pa:F9168C5E-CEB2-4FAA-B6BF-329BF39FA1E4:acme:v2_1",
	Security: "as stated in the C2PA specification",
	Rules:    Rules{Check: checkC2PA, Parts: partsColon("uuid", "generator", "version")},
}

func checkC2PA(nss string) *Finding {
	end := until(nss, 0, ':')
	if f := checkUUID(nss[:end]); f != nil || end == len(nss) {
		return f
	}
	generator := until(nss, end+1, ':')
	switch {
	case generator-end-1 > 32:
		return broken(end+33, generator, "claim-generator-identifier", "more than 32 characters")
	case generator == len(nss):
		return nil
	}
	i := generator + 1
	start := i
	if i < len(nss) && nss[i]|0x20 == 'v' {
		start++
	}
	stop := digits(nss, start)
	if stop == start || stop == len(nss) || nss[stop] != '_' {
		return wrongByte(nss, stop, "version", "v, a number, an underscore and a number")
	}
	if last := digits(nss, stop+1); last == stop+1 || last < len(nss) {
		return wrongByte(nss, last, "reason", "digits")
	}
	return nil
}

var ccsds = Namespace{
	NID: "ccsds", Name: "Consultative Committee for Space Data Systems", Kind: urn.KindFormal,
	Reference: "RFC 7738", Example: "urn:ccsds:schema:example:1", Security: "as stated in RFC 7738",
	Note:        "only the sub-namespace identifier is checked",
	Equivalence: "the sub-namespace identifier in either case",
	Rules:       Rules{Check: checkCCSDS, Parts: partsColon("SNID", "string"), Canonical: foldField},
}

func checkCCSDS(nss string) *Finding {
	end, f := label(nss, 0, "SNID", 32)
	if f == nil && end+1 == len(nss) {
		return broken(end+1, end+1, "SUBNAMESPACE-SPECIFIC-STRING", "is empty")
	}
	return f
}

var cdx = Namespace{
	NID: "cdx", Name: "CycloneDX bills of materials", Kind: urn.KindFormal,
	Reference: "urn-formal/cdx (2022)", Example: "urn:cdx:f08a6ccd-4dce-4759-bd84-c626675d60a7/1",
	Security:    "a fragment identifies an element and may disclose more than intended",
	Fragment:    UseAllowed,
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkCDX, Parts: partsCDX, Canonical: foldCase},
}

func checkCDX(nss string) *Finding {
	end := until(nss, 0, '/')
	if f := checkUUID(nss[:end]); f != nil {
		return f
	}
	if end+1 >= len(nss) || nss[end+1] == '0' || digits(nss, end+1) < len(nss) {
		return wrongByte(nss, min(digits(nss, min(end+1, len(nss))), len(nss)), "bom-version", "a slash and a number of at least 1")
	}
	return nil
}

func partsCDX(nss string) []Part {
	serial, version, _ := strings.Cut(nss, "/")
	return []Part{{"serial", strings.ToLower(serial)}, {"version", version}}
}

var clei = Namespace{
	NID: "clei", Name: "Common Language Equipment Identifier codes", Kind: urn.KindFormal,
	Reference: "RFC 4152", Example: "urn:clei:D4CE18B7AA", Security: "as stated in RFC 4152",
	Note:        "10 characters; their meaning is in T1.213, which is not public",
	Equivalence: "letters in either case",
	Rules:       folded(checkCLEI),
}

func checkCLEI(nss string) *Finding {
	if i := ascii.Run(nss, 0, ascii.IsAlnum); i < len(nss) {
		return wrongByte(nss, i, "CLEI code", "letters and digits")
	}
	if len(nss) != 10 {
		return broken(min(len(nss), 10), len(nss), "CLEI code", "has "+strconv.Itoa(len(nss))+" characters, expected 10")
	}
	return nil
}

var etsi = Namespace{
	NID: "etsi", Name: "European Telecommunications Standards Institute", Kind: urn.KindFormal,
	Reference: "RFC 8515", Example: "urn:etsi:yang:etsi-nfv", Security: "as stated in RFC 8515",
	Note:        "syntax only; insensitive to case",
	Equivalence: "letters in either case",
	Rules:       Rules{Canonical: foldCase},
}

var example = Namespace{
	NID: "example", Name: "Examples", Kind: urn.KindFormal,
	Reference: "RFC 6963", Example: "urn:example:a123", Security: "names in this namespace have no meaning and must never be relied upon",
	Note: "syntax only; for documents and tests",
}

var fdc = Namespace{
	NID: "fdc", Name: "Federated content", Kind: urn.KindFormal,
	Reference: "RFC 4198", Example: "urn:fdc:example.com:2002:A572007", Security: "as stated in RFC 4198",
	Equivalence: "the domain name of the provider in either case",
	Rules:       Rules{Check: checkFDC, Parts: partsColon("provider", "date", "resource"), Canonical: foldField},
}

func checkFDC(nss string) *Finding {
	end := until(nss, 0, ':')
	for i := 0; i <= end; {
		dot := until(nss[:end], i, '.')
		bad := ascii.Run(nss, i, isLDH)
		switch {
		case bad < dot || dot == i:
			return wrongByte(nss, bad, "ProviderId", "a domain name")
		case dot == end && (i == 0 || !ascii.IsLetter(nss[i])):
			return broken(i, end, "ProviderId", "is not a domain name, expected at least two labels, the last beginning with a letter")
		case nss[i] == '-' || nss[dot-1] == '-':
			return broken(i, dot, "label", "begins or ends with a hyphen")
		}
		i = dot + 1
	}
	if end == len(nss) {
		return broken(end, end, "DateId", "is missing")
	}
	date := until(nss, end+1, ':')
	switch n := date - end - 1; {
	case n == 0 || digits(nss, end+1) < date || n == 5 || n == 7 || n > 8:
		return broken(end+1, date, "DateId", "expected CCYY, CCYYMM, CCYYMMDD or a number of up to 3 digits")
	case n >= 6 && !isMonth(nss[end+5:end+7]):
		return broken(end+5, end+7, "MM", "is not a month")
	case n == 8 && !isDay(nss[end+7:date]):
		return broken(end+7, date, "DD", "is not a day")
	case date+1 >= len(nss):
		return broken(len(nss), len(nss), "ResourceId", "is missing")
	}
	return nil
}

var gdst = Namespace{
	NID: "gdst", Name: "Global Dialogue on Seafood Traceability", Kind: urn.KindFormal,
	Reference: "urn-formal/gdst (2021)", Example: "urn:gdst:example.com:product:class:12345.ABCDEFGHIJKLMEN",
	Security:    "as stated in the registration",
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkFields("domain / uuid", "type", "prefix.serial"), Parts: partsColon("owner", "type", "string"), Canonical: foldCase},
}

var iec = Namespace{
	NID: "iec", Name: "International Electrotechnical Commission", Kind: urn.KindUnregistered,
	Reference: "in use by IEC", Example: "urn:iec:std:iec:60050-121:1998-08:::", Security: "none known",
	Note:  "no registration at IANA and no public rule: syntax only; the parts are those seen in use",
	Rules: Rules{Parts: partsColon("branch", "header", "number", "date", "deliverable", "language", "rest")},
}

var iptc = Namespace{
	NID: "iptc", Name: "International Press Telecommunications Council", Kind: urn.KindFormal,
	Reference: "RFC 3937", Example: "urn:iptc:std:NewsML:1.2:spec:NewsML-dtd:2", Security: "as stated in RFC 3937",
	Note:  "the branches std, std-draft and workdoc, and their fields",
	Rules: Rules{Check: checkIPTC, Parts: partsColon("branch", "name", "version", "group", "resource")},
}

func checkIPTC(nss string) *Finding {
	end := until(nss, 0, ':')
	switch nss[:end] {
	case "std", "std-draft":
		return checkIPTCStandard(nss)
	case "workdoc":
		return checkFields("workdoc", "group-id", "doc-id", "doc-version")(nss)
	}
	return broken(0, end, "NSS", "expected std, std-draft or workdoc")
}

func checkIPTCStandard(nss string) *Finding {
	if f := checkFields("std", "std-name", "std-version", "res-group")(nss); f != nil {
		return f
	}
	start := 0
	for range 3 {
		start = until(nss, start, ':') + 1
	}
	end := until(nss, start, ':')
	switch nss[start:end] {
	case "spec", "doc", "xmlns":
		return nil
	}
	return broken(start, end, "res-group", "expected spec, doc or xmlns")
}

var newsml = Namespace{
	NID: "newsml", Name: "NewsML news items", Kind: urn.KindFormal,
	Reference: "RFC 3085", Example: "urn:newsml:iptc.org:20001006:NewsMLv1.0:1", Security: "as stated in RFC 3085",
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkNewsML, Parts: partsColon("provider", "date", "item", "revision"), Canonical: foldCase},
}

func checkNewsML(nss string) *Finding {
	if f := newsmlFields(nss); f != nil {
		return f
	}
	date := until(nss, 0, ':') + 1
	end := until(nss, date, ':')
	if n := end - date; n != 8 || digits(nss, date) < end || !isMonth(nss[date+4:date+6]) || !isDay(nss[date+6:end]) {
		return broken(date, end, "DateId", "is not a date of the form CCYYMMDD")
	}
	revision := until(nss, end+1, ':') + 1
	stop := digits(nss, revision)
	switch {
	case stop == revision || nss[revision] == '0':
		return wrongByte(nss, revision, "RevisionId", "a positive number")
	case stop < len(nss)-1 || stop == len(nss)-1 && nss[stop]|0x20 != 'a' && nss[stop]|0x20 != 'u':
		return wrongByte(nss, stop, "Update", "A, U or the end")
	}
	return nil
}

func newsmlFields(nss string) *Finding {
	return checkFields("ProviderId", "DateId", "NewsItemId", "RevisionId")(nss)
}

var nfi = Namespace{
	NID: "nfi", Name: "Neuro-Foundation", Kind: urn.KindFormal,
	Reference: "urn-formal/nfi (2025)", Example: "urn:nfi:iot:leg:id:1.0", Security: "as stated in the registration",
	Rules: Rules{Check: checkNFI, Parts: partsColon("category", "subcategory and version")},
}

func checkNFI(nss string) *Finding {
	fields := 0
	for i := 0; i <= len(nss); fields++ {
		end := until(nss, i, ':')
		if end == len(nss) && fields >= 2 {
			return checkNFIVersion(nss, i)
		}
		if end == i || !ascii.IsLetter(nss[i]) {
			return wrongByte(nss, i, "name", "a letter")
		}
		i = end + 1
	}
	return broken(len(nss), len(nss), "nfi-uri", "expected category, sub-categories and version")
}

func checkNFIVersion(nss string, i int) *Finding {
	end, f := dotted(nss, i, "version", 2)
	if f == nil && strings.Count(nss[i:end], ".") != 1 {
		return broken(i, end, "version", "expected two numbers")
	}
	return f
}

var onem2m = Namespace{
	NID: "onem2m", Name: "oneM2M", Kind: urn.KindFormal,
	Reference: "urn-formal/onem2m (2022)", Example: "urn:onem2m:yang:example", Security: "as stated in the registration",
	Note:        "syntax only",
	Equivalence: "letters in either case",
	Rules:       Rules{Canonical: foldCase},
}

var pin = Namespace{
	NID: "pin", Name: "Personal Internet Names", Kind: urn.KindFormal,
	Reference: "RFC 3043", Example: "urn:pin:abc123", Security: "identifies people: as stated in RFC 3043",
	Note:        "syntax only: the rules are up to the operator",
	Equivalence: "letters in either case",
	Rules:       Rules{Canonical: foldCase},
}

var said = Namespace{
	NID: "said", Name: "Self-Addressing Identifiers", Kind: urn.KindFormal,
	Reference: "urn-formal/said (2026), CESR", Example: "urn:said:E8wYuBjhslETYaLZcxMkWrhVbMcA8RS1pKYl7nJ77ntA",
	Security: "the digest authenticates the content if it is verified",
	Note:     "the codes of digests of 256 and 512 bits are known; other codes are not checked",
	Rules:    Rules{Check: checkSAID, Parts: partsSAID},
}

func isBase64URL(c byte) bool { return isLDH(c) || c == '_' }

func checkSAID(nss string) *Finding {
	if i := ascii.Run(nss, 0, isBase64URL); i < len(nss) {
		return wrongByte(nss, i, "base64urlsafe", "letters, digits, hyphens and underscores")
	}
	want := 0
	switch {
	case 'E' <= nss[0] && nss[0] <= 'I':
		want = 44
	case len(nss) > 1 && nss[0] == '0' && 'D' <= nss[1] && nss[1] <= 'G':
		want = 88
	}
	if want > 0 && len(nss) != want {
		return broken(min(len(nss), want), len(nss), "said", "has "+strconv.Itoa(len(nss))+" characters, expected "+strconv.Itoa(want))
	}
	return nil
}

func partsSAID(nss string) []Part {
	code := 1
	if nss[0] == '0' && len(nss) > 1 {
		code = 2
	}
	return []Part{{"code", nss[:code]}, {"digest", nss[code:]}}
}

var service = Namespace{
	NID: "service", Name: "Emergency and other well-known services", Kind: urn.KindFormal,
	Reference: "RFC 5031", Example: "urn:service:sos.fire", Security: "as stated in RFC 5031",
	Note:        "the words themselves are in a registry of IANA",
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkService, Parts: partsService, Canonical: foldCase},
}

// checkService parses labels that are separated by periods. A label has 1 to 27 characters, which
// are letters, digits and inner hyphens.
func checkService(nss string) *Finding {
	for i := 0; ; {
		end := ascii.Run(nss, i, isLDH)
		switch {
		case end == i || nss[i] == '-':
			return wrongByte(nss, i, "let-dig", "a letter or digit")
		case nss[end-1] == '-':
			return broken(end-1, end, "let-dig", "ends with a hyphen")
		case end-i > 27:
			return broken(i+27, end, "top-level, sub-service", "more than 27 characters")
		case end == len(nss):
			return nil
		case nss[end] != '.':
			return wrongByte(nss, end, "service", "letters, digits, hyphens and periods")
		}
		i = end + 1
	}
}

func partsService(nss string) []Part {
	top, sub, ok := strings.Cut(foldCase(nss), ".")
	if !ok {
		return []Part{{"service", top}}
	}
	return []Part{{"service", top}, {"sub-service", sub}}
}

var swift = Namespace{
	NID: "swift", Name: "SWIFT", Kind: urn.KindFormal,
	Reference: "RFC 3615", Example: "urn:swift:xsd:fin.970.2011", Security: "as stated in RFC 3615",
	Note: "syntax only: the structure is not public",
}

var threegpp = Namespace{
	NID: "3gpp", Name: "Third Generation Partnership Project", Kind: urn.KindFormal,
	Reference: "RFC 5279", Example: "urn:3gpp:video-orientation", Security: "as stated in RFC 5279",
	Note: "syntax only: the structure depends on the resource",
}
