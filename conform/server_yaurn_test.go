package conform_test

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"
)

func changed() time.Time { return time.Date(2020, 5, 6, 7, 8, 9, 0, time.UTC) }

// yaurn handles a target without a slash.
func (s *little) yaurn(q *incoming) *reply {
	element, whole := q.target, false
	if strings.HasPrefix(strings.ToLower(q.target), "urn:") {
		whole = true
		e, ok := cutAuthority(q.target)
		switch {
		case ok && s.wrong("Y95-02/case") && !strings.HasPrefix(q.target, testAuthority):
			return problem(404)
		case ok && s.wrong("Y95-38/urn") && strings.HasPrefix(q.target, testAuthority) && e == known1:
			e = known2
		case ok:
		case s.wrong("Y95-77/host") && strings.HasSuffix(q.target, ":urn+m"):
			e = "urn+m"
		case s.wrong("Y95-37/urn") && !strings.Contains(q.target, "urn+"):
			e = q.target[strings.LastIndex(q.target, ":")+1:]
		default:
			return problem(404)
		}
		element = e
	} else {
		switch host := q.get("Host"); {
		case s.gateway:
			return problem(404)
		case s.wrong("Y95-30/bare"):
			return problem(400)
		case q.version == "HTTP/1.1" && host != testHost && !s.wrong("Y95-37/host"):
			return problem(421)
		}
	}
	if e, query, ok := strings.Cut(element, "?"); ok {
		if !s.wrong("Y95-08/query") {
			return problem(400)
		}
		element, _ = e, query
	}
	if strings.HasPrefix(element, "%61") && !s.wrong("Y95-13/escapes") {
		element = "a" + element[3:]
	}
	if strings.Contains(element, "%0D%0A") {
		r := problem(404)
		if s.wrong("Y95-72/line-break") {
			r.field("X-Asked", "x\r\nX-Conform: injected")
		}
		return r
	}
	if q.get("From") != "" && s.wrong("Y95-36/headers") {
		return problem(400)
	}
	if r := s.reserved(q, element, whole); r != nil {
		return r
	}
	switch element {
	case known1, known2:
		return s.result(q, element)
	case goneName:
		if s.wrong("Y95-25/tombstone") {
			return &reply{status: 410}
		}
		return text(410, "text/plain", "This album was withdrawn.\r\n")
	case oldName:
		return s.replaced(q)
	}
	switch {
	case s.wrong("Y95-41/404") && !strings.HasPrefix(element, "urn+"):
		return text(200, "text/plain", "There is no such name.\r\n")
	case s.wrong("Y95-40/type"):
		return problem(404).without("Content-Type")
	case s.wrong("Y95-42/reason"):
		r := problem(404)
		r.reason = "-"
		return r
	}
	return problem(404)
}

func (s *little) replaced(q *incoming) *reply {
	if s.gateway && !s.wrong("Y95-64/follow") {
		return s.result(q, known1)
	}
	next := testAuthority + ":" + known1
	r := text(301, "text/plain", "This album is now "+next+".\r\n").field("Location", next)
	r.reason = next
	if s.wrong("Y95-43/urn") {
		r.reason = ""
	}
	if s.wrong("Y95-42/where") {
		r.without("Location").field("Location", testBase+"/elsewhere")
	}
	return r
}

// reserved handles an element that begins with "urn+".
func (s *little) reserved(q *incoming, element string, whole bool) *reply {
	format := "text/plain"
	switch element {
	case "urn+m":
		switch {
		case s.wrong("Y95-55/urn+m"), whole && s.wrong("Y95-63/reserved"):
			return problem(404)
		case s.wrong("Y95-54/formats"):
			return text(200, "application/json", "{}\n")
		}
		return text(200, format, "Ask mailto:names@names.example about this resolver.\r\n")
	case "URN+m":
		if s.wrong("Y95-09/exact") {
			return s.reserved(q, "urn+m", whole)
		}
	case "urn+a":
		if s.wrong("Y95-56/urn+a") {
			return text(200, format, "")
		}
		return text(200, "text/urc-0", "=====\r\n"+testBase+"/list\r\nAll of them.\r\n")
	case "urn+c":
		if s.wrong("Y95-58/urn+c") {
			return problem(404)
		}
		if s.wrong("Y95-58/lines") {
			return text(200, format, "urn:dns:a.names.example\nurn:dns:b.names.example\n")
		}
		return text(200, format, "urn:dns:a.names.example\r\nurn:dns:b.names.example\r\n")
	case "urn+p":
		if s.wrong("Y95-59/urn+p") {
			return problem(404)
		}
		if s.wrong("Y95-59/lines") {
			return text(200, format, "urn:dns:example urn:dns:example.net")
		}
		return text(200, format, "urn:dns:example\r\n")
	default:
		if strings.HasPrefix(element, "urn+") && s.wrong("Y95-61/unknown") {
			return text(200, format, "nothing\r\n")
		}
	}
	return nil
}

func (s *little) list() *reply {
	end := "\r\n"
	if s.wrong("Y95-57/lines") {
		end = "\n"
	}
	list := known1 + end + known2 + end
	if s.wrong("Y95-57/known") {
		list += "never" + end
	}
	return text(200, "text/plain", list)
}

// choose selects a format by Accept.
func (s *little) choose(accept string) string {
	switch {
	case accept == "text/urc-0" && s.wrong("Y95-34/urc-0"), accept == "" && s.wrong("Y95-45/preferred"):
		return "text/html"
	case accept == "text/html" && s.wrong("Y95-34/html"):
		return "text/plain"
	case accept == "text/plain" && s.wrong("Y95-34/plain"):
		return "text/html"
	case strings.Contains(accept, ",") && s.wrong("Y95-52/last"):
		return "text/plain"
	}
	for _, f := range []string{"text/urc-0", "text/html", "text/plain"} {
		if accept == "" || strings.Contains(accept, f) {
			return f
		}
	}
	return ""
}

// result describes a name.
func (s *little) result(q *incoming, element string) *reply {
	accept := q.get("Accept")
	if accept == "application/cbor" {
		body := "\xa1aa\x01"
		if s.wrong("Y95-76/binary") {
			body = fmt.Sprintf("\xa1aa\x1a%04x", s.answered.Add(1))
		}
		return text(200, accept, body)
	}
	format := s.choose(accept)
	if format == "" {
		return problem(406)
	}
	body := s.describe(element, format)
	if s.wrong("Y95-75/http11") && q.version == "HTTP/1.1" {
		body = s.describe(known2, format)
	}
	r := text(200, format, body)
	date := time.Now().UTC().Truncate(time.Second)
	last := changed()
	if s.wrong("Y95-68/date") {
		last = date.Add(time.Hour)
	}
	r.field("Date", date.Format(http.TimeFormat))
	if !s.wrong("Y95-68/last-modified") {
		r.field("Last-Modified", last.Format(http.TimeFormat))
	}
	if since := q.get("If-Modified-Since"); since != "" && s.unchanged(since, last) {
		return &reply{status: 304}
	}
	if s.wrong("Y95-41/200") {
		r.status = 203
	}
	if accept == "" {
		switch {
		case s.wrong("Y95-28/chunks"):
			r.field("Transfer-Encoding", "chunked")
		case s.wrong("Y95-28/close"):
			r.open = len(q.fields) == 0 && q.target == known1
		case s.wrong("Y95-39/one"):
			r.raw = "HTTP/1.0 200 OK\r\n\r\nMore of it.\r\n"
		}
	}
	return r
}

// unchanged evaluates If-Modified-Since.
func (s *little) unchanged(since string, last time.Time) bool {
	then, err := http.ParseTime(since)
	form := "304"
	switch {
	case strings.Contains(since, "-"):
		form = "rfc850"
	case !strings.Contains(since, ","):
		form = "asctime"
	}
	if then.Before(last.Truncate(time.Second)) {
		return s.wrong("Y95-68/200")
	}
	return err == nil && !s.wrong("Y95-68/"+form)
}

// describe writes the metadata of an element.
func (s *little) describe(element, format string) string {
	where := slices.Clone(urls())
	if element == known2 {
		where = []string{"http://www.names.example/3"}
	}
	if s.wrong("Y95-48/url") {
		where[0] = "http://www.names.example/%zz"
	}
	var b strings.Builder
	switch format {
	case "text/html":
		b.WriteString("<!DOCTYPE html>\n<title>An album</title>\n")
		if !s.wrong("Y95-74/information") {
			b.WriteString("<p>中</p>\n")
		}
		for _, u := range where {
			u = html.EscapeString(u)
			if s.wrong("Y95-51/links") {
				b.WriteString("<p>" + u + "</p>\n")
			} else {
				b.WriteString("<p><a href=\"" + u + "\">" + u + "</a></p>\n")
			}
		}
	case "text/plain":
		b.WriteString("An album\r\n")
		for _, u := range where {
			if !s.wrong("Y95-69/plain") {
				b.WriteString("  " + u + "\r\n")
			}
		}
	default:
		s.writeParts(&b, where)
	}
	return b.String()
}

func (s *little) writeParts(b *strings.Builder, where []string) {
	if s.wrong("Y95-74/information") {
		b.WriteString("=====\r\n")
		return
	}
	if s.wrong("Y95-50/parts") {
		b.WriteString("Here it is:\r\n")
	}
	header, meta := "=====;charset=ISO-8859-1;language=en", "An album &#x4e2d;"
	switch {
	case s.wrong("Y95-46/charset"):
		header = "=====;charset=UTF-8"
	case s.wrong("Y95-46/bytes"):
		header, meta = "=====", "Gr\xf6\xdfe &#x4e2d;"
	case s.wrong("Y95-47/language"):
		header = "=====;language=en_GB"
	case s.wrong("Y95-78/scripts"):
		meta = "An album ?"
	}
	for i, u := range where {
		b.WriteString(header + "\r\n")
		last := i == len(where)-1
		switch {
		case last && s.wrong("Y95-48/folded"):
			b.WriteString("<URL:" + u + "\r\n")
		case last:
			b.WriteString("<URL:" + u[:len(u)-2] + "\r\n" + u[len(u)-2:] + ">\r\n")
		default:
			b.WriteString(u + "\r\n" + meta + "\r\n")
		}
	}
	if s.wrong("Y95-49/lines") {
		b.WriteString("===== History\r\n")
	}
}
