package extra

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Schemes of URIs that contain another URI.

var viewSource = scheme.Scheme{
	Name: "view-source", Title: "The source of a document", Kind: scheme.KindLocator,
	Reference: "Mozilla and Chromium, view-source",
	Example:   "view-source:https://example.org/a#b",
	Note:      "no standard exists: a URI, including its fragment, follows the colon, and nothing else is checked",
	Security:  "browsers follow it only if the user enters it",
	Retrieval: "retrieve the inner URI, and show its source",
	Rules:     scheme.RuleSet{Check: checkViewSource, Parts: partsWrapped, Inner: innerRest},
}

var feed = scheme.Scheme{
	Name: "feed", Title: "Syndication feeds", Kind: scheme.KindLocator,
	Reference: "draft-obasanjo-feed-URI-scheme",
	Example:   "feed:https://example.org/atom.xml",
	Note:      "feed://host/path is equivalent to feed:http://host/path; only provisionally registered",
	Security:  "subscribes to future content from an untrusted source",
	Retrieval: "pass the inner locator to a feed reader",
	Rules:     scheme.RuleSet{Check: checkFeed, Parts: partsFeed, Inner: innerFeed},
}

var webcal = scheme.Scheme{
	Name: "webcal", Title: "Calendar subscriptions", Kind: scheme.KindLocator,
	Reference: "IANA registration of webcal",
	Example:   "webcal://example.org/a.ics",
	Note:      "no public grammar exists: a host is required, and the rest is as in http",
	Security:  "subscribes to future content from an untrusted source, over http unless the client prefers https",
	Retrieval: "retrieve as http or https with the same host and path",
	Rules:     scheme.RuleSet{Check: checkWebcal, Parts: layout.Generic},
}

var blob = scheme.Scheme{
	Name: "blob", Title: "Objects in a browser's memory", Kind: scheme.KindLocator,
	Reference:  "W3C File API, 8.2",
	Example:    "blob:https://example.org/9115d58c-bcda-ff47-86e5-083e9a215304",
	Note:       "valid in the same browser for the lifetime of the document that created it",
	Security:   "the object has the privileges of its origin",
	Properties: "identifies an object of the inner origin",
	Retrieval:  "look up the UUID among the browser's objects",
	Rules:      scheme.RuleSet{Check: checkBlob, Parts: partsBlob, Inner: innerBlob},
}

var filesystem = scheme.Scheme{
	Name: "filesystem", Title: "Files in a browser's storage for a site", Kind: scheme.KindLocator,
	Reference: "W3C File API: Directories and System, 7.3",
	Example:   "filesystem:https://example.org/temporary/a.png",
	Note:      "the specification was abandoned, and only one browser implemented it",
	Security:  "the file has the privileges of its origin",
	Retrieval: "open the file in the browser's storage for the origin",
	Rules:     scheme.RuleSet{Check: checkFilesystem, Parts: partsFilesystem, Inner: innerFilesystem},
}

var jar = scheme.Scheme{
	Name: "jar", Title: "Entries of Java archives", Kind: scheme.KindLocator,
	Reference: "Java Platform, java.net.JarURLConnection",
	Example:   "jar:https://example.org/a.jar!/b/C.class",
	Note:      "the last !/ separates the archive and the entry, so archives can be nested; without an entry the whole archive is meant",
	Security:  "an archive from an untrusted source may contain programs",
	Special:   []scheme.Special{inPath("!/", "separates the archive and entry")},
	Retrieval: "retrieve the archive from the inner URI, and extract the entry",
	Rules:     scheme.RuleSet{Check: checkJar, Parts: partsJar, Inner: innerJar},
}

func checkInside(l *layout.Layout, from, to int, rule string) []scheme.Finding {
	if _, err := l.Dialect.Parse(l.Text[from:to]); err != nil {
		at := from
		if e := (*uri.Error)(nil); errors.As(err, &e) {
			at += e.Offset
		}
		return layout.Refuse(at, to, rule, "the inner URI is invalid")
	}
	return nil
}

func innerRest(u uri.URI) (from, to int, ok bool) {
	l := layout.Of(u)
	return l.Rest, len(l.Text), l.Rest < len(l.Text)
}

func checkViewSource(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	return checkInside(&l, l.Rest, len(l.Text), "Mozilla and Chromium, view-source")
}

func partsWrapped(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Part("uri", t.Rest, len(t.Text))
	return t.Parts
}

const ruleFeed = "draft-obasanjo-feed-URI-scheme, 2"

func checkFeed(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if l.Authority {
		return l.NeedServer(ruleFeed)
	}
	if bad := checkInside(&l, l.Rest, len(l.Text), ruleFeed); bad != nil {
		return bad
	}
	if name := l.Text[l.Rest:ascii.Until(l.Text, l.Rest, len(l.Text), ':')]; !ascii.EqualFold(name, "http") && !ascii.EqualFold(name, "https") {
		return layout.Refuse(l.Rest, l.Rest+len(name), ruleFeed, "the inner locator must be http or https")
	}
	return nil
}

func partsFeed(dst []scheme.Part, u uri.URI) []scheme.Part {
	if _, ok := u.Authority(); ok {
		return layout.Generic(dst, u)
	}
	return partsWrapped(dst, u)
}

func innerFeed(u uri.URI) (from, to int, ok bool) {
	if _, ok := u.Authority(); ok {
		return 0, 0, false
	}
	return innerRest(u)
}

func checkWebcal(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	return l.NeedServer("IANA registration of webcal")
}

const (
	ruleBlob       = "W3C File API, 8.2: blob URL"
	ruleFilesystem = "W3C File API: Directories and System, 7.3"
)

// checkBlob checks the origin and the UUID.
//
//	blob URL = "blob:" serialised origin "/" UUID [ "#" fragment ]
func checkBlob(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	slash := lastSlash(&l)
	switch {
	case slash < 0:
		return layout.Refuse(l.End(), l.End(), ruleBlob, "a slash and a UUID must follow the origin")
	case slash == l.Rest:
		return layout.Refuse(l.Rest, l.Rest, ruleBlob, "missing origin; write an opaque origin as null")
	case slash+1 == l.End():
		return layout.Refuse(l.End(), l.End(), ruleBlob, "missing UUID")
	}
	if l.Text[l.Rest:slash] != "null" {
		if bad := checkInside(&l, l.Rest, l.End(), ruleBlob); bad != nil {
			return bad
		}
	}
	if !ascii.IsUUID(l.Text[slash+1 : l.End()]) {
		return []scheme.Finding{layout.Remark(scheme.CodeForm, slash+1, l.End(), ruleBlob, "invalid UUID: some browsers cannot have created it")}
	}
	return nil
}

func lastSlash(l *layout.Layout) int {
	if n := strings.LastIndexByte(l.Text[l.Rest:l.End()], '/'); n >= 0 {
		return l.Rest + n
	}
	return -1
}

func partsBlob(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	slash := lastSlash(&t.Layout)
	if slash < 0 {
		slash = t.End()
	}
	t.Part("origin", t.Rest, slash)
	t.Part("uuid", slash+1, t.End())
	t.Fragment()
	return t.Parts
}

// innerBlob returns the range of the URL in a blob URL, which consists of the origin and the UUID.
// The URL Standard parses this URL to find the origin (section 4.7).
func innerBlob(u uri.URI) (from, to int, ok bool) {
	l := layout.Of(u)
	slash := lastSlash(&l)
	return l.Rest, l.End(), slash > l.Rest && l.Text[l.Rest:slash] != "null"
}

// originOf returns the ends of the origin and of the file system type. The end of a missing
// component is -1.
func originOf(l *layout.Layout) (end, kind int) {
	n := strings.Index(l.Text[l.Rest:l.End()], "://")
	if n < 0 {
		return -1, -1
	}
	end = ascii.Until(l.Text, l.Rest+n+len("://"), l.End(), '/')
	if end == l.End() {
		return end, -1
	}
	return end, ascii.Until(l.Text, end+1, l.End(), '/')
}

func checkFilesystem(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	end, kind := originOf(&l)
	switch {
	case end < 0:
		return layout.Refuse(l.Rest, l.End(), ruleFilesystem, "missing origin after the colon, such as https://example.org")
	case kind < 0:
		return layout.Refuse(end, end, ruleFilesystem, "a slash and the type must follow the origin")
	}
	if bad := checkInside(&l, l.Rest, l.End(), ruleFilesystem); bad != nil {
		return bad
	}
	switch l.Text[end+1 : kind] {
	case "temporary", "persistent":
	case "external", "isolated", "test":
		return []scheme.Finding{layout.Remark(scheme.CodeForm, end+1, kind, ruleFilesystem, "type supported by one browser only")}
	default:
		return layout.Refuse(end+1, kind, ruleFilesystem, "the type must be temporary or persistent")
	}
	if kind == l.End() {
		return layout.Refuse(kind, kind, ruleFilesystem, "a slash and a path must follow the type")
	}
	return nil
}

func partsFilesystem(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	end, kind := originOf(&t.Layout)
	if end >= 0 {
		t.Part("origin", t.Rest, end)
	}
	if kind >= 0 {
		t.Part("type", end+1, kind)
		t.Data("path", kind, max(kind, t.PathEnd))
	}
	t.Search()
	t.Fragment()
	return t.Parts
}

func innerFilesystem(u uri.URI) (from, to int, ok bool) {
	l := layout.Of(u)
	end, _ := originOf(&l)
	return l.Rest, l.End(), end >= 0
}

const ruleJar = "java.net.JarURLConnection: jar:<url>!/{entry}"

func jarMark(l *layout.Layout) int {
	if n := strings.LastIndex(l.Text[l.Rest:l.End()], "!/"); n >= 0 {
		return l.Rest + n
	}
	return -1
}

// checkJar checks that there is an archive, and a "!/" after it.
func checkJar(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	mark := jarMark(&l)
	if mark < 0 {
		return layout.Refuse(l.End(), l.End(), ruleJar, "!/ must follow the locator of the archive")
	}
	return checkInside(&l, l.Rest, mark, ruleJar)
}

func partsJar(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	mark := jarMark(&t.Layout)
	if mark < 0 {
		t.Part("archive", t.Rest, t.End())
	} else {
		t.Part("archive", t.Rest, mark)
		t.Data("entry", mark+len("!/"), t.End())
	}
	t.Fragment()
	return t.Parts
}

func innerJar(u uri.URI) (from, to int, ok bool) {
	l := layout.Of(u)
	mark := jarMark(&l)
	return l.Rest, mark, mark > l.Rest
}
