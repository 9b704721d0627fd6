package extract

import (
	"bytes"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
)

// A rule reports whether the text after the colon of a scheme looks like that of an identifier. It
// checks only enough to exclude words, code and data with a colon.
type rule func(rest []byte) bool

const maxRule = len("opaquelocktoken")

// ruleOf returns the rule of a scheme, ignoring case. It returns nil if identifiers of the scheme
// are found only with "//".
func ruleOf(name []byte) rule {
	if len(name) > maxRule {
		return nil
	}
	var b [maxRule]byte
	for i, c := range name {
		b[i] = ascii.Lower(c)
	}
	switch string(b[:len(name)]) {
	case "urn":
		return isURNRest
	case "mailto":
		return isMailto
	case "sip", "sips", "stun", "stuns", "turn", "turns":
		return isUserOrHost
	case "xmpp", "acct", "im", "pres", "mid", "cid", "h323", "msnim", "gtalk", "ymsgr":
		return isAddress
	case "tel", "sms", "fax", "modem", "callto", "facetime":
		return isNumber
	case "news", "snews":
		return isGroup
	case "doi":
		return isDOI
	case "hdl":
		return isHandle
	case "swh":
		return isSWHID
	case "pkg":
		return isPURL
	case "ark":
		return isARK
	case "info":
		return isInfo
	case "tag":
		return isTag
	case "did":
		return isDID
	case "nih":
		return isNIH
	case "data":
		return isData
	case "geo":
		return isGeo
	case "magnet":
		return isMagnet
	case "about":
		return isAbout
	case "file":
		return isFile
	case "opaquelocktoken", "uuid":
		return isUUID
	case "pkcs11":
		return isPKCS11
	case "bitcoin":
		return isBitcoin
	case "spotify":
		return isSpotify
	case "view-source", "blob", "feed", "jdbc", "jar", "filesystem":
		return isWrapper
	}
	return nil
}

// span returns the number of octets at the start of b that belong to a class.
func span(b []byte, k class) int {
	i := 0
	for i < len(b) && is(b[i], k) {
		i++
	}
	return i
}

func digits(b []byte) int { return ascii.Run(b, 0, ascii.IsDigit) }

// isURNRest accepts NID ":" NSS, with an NID of 2 to 32 characters (RFC 8141, section 2). URNs of
// the draft of 1995 begin in the same way.
func isURNRest(b []byte) bool {
	n := bytes.IndexByte(b, ':')
	if n < 2 || n > 32 || n+1 == len(b) {
		return false
	}
	for i, c := range b[:n] {
		if !isAlnum(c) && (c != '-' || i == 0 || i == n-1) {
			return false
		}
	}
	c := b[n+1]
	return isAlnum(c) || c == '%' || bytes.IndexByte([]byte("-_~@$+*!("), c) >= 0 && len(b) > n+2
}

// isMailto accepts addresses, or header fields without addresses (RFC 6068, section 2).
func isMailto(b []byte) bool {
	if b[0] == '?' {
		return bytes.IndexByte(b, '=') > 1
	}
	return isAddress(b)
}

// isAddress accepts a local part, "@" and a host name.
func isAddress(b []byte) bool {
	n := bytes.IndexByte(b, '@')
	return n > 0 && n+1 < len(b) && (isAlnum(b[n+1]) || b[n+1] == '[' || b[n+1] == '%' || b[n+1] >= 0x80)
}

// isUserOrHost accepts an address, or a host name with a dot in it (RFC 3261, section 19.1.1; RFC
// 7064; RFC 7065).
func isUserOrHost(b []byte) bool {
	if isAddress(b) {
		return true
	}
	n := span(b, classHost)
	dot := bytes.IndexByte(b[:n], '.')
	return isAlnum(b[0]) && dot > 0 && dot+1 < n && (n == len(b) || bytes.IndexByte([]byte(":;?/"), b[n]) >= 0)
}

// isNumber accepts at least three digits, with the usual visual separators (RFC 3966, section 3).
func isNumber(b []byte) bool {
	i, n := 0, 0
	if b[0] == '+' {
		i++
	}
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case ascii.IsDigit(c):
			n++
		case c == '-' || c == '.' || c == '(' || c == ')':
		default:
			return n >= 3 && (c == ';' || c == '?' || c == ',')
		}
	}
	return n >= 3
}

// isGroup accepts the name of a newsgroup, which contains a dot, or an article (RFC 5538, section
// 2).
func isGroup(b []byte) bool {
	if isAddress(b) {
		return true
	}
	dot := false
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z' || ascii.IsDigit(c) || i > 0 && (c == '-' || c == '+' || c == '_'):
		case c == '.' && i > 0 && b[i-1] != '.':
			dot = true
		case c == '*' && dot && i == len(b)-1:
		default:
			return false
		}
	}
	return dot
}

// isDOI accepts "10." digits "/" and further text.
func isDOI(b []byte) bool {
	if !bytes.HasPrefix(b, []byte("10.")) {
		return false
	}
	n := 3 + digits(b[3:])
	for n < len(b) && b[n] == '.' {
		n += 1 + digits(b[n+1:])
	}
	return n >= 7 && n+1 < len(b) && b[n] == '/'
}

// isSWHID accepts version 1 and a type and hash (ISO/IEC 18670, 5).
func isSWHID(b []byte) bool { return pid.LenSWHID(string(b)) > 0 }

// isPURL accepts a type that is registered, "/" and further text (ECMA-427).
func isPURL(b []byte) bool {
	n := bytes.IndexByte(b, '/')
	if n <= 0 || n+1 == len(b) {
		return false
	}
	_, ok := pid.LookupPURLType(string(b[:n]))
	return ok
}

// isHandle accepts digits separated by dots, "/" and further text.
func isHandle(b []byte) bool {
	n := digits(b)
	for n > 0 && n < len(b) && b[n] == '.' {
		n += 1 + span(b[n+1:], classAlnum)
	}
	return n > 0 && n+1 < len(b) && b[n] == '/'
}

// isARK accepts a NAAN of five characters or more, "/" and further text.
func isARK(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("/"))
	n := span(b, classAlnum)
	return n >= 5 && digits(b) >= 2 && n+1 < len(b) && b[n] == '/'
}

// isInfo accepts a namespace, "/" and further text (RFC 4452, section 3).
func isInfo(b []byte) bool {
	n := bytes.IndexByte(b, '/')
	if n < 2 || n+1 == len(b) || !ascii.IsLetter(b[0]) {
		return false
	}
	for _, c := range b[:n] {
		if !isAlnum(c) && c != '-' && c != '+' && c != '.' {
			return false
		}
	}
	return true
}

// isTag accepts an authority, "," a date and ":" (RFC 4151, section 2.1).
func isTag(b []byte) bool {
	n := bytes.IndexByte(b, ',')
	if n < 1 || !isAlnum(b[0]) {
		return false
	}
	year := digits(b[n+1:])
	return year == 4 && bytes.IndexByte(b[n+5:], ':') >= 0
}

// isDID accepts a method, ":" and further text (DID Core, 3.1).
func isDID(b []byte) bool {
	n := 0
	for n < len(b) && ('a' <= b[n] && b[n] <= 'z' || ascii.IsDigit(b[n])) {
		n++
	}
	return n >= 2 && n+1 < len(b) && b[n] == ':' && (isAlnum(b[n+1]) || b[n+1] == '%')
}

// isNIH accepts the name of a hash, ";" and hexadecimal digits (RFC 6920, section 7).
func isNIH(b []byte) bool {
	n := bytes.IndexByte(b, ';')
	return n > 1 && n+2 < len(b) && span(b, classScheme) == n && ascii.IsHex(b[n+1])
}

// isData accepts a media type, parameters, "," and the data (RFC 2397, section 3).
func isData(b []byte) bool {
	comma := bytes.IndexByte(b, ',')
	if comma < 0 {
		return false
	}
	t, _, _ := bytes.Cut(b[:comma], []byte(";"))
	if len(t) == 0 {
		return comma > 0 || len(b) > 1
	}
	n := span(t, classScheme)
	return n > 2 && n+1 < len(t) && t[n] == '/' && isAlnum(t[n+1])
}

// isGeo accepts two or three numbers separated by "," (RFC 5870, section 3.3).
func isGeo(b []byte) bool {
	number := func() bool {
		b = bytes.TrimPrefix(b, []byte("-"))
		n := digits(b)
		b = b[n:]
		if n > 0 && len(b) > 1 && b[0] == '.' {
			b = b[1+digits(b[1:]):]
		}
		return n > 0
	}
	if !number() || len(b) == 0 || b[0] != ',' {
		return false
	}
	b = b[1:]
	return number()
}

// isMagnet accepts a query without a path.
func isMagnet(b []byte) bool { return b[0] == '?' && bytes.IndexByte(b, '=') > 1 }

// isAbout accepts a few common about: URIs (RFC 6694).
func isAbout(b []byte) bool {
	switch string(b) {
	case "blank", "srcdoc", "legacy-compat", "config", "newtab":
		return true
	}
	return false
}

// isFile accepts an absolute path (RFC 8089, section 2).
func isFile(b []byte) bool { return len(b) > 1 && b[0] == '/' && isAlnum(b[1]) }

// isUUID accepts 8-4-4-4-12 hexadecimal digits.
func isUUID(b []byte) bool { return len(b) >= 36 && ascii.IsUUID(b[:36]) }

// isPKCS11 accepts attributes with values (RFC 7512, section 2.3).
func isPKCS11(b []byte) bool {
	n := bytes.IndexByte(b, '=')
	return n > 1 && n+1 < len(b) && ascii.IsLetter(b[0])
}

// isBitcoin accepts an address of 26 letters and digits or more.
func isBitcoin(b []byte) bool {
	n := span(b, classAlnum)
	return n >= 26 && n <= 90 && digits(b) < n && (n == len(b) || b[n] == '?')
}

// isSpotify accepts a type, ":" and 22 letters and digits.
func isSpotify(b []byte) bool {
	n := bytes.LastIndexByte(b, ':')
	return n > 1 && len(b)-n-1 == 22 && span(b[n+1:], classAlnum) == 22
}

// isWrapper accepts a complete identifier with "//".
func isWrapper(b []byte) bool {
	n := bytes.Index(b, []byte("://"))
	return n > 1 && n+3 < len(b) && span(b[:n], classScheme|classURI) == n && ascii.IsLetter(b[0]) &&
		(isAlnum(b[n+3]) || b[n+3] == '/' || b[n+3] == '[')
}
