package namespace

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// Electronic Product Codes (RFC 5134, and the pure identities of the EPC Tag Data Standard).
var epc = Namespace{
	NID: "epc", Name: "Electronic Product Codes", Kind: urn.KindFormal,
	Reference: "RFC 5134, EPC Tag Data Standard 2.0, 6",
	Example:   "urn:epc:id:sgtin:0614141.107346.2018",
	Note:      "check digits are not part of the names; Parts gives the GS1 key with its check digit; tags, raw values and patterns of tags: fields only",
	Security:  "identifies single objects, so the names can be used to track them",
	Rules:     Rules{Check: checkEPC, Parts: partsEPC},
}

type epcScheme struct {
	name   string
	digits int        // digits of the company prefix and the reference together; 0 if the reference is text
	text   int        // maximum length of a reference that is text
	key    string     // the GS1 key that consists of these digits and a check digit, or ""
	rest   []epcField // the fields after the reference
}

type epcField struct {
	name     string
	min, max int
	numeric  bool
}

var epcSchemes = [...]epcScheme{
	{name: "cpi", text: 24, rest: []epcField{{"serial", 1, 12, true}}},
	{name: "gdti", digits: 12, key: "gdti", rest: []epcField{{"serial", 1, 20, false}}},
	{name: "giai", text: 24},
	{name: "ginc", text: 24},
	{name: "grai", digits: 12, key: "grai", rest: []epcField{{"serial", 1, 16, false}}},
	{name: "gsin", digits: 16, key: "gsin"},
	{name: "gsrn", digits: 17, key: "gsrn"},
	{name: "gsrnp", digits: 17, key: "gsrn"},
	{name: "itip", digits: 13, key: "gtin", rest: []epcField{{"piece", 2, 2, true}, {"total", 2, 2, true}, {"serial", 1, 20, false}}},
	{name: "lgtin", digits: 13, key: "gtin", rest: []epcField{{"lot", 1, 20, false}}},
	{name: "pgln", digits: 12, key: "gln"},
	{name: "sgcn", digits: 12, key: "gcn", rest: []epcField{{"serial", 1, 12, true}}},
	{name: "sgln", digits: 12, key: "gln", rest: []epcField{{"extension", 1, 20, false}}},
	{name: "sgtin", digits: 13, key: "gtin", rest: []epcField{{"serial", 1, 20, false}}},
	{name: "sscc", digits: 17, key: "sscc"},
	{name: "upui", digits: 13, key: "gtin", rest: []epcField{{"tpx", 1, 28, false}}},
}

func findEPC(scheme string) *epcScheme {
	for i := range epcSchemes {
		if epcSchemes[i].name == scheme {
			return &epcSchemes[i]
		}
	}
	return nil
}

func checkEPC(nss string) *Finding {
	kind := until(nss, 0, ':')
	switch {
	case kind == 0:
		return broken(0, 0, "epc", "is empty")
	case kind == len(nss):
		return broken(kind, kind, "epc", "nothing follows "+nss)
	}
	start := until(nss, kind+1, ':')
	switch scheme := nss[kind+1 : start]; {
	case scheme == "":
		return broken(kind+1, kind+1, "scheme", "is empty")
	case start+1 >= len(nss):
		return broken(len(nss), len(nss), "EPC", "nothing follows "+scheme)
	case nss[:kind] == "id" || nss[:kind] == "class" || nss[:kind] == "idpat":
		if layout := findEPC(scheme); layout != nil {
			return layout.check(nss, start+1, nss[:kind] == "idpat")
		}
	}
	return nil
}

// check parses the fields from offset i. In a pattern a field may be "*".
func (l *epcScheme) check(nss string, i int, pattern bool) *Finding {
	dot := until(nss, i, '.')
	star := pattern && nss[i:dot] == "*"
	switch n := dot - i; {
	case star:
	case digits(nss, i) < dot:
		return wrongByte(nss, digits(nss, i), "CompanyPrefix", "digits")
	case n < 6 || n > 12:
		return broken(i, dot, "CompanyPrefix", "has "+strconv.Itoa(n)+" digits, expected 6 to 12")
	case dot == len(nss):
		return broken(dot, dot, "EPC", "expected a period and a reference after the company prefix")
	}
	end, f := l.checkReference(nss, i, dot, pattern)
	for n, field := range l.rest {
		if f != nil {
			return f
		}
		last := n == len(l.rest)-1
		end, f = field.check(nss, end, last, pattern)
	}
	if f == nil && end < len(nss) {
		return broken(end, len(nss), "EPC", "too many fields for a "+l.name+"")
	}
	return f
}

// checkReference parses the reference after the company prefix. In most schemes, the company prefix
// and the reference together have a fixed number of digits.
func (l *epcScheme) checkReference(nss string, i, dot int, pattern bool) (int, *Finding) {
	if dot == len(nss) {
		return dot, nil // a single asterisk stands for the company prefix and the reference
	}
	start := dot + 1
	end := len(nss)
	if len(l.rest) > 0 || l.digits > 0 {
		end = until(nss, start, '.')
	}
	switch size := end - start; {
	case pattern && nss[start:end] == "*":
	case l.digits == 0 && (size == 0 || size > l.text):
		return end, broken(start, end, "reference", "expected 1 to "+strconv.Itoa(l.text)+" characters")
	case l.digits == 0:
	case digits(nss, start) < end:
		return end, wrongByte(nss, digits(nss, start), "reference", "digits")
	case dot-i+size != l.digits:
		return end, broken(i, end, l.name, "company prefix and reference have "+strconv.Itoa(dot-i+size)+" digits: want "+strconv.Itoa(l.digits))
	}
	return end, nil
}

// check parses the period at offset and the field that follows, and returns the end of the field.
// The last field extends to the end of nss.
func (e epcField) check(nss string, offset int, last, pattern bool) (int, *Finding) {
	if offset == len(nss) {
		if pattern {
			return offset, nil
		}
		return offset, broken(offset, offset, e.name, "is missing")
	}
	start, end := offset+1, len(nss)
	if !last {
		end = until(nss, start, '.')
	}
	text := nss[start:end]
	n := len(text) - 2*strings.Count(text, "%")
	switch {
	case pattern && text == "*":
	case n < e.min || n > e.max:
		return end, broken(start, end, e.name, "has "+strconv.Itoa(n)+" characters, expected "+strconv.Itoa(e.min)+" to "+strconv.Itoa(e.max))
	case e.numeric && digits(nss, start) < end:
		return end, wrongByte(nss, digits(nss, start), e.name, "digits")
	}
	return end, nil
}

func partsEPC(nss string) []Part {
	kind, rest, _ := strings.Cut(nss, ":")
	scheme, value, _ := strings.Cut(rest, ":")
	parts := []Part{{"kind", kind}, {"scheme", scheme}}
	layout := findEPC(scheme)
	if layout == nil || kind != "id" && kind != "class" {
		return append(parts, Part{"value", value})
	}
	prefix, rest, _ := strings.Cut(value, ".")
	reference := rest
	if len(layout.rest) > 0 {
		reference, rest, _ = strings.Cut(rest, ".")
	}
	parts = append(parts, Part{"company", prefix}, Part{"reference", reference})
	if layout.key != "" {
		parts = append(parts, Part{layout.key, layout.keyOf(prefix, reference)})
	}
	for i, f := range layout.rest {
		field := rest
		if i < len(layout.rest)-1 {
			field, rest, _ = strings.Cut(rest, ".")
		}
		parts = append(parts, Part{f.name, field})
	}
	return parts
}

// keyOf returns the GS1 key for a company prefix and a reference. A GTIN or an SSCC begins with the
// first digit of the reference, which the company prefix follows.
func (l *epcScheme) keyOf(prefix, reference string) string {
	key := prefix + reference
	if l.key == "gtin" || l.key == "sscc" {
		key = reference[:1] + prefix + reference[1:]
	}
	return key + string(rune(weighed13(key)))
}
