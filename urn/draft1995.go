package urn

import "strings"

// Limits on host names (RFC 1123, section 2.1; RFC 1035, section 2.3.4).
const (
	maxLabel = 63
	maxFQDN  = 253
)

// read1995 removes white space, and angle brackets around the name, and then parses the four
// fields, which colons separate (draft of 1995, section 2).
func (u *URN) read1995(s string) *Error {
	clean, err := clean1995(s)
	if err != nil {
		return err
	}
	*u = URN{s: clean, dialect: Draft1995}
	if at, rule, message := u.split1995(); message != "" {
		u.cut1995(at)
		return Draft1995.fail(s, offset1995(s, at), rule, "%s", message)
	}
	return nil
}

// cut1995 truncates an invalid name at offset. If nothing of the ElementID is left, u becomes the
// zero URN.
func (u *URN) cut1995(offset int) {
	if u.auth == 0 || offset <= int(u.auth)+1 {
		*u = URN{}
		return
	}
	u.s = u.s[:offset]
	u.nss = uint32(offset)
	u.r, u.q = u.nss, u.nss
}

// split1995 finds and checks the four fields of u.s. If a field is invalid, split1995 returns the
// offset in u.s, the production and the reason.
func (u *URN) split1995() (int, string, string) {
	s := u.s
	if !hasURN(s) {
		return urnOffset(s), "urn95", `must begin with "urn:"`
	}
	fields := [2]int{} // ends of SchemeID and AuthorityID
	n := 0
	for i := prefixLen; i < len(s) && n < len(fields); i++ {
		if s[i] == ':' {
			fields[n] = i
			n++
		}
	}
	if n < len(fields) {
		return len(s), "urn95", "fields missing: a name must have the four fields urn:SchemeID:AuthorityID:ElementID"
	}
	u.nid, u.auth = uint32(fields[0]), uint32(fields[1])
	u.nss = uint32(len(s))
	u.r, u.q = u.nss, u.nss
	if at, message := checkSchemeID(s[prefixLen:u.nid]); message != "" {
		return prefixLen + at, "SchemeID", message
	}
	if at, message := checkAuthorityID(u.SchemeID(), u.AuthorityID()); message != "" {
		return int(u.nid) + 1 + at, "AuthorityID", message
	}
	if at, message := checkElementID(u.ElementID()); message != "" {
		at += int(u.auth) + 1
		if at < len(s) && s[at] == '%' {
			return at, "escape", message
		}
		return at, "ElementID", message
	}
	return 0, "", ""
}

func checkSchemeID(s string) (int, string) {
	for i := range len(s) {
		if !is(s[i], classSchemeID) {
			return i, "contains " + found(s, i)
		}
	}
	if s == "" {
		return 0, "empty"
	}
	return 0, ""
}

// checkAuthorityID checks an AuthorityID by the rules of its SchemeID. If the SchemeID is unknown,
// checkAuthorityID only rejects characters that RFC 1738 does not allow.
func checkAuthorityID(schemeID, s string) (int, string) {
	if strings.EqualFold(schemeID, "dns") {
		return checkFQDN(s)
	}
	return checkElementID(s)
}

// checkFQDN checks a fully qualified domain name (RFC 952; RFC 1123, section 2.1). A name has at
// most 253 bytes. Its labels consist of 1 to 63 letters, digits and inner hyphens, and the last
// label is not a number, which excludes IP addresses.
func checkFQDN(s string) (int, string) {
	if len(s) > maxFQDN {
		return maxFQDN, "domain name longer than 253 bytes"
	}
	start, numeric := 0, true
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			if !is(s[i], classLDH) {
				return i, "domain name contains " + found(s, i)
			}
			continue
		}
		label := s[start:i]
		switch {
		case label == "":
			return i, "domain name has an empty label"
		case len(label) > maxLabel:
			return start + maxLabel, "label longer than 63 bytes"
		case label[0] == '-':
			return start, "label begins with a hyphen"
		case label[len(label)-1] == '-':
			return i - 1, "label ends with a hyphen"
		}
		numeric = strings.Trim(label, "0123456789") == ""
		if i < len(s) {
			start = i + 1
		}
	}
	if numeric {
		return start, "domain name ends with a number, like an IP address"
	}
	return 0, ""
}

// checkElementID checks that an ElementID has only characters of RFC 1738, except for "#" and "?",
// which are reserved for future use (draft of 1995, section 2.3).
func checkElementID(s string) (int, string) {
	i := scan(s, 0, classElement)
	switch {
	case s == "":
		return 0, "empty"
	case i == len(s):
		return 0, ""
	case s[i] == '%':
		return i, `"%" must be followed by two hex digits`
	case s[i] == '#' || s[i] == '?':
		return i, "reserved character " + found(s, i)
	}
	return i, "contains " + found(s, i) + ", which must be escaped"
}

// clean1995 removes white space and the angle brackets around the name.
func clean1995(s string) (string, *Error) {
	open, end := bounds1995(s)
	if open < end && s[open] == '<' {
		if s[end-1] != '>' || end-1 == open {
			return "", Draft1995.fail(s, end, "freestanding", `"<" without ">" at the end`)
		}
		open, end = open+1, end-1
	}
	inner := s[open:end]
	if !strings.ContainsAny(inner, " \t\r\n") {
		return inner, nil
	}
	b := make([]byte, 0, len(inner))
	for i := range len(inner) {
		if !is(inner[i], classSpace) {
			b = append(b, inner[i])
		}
	}
	return string(b), nil
}

// bounds1995 returns the bounds of s without the white space at its start and end.
func bounds1995(s string) (int, int) {
	open, end := 0, len(s)
	for open < end && is(s[open], classSpace) {
		open++
	}
	for end > open && is(s[end-1], classSpace) {
		end--
	}
	return open, end
}

// offset1995 converts an offset in the result of clean1995(s) to the offset in s.
func offset1995(s string, offset int) int {
	i, end := bounds1995(s)
	if i < end && s[i] == '<' {
		i, end = i+1, end-1
	}
	for ; i < end; i++ {
		if is(s[i], classSpace) {
			continue
		}
		if offset == 0 {
			return i
		}
		offset--
	}
	return end
}
