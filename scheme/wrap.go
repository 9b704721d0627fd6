package scheme

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Schemes whose URIs contain another URI.

var viewSource = Scheme{
	Name: "view-source", Title: "The source of a document", Kind: KindLocator,
	Reference: "Mozilla and Chromium, view-source",
	Example:   "view-source:https://example.org/a#b",
	Note:      "no standard exists: a URI, including its fragment, follows the colon, and nothing else is checked",
	Security:  "browsers follow it only if the user enters it",
	Retrieval: "retrieve the inner URI, and show its source",
	Rules:     RuleSet{Check: checkViewSource, Parts: partsWrapped, Inner: innerRest},
}

var feed = Scheme{
	Name: "feed", Title: "Syndication feeds", Kind: KindLocator,
	Reference: "draft-obasanjo-feed-URI-scheme",
	Example:   "feed:https://example.org/atom.xml",
	Note:      "feed://host/path is equivalent to feed:http://host/path; only provisionally registered",
	Security:  "subscribes to future content from an untrusted source",
	Retrieval: "pass the inner locator to a feed reader",
	Rules:     RuleSet{Check: checkFeed, Parts: partsFeed, Inner: innerFeed},
}

var webcal = Scheme{
	Name: "webcal", Title: "Calendar subscriptions", Kind: KindLocator,
	Reference: "IANA registration of webcal",
	Example:   "webcal://example.org/a.ics",
	Note:      "no public grammar exists: a host is required, and the rest is as in http",
	Security:  "subscribes to future content from an untrusted source, over http unless the client prefers https",
	Retrieval: "retrieve as http or https with the same host and path",
	Rules:     RuleSet{Check: checkWebcal, Parts: partsHTTP},
}

var blob = Scheme{
	Name: "blob", Title: "Objects in a browser's memory", Kind: KindLocator,
	Reference:  "W3C File API, 8.2",
	Example:    "blob:https://example.org/9115d58c-bcda-ff47-86e5-083e9a215304",
	Note:       "valid in the same browser for the lifetime of the document that created it",
	Security:   "the object has the privileges of its origin",
	Properties: "identifies an object of the inner origin",
	Retrieval:  "look up the UUID among the browser's objects",
	Rules:      RuleSet{Check: checkBlob, Parts: partsBlob, Inner: innerBlob},
}

var filesystem = Scheme{
	Name: "filesystem", Title: "Files in a browser's storage for a site", Kind: KindLocator,
	Reference: "W3C File API: Directories and System, 7.3",
	Example:   "filesystem:https://example.org/temporary/a.png",
	Note:      "the specification was abandoned, and only one browser implemented it",
	Security:  "the file has the privileges of its origin",
	Retrieval: "open the file in the browser's storage for the origin",
	Rules:     RuleSet{Check: checkFilesystem, Parts: partsFilesystem, Inner: innerFilesystem},
}

var jar = Scheme{
	Name: "jar", Title: "Entries of Java archives", Kind: KindLocator,
	Reference: "Java Platform, java.net.JarURLConnection",
	Example:   "jar:https://example.org/a.jar!/b/C.class",
	Note:      "the last !/ separates the archive and the entry, so archives can be nested; without an entry the whole archive is meant",
	Security:  "an archive from an untrusted source may contain programs",
	Special:   []Special{{uri.ComponentPath, "!/", "separates the archive and entry"}},
	Retrieval: "retrieve the archive from the inner URI, and extract the entry",
	Rules:     RuleSet{Check: checkJar, Parts: partsJar, Inner: innerJar},
}

// checkInside checks that s[from:to] is a valid URI.
func (l *layout) checkInside(from, to int, rule string) []Finding {
	if _, err := l.dialect.Parse(l.s[from:to]); err != nil {
		at := from
		if e := (*uri.Error)(nil); errors.As(err, &e) {
			at += e.Offset
		}
		return refuse(at, to, rule, "the inner URI is invalid")
	}
	return nil
}

func innerRest(u uri.URI) (from, to int, ok bool) {
	l := layoutOf(u)
	return l.rest, len(l.s), l.rest < len(l.s)
}

func checkViewSource(u uri.URI) []Finding {
	l := layoutOf(u)
	return l.checkInside(l.rest, len(l.s), "Mozilla and Chromium, view-source")
}

func partsWrapped(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.part("uri", t.rest, len(t.s))
	return t.parts
}

const ruleFeed = "draft-obasanjo-feed-URI-scheme, 2"

// checkFeed checks that there is a host, or an inner http or https locator.
func checkFeed(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.authority {
		return l.needServer(ruleFeed)
	}
	if bad := l.checkInside(l.rest, len(l.s), ruleFeed); bad != nil {
		return bad
	}
	if name := l.s[l.rest:until(l.s, l.rest, len(l.s), ':')]; !equalFold(name, "http") && !equalFold(name, "https") {
		return refuse(l.rest, l.rest+len(name), ruleFeed, "the inner locator must be http or https")
	}
	return nil
}

func partsFeed(dst []Part, u uri.URI) []Part {
	if _, ok := u.Authority(); ok {
		return partsHTTP(dst, u)
	}
	return partsWrapped(dst, u)
}

func innerFeed(u uri.URI) (from, to int, ok bool) {
	if _, ok := u.Authority(); ok {
		return 0, 0, false
	}
	return innerRest(u)
}

func checkWebcal(u uri.URI) []Finding {
	l := layoutOf(u)
	return l.needServer("IANA registration of webcal")
}

// The grammar rules of browser storage schemes.
const (
	ruleBlob       = "W3C File API, 8.2: blob URL"
	ruleFilesystem = "W3C File API: Directories and System, 7.3"
)

// checkBlob checks an origin and a UUID.
//
//	blob URL = "blob:" serialised origin "/" UUID [ "#" fragment ]
func checkBlob(u uri.URI) []Finding {
	l := layoutOf(u)
	slash := l.lastSlash()
	switch {
	case slash < 0:
		return refuse(l.end(), l.end(), ruleBlob, "a slash and a UUID must follow the origin")
	case slash == l.rest:
		return refuse(l.rest, l.rest, ruleBlob, "missing origin; write an opaque origin as null")
	case slash+1 == l.end():
		return refuse(l.end(), l.end(), ruleBlob, "missing UUID")
	}
	if l.s[l.rest:slash] != "null" {
		if bad := l.checkInside(l.rest, l.end(), ruleBlob); bad != nil {
			return bad
		}
	}
	if !isUUID(l.s[slash+1 : l.end()]) {
		return []Finding{remark(CodeForm, slash+1, l.end(), ruleBlob, "invalid UUID: some browsers cannot have created it")}
	}
	return nil
}

// lastSlash returns the offset of the last slash before the fragment, or -1.
func (l *layout) lastSlash() int {
	if n := strings.LastIndexByte(l.s[l.rest:l.end()], '/'); n >= 0 {
		return l.rest + n
	}
	return -1
}

func partsBlob(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	slash := t.lastSlash()
	if slash < 0 {
		slash = t.end()
	}
	t.part("origin", t.rest, slash)
	if slash < t.end() {
		t.part("uuid", slash+1, t.end())
	}
	t.fragment()
	return t.parts
}

// innerBlob returns the range of the origin and the UUID as one locator, as the
// URL Standard, 4.7 does to find the origin.
func innerBlob(u uri.URI) (from, to int, ok bool) {
	l := layoutOf(u)
	slash := l.lastSlash()
	return l.rest, l.end(), slash > l.rest && l.s[l.rest:slash] != "null"
}

// origin returns the ends of the origin and of the file system type, -1 for
// those that are absent.
func (l *layout) origin() (end, kind int) {
	n := strings.Index(l.s[l.rest:l.end()], "://")
	if n < 0 {
		return -1, -1
	}
	end = until(l.s, l.rest+n+len("://"), l.end(), '/')
	if end == l.end() {
		return end, -1
	}
	return end, until(l.s, end+1, l.end(), '/')
}

// checkFilesystem checks an origin, a type and a path.
func checkFilesystem(u uri.URI) []Finding {
	l := layoutOf(u)
	end, kind := l.origin()
	switch {
	case end < 0:
		return refuse(l.rest, l.end(), ruleFilesystem, "missing origin after the colon, such as https://example.org")
	case kind < 0:
		return refuse(end, end, ruleFilesystem, "a slash and the type must follow the origin")
	}
	if bad := l.checkInside(l.rest, l.end(), ruleFilesystem); bad != nil {
		return bad
	}
	switch l.s[end+1 : kind] {
	case "temporary", "persistent":
	case "external", "isolated", "test":
		return []Finding{remark(CodeForm, end+1, kind, ruleFilesystem, "type supported by one browser only")}
	default:
		return refuse(end+1, kind, ruleFilesystem, "the type must be temporary or persistent")
	}
	if kind == l.end() {
		return refuse(kind, kind, ruleFilesystem, "a slash and a path must follow the type")
	}
	return nil
}

func partsFilesystem(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	end, kind := t.origin()
	if end >= 0 {
		t.part("origin", t.rest, end)
	}
	if kind >= 0 {
		t.part("type", end+1, kind)
		t.data("path", kind, max(kind, t.pathEnd))
	}
	t.search()
	t.fragment()
	return t.parts
}

func innerFilesystem(u uri.URI) (from, to int, ok bool) {
	l := layoutOf(u)
	end, _ := l.origin()
	return l.rest, l.end(), end >= 0
}

const ruleJar = "java.net.JarURLConnection: jar:<url>!/{entry}"

// jarMark returns the offset of the last "!/", or -1.
func (l *layout) jarMark() int {
	if n := strings.LastIndex(l.s[l.rest:l.end()], "!/"); n >= 0 {
		return l.rest + n
	}
	return -1
}

// checkJar checks that there is an archive and an entry marker.
func checkJar(u uri.URI) []Finding {
	l := layoutOf(u)
	mark := l.jarMark()
	if mark < 0 {
		return refuse(l.end(), l.end(), ruleJar, "!/ must follow the locator of the archive")
	}
	return l.checkInside(l.rest, mark, ruleJar)
}

func partsJar(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	mark := t.jarMark()
	if mark < 0 {
		t.part("archive", t.rest, t.end())
	} else {
		t.part("archive", t.rest, mark)
		t.data("entry", mark+len("!/"), t.end())
	}
	t.fragment()
	return t.parts
}

func innerJar(u uri.URI) (from, to int, ok bool) {
	l := layoutOf(u)
	mark := l.jarMark()
	return l.rest, mark, mark > l.rest
}
