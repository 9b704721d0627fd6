package discover

import (
	_ "embed"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// An Entry assigns a resolver to the names with a prefix.
type Entry struct {
	Prefix string // a prefix such as "urn:nbn:fi" or "doi"

	// Target is the resolver. It has one of these forms:
	//
	//   - HOST or HOST:PORT: a resolver with the protocol of draft-ietf-uri-yaurn-00. Requests
	//     contain the ElementID for urn:dns names, and the full name for all others;
	//   - HOST/full or HOST:PORT/full: the same, but requests always contain the
	//     full name;
	//   - HOST/element or HOST:PORT/element: the same, but requests always contain
	//     the ElementID;
	//   - an http or https URL that ends with "/uri-res/": a resolver with the
	//     protocol of RFC 2169;
	//   - a URL that contains {name}, which is replaced by the name;
	//   - a URL that contains {element}, which is replaced by the part of the name
	//     after the prefix. The result is assumed to be the URL of the resource;
	//   - any other http or https URL, to which the name is appended as a path;
	//   - "-": the names are not resolved.
	Target string

	Services []string // the services of RFC 2483 that the resolver offers; nil means all
}

// None is the target of entries whose names are not resolved.
const None = "-"

const maxTarget = 2048

// ParseEntry parses a line of a table. The line consists of a prefix, a target and optionally
// services, separated by white space:
//
//	urn:nbn:fi  https://urn.fi/{name}  services=I2L,I2R
//
// If the line is invalid, the error is an [*Error].
func ParseEntry(line string) (Entry, error) {
	prefix, at := word(line, 0)
	target, at := word(line, at)
	option, at := word(line, at)
	if more, end := word(line, at); more != "" {
		return Entry{}, refuse(line, end-len(more), "entry", "unexpected text after prefix, target and services")
	}
	e := Entry{Prefix: prefix, Target: target}
	if _, _, err := e.compile(Port); err != nil {
		bad := err.(*Error)
		bad.Offset += strings.Index(line, bad.Input)
		bad.Input = line
		return Entry{}, bad
	}
	if option == "" {
		return e, nil
	}
	begin := at - len(option)
	list, ok := strings.CutPrefix(option, "services=")
	if !ok {
		return Entry{}, refuse(line, begin, "entry", "expected services=I2L,...")
	}
	for s := range strings.SplitSeq(list, ",") {
		known := services[strings.ToUpper(s)]
		if known == "" {
			return Entry{}, refuse(line, begin, "services", "%q is not a service of RFC 2483", s)
		}
		e.Services = append(e.Services, known)
	}
	return e, nil
}

// word returns the next word of a line from the given offset on, and the offset of the word's end.
func word(line string, at int) (string, int) {
	const blank = " \t\r\n"
	for at < len(line) && strings.IndexByte(blank, line[at]) >= 0 {
		at++
	}
	end := at
	for end < len(line) && strings.IndexByte(blank, line[end]) < 0 {
		end++
	}
	return line[at:end], end
}

// ParseTable parses a table with an entry on each line; see [ParseEntry]. Empty lines and lines
// that begin with "#" are ignored. ParseTable returns the entries of all valid lines. The error
// joins an [*Error] for each invalid line.
func ParseTable(text string) ([]Entry, error) {
	var entries []Entry
	var errs []error
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if first, _ := word(line, 0); first == "" || first[0] == '#' {
			continue
		}
		e, err := ParseEntry(line)
		if err != nil {
			err.(*Error).Line = number
			errs = append(errs, err)
			continue
		}
		entries = append(entries, e)
	}
	return entries, errors.Join(errs...)
}

// String returns the entry in the format of [ParseEntry].
func (e Entry) String() string {
	s := e.Prefix + " " + e.Target
	if len(e.Services) > 0 {
		s += " services=" + strings.Join(e.Services, ",")
	}
	return s
}

//go:embed public.txt
var public string

// Public returns a table of public resolvers for well-known namespaces. Other organisations operate
// these resolvers and may change them. Therefore, a program should let the user replace this table.
func Public() []Entry {
	entries, err := ParseTable(public)
	if err != nil {
		panic("discover: internal error: " + err.Error())
	}
	return entries
}

type target struct {
	prefix name.Prefix
	way    Way
	none   bool
	expand bool // the URL contains {element}
}

// compile parses an entry. The Input of an error is the invalid field.
func (e Entry) compile(port uint16) (name.Prefix, target, error) {
	p, err := name.ParsePrefix(e.Prefix)
	if err != nil {
		bad := err.(*name.Error)
		return name.Prefix{}, target{}, refuse(e.Prefix, bad.Offset, bad.Rule, "%s", bad.Message)
	}
	t, err := parseTarget(e.Target, port)
	if err != nil {
		return name.Prefix{}, target{}, err
	}
	t.prefix, t.way.Services = p, e.Services
	return p, t, nil
}

func parseTarget(s string, port uint16) (target, error) {
	switch {
	case s == "":
		return target{}, refuse(s, 0, "target", "missing")
	case len(s) > maxTarget:
		return target{}, refuse(s, maxTarget, "target", "longer than %d octets", maxTarget)
	case s == None:
		return target{none: true}, nil
	case strings.Contains(s, "://"):
		return parseURLTarget(s)
	}
	return parseHostTarget(s, port)
}

const wantTarget = "must be an http or https URL, HOST or HOST:PORT, optionally followed by /full or /element"

// parseHostTarget parses HOST, HOST:PORT or an address. An IPv6 address with a port must be in
// brackets.
func parseHostTarget(s string, port uint16) (target, error) {
	at, form, told := strings.Cut(s, "/")
	if told && form != FormFull && form != FormElement {
		return target{}, refuse(s, 0, "target", wantTarget)
	}
	host, number := at, strconv.Itoa(int(port))
	if h, p, err := net.SplitHostPort(at); err == nil {
		host, number = h, p
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n == 0 {
		return target{}, refuse(s, len(at)-len(number), "target", "invalid port %q", number)
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case err == nil:
		host = address.String()
	case isDomainName(strings.TrimSuffix(host, ".")):
		host = canonicalHost(host)
	default:
		return target{}, refuse(s, 0, "target", wantTarget)
	}
	return target{way: Way{Kind: Authority, Host: host, Port: uint16(n), Form: form}}, nil
}

// The placeholders for parts of a name in a target.
const (
	wholeName   = "{name}"
	elementName = "{element}"
)

func parseURLTarget(s string) (target, error) {
	plain := strings.NewReplacer(wholeName, "n", elementName, "e").Replace(s)
	if i := strings.IndexAny(plain, "{}"); i >= 0 {
		return target{}, refuse(s, strings.IndexAny(s, "{}"), "target", "a template can contain only %s or %s in braces", wholeName, elementName)
	}
	u, err := uri.Parse(plain)
	if err != nil {
		return target{}, refuse(s, 0, "target", "invalid URL: %v", err)
	}
	scheme, _ := u.Scheme()
	host, _ := u.Host()
	_, user := u.Userinfo()
	_, fragment := u.Fragment()
	authority, _ := u.Authority()
	switch {
	case scheme != "http" && scheme != "https":
		return target{}, refuse(s, 0, "target", "the URL of a resolver must begin with http:// or https://")
	case host == "", user, fragment, !strings.HasPrefix(s, scheme+"://"+authority):
		return target{}, refuse(s, 0, "target", "the URL of a resolver must have a literal host, and no user information or fragment")
	}
	t := target{way: Way{Kind: Path, URL: s}, expand: strings.Contains(s, elementName)}
	_, query := u.Query()
	switch {
	case t.expand:
		t.way.Kind = Location
	case plain == s && query:
		return target{}, refuse(s, strings.IndexByte(s, '?'), "target", "a URL with a query must contain %s", wholeName)
	case plain == s && strings.HasSuffix(strings.ToLower(u.Path()), "/uri-res/"):
		t.way.Kind, t.way.Host, t.way.Port = THTTP, strings.Trim(host, "[]"), portOf(u, scheme)
	}
	return t, nil
}

func portOf(u uri.URI, scheme string) uint16 {
	if p, ok := u.Port(); ok {
		if n, err := strconv.ParseUint(p, 10, 16); err == nil && n > 0 {
			return uint16(n)
		}
	}
	if scheme == "https" {
		return 443
	}
	return 80
}

func (t target) to(n name.Name, how string) Way {
	w := t.way
	w.How = how
	if t.expand {
		w.URL = expand(w.URL, n.Key(), t.prefix.Element(n))
	}
	return w
}

// expand replaces the placeholders in a template. In the query of the template, it percent-encodes
// characters with a special meaning.
func expand(template, whole, element string) string {
	before, query, ok := strings.Cut(template, "?")
	fill := func(s string, escape func(string) string) string {
		return strings.NewReplacer(wholeName, escape(whole), elementName, escape(element)).Replace(s)
	}
	before = fill(before, func(s string) string { return strings.NewReplacer("?", "%3F", "#", "%23").Replace(s) })
	if !ok {
		return before
	}
	return before + "?" + fill(query, func(s string) string {
		return strings.NewReplacer("%", "%25", "&", "%26", "=", "%3D", "+", "%2B", "#", "%23", ";", "%3B").Replace(s)
	})
}

type table map[name.Prefix][]target

func compileTable(entries []Entry, port uint16) (table, error) {
	t := table{}
	for _, e := range entries {
		p, target, err := e.compile(port)
		if err != nil {
			return nil, err
		}
		t[p] = append(t[p], target)
	}
	return t, nil
}

func (t table) find(n name.Name) []target {
	if len(t) == 0 {
		return nil
	}
	for p := range n.Prefixes {
		if found := t[p]; found != nil && p.Covers(n) {
			return found
		}
	}
	return nil
}
