package urn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
)

// The kinds of findings about URNs. The comment on each kind cites the document that advises
// against it. An [Inspector] also returns these kinds of package uri: [uri.FindingInvalid],
// [uri.FindingNUL], [uri.FindingCharset], [uri.FindingNeedlessEscape], [uri.FindingLowerEscape] and
// [uri.FindingUpperScheme].
const (
	FindingUpperNID        uri.FindingCode = "uppercase-nid"          // RFC 8141, section 3.1
	FindingUnregistered    uri.FindingCode = "unregistered-nid"       // RFC 8141, section 5
	FindingExperimental    uri.FindingCode = "experimental-nid"       // RFC 3406, section 3.1; draft of 1995, section 2.1
	FindingReservedNID     uri.FindingCode = "reserved-nid"           // RFC 8141, section 5.1
	FindingUnknownSchemeID uri.FindingCode = "unknown-scheme-id"      // draft of 1995, section 2.1
	FindingReservedRequest uri.FindingCode = "reserved-request"       // draft of 1995, section 3.5
	FindingReserved        uri.FindingCode = "reserved-character"     // RFC 2141, section 2.3.2
	FindingBareSpace       uri.FindingCode = "bare-space"             // draft of 1995, section 2
	FindingFragment        uri.FindingCode = "fragment-not-enabled"   // draft of 2012, section 2.4
	FindingDirective       uri.FindingCode = "ignored-directive"      // draft of 2012, section 2.3
	FindingRComponent      uri.FindingCode = "r-component"            // RFC 8141, section 2.3.1
	FindingRelative        uri.FindingCode = "relative-reference-urn" // draft of 2012, section 2.5.1; RFC 8141, section 4.3
)

// An Inspector warns of URNs that are invalid or not recommended. It also reports namespaces,
// SchemeIDs, keywords and services that are missing from its registries. It does not use an empty
// registry.
type Inspector struct {
	Namespaces Namespaces
	SchemeIDs  SchemeIDs
	Keywords   Keywords
	Services   Services
}

// Inspect returns findings about s in dialect d, ordered by offset. If s is not a URN, the findings
// give the reason. Otherwise they warn of spellings that the documents advise against. Inspect
// reports only the first finding of each kind about escapes.
func (in Inspector) Inspect(d Dialect, s string) []uri.Finding {
	i := inspection{Inspector: in, s: s}
	var err *Error
	u, parseErr := d.Parse(s)
	if errors.As(parseErr, &err) {
		i.found = append(i.found, uri.Finding{Code: uri.FindingInvalid, Severity: uri.SeverityError, Offset: err.Offset, Rule: err.Rule, Message: err.Message})
		i.nul()
		return i.found
	}
	i.u = u
	i.nul()
	i.spelling()
	if d == Draft1995 {
		i.bareSpace()
		i.scheme1995()
	} else {
		i.nid()
	}
	i.escapes()
	i.components()
	slices.SortStableFunc(i.found, func(a, b uri.Finding) int { return cmp.Compare(a.Offset, b.Offset) })
	return i.found
}

// InspectReference returns a finding if base is a URN and reference is unlikely to mean what its
// author expects. A URN has no hierarchy. For example, the reference "x" relative to
// "urn:example:a:b" resolves to "urn:x". There is no finding for a reference that is absolute,
// empty, or only a fragment, because these have their usual meaning (draft of 2012, section 2.5.1;
// RFC 8141, section 4.3).
func InspectReference(base, reference uri.URI) (uri.Finding, bool) {
	if scheme, _ := base.Scheme(); !isURN(scheme) || !reference.IsReference() {
		return uri.Finding{}, false
	}
	if s := reference.String(); s == "" || s[0] == '#' {
		return uri.Finding{}, false
	}
	return uri.Finding{
		Code: FindingRelative, Severity: uri.SeverityWarning,
		Message: fmt.Sprintf("%q is relative, and the URN %q has no hierarchy to resolve it in: use an absolute identifier", reference, base),
	}, true
}

type inspection struct {
	Inspector
	s     string // the input
	u     URN
	found []uri.Finding
}

func (i *inspection) add(c uri.FindingCode, sev uri.Severity, at int, format string, args ...any) {
	i.found = append(i.found, uri.Finding{Code: c, Severity: sev, Offset: at, Message: fmt.Sprintf(format, args...)})
}

// at converts an offset in i.u.s to an offset in i.s.
func (i *inspection) at(n int) int {
	if i.u.dialect == Draft1995 {
		return offset1995(i.s, n)
	}
	return n
}

func (i *inspection) nul() {
	at := strings.Index(i.s, escapedNUL)
	if at < 0 {
		at = strings.IndexByte(i.s, 0)
	}
	if at >= 0 {
		i.add(uri.FindingNUL, uri.SeverityError, at, "NUL is not allowed in a URN")
	}
}

func (i *inspection) spelling() {
	if i.u.s[:3] != "urn" {
		i.add(uri.FindingUpperScheme, uri.SeverityInfo, i.at(0), `write "urn" in lower case`)
	}
	if nid := i.u.NID(); nid != strings.ToLower(nid) {
		i.add(FindingUpperNID, uri.SeverityInfo, i.at(prefixLen), "write %q in lower case", nid)
	}
}

// bareSpace reports white space in a name that is not in brackets.
func (i *inspection) bareSpace() {
	open, end := bounds1995(i.s)
	if at := strings.IndexAny(i.s[open:end], " \t\r\n"); at >= 0 && i.s[open] != '<' {
		i.add(FindingBareSpace, uri.SeverityWarning, open+at, `a name with white space must be enclosed in "<" and ">"`)
	}
}

func (i *inspection) scheme1995() {
	id := i.u.SchemeID()
	_, known := i.SchemeIDs.Lookup(id)
	switch {
	case len(id) > 2 && strings.EqualFold(id[:2], "x-"):
		i.add(FindingExperimental, uri.SeverityInfo, i.at(prefixLen), "the SchemeID %q is experimental", id)
	case i.SchemeIDs.Len() > 0 && !known:
		i.add(FindingUnknownSchemeID, uri.SeverityWarning, i.at(prefixLen), "unknown SchemeID %q: its names cannot be resolved", id)
	}
	if i.u.IsReservedRequest() {
		i.add(FindingReservedRequest, uri.SeverityWarning, i.at(int(i.u.auth)+1), "a request to a resolver, not a name")
	}
}

func (i *inspection) nid() {
	nid := i.u.NID()
	_, known := i.Namespaces.Lookup(nid)
	kind := KindOf(nid)
	switch {
	case known:
	case kind == KindExperimental:
		i.add(FindingExperimental, uri.SeverityInfo, prefixLen, "%q is experimental: it cannot be registered", nid)
	case kind == KindReserved:
		i.add(FindingReservedNID, uri.SeverityWarning, prefixLen, "%q has a reserved form", nid)
	case i.Namespaces.Len() > 0:
		i.add(FindingUnregistered, uri.SeverityWarning, prefixLen, "%q is not a registered namespace", nid)
	}
	if i.u.dialect != RFC2141 {
		return
	}
	if at := strings.IndexAny(i.u.NSS(), "/?#"); at >= 0 {
		at += int(i.u.nid) + 1
		i.add(FindingReserved, uri.SeverityWarning, at, "%s is reserved and should be escaped", found(i.s, at))
	}
}

func (i *inspection) escapes() {
	s := i.u.s
	seen := map[uri.FindingCode]bool{}
	once := func(c uri.FindingCode, sev uri.Severity, at int, message string) {
		if !seen[c] {
			seen[c] = true
			i.add(c, sev, i.at(at), "%s", message)
		}
	}
	var run []byte
	for n := 0; n <= len(s); n++ {
		if !isEscape(s, n) {
			if i.u.dialect != Draft1995 && !utf8.Valid(run) {
				once(uri.FindingCharset, uri.SeverityWarning, n-3*len(run), "the escaped octets are not valid UTF-8")
			}
			run = run[:0]
			continue
		}
		run = append(run, octetAt(s, n))
		if i.needless(octetAt(s, n)) {
			once(uri.FindingNeedlessEscape, i.needlessSeverity(), n, "unnecessary escape")
		}
		if s[n+1] >= 'a' || s[n+2] >= 'a' {
			once(uri.FindingLowerEscape, uri.SeverityInfo, n, "write the hexadecimal digits of escapes in upper case")
		}
		n += 2
	}
}

// needless reports whether octet c never needs an escape in a URN of the dialect.
func (i *inspection) needless(c byte) bool {
	if i.u.dialect == Draft1995 {
		return is(c, classPlain)
	}
	return is(c, classUnreserved) && is(c, grammars[i.u.dialect].nssSet)
}

// needlessSeverity returns a warning if the document forbids unnecessary escapes (RFC 2141, section
// 2.3.1; draft of 2012, section 2.5.2), and information otherwise.
func (i *inspection) needlessSeverity() uri.Severity {
	if d := i.u.dialect; d == RFC2141 || d == Draft2012 {
		return uri.SeverityWarning
	}
	return uri.SeverityInfo
}

func (i *inspection) components() {
	u := i.u
	if _, ok := u.RComponent(); ok {
		i.add(FindingRComponent, uri.SeverityInfo, int(u.nss), "r-components should not be used before their meaning is standardised")
	}
	i.directives()
	ns, _ := i.Namespaces.Lookup(u.NID())
	if _, ok := u.FComponent(); ok && u.dialect == Draft2012 && !ns.FragmentAllowed {
		i.add(FindingFragment, uri.SeverityWarning, int(u.q), "the namespace %q has not enabled fragments", u.NID())
	}
}

// directives reports the directives that a resolver would ignore.
func (i *inspection) directives() {
	if i.Keywords.Len() == 0 {
		return
	}
	at := int(i.u.nss) + 1
	for _, d := range i.u.Directives(i.Keywords, i.accepts) {
		if d.Ignored {
			i.add(FindingDirective, uri.SeverityWarning, at, "a resolver ignores %q: %s", d.Keyword+"="+d.Value, i.whyIgnored(d))
		}
		at += len(d.Keyword) + len(d.Value) + len("=&")
	}
}

func (i *inspection) whyIgnored(d Directive) string {
	if _, known := i.Keywords.Lookup(d.Keyword); !known {
		return fmt.Sprintf("the keyword %q is not registered", d.Keyword)
	}
	if !i.accepts(d.Keyword, d.Value) {
		return fmt.Sprintf("unknown service %q", d.Value)
	}
	return "directives with the same keyword cancel each other"
}

// accepts reports whether a value of the keyword s is a known service. It accepts all values of
// other keywords, because only the namespaces know them.
func (i *inspection) accepts(keyword, value string) bool {
	if keyword != "s" || i.Services.Len() == 0 {
		return true
	}
	_, ok := i.Services.Lookup(value)
	return ok
}
