package uri

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A Severity says how serious a finding is.
type Severity uint8

// The possible severities, in ascending order.
const (
	SeverityInfo    Severity = iota // a matter of style
	SeverityWarning                 // may mislead people or programs
	SeverityError                   // the identifier is invalid
)

// String returns the name of the severity: info, warning, error.
func (s Severity) String() string {
	switch s {
	case SeverityInfo:
		return "info"
	case SeverityWarning:
		return "warning"
	case SeverityError:
		return "error"
	default:
		return "unknown"
	}
}

// A FindingCode is the kind of a finding. Programs can compare codes, while messages may change.
type FindingCode string

// The kinds of findings. The comment on each kind cites the documents that warn of it.
const (
	FindingInvalid        FindingCode = "invalid"             // does not match the grammar of the dialect
	FindingUserinfo       FindingCode = "userinfo"            // a user name, with or without a password: draft of 1993, Internet protocol parts; draft of 2003, section 7.5
	FindingPassword       FindingCode = "password"            // draft of 1997, section 7; draft of 2003, section 7.4; RFC 3986, section 7.5
	FindingUserinfoLook   FindingCode = "userinfo-lookalike"  // user information that looks like a host: draft of 2003, section 7.5; RFC 3986, section 7.6
	FindingIPHost         FindingCode = "ip-host"             // an IP address instead of a name: draft of 1993, Internet protocol parts
	FindingRareIPv4       FindingCode = "rare-ipv4"           // an IPv4 address in an unusual notation: draft of 2003, section 7.3; RFC 3986, section 7.4
	FindingPort           FindingCode = "nondefault-port"     // draft of 1997, section 7; draft of 2003 and RFC 3986, section 7.2
	FindingReservedPort   FindingCode = "reserved-port"       // a port below 1024 that is not the default: draft of 1997, section 7; draft of 2003 and RFC 3986, section 7.2
	FindingPortRange      FindingCode = "port-range"          // above 65535
	FindingNeedlessPort   FindingCode = "needless-port"       // empty, or the default: RFC 3986, section 6.2.3
	FindingCRLF           FindingCode = "escaped-crlf"        // draft of 1997, section 7; draft of 2003, section 7.2; RFC 3986, section 7.3
	FindingNUL            FindingCode = "nul"                 // RFC 3986, section 7.3
	FindingControl        FindingCode = "escaped-control"     // other controls: RFC 3986, section 7.3
	FindingDelimiter      FindingCode = "escaped-delimiter"   // an escaped delimiter, which some programs decode too early: RFC 3986, sections 2.2 and 2.4
	FindingDoubleEscape   FindingCode = "double-escape"       // draft of 1997, section 2.4.2; RFC 3986, section 2.4
	FindingCharset        FindingCode = "not-utf8"            // draft of 2003, section 6.3; RFC 3986, section 2.5
	FindingNeedlessEscape FindingCode = "needless-escape"     // draft of 1997, section 2.3; draft of 2003, section 2.3; RFC 3986, section 2.3
	FindingLowerEscape    FindingCode = "lowercase-escape"    // draft of 2003, section 6.3; RFC 3986, section 2.1
	FindingUpperScheme    FindingCode = "uppercase-scheme"    // draft of 2003, section 6.3; RFC 3986, section 3.1
	FindingUpperHost      FindingCode = "uppercase-host"      // draft of 2003, section 6.3; RFC 3986, section 3.2.2
	FindingDots           FindingCode = "dot-segments"        // draft of 1997, Appendix C; draft of 2003, section 6.3; RFC 3986, section 6.2.2.3
	FindingEscapedDots    FindingCode = "escaped-dots"        // an escaped dot segment, which takes effect in programs that decode the path first
	FindingEmptyHost      FindingCode = "empty-host"          // draft of 2003, section 3.2.2; RFC 3986, section 3.2.2
	FindingRegistry       FindingCode = "registry-authority"  // an authority that is not a server: draft of 2003, section 3.2.1
	FindingPunycode       FindingCode = "punycode"            // an internationalized name in Punycode: RFC 3987, section 8
	FindingMixedScript    FindingCode = "mixed-script"        // similar letters of several scripts: RFC 3987, section 8
	FindingBackslash      FindingCode = "backslash"           // a backslash, which browsers read as a slash
	FindingStripped       FindingCode = "stripped-characters" // tabs, line breaks and spaces that browsers remove
	FindingReaderHost     FindingCode = "reader-host"         // another parser finds a different host
	FindingReaderScheme   FindingCode = "reader-scheme"       // another parser finds a different scheme
	FindingAmbiguousAt    FindingCode = "several-at-signs"    // several "@", which leave the start of the host ambiguous
	FindingLongLabel      FindingCode = "long-label"          // a label of more than 63 characters: RFC 3986, section 3.2.2
)

// A Finding is a warning or an error about an identifier. The packages uri, urn, iri, scheme and
// namespace all return findings of this type. A valid identifier can have findings, for example
// because its host name looks like another host name. The caller decides which findings are
// acceptable.
//
// A *Finding is an error and an [InputError].
type Finding struct {
	Code     FindingCode
	Severity Severity
	Offset   int        // offset of the first byte that the finding is about
	End      int        // offset after the last byte that the finding is about; 0 if unknown
	Rule     string     // the violated rule, such as "RFC 4266, 2.1: selector"; "" if the code is enough
	Message  string     // an explanation for people
	Right    string     // a replacement for the text from Offset to End, or ""
	Addr     netip.Addr // for FindingRareIPv4: the address as other software reads it
	Reader   Reader     // for FindingReaderHost and FindingReaderScheme: the software that finds a different host or scheme
}

// Error returns the offset, the rule and the message.
func (f *Finding) Error() string {
	if f.Rule == "" {
		return fmt.Sprintf("offset %d: %s", f.Offset, f.Message)
	}
	return fmt.Sprintf("offset %d: %s: %s", f.Offset, f.Rule, f.Message)
}

// Violation implements [InputError]. The Violation has no Input, because a Finding does not contain
// the identifier.
func (f *Finding) Violation() Violation {
	return Violation{Offset: f.Offset, Rule: f.Rule, Message: f.Message}
}

// Inspect returns findings about s, ordered by offset. If s is not a valid reference in dialect d,
// a finding has the reason. Other findings are warnings and recommendations of the documents, and
// cases in which other software finds a different host or scheme in s. Inspect uses rules to find
// out the default port.
func (d Dialect) Inspect(s string, rules ...SchemeRules) []Finding {
	in := inspector{s: s, d: d}
	u, err := d.ParseReference(s)
	if err != nil {
		in.invalid(err)
	} else {
		in.u = u
		in.authority(rules)
		in.escapes()
		in.path()
		in.spelling()
	}
	in.readers()
	slices.SortStableFunc(in.found, func(a, b Finding) int { return a.Offset - b.Offset })
	return in.found
}

// Inspect returns findings about u; see [Dialect.Inspect].
func (u URI) Inspect(rules ...SchemeRules) []Finding { return u.dialect.Inspect(u.s, rules...) }

type inspector struct {
	s     string
	d     Dialect
	u     URI // the parsed s, or the zero URI if s is invalid
	found []Finding
}

func (in *inspector) add(c FindingCode, sev Severity, off int, format string, args ...any) *Finding {
	in.found = append(in.found, Finding{Code: c, Severity: sev, Offset: off, Message: fmt.Sprintf(format, args...)})
	return &in.found[len(in.found)-1]
}

func (in *inspector) invalid(err error) {
	var e *Error
	if !errors.As(err, &e) {
		return
	}
	in.add(FindingInvalid, SeverityError, e.Offset, "%s", e.reason()).Rule = e.Rule
	if i := strings.IndexByte(in.s, '\\'); i >= 0 {
		in.add(FindingBackslash, SeverityWarning, i, "browsers read a backslash as a slash")
	}
	if i := strings.IndexAny(in.s, "\t\n\r"); i >= 0 {
		in.add(FindingStripped, SeverityWarning, i, "browsers remove tabs and line breaks before parsing")
	} else if t := strings.TrimFunc(in.s, func(r rune) bool { return r <= ' ' }); t != in.s {
		in.add(FindingStripped, SeverityWarning, 0, "browsers remove leading and trailing white space")
	}
	start := strings.Index(in.s, "//") + 2
	if start < 2 {
		return
	}
	end := len(in.s)
	if n := strings.IndexAny(in.s[start:], "/?#"); n >= 0 {
		end = start + n
	}
	if strings.Count(in.s[start:end], "@") > 1 {
		in.add(FindingAmbiguousAt, SeverityWarning, start, "parsers differ on which @ ends the user information")
	}
}

func (in *inspector) authority(rules []SchemeRules) {
	u := in.u
	authority, ok := u.Authority()
	if !ok {
		return
	}
	start := int(u.afterScheme()) + 2
	if u.kind == HostRegistry {
		in.add(FindingRegistry, SeverityInfo, start, "%q is not a host; only the scheme defines its meaning", authority)
		return
	}
	in.userinfo(start)
	in.host()
	in.port(rules)
}

func (in *inspector) userinfo(start int) {
	user, ok := in.u.Userinfo()
	if !ok {
		return
	}
	in.add(FindingUserinfo, SeverityInfo, start, "%q is user information, not part of the host", user)
	name, password, _ := strings.Cut(user, ":")
	if password != "" {
		in.add(FindingPassword, SeverityWarning, start+len(name)+1, "the password is visible to everyone who sees the URI")
	}
	if looksLikeHost(user) {
		host, _ := in.u.Host()
		in.add(FindingUserinfoLook, SeverityWarning, start, "the host is %q; the part before the @ only looks like a host and is user information", host)
	}
}

func looksLikeHost(s string) bool {
	n := labelLen(s)
	return n > 0 && n+1 < len(s) && s[n] == '.' && labelLen(s[n+1:]) > 0
}

func (in *inspector) host() {
	u, off := in.u, int(in.u.host)
	host, ok := u.Host()
	if !ok || host == "" {
		if ascii.EqualFold(u.s[:u.scheme], "file") {
			return // an empty host of a file URI is the local host
		}
		in.add(FindingEmptyHost, SeverityInfo, off, "the host is empty; the scheme defines which host is meant")
		return
	}
	if u.kind != HostName && in.d == Draft1993 {
		in.add(FindingIPHost, SeverityInfo, off, "prefer a host name to an IP address")
	}
	if a, ok := ParseNumericHost(host); ok && !isIPv4(host) {
		in.add(FindingRareIPv4, SeverityWarning, off, "many programs parse %q as the address %s", host, a).Addr = a
	}
	if hasUpper(host) && grammars[in.d].foldHost && !u.hasZone() {
		in.add(FindingUpperHost, SeverityInfo, off, "write hosts in lower case")
	}
	if u.kind == HostName {
		in.labels(host, off)
	}
}

func (in *inspector) labels(host string, off int) {
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > maxLabel {
			in.add(FindingLongLabel, SeverityWarning, off, "the label is longer than %d characters", maxLabel)
		}
		text := []rune(decodeLoosely(label))
		if len(label) > 4 && ascii.EqualFold(label[:4], "xn--") {
			decoded, ok := decodePunycode(label[4:])
			if ok {
				in.add(FindingPunycode, SeverityInfo, off, "%q is displayed as %q", label, string(decoded))
			} else {
				in.add(FindingPunycode, SeverityWarning, off, "%q is not a valid internationalized label", label)
			}
			text = decoded
		}
		if mixesScripts(text) {
			in.add(FindingMixedScript, SeverityWarning, off, "%q mixes scripts whose letters look alike", string(text))
		}
		off += len(label) + 1
	}
}

// reservedPorts is the first port that is not reserved for well-known protocols.
const reservedPorts = 1024

func (in *inspector) port(rules []SchemeRules) {
	port, ok := in.u.Port()
	if !ok {
		return
	}
	off := int(in.u.hostEnd) + 1
	def := findRules(in.u, rules).DefaultPort
	number := strings.TrimLeft(port, "0")
	switch {
	case port == "":
		in.add(FindingNeedlessPort, SeverityInfo, off, "an empty port means the default port; leave out the colon")
	case !goodPort(":" + port):
		in.add(FindingPortRange, SeverityWarning, off, "invalid port %s: must be at most 65535", quote(port))
	case def != "" && number == def:
		in.add(FindingNeedlessPort, SeverityInfo, off, "%s is the default port", def)
	case def != "":
		in.add(FindingPort, SeverityInfo, off, "the default port is %s", def)
		if n, err := strconv.Atoi(number); err == nil && n < reservedPorts {
			in.add(FindingReservedPort, SeverityWarning, off, "ports below %d are reserved for other protocols", reservedPorts)
		}
	}
}

// escapes inspects all escapes. It reports each kind of finding once.
func (in *inspector) escapes() {
	seen := map[FindingCode]bool{}
	once := func(c FindingCode, sev Severity, off int, message string) {
		if !seen[c] {
			seen[c] = true
			in.add(c, sev, off, "%s", message)
		}
	}
	var run []byte
	for i := 0; i < len(in.s); i++ {
		if in.s[i] != '%' {
			in.charset(once, run, i)
			run = run[:0]
			continue
		}
		octet := ascii.Unhex(in.s[i+1])<<4 | ascii.Unhex(in.s[i+2])
		run = append(run, octet)
		in.octet(once, octet, i)
		if in.s[i+1] >= 'a' || in.s[i+2] >= 'a' {
			once(FindingLowerEscape, SeverityInfo, i, "write the hexadecimal digits of escapes in upper case")
		}
		i += 2
	}
	in.charset(once, run, len(in.s))
}

type findOnce func(c FindingCode, sev Severity, off int, message string)

func (in *inspector) octet(once findOnce, octet byte, i int) {
	switch {
	case octet == 0:
		once(FindingNUL, SeverityWarning, i, "some programs treat an escaped NUL as the end of the text")
	case octet == '\r' || octet == '\n':
		once(FindingCRLF, SeverityWarning, i, "an escaped line break must not be decoded before the URI is sent")
	case octet < ' ' || octet == 0x7F:
		once(FindingControl, SeverityWarning, i, "escaped control character")
	case octet == '%' && i+4 < len(in.s) && ascii.IsHex(in.s[i+3]) && ascii.IsHex(in.s[i+4]):
		once(FindingDoubleEscape, SeverityInfo, i, "possibly escaped twice")
	case strings.IndexByte(`/\?#@:[]`, octet) >= 0:
		once(FindingDelimiter, SeverityInfo, i, "escaped delimiter: split before decoding")
	case classes[in.d][octet]&unreserved != 0:
		once(FindingNeedlessEscape, SeverityInfo, i, "unnecessary escape")
	}
}

// charset adds a finding if run, which is a sequence of escaped octets, is not valid UTF-8. The
// last escape ends at offset end.
func (in *inspector) charset(once findOnce, run []byte, end int) {
	if in.d >= Draft2003 && !utf8.Valid(run) {
		once(FindingCharset, SeverityInfo, end-3*len(run), "the escaped octets are not valid UTF-8")
	}
}

// path adds a finding for each dot segment in the path. It ignores dot segments in a relative path,
// where they are normal.
func (in *inspector) path() {
	u := in.u
	if u.scheme == 0 && !strings.HasPrefix(u.Path(), "/") {
		return
	}
	off := int(u.path)
	if strings.HasPrefix(u.Path(), "/") {
		off++
	}
	for s := range u.Segments() {
		raw := s.String()
		switch decodeLoosely(raw) {
		case ".", "..":
			if strings.IndexByte(raw, '%') >= 0 {
				in.add(FindingEscapedDots, SeverityWarning, off, "programs that decode first see a dot segment")
			} else {
				in.add(FindingDots, SeverityInfo, off, "dot segments belong in relative references only")
			}
		}
		off += len(raw) + 1
	}
}

func (in *inspector) spelling() {
	if scheme, ok := in.u.Scheme(); ok && hasUpper(scheme) {
		in.add(FindingUpperScheme, SeverityInfo, 0, "write schemes in lower case")
	}
}

// readers adds a finding for each [Reader] that finds a different host or scheme in the URI.
func (in *inspector) readers() {
	own := Reading{}
	valid := in.u.IsValid()
	if valid {
		if in.u.scheme == 0 {
			return
		}
		own = ownReading(in.u)
	}
	off := max(strings.IndexByte(in.s, ':')+1, 0)
	for r := range readers {
		got, ok := r.Read(in.s)
		switch {
		case !ok:
		case !valid && got.Host != "":
			in.add(FindingReaderHost, SeverityWarning, off, "%s parses the host as %q", r, got.Host).Reader = r
		case valid && got.Scheme != own.Scheme:
			in.add(FindingReaderScheme, SeverityWarning, 0, "%s parses the scheme as %q", r, got.Scheme).Reader = r
		case valid && got.Host != own.Host && !(own.Scheme == "file" && own.Host == "localhost" && got.Host == ""):
			in.add(FindingReaderHost, SeverityWarning, off, "%s parses the host as %q", r, got.Host).Reader = r
		}
	}
}
