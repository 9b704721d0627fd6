package conform

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

func knownName(p *probe) outcome {
	for _, e := range p.elements {
		if r := p.element(e); !r.is(200) {
			return failed("%s got %s", e, r)
		}
	}
	return passed()
}

// plainCharset is a header field that requests US-ASCII, the default charset of
// draft-ietf-uri-yaurn-00. Without this field, a server may send another charset to an HTTP/1.1
// client.
const plainCharset = "Accept-Charset: US-ASCII"

// urc requests an ElementID as text/urc-0. If there is an intermediary, which may forward the
// request as HTTP/1.1, the request also specifies the charset.
func (p *probe) urc(element string) *response {
	if p.front(p.good) != "" {
		return p.element(element, "Accept: text/urc-0", plainCharset)
	}
	return p.element(element, "Accept: text/urc-0")
}

func sameResult(first, second *response) outcome {
	switch {
	case first.status != second.status:
		return failed("the response is %s, not %s", second, first)
	case first.mediaType() != second.mediaType(), !bytes.Equal(first.body, second.body):
		return failed("the result is not the same")
	}
	return passed()
}

func stateless(p *probe) outcome {
	q := p.request1995(p.elements[0])
	p.element(p.absent())
	first := p.again(q)
	return sameResult(first, p.again(q))
}

func bareElement(p *probe) outcome {
	switch {
	case p.t.base != "":
		return skipped("the server is below the path %s, which a bare ElementID cannot contain", p.t.base)
	case p.form == formBare:
		p.known()
		return passed()
	case p.bare == nil:
		return failed("no response to the bare ElementID")
	}
	q := request{method: "GET", target: p.elements[0], version: "HTTP/1.0"}
	p.ask(q)
	p.skipIfBlocked(p.bare)
	need(!p.gateway(), "the server is a proxy or gateway for whole URNs: the ElementID alone got %s", p.bare)
	return failed("%s got %s", p.elements[0], p.bare)
}

// gateway reports whether the server is a gateway to names of other authorities. A gateway accepts
// a whole URN, but rejects a bare ElementID.
func (p *probe) gateway() bool { return p.form == formURN && p.bare != nil && p.bare.is(404, 403, 421) }

func simpleRequest(p *probe) outcome {
	need(p.form == formPath || p.host == "", "the server needs a Host field to identify the authority, which a Simple-Request does not have")
	r := p.ask(request{method: "GET", target: p.target1995(p.elements[0])})
	if r.status != 0 {
		p.skipIfBlocked(r)
		return failed("the response has a status line")
	}
	return want(len(r.body) > 0, "%s", strings.TrimSpace("no result "+r.fault))
}

func onlyType(wanted string) func(*probe) outcome {
	return func(p *probe) outcome {
		r := p.known("Accept: " + wanted)
		need(!r.is(406), "the resolver reports that it cannot: %s", r)
		return want(r.is(200) && r.mediaType() == wanted, "a client that accepts %s alone got %s", wanted, r)
	}
}

func unrelatedHost(p *probe) outcome {
	need(p.form != formURN, "a request with the whole URN does not depend on Host")
	q := p.request11("GET", p.target1995(p.elements[0]))
	q.fields[0] = "Host: " + unrelated
	r := p.ask(q)
	need(r.proto != "HTTP/1.0" || r.is(421), "the server supports only HTTP/1.0, which has no Host field")
	if r.is(200) && bytes.Equal(r.body, p.good.body) {
		if f := intermediary(r); f != "" {
			return skipped("a server in front (%s) may have replaced the Host field", f)
		}
		return failed("a request with \"Host: %s\" got the record of %s", unrelated, p.elements[0])
	}
	return passed()
}

// takesURN ends the case as not applicable if the server does not accept whole URNs as request
// targets.
func (p *probe) takesURN() {
	if p.authority == "" {
		panic(missing(NeedsAuthority, "the authority is unknown"))
	}
	need(p.t.base == "", "the server is below the path %s, which a URN cannot contain", p.t.base)
	r := p.whole(p.full(p.elements[0]))
	if p.skipIfBlocked(r); r.refused() {
		panic(skipped("the server does not accept whole URNs: %s", r))
	}
}

func wholeURN(p *probe) outcome { return spelledURN(p, p.full(p.elements[0])) }

// spelledURN checks that another spelling of the first name, as a whole URN, gives the same result.
func spelledURN(p *probe, name string) outcome {
	p.takesURN()
	return sameResult(p.known(), p.whole(name))
}

func movedName(p *probe) outcome {
	r := p.unfollowed()
	must(r.is(301, 302), "the name got %s", r)
	if f := p.front(r); urnIn(r.reason) == "" && f != "" {
		return skipped("a server in front may have replaced the reason phrase (%s): %q", f, r.reason)
	}
	return want(urnIn(r.reason) != "", "the reason phrase %q contains no URN", r.reason)
}

// unfollowed requests [Options].Moved, a name with a successor. It ends the case as not applicable
// if the server is a gateway, because a gateway follows the redirect itself.
func (p *probe) unfollowed() *response {
	r := p.element(p.moved())
	need(!p.gateway(), "a proxy or gateway follows the redirect itself")
	return r
}

func movedLocation(p *probe) outcome {
	r := p.unfollowed()
	name := urnIn(r.reason)
	need(name != "" && r.has("Location"), "the response does not have both")
	return want(strings.Contains(strings.ToLower(r.get("Location")), strings.ToLower(name)), "the reason phrase has %s, and Location %s", name, r.get("Location"))
}

func urnIn(text string) string {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, `<>"'();,`)
		if _, ok := ascii.CutPrefix(word, "urn:"); !ok {
			continue
		}
		if u, err := urn.Parse(word); err == nil {
			return u.String()
		}
	}
	return ""
}

func followed(p *probe) outcome {
	need(p.gateway(), "the server is not a proxy or gateway for this name")
	r := p.element(p.moved())
	return want(r.is(200), "the name got %s", r)
}

func tombstone(p *probe) outcome {
	r := p.element(p.retired())
	return want((r.is(410, 200) || r.redirects()) && len(bytes.TrimSpace(r.body)) > 0, "the name got %s with %d bytes", r, len(r.body))
}

// eachResult returns a check that requests each known name as text/urc-0 and checks the result.
func eachResult(check func(before []string, parts []part) outcome) func(*probe) outcome {
	return func(p *probe) outcome {
		for _, e := range p.elements {
			r := p.urc(e)
			need(r.is(200) && r.mediaType() == "text/urc-0", "no result in text/urc-0: %s", r)
			if out := check(readParts(r.text())); out.verdict != Pass {
				return out
			}
		}
		return passed()
	}
}

// eachPart returns a check that requests each known name as text/urc-0 and checks all parts of the
// result.
func eachPart(check func(part) outcome) func(*probe) outcome {
	return eachResult(func(_ []string, parts []part) outcome {
		for _, q := range parts {
			if out := check(q); out.verdict != Pass {
				return out
			}
		}
		return passed()
	})
}

// otherScripts searches the plain text or HTML for the first name for a letter outside ISO 8859-1.
// The text/urc-0 for the same name must contain a character reference for this letter.
func otherScripts(p *probe) outcome {
	urc := p.urc(p.elements[0])
	need(urc.mediaType() == "text/urc-0", "no result in text/urc-0: %s", urc)
	for _, format := range []string{"text/plain", "text/html"} {
		r := p.known("Accept: " + format)
		if r.mediaType() != format || !utf8.Valid(r.body) {
			continue
		}
		for _, c := range r.text() {
			if c > 0xff && unicode.IsLetter(c) { // a letter that is in no charset of the draft, or not in all of them
				text := strings.ToUpper(urc.text())
				return want(strings.Contains(text, fmt.Sprintf("&#X%X;", c)) || strings.Contains(text, fmt.Sprintf("&#%d;", c)),
					"the character U+%04X of %s is not present as a reference", c, format)
			}
		}
	}
	return skipped("the name has no text in other scripts")
}

// hasURLs checks that the body in the given format contains all URLs that the body in text/urc-0
// contains. The function read returns the URLs in a body.
func hasURLs(p *probe, format string, read func(string) []string) outcome {
	r := p.known("Accept: " + format)
	need(r.mediaType() == format, "no result in %s: %s", format, r)
	urc := p.known("Accept: text/urc-0")
	urls := locators(urc.text())
	need(urc.mediaType() == "text/urc-0" && len(urls) > 0, "no URLs of this name are known")
	there := read(r.text())
	for _, u := range urls {
		must(slices.Contains(there, u), "%s is not in the result", u)
	}
	return passed()
}

func laterVersion(p *probe) outcome {
	q := p.request11("GET", p.target1995(p.elements[0]))
	if p.host != "" {
		q.fields[0] = "Host: " + p.host
	}
	q.fields = append(q.fields, plainCharset)
	r := p.ask(q)
	need(!r.is(505), "the server reports that it does not: %s", r)
	return sameResult(p.known(plainCharset), r)
}

func crlfLines(list string, good func(string) bool) outcome {
	for line := range strings.Lines(list) {
		text, ok := strings.CutSuffix(line, "\r\n")
		switch {
		case !ok && len(list) >= maxBody && !strings.HasSuffix(line, "\n"):
			return passed() // only maxBody bytes of the list were read
		case !ok:
			return failed("the line %q does not end with CR LF", line)
		case !good(text):
			return failed("the line %q is not valid in this list", text)
		}
	}
	return passed()
}

func authorityList(element string) func(*probe) outcome {
	return func(p *probe) outcome {
		r := p.element(element, "Accept: text/plain")
		need(r.is(200) && r.mediaType() == "text/plain", "no list in text/plain: %s", r)
		return crlfLines(r.text(), func(line string) bool { return line != "" && sendable(line) })
	}
}

// modified returns the time in the Last-Modified field.
func modified(r *response) (time.Time, bool) {
	t, err := http.ParseTime(r.get("Last-Modified"))
	return t, err == nil
}

// settle waits until the Last-Modified date of the first name is at least two seconds old. Only
// then is the date a strong validator (RFC 9110, section 8.8.2.2).
func (p *probe) settle() {
	const resolution = 2 * time.Second
	date, err := http.ParseTime(p.known().get("Date"))
	last, ok := modified(p.known())
	if age := date.Sub(last); err != nil || !ok || age < 0 || age >= resolution {
		return
	}
	select {
	case <-time.After(resolution - date.Sub(last)):
	case <-p.ctx.Done():
	}
	delete(p.memory, string(p.request1995(p.elements[0]).bytes()))
}

// notModified returns a check that sends the Last-Modified date in an If-Modified-Since field. The
// parameter layout is the format of the date.
func notModified(layout string) func(*probe) outcome {
	return func(p *probe) outcome {
		p.settle()
		last, ok := modified(p.known())
		need(ok, "the result has no Last-Modified")
		r := p.known("If-Modified-Since: " + last.UTC().Format(layout))
		return want(r.is(304) && len(r.surplus) == 0, "If-Modified-Since: %s got %s with %d bytes", last.UTC().Format(layout), r, len(r.body)+len(r.surplus))
	}
}
