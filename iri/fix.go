package iri

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// The kinds of changes that [Fix] makes, in addition to [uri.FindingStripped] and
// [uri.FindingBackslash].
const (
	FindingPercent   uri.FindingCode = "bare-percent"        // a percent sign that is not part of an escape
	FindingUnescaped uri.FindingCode = "unescaped-character" // a character that must be escaped, such as a space, or a bracket outside a host
	FindingNonASCII  uri.FindingCode = "non-ascii"           // a character that only IRIs can contain, or an octet that is not valid UTF-8
	FindingSlashes   uri.FindingCode = "wrong-slashes"       // more or fewer than two slashes before a host
	FindingNoScheme  uri.FindingCode = "colon-in-segment"    // a colon that does not end a scheme
)

// Fix parses an absolute URI. If s is invalid, Fix tries to repair it as browsers do (URL Standard,
// section 4.4). It returns the URI and a finding for each change. The finding has the range in s
// and the replacement. Fix
//
//   - removes tabs and line breaks;
//   - changes backslashes to slashes in the schemes for which browsers do so (http, https, ws, wss,
//     ftp, file);
//   - writes two slashes before the host in these schemes, except in file;
//   - escapes characters that are not allowed, such as spaces, brackets outside a host, and
//     percent signs that are not part of an escape;
//   - converts non-ASCII characters as [IRI.LookupURI] does.
//
// If s cannot be repaired, the error is that of [uri.Parse] for s.
func Fix(s string) (uri.URI, []uri.Finding, error) {
	u, err := uri.Parse(s)
	if err == nil && !slashesWrong(s) {
		return u, nil, nil
	}
	if ascii.SchemeLength(s) == 0 {
		return uri.URI{}, nil, err
	}
	return fix(s, err, true)
}

// FixReference is like [Fix], but also parses relative references. It does not change the number of
// slashes, because whether "http:g" and "http:/g" have a host depends on the base.
func FixReference(s string) (uri.URI, []uri.Finding, error) {
	u, err := uri.ParseReference(s)
	if err == nil {
		return u, nil, nil
	}
	return fix(s, err, false)
}

func fix(s string, err error, absolute bool) (uri.URI, []uri.Finding, error) {
	m := mender{s: s, scheme: ascii.SchemeLength(s), absolute: absolute}
	m.mend()
	text := m.b.String()
	if i, e := ParseReference(text); e == nil {
		return m.result(i.LookupURI(), err)
	}
	if u, e := uri.ParseReference(escapeNonASCII(text)); e == nil {
		return m.result(u, err)
	}
	return uri.URI{}, nil, m.failed(err)
}

// A mender repairs an invalid input.
type mender struct {
	s        string
	scheme   int // length of the scheme in s
	absolute bool
	b        strings.Builder // the repaired input, which is usually an IRI
	found    []uri.Finding

	authority, query, fragment bool // which component the next byte belongs to
}

// result returns u and the changes. It returns an error if the host of u is missing or is not the
// one that a browser would find.
func (m *mender) result(u uri.URI, err error) (uri.URI, []uri.Finding, error) {
	if hidesHost(u) || m.absolute && slashesWrong(u.String()) {
		return uri.URI{}, nil, m.failed(err)
	}
	return u, m.found, nil
}

func (m *mender) failed(err error) error {
	if err != nil {
		return err
	}
	return newError(m.s, m.scheme+1, "authority", uri.CodeHost) // valid, but without a required host
}

// change writes the text right to the repaired input, in place of the input from start to end, and
// records a finding.
func (m *mender) change(code uri.FindingCode, start, end int, right, message string) {
	m.b.WriteString(right)
	m.found = append(m.found, uri.Finding{Code: code, Severity: uri.SeverityWarning, Offset: start, End: end, Message: message, Right: right})
}

func (m *mender) mend() {
	s, n := m.s, m.scheme
	m.b.Grow(len(s) + 16)
	if n == 0 {
		if i := strings.IndexAny(s, ":/?#\\"); i >= 0 && s[i] == ':' { // "a b:c"
			m.change(FindingNoScheme, 0, 0, "./", "a first segment with a colon needs ./ before it")
		}
	}
	special := isSpecial(s[:n])
	for i := 0; i < len(s); {
		if i == n+1 && m.absolute && slashesWrong(s) {
			to := i + slashRun(s[i:])
			m.change(FindingSlashes, i, to, "//", "two slashes must precede a host")
			m.authority = true
			if i = to; i == len(s) {
				return
			}
		}
		i += m.mendAt(i, special)
	}
}

func (m *mender) mendAt(i int, special bool) int {
	s := m.s
	switch c := s[i]; {
	case c == '\t' || c == '\n' || c == '\r':
		m.change(uri.FindingStripped, i, i+1, "", "tabs and line breaks are removed")
	case c == '%' && !ascii.IsEscape(s, i):
		m.change(FindingPercent, i, i+1, "%25", "a percent sign must begin an escape")
	case c == '#' && !m.fragment:
		m.authority, m.fragment = false, true
		m.b.WriteByte(c)
	case c == '?':
		m.authority, m.query = false, true
		m.b.WriteByte(c)
	case c == '\\' && special && !m.query && !m.fragment, c == '/':
		m.authority = !m.query && !m.fragment && !m.authority && atAuthority(m.b.String(), m.scheme)
		if c == '\\' {
			m.change(uri.FindingBackslash, i, i+1, "/", "browsers read a backslash as a slash")
		} else {
			m.b.WriteByte(c)
		}
	case c >= utf8.RuneSelf:
		_, size := utf8.DecodeRuneInString(s[i:])
		m.change(FindingNonASCII, i, i+size, s[i:i+size], "is not ASCII: it is percent-encoded, or in a host converted to Punycode")
		return size
	case (c == '[' || c == ']') && m.authority, inURI(c):
		m.b.WriteByte(c)
	default:
		m.change(FindingUnescaped, i, i+1, ascii.Escape(c), "must be escaped")
	}
	return 1
}

// slashesWrong reports whether s has a scheme that requires a host, but does not have exactly two
// slashes after the scheme.
func slashesWrong(s string) bool {
	n := ascii.SchemeLength(s)
	if n == 0 || !isSpecial(s[:n]) || strings.EqualFold(s[:n], "file") {
		return false
	}
	rest := s[n+1:]
	return !strings.HasPrefix(rest, "//") || slashRun(rest) != len("//")
}

func slashRun(s string) int { return len(s) - len(strings.TrimLeft(s, `/\`)) }

// hidesHost reports whether the host of u is empty although a browser would find a host. In special
// schemes except file, browsers ignore additional slashes before a host.
func hidesHost(u uri.URI) bool {
	scheme, _ := u.Scheme()
	host, ok := u.Host()
	return ok && host == "" && isSpecial(scheme) && !strings.EqualFold(scheme, "file")
}

// atAuthority reports whether a slash after b would be the second slash before an authority. The
// parameter n is the length of the scheme in b.
func atAuthority(b string, n int) bool {
	if n > 0 {
		n++
	}
	return len(b) == n+1 && b[n] == '/'
}

// isSpecial reports whether browsers treat the scheme as special. In special schemes, backslashes
// are slashes and hosts are domain names. A relative reference may have such a scheme, so "" is
// special.
func isSpecial(scheme string) bool {
	return slices.Contains([]string{"", "http", "https", "ftp", "ws", "wss", "file"}, strings.ToLower(scheme))
}

// inURI reports whether a URI can contain c anywhere. It returns false for brackets and the number
// sign, which are valid only in some positions.
func inURI(c byte) bool {
	return c == '%' || ascii.IsPchar(c)
}
