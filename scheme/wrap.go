package scheme

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Schemes that carry another URI inside.

var viewSource = Scheme{
	Name: "view-source", Title: "The source of a document", Kind: KindLocator,
	Reference: "Mozilla and Chromium, view-source",
	Example:   "view-source:https://example.org/a#b",
	Note:      "there is no standard: what follows the colon is a URI, its fragment included, and nothing else is checked",
	Security:  "browsers follow it only if a person has typed it",
	Retrieval: "retrieve what the URI inside locates, and show it as it came",
	Rules:     RuleSet{Check: checkViewSource, Parts: partsWrapped, Inner: innerRest},
}

var feed = Scheme{
	Name: "feed", Title: "Syndication feeds", Kind: KindLocator,
	Reference: "draft-obasanjo-feed-URI-scheme",
	Example:   "feed:https://example.org/atom.xml",
	Note:      "feed://host/path is the same as feed:http://host/path; never registered as more than provisional",
	Security:  "subscribes to what a stranger will write",
	Retrieval: "give the locator inside to a reader of feeds",
	Rules:     RuleSet{Check: checkFeed, Parts: partsFeed, Inner: innerFeed},
}

var webcal = Scheme{
	Name: "webcal", Title: "Calendars to subscribe to", Kind: KindLocator,
	Reference: "IANA registration of webcal",
	Example:   "webcal://example.org/a.ics",
	Note:      "no grammar is public: a host is asked for, the rest is as in http",
	Security:  "subscribes to what a stranger will write, over http unless the client prefers https",
	Retrieval: "as http or https with the same host and path",
	Rules:     RuleSet{Check: checkWebcal, Parts: partsHTTP},
}

var blob = Scheme{
	Name: "blob", Title: "Objects in the memory of a browser", Kind: KindLocator,
	Reference:  "W3C File API, 8.2",
	Example:    "blob:https://example.org/9115d58c-bcda-ff47-86e5-083e9a215304",
	Note:       "good for as long as the document lives that has made it, in the same browser",
	Security:   "the object has the rights of the origin inside",
	Properties: "an object of the origin inside",
	Retrieval:  "look the UUID up among the objects of the browser",
	Rules:      RuleSet{Check: checkBlob, Parts: partsBlob, Inner: innerBlob},
}

var filesystem = Scheme{
	Name: "filesystem", Title: "Files that a browser keeps for a site", Kind: KindLocator,
	Reference: "W3C File API: Directories and System, 7.3",
	Example:   "filesystem:https://example.org/temporary/a.png",
	Note:      "the document is not continued, and one browser had it",
	Security:  "the file has the rights of the origin inside",
	Retrieval: "open the file among those that the browser keeps for the origin",
	Rules:     RuleSet{Check: checkFilesystem, Parts: partsFilesystem, Inner: innerFilesystem},
}

var jar = Scheme{
	Name: "jar", Title: "Entries of Java archives", Kind: KindLocator,
	Reference: "Java Platform, java.net.JarURLConnection",
	Example:   "jar:https://example.org/a.jar!/b/C.class",
	Note:      "the last !/ separates the archive from the entry, so that archives may be in archives; without an entry the whole archive is meant",
	Security:  "an archive from elsewhere may hold programs",
	Special:   []Special{{uri.ComponentPath, "!/", "separates archive and entry"}},
	Retrieval: "retrieve the archive that the URI inside locates, and take the entry out of it",
	Rules:     RuleSet{Check: checkJar, Parts: partsJar, Inner: innerJar},
}

// checkInside checks that there is a URI between two offsets.
func (l *layout) checkInside(from, to int, rule string) []Finding {
	if _, err := l.dialect.Parse(l.s[from:to]); err != nil {
		at := from
		if e := (*uri.Error)(nil); errors.As(err, &e) {
			at += e.Offset
		}
		return refuse(at, to, rule, "what is inside is no URI")
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

// checkFeed checks that there are a host, or a locator of the web inside.
func checkFeed(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.authority {
		return l.needServer(ruleFeed)
	}
	if bad := l.checkInside(l.rest, len(l.s), ruleFeed); bad != nil {
		return bad
	}
	if name := l.s[l.rest:until(l.s, l.rest, len(l.s), ':')]; !equalFold(name, "http") && !equalFold(name, "https") {
		return refuse(l.rest, l.rest+len(name), ruleFeed, "a feed is at a locator of http or https")
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

// The productions of what browsers keep.
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
		return refuse(l.rest, l.rest, ruleBlob, "the origin is missing; one that is hidden is written null")
	case slash+1 == l.end():
		return refuse(l.end(), l.end(), ruleBlob, "the UUID is missing")
	}
	if l.s[l.rest:slash] != "null" {
		if bad := l.checkInside(l.rest, l.end(), ruleBlob); bad != nil {
			return bad
		}
	}
	if !isUUID(l.s[slash+1 : l.end()]) {
		return []Finding{remark(CodeForm, slash+1, l.end(), ruleBlob, "is no UUID: not every browser could have made it")}
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

// innerBlob takes the origin and the UUID for one locator, as the URL Standard,
// 4.7 does to find the origin.
func innerBlob(u uri.URI) (from, to int, ok bool) {
	l := layoutOf(u)
	slash := l.lastSlash()
	return l.rest, l.end(), slash > l.rest && l.s[l.rest:slash] != "null"
}

// origin returns where the origin ends and where the type of a file system does;
// -1 for what is not there.
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
		return refuse(l.rest, l.end(), ruleFilesystem, "needs an origin, such as https://example.org, after the colon")
	case kind < 0:
		return refuse(end, end, ruleFilesystem, "a slash and the type must follow the origin")
	}
	if bad := l.checkInside(l.rest, l.end(), ruleFilesystem); bad != nil {
		return bad
	}
	switch l.s[end+1 : kind] {
	case "temporary", "persistent":
	case "external", "isolated", "test":
		return []Finding{remark(CodeForm, end+1, kind, ruleFilesystem, "a type of one browser only")}
	default:
		return refuse(end+1, kind, ruleFilesystem, "the type is temporary or persistent")
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

// checkJar checks that there are an archive and the mark of an entry.
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
