package pid

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

const (
	ruleSWHID     = "ISO/IEC 18670, 5: SWHID"
	ruleSWHIDCore = "ISO/IEC 18670, 5: core identifier"
	ruleSWHIDHash = "ISO/IEC 18670, 5: object id"
)

const swhidHash = 40 // hexadecimal digits

// LenSWHID returns the length of the core identifier after "swh:", or 0 if it is invalid. Its
// hexadecimal digits must be in lower case.
func LenSWHID(s string) int {
	const prefix = "1:cnt:"
	if len(s) < len(prefix)+swhidHash || s[:2] != "1:" || !isObjectType(s[2:5]) || s[5] != ':' {
		return 0
	}
	n := len(prefix)
	for ; n < len(prefix)+swhidHash; n++ {
		if !isLowerHex(s[n]) {
			return 0
		}
	}
	if n < len(s) && s[n] != ';' {
		return 0
	}
	return n
}

func isObjectType(s string) bool {
	return s == "cnt" || s == "dir" || s == "rel" || s == "rev" || s == "snp"
}

// checkSWHID checks a SWHID.
//
//	identifier  = "swh:1:" type ":" 40hexdigit *( ";" qualifier )
//	qualifier   = ("origin" / "visit" / "anchor" / "path" / "lines" / "bytes") "=" value
func (t *text) checkSWHID() *uri.Finding {
	s := t.s[t.rest:]
	at := func(n int) int { return t.rest + n }
	version := ascii.Until(s, 0, len(s), ':')
	switch {
	case s[:version] != "1":
		return flaw(t.rest, at(version), ruleSWHIDCore, "the version must be 1, followed by a colon")
	case version == len(s):
		return flaw(at(version), at(version), ruleSWHIDCore, "an object type must follow the version")
	}
	object := ascii.Until(s, version+1, len(s), ':')
	switch {
	case !isObjectType(s[version+1 : object]):
		return flaw(at(version+1), at(object), ruleSWHIDCore, "the object type must be cnt, dir, rel, rev or snp")
	case object == len(s):
		return flaw(at(object), at(object), ruleSWHIDCore, "a hash must follow the object type")
	}
	end := ascii.Until(s, object+1, len(s), ';')
	for i := object + 1; i < end; i++ {
		if !isLowerHex(s[i]) {
			return flaw(at(i), at(i+1), ruleSWHIDHash, "the hash must consist of hexadecimal digits in lower case")
		}
	}
	if end-object-1 != swhidHash {
		return flaw(at(object+1), at(end), ruleSWHIDHash, "the hash must have 40 hexadecimal digits")
	}
	return checkSWHIDQualifiers(t.s, at(end))
}

// checkSWHIDQualifiers checks the qualifiers after the core identifier.
func checkSWHIDQualifiers(s string, at int) *uri.Finding {
	seen := 0 // a bit for each name so far
	for at < len(s) {
		from := at + 1
		at = ascii.Until(s, from, len(s), ';')
		name, value, ok := strings.Cut(s[from:at], "=")
		k := slices.Index(swhidQualifiers[:], name)
		switch {
		case k < 0:
			return flaw(from, from+len(name), ruleSWHID, "a qualifier must be origin, visit, anchor, path, lines or bytes")
		case !ok || value == "":
			return flaw(at, at, ruleSWHID, "the qualifier has no value")
		case seen>>k&1 != 0:
			return flaw(from, from+len(name), ruleSWHID, "the qualifier is repeated")
		case (name == "visit" || name == "anchor") && (!strings.HasPrefix(value, "swh:") || LenSWHID(value[4:])+4 != len(value)):
			return flaw(from+len(name)+1, at, ruleSWHID, "the value must be a SWHID without qualifiers")
		case (name == "lines" || name == "bytes") && !isSWHIDRange(value):
			return flaw(from+len(name)+1, at, ruleSWHID, "the value must be a number, or two joined by a hyphen")
		}
		seen |= 1 << k
	}
	return nil
}

var swhidQualifiers = [...]string{"origin", "visit", "anchor", "path", "lines", "bytes"}

func isSWHIDRange(s string) bool {
	n := countDigits(s)
	return n > 0 && (n == len(s) || s[n] == '-' && n+1 < len(s) && countDigits(s[n+1:]) == len(s)-n-1)
}

func isLowerHex(c byte) bool { return ascii.IsDigit(c) || 'a' <= c && c <= 'f' }
