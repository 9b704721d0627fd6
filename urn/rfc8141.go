package urn

const (
	minNID = 2
	maxNID = 32
)

// parse8141 reads
//
//	namestring    = assigned-name [ rq-components ] [ "#" f-component ]
//	assigned-name = "urn" ":" NID ":" NSS
//	rq-components = [ "?+" r-component ] [ "?=" q-component ]
func parse8141(s string) (URN, error) {
	if !hasURN(s) {
		return URN{}, RFC8141.fail(s, urnOffset(s), "assigned-name", `does not begin with "urn:"`)
	}
	u := URN{s: s, dialect: RFC8141}
	i, err := scanNID(s)
	if err != nil {
		return URN{}, err
	}
	u.nid = uint32(i)
	i, bad := scanChars(s, i+1, "/", nil)
	switch {
	case bad != "":
		return URN{}, RFC8141.fail(s, i, "pct-encoded", "%s", bad)
	case i == int(u.nid)+1:
		return URN{}, RFC8141.fail(s, i, "NSS", "empty or begins with %s", found(s, i))
	case s[u.nid+1] == '/':
		return URN{}, RFC8141.fail(s, int(u.nid)+1, "NSS", "begins with a slash")
	}
	u.nss, u.r, u.q = uint32(i), uint32(i), uint32(i)
	if i, err = u.scanRQ(s, i); err != nil {
		return URN{}, err
	}
	return u, scanFragment(s, i)
}

// scanNID returns the end of
//
//	NID = (alphanum) 0*30(ldh) (alphanum)
//
// and checks the colon behind it.
func scanNID(s string) (int, error) {
	i := prefixLen
	for i < len(s) && is(s[i], classLDH) {
		i++
	}
	n := i - prefixLen
	switch {
	case n == 0:
		return 0, RFC8141.fail(s, i, "NID", "begins with %s", found(s, i))
	case s[prefixLen] == '-':
		return 0, RFC8141.fail(s, prefixLen, "NID", "begins with a hyphen")
	case i == len(s):
		return 0, RFC8141.fail(s, i, "assigned-name", `has no ":" after the NID`)
	case s[i] != ':':
		return 0, RFC8141.fail(s, i, "NID", "contains %s", found(s, i))
	case n < minNID:
		return 0, RFC8141.fail(s, prefixLen, "NID", "shorter than %d characters", minNID)
	case n > maxNID:
		return 0, RFC8141.fail(s, prefixLen+maxNID, "NID", "longer than %d characters", maxNID)
	case s[i-1] == '-':
		return 0, RFC8141.fail(s, i-1, "NID", "ends with a hyphen")
	}
	return i, nil
}

// scanRQ reads the components that begin at i, if any. An r-component ends at
// the first "?=" (RFC 8141, 2.3.1 and 2.3.2); "?+" inside either is data.
func (u *URN) scanRQ(s string, i int) (int, error) {
	if i >= len(s) || s[i] != '?' {
		return i, nil
	}
	if i+1 >= len(s) || s[i+1] != '+' && s[i+1] != '=' {
		return i, RFC8141.fail(s, i, "rq-components", `"?" is followed by %s, not by "+" or "="`, found(s, i+1))
	}
	if s[i+1] == '+' {
		end, err := scanComponent(s, i, "r-component", atQ)
		if err != nil {
			return i, err
		}
		i = end
		u.r, u.q = uint32(i), uint32(i)
	}
	if i < len(s) && s[i] == '?' {
		end, err := scanComponent(s, i, "q-component", nil)
		if err != nil {
			return i, err
		}
		i = end
		u.q = uint32(i)
	}
	return i, nil
}

func atQ(s string, i int) bool { return s[i] == '?' && i+1 < len(s) && s[i+1] == '=' }

// scanComponent reads pchar *( pchar / "/" / "?" ) behind the two characters at
// i that announce it.
func scanComponent(s string, i int, rule string, stop func(string, int) bool) (int, error) {
	start := i + 2
	end, bad := scanChars(s, start, "/?", stop)
	switch {
	case bad != "":
		return i, RFC8141.fail(s, end, "pct-encoded", "%s", bad)
	case end == start:
		return i, RFC8141.fail(s, start, rule, "empty")
	case s[start] == '/' || s[start] == '?':
		return i, RFC8141.fail(s, start, rule, "begins with %s", found(s, start))
	}
	return end, nil
}

// scanFragment checks that what stands at i is the end or an f-component.
func scanFragment(s string, i int) error {
	if i == len(s) {
		return nil
	}
	if s[i] != '#' {
		return RFC8141.fail(s, i, "NSS", "contains %s", found(s, i))
	}
	end, bad := scanChars(s, i+1, "/?", nil)
	if bad != "" {
		return RFC8141.fail(s, end, "pct-encoded", "%s", bad)
	}
	if end < len(s) {
		return RFC8141.fail(s, end, "f-component", "contains %s", found(s, end))
	}
	return nil
}

// scanChars advances over pchar, the further characters in extra and complete
// escapes. It stops early where stop says so. A percent sign that begins no
// escape is reported in words, with its offset.
func scanChars(s string, i int, extra string, stop func(string, int) bool) (int, string) {
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case is(c, classPchar):
		case c == '%':
			if !isEscape(s, i) {
				return i, `"%" is not followed by two hex digits`
			}
			i += 2
		case stop != nil && stop(s, i):
			return i, ""
		case c == extra[0] || len(extra) > 1 && c == extra[1]:
		default:
			return i, ""
		}
	}
	return i, ""
}

func hasURN(s string) bool { return urnOffset(s) == prefixLen }

// urnOffset returns how many bytes of "urn:" s begins with, ignoring case.
func urnOffset(s string) int {
	const urn = "urn:"
	for i := range prefixLen {
		if i >= len(s) || lower(s[i]) != urn[i] {
			return i
		}
	}
	return prefixLen
}
