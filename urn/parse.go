package urn

import "github.com/nomen-project/nomen/internal/ascii"

const maxNID = 32

// readName parses a URN as the documents since RFC 2141 define it,
//
//	"urn" ":" NID ":" NSS
//
// and the components that the dialect allows after that.
func (u *URN) readName(d Dialect, s string) *Error {
	g := &grammars[d]
	if !hasURN(s) {
		return d.fail(s, urnOffset(s), g.inner, `must begin with "urn:"`)
	}
	nid := scanLDH(s, prefixLen)
	if nid >= len(s) || s[nid] != ':' || !d.goodNID(s[prefixLen:nid]) {
		return d.failNID(s, nid)
	}
	start := nid + 1
	end := scan(s, start, g.nssSet)
	if end == start || s[start] == '/' && !g.leadingSlash {
		return d.failNSS(s, start)
	}
	at := uint32(end)
	*u = URN{s: s, nid: uint32(nid), nss: at, r: at, q: at, dialect: d}
	if end == len(s) {
		return nil
	}
	return u.readRest()
}

// readRest parses the components. On error it truncates u before the invalid part.
func (u *URN) readRest() *Error {
	var err *Error
	end := int(u.nss)
	switch u.dialect {
	case RFC8141:
		end, err = u.scanRQ()
	case Draft2012:
		end, err = u.scanQuery()
	}
	if err == nil && end < len(u.s) {
		end, err = u.scanFragment(end)
	}
	if err != nil {
		u.s = u.s[:end]
	}
	return err
}

func scanLDH(s string, i int) int {
	for i < len(s) && is(s[i], classLDH) {
		i++
	}
	return i
}

// goodNID reports whether s, which consists of letters, digits and hyphens, is an NID.
//
//	NID = let-num [ 1,31 let-num-hyp ]                                  ; RFC 2141
//	NID = (ALPHA / DIGIT) 0*30(ALPHA / DIGIT / "-") (ALPHA / DIGIT)    ; 2012
//	NID = (alphanum) 0*30(ldh) (alphanum)                              ; RFC 8141
func (d Dialect) goodNID(s string) bool {
	g := &grammars[d]
	n := len(s)
	return n >= g.minNID && n <= maxNID && s[0] != '-' &&
		(s[n-1] != '-' || g.finalHyphen) && !(g.reservesURN && isURN(s))
}

func isURN(s string) bool {
	return len(s) == 3 && s[0]|0x20 == 'u' && s[1]|0x20 == 'r' && s[2]|0x20 == 'n'
}

// failNID returns the reason why "urn:" is not followed by a valid NID and a colon. The byte at
// offset i is the first that an NID cannot contain.
func (d Dialect) failNID(s string, i int) *Error {
	g := &grammars[d]
	n := i - prefixLen
	switch {
	case n == 0 && (i == len(s) || s[i] == ':'):
		return d.fail(s, i, g.nid, "is empty")
	case n == 0:
		return d.fail(s, i, g.nid, "begins with %s", found(s, i))
	case s[prefixLen] == '-':
		return d.fail(s, prefixLen, g.nid, "begins with a hyphen")
	case i == len(s):
		return d.fail(s, i, g.inner, `has no ":" after the NID`)
	case s[i] != ':':
		return d.fail(s, i, g.nid, "contains %s", found(s, i))
	case n < g.minNID:
		return d.fail(s, prefixLen, g.nid, "shorter than %d characters", g.minNID)
	case n > maxNID:
		return d.fail(s, prefixLen+maxNID, g.nid, "longer than %d characters", maxNID)
	case s[i-1] == '-' && !g.finalHyphen:
		return d.fail(s, i-1, g.nid, "ends with a hyphen")
	}
	return d.fail(s, prefixLen, g.nid, "%q is reserved permanently", s[prefixLen:i])
}

func (d Dialect) failNSS(s string, start int) *Error {
	g := &grammars[d]
	switch {
	case start < len(s) && s[start] == '%':
		return d.failAt(s, start, g.nss)
	case start < len(s):
		return d.fail(s, start, g.nss, "begins with %s", found(s, start))
	}
	return d.fail(s, start, g.nss, "is empty")
}

// scanRQ reads the optional r- and q-components, and returns the end of their valid part.
//
//	rq-components = [ "?+" r-component ] [ "?=" q-component ]
func (u *URN) scanRQ() (int, *Error) {
	s, i := u.s, int(u.nss)
	if s[i] != '?' {
		return i, nil
	}
	if i+1 >= len(s) || s[i+1] != '+' && s[i+1] != '=' {
		return i, RFC8141.fail(s, i, "rq-components", `"?" is followed by %s, not by "+" or "="`, found(s, i+1))
	}
	if s[i+1] == '+' {
		end, err := scanComponent(s, i, "r-component")
		if err != nil {
			return i, err
		}
		i = end
		u.r, u.q = uint32(i), uint32(i)
	}
	if i < len(s) && s[i] == '?' {
		end, err := scanComponent(s, i, "q-component")
		if err != nil {
			return i, err
		}
		i = end
		u.q = uint32(i)
	}
	return i, nil
}

// scanComponent reads pchar *( pchar / "/" / "?" ) after "?+" or "?=". An r-component ends at the
// first "?=" (RFC 8141, section 2.3.1). Other occurrences of "?+" and "?=" are data.
func scanComponent(s string, i int, rule string) (int, *Error) {
	start := i + 2
	end := start
	if rule == "r-component" {
		end = scanR(s, start)
	} else {
		end = scan(s, start, classQuery)
	}
	switch {
	case end == start && start < len(s) && s[start] == '%':
		return i, RFC8141.failAt(s, start, rule)
	case end == start:
		return i, RFC8141.fail(s, start, rule, "empty")
	case s[start] == '/' || s[start] == '?':
		return i, RFC8141.fail(s, start, rule, "begins with %s", found(s, start))
	}
	return end, nil
}

func scanR(s string, i int) int {
	for {
		i = scan(s, i, classPath)
		if i >= len(s) || s[i] != '?' || i+1 < len(s) && s[i+1] == '=' {
			return i
		}
		i++
	}
}

// scanQuery reads an optional query (draft of 2012, section 2.3), and returns the end of its valid
// part.
//
//	[ "?" urn-query ]    urn-query = directive *( "&" directive )
func (u *URN) scanQuery() (int, *Error) {
	s, i := u.s, int(u.nss)
	for first := byte('?'); i < len(s) && s[i] == first; first = '&' {
		end, err := scanDirective(s, i+1)
		if err != nil {
			return i, err
		}
		i = end
		u.r, u.q = u.nss, uint32(i)
	}
	return i, nil
}

// scanDirective reads the directive at offset i, and returns the end of its valid part.
//
//	directive = keywd "=" value
//	keywd     = ALPHA *( ["-"] (ALPHA / DIGIT) )
//	value     = *v-pchar
func scanDirective(s string, i int) (int, *Error) {
	end := scanKeyword(s, i)
	switch {
	case end == i:
		return i, Draft2012.fail(s, i, "keywd", "begins with %s", found(s, i))
	case end < len(s) && s[end] == '-':
		return i, Draft2012.fail(s, end, "keywd", "a hyphen is followed by %s", found(s, end+1))
	case end == len(s) || s[end] != '=':
		return i, Draft2012.fail(s, end, "directive", `expected "=" after the keyword, found %s`, found(s, end))
	}
	return scan(s, end+1, classValue|noNUL), nil
}

func scanKeyword(s string, i int) int {
	if i >= len(s) || !ascii.IsLetter(s[i]) {
		return i
	}
	for i++; i < len(s); i++ {
		if s[i] == '-' && i+1 < len(s) && is(s[i+1], classAlnum) {
			i++
		} else if !is(s[i], classAlnum) {
			break
		}
	}
	return i
}

func (u *URN) scanFragment(i int) (int, *Error) {
	s, d := u.s, u.dialect
	if s[i] != '#' || d == RFC2141 {
		return i, d.failAt(s, i, u.lastRule())
	}
	set, rule := classQuery, "f-component"
	if d == Draft2012 {
		set, rule = classQuery|noNUL, "fragment"
	}
	end := scan(s, i+1, set)
	if end < len(s) {
		return end, d.failAt(s, end, rule)
	}
	return end, nil
}

func (u *URN) lastRule() string {
	switch {
	case u.q == u.nss:
		return grammars[u.dialect].nss
	case u.dialect == Draft2012:
		return "value"
	case u.q > u.r:
		return "q-component"
	}
	return "r-component"
}

func hasURN(s string) bool {
	return len(s) >= prefixLen && s[3] == ':' && isURN(s[:3])
}

// urnOffset returns how many bytes at the start of s match "urn:", ignoring case.
func urnOffset(s string) int {
	const urn = "urn:"
	for i := range prefixLen {
		if i >= len(s) || ascii.Lower(s[i]) != urn[i] {
			return i
		}
	}
	return prefixLen
}
