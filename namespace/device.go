package namespace

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// Mobile equipment (RFC 7254 and 3GPP TS 23.003).
var gsma = Namespace{
	NID: "gsma", Name: "GSM Association", Kind: urn.KindFormal,
	Reference:   "RFC 7254",
	Example:     "urn:gsma:imei:90420156-025763-0;svn=42",
	Note:        "a transmitted IMEI ends with the spare digit 0, a printed one with its check digit; other specifiers: syntax only",
	Security:    "identifies a device for its whole life, and so its owner: keep it confidential",
	Equivalence: "letters of the specifier and its parameters in either case; the parameter vers=0 may be missing",
	Rules:       Rules{Check: checkGSMA, Lint: lintGSMA, Parts: partsGSMA, Canonical: canonicalGSMA},
}

// imeiLength is the length of an IMEI, which has the form tac "-" snr "-" spare.
const imeiLength = 8 + 1 + 6 + 1 + 1

func isGSMA(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-._%:", c) >= 0 }

func checkGSMA(nss string) *Finding {
	end := ascii.Run(nss, 0, isGSMA)
	if end == 0 {
		return wrongByte(nss, 0, "gsma-NSS", "a specifier such as imei")
	}
	imei := len(nss) >= 5 && strings.EqualFold(nss[:5], "imei:")
	if imei {
		if f := checkIMEI(nss, end); f != nil {
			return f
		}
	}
	for end < len(nss) {
		if nss[end] != ';' {
			return wrongByte(nss, end, "gsma-NSS", "parameters after semicolons")
		}
		start := end + 1
		end = until(nss, start, ';')
		if f := checkParameter(nss, start, end, imei); f != nil {
			return f
		}
	}
	return nil
}

// checkIMEI parses "imei:" tac "-" snr "-" spare. Later documents may define other strings, so it
// accepts them unless they look like an invalid IMEI.
func checkIMEI(nss string, end int) *Finding {
	const start, form = len("imei:"), "00000000-000000-0"
	switch {
	case end == start:
		return broken(start, start, "imeival", "is missing")
	case !ascii.IsDigit(nss[start]):
		return nil // may be defined later (ext-imei)
	}
	for i := range form {
		at := start + i
		if at >= end {
			return wrongByte(nss[:end], at, "imeival", "8 digits, a hyphen, 6 digits, a hyphen and a digit")
		}
		if form[i] == '-' && nss[at] != '-' || form[i] == '0' && !ascii.IsDigit(nss[at]) {
			return wrongByte(nss, at, "imeival", "8 digits, a hyphen, 6 digits, a hyphen and a digit")
		}
	}
	if end > start+imeiLength {
		return broken(start+imeiLength, end, "imeival", "more than 15 digits")
	}
	return nil
}

func checkParameter(nss string, start, end int, imei bool) *Finding {
	name := ascii.Run(nss, start, isGSMA)
	value, size := "", 0
	switch text := nss[start:min(name, end)]; {
	case name == start:
		return wrongByte(nss, start, "par-name", "the name of a parameter")
	case name < end && (nss[name] != '=' || ascii.Run(nss, name+1, isGSMA) != end || name+1 == end):
		return wrongByte(nss, ascii.Run(nss, name+1, isGSMA), "future-param", "a name, or a name, an equals sign and a value")
	case !imei:
		return nil
	case strings.EqualFold(text, "svn"):
		value, size = "software-version", 2
	case strings.EqualFold(text, "vers"):
		value, size = "imei-version-val", 1
	default:
		return nil
	}
	if end-name-1 != size || digits(nss, name+1) < end {
		return broken(min(name+1, end), end, value, "expected "+strconv.Itoa(size)+" digits")
	}
	return nil
}

func lintGSMA(nss string) []Finding {
	const start = len("imei:")
	if len(nss) < start+imeiLength || !strings.EqualFold(nss[:start], "imei:") || !ascii.IsDigit(nss[start]) {
		return nil
	}
	spare := start + imeiLength - 1
	var d [14]byte
	squeeze(nss[start:spare-1], d[:])
	want := Luhn(d[:])
	if nss[spare] == '0' || nss[spare] == want {
		return nil
	}
	f := remark(CodeCheckDigit, spare, spare+1, "spare", "must be 0 or the check digit "+string(rune(want))+" (Luhn)")
	f.Right = string(rune(want))
	return []Finding{f}
}

// canonicalGSMA converts letters to lower case and removes the parameter vers=0.
func canonicalGSMA(nss string) string {
	s := foldCase(nss)
	if !strings.HasPrefix(s, "imei:") {
		return s
	}
	if !strings.Contains(s, ";vers=0") {
		return s
	}
	head, params, _ := strings.Cut(s, ";")
	b := append(make([]byte, 0, len(s)), head...)
	for p := range strings.SplitSeq(params, ";") {
		if p != "vers=0" {
			b = append(append(b, ';'), p...)
		}
	}
	return string(b)
}

func partsGSMA(nss string) []Part {
	head, params, _ := strings.Cut(canonicalGSMA(nss), ";")
	specifier, value, _ := strings.Cut(head, ":")
	parts := []Part{{"specifier", specifier}, {"value", value}}
	if specifier == "imei" && len(value) == imeiLength && ascii.IsDigit(value[0]) {
		parts = []Part{{"specifier", specifier}, {"tac", value[:8]}, {"snr", value[9:15]}, {"spare", value[16:]}}
	}
	for p := range strings.SplitSeq(params, ";") {
		if name, v, _ := strings.Cut(p, "="); name != "" {
			parts = append(parts, Part{name, v})
		}
	}
	return parts
}

// Mobile equipment of 3GPP2 (RFC 8464).
var pp2 = Namespace{
	NID: "3gpp2", Name: "Third Generation Partnership Project 2", Kind: urn.KindFormal,
	Reference:   "RFC 8464",
	Example:     "urn:3gpp2:meid:A04B0D56-02A7E3",
	Note:        "other specifiers than meid: syntax only",
	Security:    "identifies a device for its whole life, and so its owner: keep it confidential",
	Equivalence: "hex digits of a MEID in either case",
	Rules:       Rules{Check: checkPP2, Parts: partsColon("specifier", "value"), Canonical: canonicalPP2},
}

func isMEID(nss string) bool { return len(nss) >= 5 && strings.EqualFold(nss[:5], "meid:") }

func checkPP2(nss string) *Finding {
	if !isMEID(nss) {
		return nil
	}
	const form = "meid:00000000-000000"
	for i := len("meid:"); i < len(form); i++ {
		if i >= len(nss) || form[i] == '-' && nss[i] != '-' || form[i] == '0' && !ascii.IsHex(nss[i]) {
			return wrongByte(nss, i, "meidval", "8 hex digits, a hyphen and 6 hex digits")
		}
	}
	if len(nss) > len(form) {
		return broken(len(form), len(nss), "meidval", "more than 14 hex digits")
	}
	return nil
}

func canonicalPP2(nss string) string {
	if !isMEID(nss) {
		return nss
	}
	if s := "meid:" + strings.ToUpper(nss[5:]); s != nss {
		return s
	}
	return nss
}

// Devices (RFC 9039).
var dev = Namespace{
	NID: "dev", Name: "Device identifiers", Kind: urn.KindFormal,
	Reference: "RFC 9039",
	Example:   "urn:dev:mac:0024befffe804ff1",
	Note:      "case-sensitive; write hex digits in lower case",
	Security:  "identifies a device for its whole life, and so its owner: keep it confidential",
	Fragment:  UseNone,
	Rules:     Rules{Check: checkDev, Lint: lintDev, Parts: partsColon("subtype", "id")},
}

func isDev(c byte) bool { return ascii.IsAlnum(c) || c == '.' || c == '-' }

func checkDev(nss string) *Finding {
	end := ascii.Run(nss, 0, func(c byte) bool { return ascii.IsLower(c) || ascii.IsDigit(c) })
	switch {
	case end == 0 || !ascii.IsLower(nss[0]):
		return wrongByte(nss, 0, "subtype", "a lower-case letter")
	case end == len(nss) || nss[end] != ':':
		return wrongByte(nss, end, "subtype", "lower-case letters and digits, then a colon")
	}
	i := end + 1
	switch subtype := nss[:end]; subtype {
	case "mac", "ow":
		stop := ascii.Run(nss, i, ascii.IsHex)
		if stop == i || (stop-i)%2 == 1 {
			return wrongByte(nss, stop, "hexstring", "pairs of hex digits")
		}
		return checkComponents(nss, stop, false)
	case "org", "os", "ops":
		stop := digits(nss, i)
		if stop == i || nss[i] == '0' {
			return wrongByte(nss, i, "posnumber", "a positive number")
		}
		if stop == len(nss) || nss[stop] != '-' {
			return wrongByte(nss, stop, subtype+"body", "a hyphen after the number")
		}
		i = stop + 1
		if subtype == "ops" {
			if i = until(nss, i, '-') + 1; i > len(nss) {
				return broken(len(nss), len(nss), "opsbody", "expected product, hyphen, serial")
			}
			if i == stop+2 {
				return broken(i-1, i, "product", "is empty")
			}
			if bad := ascii.Run(nss, stop+1, isDev); bad < i-1 {
				return wrongByte(nss, bad, "product", "letters, digits and periods")
			}
		}
	}
	return checkIdentifiers(nss, i)
}

// checkIdentifiers parses identifier *( ":" identifier ) componentpart.
func checkIdentifiers(nss string, i int) *Finding {
	end := ascii.Run(nss, i, isDev)
	if end == i {
		return wrongByte(nss, end, "identifier", "letters, digits, periods and hyphens")
	}
	return checkComponents(nss, end, true)
}

// checkComponents parses the components from the offset end to the end of nss. Each component
// follows an underscore. If colons is true, components that follow a colon may come first.
func checkComponents(nss string, end int, colons bool) *Finding {
	for end < len(nss) {
		c := nss[end]
		if c != '_' && (c != ':' || !colons) {
			return wrongByte(nss, end, "componentpart", "the end, or an underscore and an identifier")
		}
		colons = colons && c == ':'
		start := end + 1
		if end = ascii.Run(nss, start, isDev); end == start {
			return wrongByte(nss, end, "identifier", "letters, digits, periods and hyphens")
		}
	}
	return nil
}

func lintDev(nss string) []Finding {
	subtype, body, _ := strings.Cut(nss, ":")
	if subtype != "mac" && subtype != "ow" {
		return nil
	}
	hex, _, _ := strings.Cut(body, "_")
	at := len(subtype) + 1
	var found []Finding
	if s := strings.ToLower(hex); s != hex {
		found = append(found, advice(at, at+len(hex), "hexstring", "write it in lower case", s))
	}
	if len(hex) != 16 {
		found = append(found, remark(CodeForm, at, at+len(hex), "hexstring", "identifiers of this kind have 64 bits, 16 hex digits"))
	}
	return found
}
