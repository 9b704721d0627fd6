package conform

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// unrelated is a reserved host name that cannot belong to any server (RFC 6761, section 6.4).
const unrelated = "unrelated.invalid"

// yaurnCases are the cases for draft-ietf-uri-yaurn-00. Their IDs are the numbers of requirements
// in docs/spec/1995-yaurn.md.
var yaurnCases = []row{
	{"Y95-41/200", "3.4.1", Must, "The resolver answers a request for a name that it knows with status 200.", knownName},
	{"Y95-41/404", "3.4.1", Must, "The resolver answers a request for an unknown name with 404, as in HTTP.", func(p *probe) outcome {
		r := p.element(p.absent())
		return want(r.is(404), "an unknown name got %s", r)
	}},
	{"Y95-27/stateless", "3", Must, "Resolution is stateless and takes one step: the same request gets the same result, regardless of earlier requests.", stateless},
	{"Y95-28/version", "3, 3.2", Must, "The resolver answers an HTTP/1.0 request with a status line of HTTP/1.0 or 1.1.", func(p *probe) outcome {
		return want(slices.Contains([]string{"HTTP/1.0", "HTTP/1.1"}, p.known().proto), "the status line has %q", p.known().proto)
	}},
	{"Y95-28/chunks", "3.2; RFC 9112, 6.1", Must, "The resolver sends no transfer coding to an HTTP/1.0 client.", func(p *probe) outcome {
		return want(!p.known().has("Transfer-Encoding"), "Transfer-Encoding: %s", p.known().get("Transfer-Encoding"))
	}},
	{"Y95-28/close", "3.2; RFC 1945, 1.3", Must, "The resolver closes the connection after responding to an HTTP/1.0 request.", func(p *probe) outcome {
		return want(p.known().closed, "the connection stayed open after the response")
	}},
	{"Y95-30/bare", "3.3", Must, "The target of a request is the ElementID alone, without a slash before it.", bareElement},
	{"Y95-31/method", "3.3", Must, "The method of a request is always GET: the resolver responds to an unknown method with an error.", func(p *probe) outcome {
		q := p.request1995(p.elements[0])
		q.method = "RESOLVE"
		r := p.ask(q)
		return want(r.refused(), "a request with the method RESOLVE got %s", r)
	}},
	{"Y95-32/simple", "3.3", May, "The resolver responds to a Simple-Request, which has neither version nor header, with the result alone.", simpleRequest},
	{"Y95-34/urc-0", "3.1.2", Should, "If the client requests text/urc-0, the resolver returns only that if it can.", onlyType("text/urc-0")},
	{"Y95-34/html", "3.1.2", Should, "If the client requests text/html, the resolver returns only that if it can.", onlyType("text/html")},
	{"Y95-34/plain", "3.1.2", Should, "If the client requests text/plain, the resolver returns only that if it can.", onlyType("text/plain")},
	{"Y95-76/binary", "3.1.1", May, "Accept can select a binary encoding suitable for cryptographic operations: if the resolver supports application/cbor, equal results are equal octets.", func(p *probe) outcome {
		q := p.request1995(p.elements[0], "Accept: application/cbor")
		first := p.ask(q)
		need(first.is(200) && first.mediaType() == "application/cbor", "the resolver does not support this format: %s", first)
		return sameResult(first, p.again(q))
	}},
	{"Y95-36/headers", "3.3", Should, "The resolver interprets all standard HTTP/1.0 request headers; From, Referer, User-Agent and Pragma do not prevent a response.", func(p *probe) outcome {
		r := p.known("From: someone@example.org", "Referer: http://example.org/a", "User-Agent: conform/1.0 (test)", "Pragma: no-cache")
		return sameResult(p.known(), r)
	}},
	{"Y95-37/urn", "3.1.1, 2.3", Must, "A request identifies a complete URN: a URN of another authority does not get the record of the same ElementID here.", func(p *probe) outcome {
		target := p.foreign(p.elements[0])
		r := p.whole(target)
		return want(r.status != 200 || !bytes.Equal(r.body, p.good.body), "%s got the record of %s", target, p.elements[0])
	}},
	{"Y95-37/host", "3.1.1; RFC 9110, 7.4", Should, "A Host field that names neither this server nor the authority does not get the record of an ElementID here.", unrelatedHost},
	{"Y95-38/urn", "3.2", May, "The URL form of a request is the URN itself; if the resolver accepts it, the result is the same as for the ElementID.", wholeURN},
	{"Y95-02/case", "2", Must, "\"urn\", the SchemeID of a whole URN, and a domain name as its AuthorityID are case-insensitive.", func(p *probe) outcome {
		return spelledURN(p, strings.ToUpper(p.authority)+p.delimiter+p.elements[0])
	}},
	{"Y95-13/escapes", "6B", Must, "An ElementID with a percent-encoded letter or digit is the same name.", func(p *probe) outcome {
		e := p.elements[0]
		if _, dns := ascii.CutPrefix(p.authority, "urn:dns:"); p.authority != "" && !dns {
			return skipped("names of %s follow the rules of later documents, which do not decode percent-encodings", p.authority)
		}
		need(ascii.IsAlnum(e[0]), "the ElementID %s does not begin with a letter or digit", e)
		return sameResult(p.known(), p.element(ascii.Escape(e[0])+e[1:]))
	}},
	{"Y95-08/query", "2.3", Must, "\"?\" in an ElementID is reserved: a request that contains it gets an error.", func(p *probe) outcome {
		need(p.form != formPath, "in a path, \"?\" begins the query of a URL")
		r := p.element(p.elements[0] + "?conform")
		return want(r.refused(), "a request with \"?\" got %s", r)
	}},
	{"Y95-72/line-break", "7", Must, "A percent-encoded line break in an ElementID stays data: it does not become a header field of the response.", func(p *probe) outcome {
		r := p.element("x%0D%0AX-Conform:%20injected")
		return want(!r.has("X-Conform"), "the response has the field X-Conform")
	}},
	{"Y95-39/one", "3.1.2", Must, "The resolver returns the result in a single message: nothing follows the body.", func(p *probe) outcome {
		return want(len(p.known().surplus) == 0 && !p.known().cut, "the body and Content-Length differ (%s bytes announced, %d received)",
			p.known().get("Content-Length"), len(p.known().body)+len(p.known().surplus))
	}},
	{"Y95-40/type", "3.4", Must, "Results have an Internet media type, and so do the texts of errors.", func(p *probe) outcome {
		for _, r := range []*response{p.known(), p.element(p.absent())} {
			must(len(r.body) == 0 || mediaType.MatchString(r.get("Content-Type")), "the response with status %d has Content-Type %q", r.status, r.get("Content-Type"))
		}
		return passed()
	}},
	{"Y95-42/reason", "3.4.1", Should, "The status line has a useful reason phrase.", func(p *probe) outcome {
		for _, r := range []*response{p.known(), p.element(p.absent())} {
			must(strings.TrimSpace(r.reason) != "", "the status line with %d has no reason phrase", r.status)
		}
		return passed()
	}},
	{"Y95-43/urn", "3.4.1, 4", Should, "If a name was replaced by another, the status is 301 or 302 and the status line contains the new URN, for clients that resolve that instead.", movedName},
	{"Y95-42/where", "3.4.1", Should, "If a response with 301 or 302 has both a Location field and a URN in its status line, they agree.", movedLocation},
	{"Y95-64/follow", "4", Should, "A proxy or gateway follows a redirect to another URN itself.", followed},
	{"Y95-25/tombstone", "6A", Should, "A retired name still resolves to human-readable text, and is distinguished from one that never existed.", tombstone},
	{"Y95-45/preferred", "3.4.2", Should, "The resolver prefers text/urc-0 if the client has no preference.", func(p *probe) outcome {
		return want(p.known().mediaType() == "text/urc-0", "without Accept the result is %s", p.known())
	}},
	{"Y95-52/last", "3.4.4", Should, "The resolver uses text/plain only if no other format is possible.", func(p *probe) outcome {
		need(p.known("Accept: text/html").mediaType() == "text/html", "the resolver has no other text format for this name")
		r := p.known("Accept: text/html, text/plain")
		return want(r.mediaType() != "text/plain", "a client that accepts text/html and text/plain gets text/plain")
	}},
	{"Y95-74/information", "1, 3.1", Must, "The result gives information about the resource: at least one URL or a line of text.", func(p *probe) outcome {
		r := p.known("Accept: text/urc-0")
		if r.mediaType() != "text/urc-0" {
			return want(len(bytes.TrimSpace(r.body)) > 0, "the result is empty")
		}
		_, parts := readParts(r.text())
		return want(slices.ContainsFunc(parts, func(q part) bool { return q.url != "" || strings.TrimSpace(strings.Join(q.meta, "")) != "" }),
			"the result has neither a URL nor text")
	}},
	{"Y95-50/parts", "3.4.2", Must, "A text/urc-0 result consists of parts, each of which begins with a header line that starts with \"=====\".", eachResult(func(before []string, parts []part) outcome {
		return want(len(before) == 0 && len(parts) > 0, "the result does not begin with a header line")
	})},
	{"Y95-78/scripts", "3.4.2", Should, "text/urc-0 is human-readable as it stands: characters outside its charset are written as references such as &#x4E2D;.", otherScripts},
	{"Y95-46/charset", "3.4.2", Must, "The charset in a header line is US-ASCII or ISO-8859-1 to ISO-8859-9.", eachPart(func(q part) outcome {
		charset, _, _ := q.values()
		return want(knownCharset(charset), "charset %q", charset)
	})},
	{"Y95-46/bytes", "3.4.2", Must, "Metainformation is in the charset of its header line; the default is US-ASCII.", eachPart(func(q part) outcome {
		charset, _, _ := q.values()
		return want(!strings.EqualFold(charset, "US-ASCII") || ascii.IsASCII(strings.Join(q.meta, "\n")), "the text of a US-ASCII part contains other bytes")
	})},
	{"Y95-47/language", "3.4.2", Must, "The language in a header line is a language tag.", eachPart(func(q part) outcome {
		_, language, _ := q.values()
		return want(languageTag.MatchString(language), "language %q", language)
	})},
	{"Y95-48/url", "3.4.2", Must, "Each URL conforms to the syntax of URLs.", eachPart(func(q part) outcome {
		_, err := uri.Parse(q.locator())
		return want(q.url == "" || err == nil, "%s: %v", q.locator(), err)
	})},
	{"Y95-48/folded", "3.4.2", Must, "A URL of more than one line begins with \"<URL:\" and ends with \">\".", eachPart(func(q part) outcome {
		return want(!strings.HasPrefix(q.url, "<URL:") || strings.HasSuffix(strings.TrimSpace(q.url), ">"), "a URL that begins with \"<URL:\" does not end with \">\"")
	})},
	{"Y95-49/lines", "3.4.2", Must, "No line of the metainformation begins with \"=====\".", eachResult(func(_ []string, parts []part) outcome {
		for i, q := range parts {
			_, _, odd := q.values()
			if i > 0 && q.url == "" && parts[0].url != "" || len(odd) > 0 {
				return failed("the line %q is not the header of a part with a URL", partMark+q.header)
			}
		}
		return passed()
	})},
	{"Y95-51/links", "3.4.3", May, "In text/html the URLs of the result are active links.", func(p *probe) outcome {
		return hasURLs(p, "text/html", anchors)
	}},
	{"Y95-69/plain", "6C", Should, "URLs are returned in every format, including text/plain.", func(p *probe) outcome {
		return hasURLs(p, "text/plain", func(body string) []string { return plainURL.FindAllString(body, -1) })
	}},
	{"Y95-75/http11", "3", May, "A name resolves over later versions of HTTP with the same meaning.", laterVersion},
	{"Y95-55/urn+m", "3.5.1", Must, "Every resolver answers urn+m with metainformation about itself.", func(p *probe) outcome {
		r := p.element("urn+m")
		return want(r.is(200) && len(bytes.TrimSpace(r.body)) > 0, "urn+m got %s with %d bytes", r, len(r.body))
	}},
	{"Y95-77/host", "3.5.1", Must, "urn+m is authoritative for the requested host: a server does not return its own answer for an authority that it does not serve.", func(p *probe) outcome {
		target := p.foreign("urn+m")
		r := p.whole(target)
		return want(r.status != 200, "%s got %s", target, r)
	}},
	{"Y95-56/urn+a", "3.5.2", May, "If the resolver offers urn+a, the result has a URL that points to the list of all ElementIDs.", func(p *probe) outcome {
		r := p.element("urn+a")
		need(!r.refused(), "urn+a is optional, and got %s", r)
		return want(r.is(200) && firstURL(r) != "", "urn+a got %s, without a URL", r)
	}},
	{"Y95-57/lines", "3.5.2", Must, "The list that urn+a points to has a line for each ElementID, which ends with CR LF.", func(p *probe) outcome {
		list := p.list()
		must(list.is(200), "the list got %s", list)
		return crlfLines(list.text(), func(line string) bool { return line != "" && sendable(line) })
	}},
	{"Y95-57/known", "3.5.2", Must, "The names in the list that urn+a points to can be resolved.", func(p *probe) outcome {
		checked := 0
		for line := range strings.Lines(p.list().text()) {
			e := strings.TrimRight(line, "\r\n")
			if checked == 3 || e == "" || !sendable(e) {
				break
			}
			if r := p.element(e); r.is(404) {
				return failed("%s is in the list and got %s", e, r)
			}
			checked++
		}
		return passed()
	}},
	{"Y95-58/urn+c", "3.5.3", Must, "Every resolver answers urn+c with the list of naming authorities that it has authorised; the list can be empty.", func(p *probe) outcome {
		r := p.element("urn+c")
		return want(r.is(200), "urn+c got %s", r)
	}},
	{"Y95-58/lines", "3.5.3", Must, "Each name in the list of urn+c is followed by CR LF.", authorityList("urn+c")},
	{"Y95-59/urn+p", "3.5.4", Must, "Every resolver answers urn+p with the naming authority that authorised it, or a list of them.", func(p *probe) outcome {
		r := p.element("urn+p")
		return want(r.is(200), "urn+p got %s", r)
	}},
	{"Y95-59/lines", "3.5.4", Must, "Several parents form a list, as children do.", authorityList("urn+p")},
	{"Y95-54/formats", "3.5", May, "Responses to reserved requests are in one of the draft's formats if the client has no preference.", func(p *probe) outcome {
		for _, e := range []string{"urn+m", "urn+c", "urn+p", "urn+a"} {
			if r := p.element(e); r.is(200) && len(r.body) > 0 && !slices.Contains([]string{"text/urc-0", "text/html", "text/plain"}, r.mediaType()) {
				return failed("%s got %s", e, r)
			}
		}
		return passed()
	}},
	{"Y95-09/exact", "2.3, 3.5", Must, "Only ElementIDs that begin with exactly \"urn+\", in lower case, are reserved.", func(p *probe) outcome {
		own, r := p.element("urn+m"), p.element("URN+m")
		return want(!r.is(200) || !bytes.Equal(r.body, own.body), "URN+m got the answer to urn+m")
	}},
	{"Y95-61/unknown", "3.5, 2.3", Must, "An unknown ElementID that begins with \"urn+\" gets an error.", func(p *probe) outcome {
		r := p.element("urn+conform")
		return want(r.refused(), "urn+conform got %s", r)
	}},
	{"Y95-63/reserved", "3.2, 4", Must, "A reserved request with a whole URN, as proxies and gateways send it, gets the answer of the authority that it names.", func(p *probe) outcome {
		if p.form != formURN {
			p.takesURN()
		}
		return sameResult(p.element("urn+m"), p.whole(p.full("urn+m")))
	}},
	{"Y95-68/last-modified", "5", Should, "The result has its last modification date, which the If-Modified-Since mechanism needs.", func(p *probe) outcome {
		_, ok := modified(p.known())
		return want(ok, "Last-Modified %q", p.known().get("Last-Modified"))
	}},
	{"Y95-68/date", "5; RFC 1945, 10.6", Should, "The result has a Date, which is not earlier than its last modification.", func(p *probe) outcome {
		date, err := http.ParseTime(p.known().get("Date"))
		must(err == nil, "Date %q", p.known().get("Date"))
		last, ok := modified(p.known())
		return want(!ok || !last.After(date), "Last-Modified %q is after Date %q", p.known().get("Last-Modified"), p.known().get("Date"))
	}},
	{"Y95-68/304", "5", Should, "If the name has not changed since the date in If-Modified-Since, the response is 304 without a body.", notModified(http.TimeFormat)},
	{"Y95-68/rfc850", "5; RFC 1945, 3.3", Must, "The resolver also accepts dates in the format of RFC 850.", notModified("Monday, 02-Jan-06 15:04:05 GMT")},
	{"Y95-68/asctime", "5; RFC 1945, 3.3", Must, "The resolver also accepts dates in the format of asctime.", notModified(time.ANSIC)},
	{"Y95-68/200", "5", Must, "If the name has changed since the date in If-Modified-Since, the response is the result.", func(p *probe) outcome {
		return sameResult(p.known(), p.known("If-Modified-Since: Tue, 21 Mar 1995 15:32:49 GMT"))
	}},
}
