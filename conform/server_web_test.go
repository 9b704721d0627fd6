package conform_test

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"
)

// thttp handles a service of RFC 2169, including the names of RFC 2483.
func (s *little) thttp(q *incoming, service, operand string) *reply {
	accept := q.get("Accept")
	lower := strings.ToLower(service)
	if service != strings.ToUpper(service[:3])+service[3:] && s.wrong("RFC2483-2.1/case") {
		return problem(404)
	}
	if lower == "i=i" {
		a, b, _ := strings.Cut(operand, "&")
		same := a == b && !s.wrong("RFC2483-4.9/true") || a != b && s.wrong("RFC2483-4.9/false")
		return text(200, "text/plain", strings.ToUpper(fmt.Sprint(same)))
	}
	if strings.HasPrefix(lower, "l2") {
		return s.reverse(lower, operand)
	}
	new := strings.HasPrefix(lower, "i2") // RFC 2483
	if strings.Contains(operand, "%zz") {
		if new && s.wrong("RFC2483-4/malformed") {
			return problem(404)
		}
		return problem(400)
	}
	element, ok := cutAuthority(operand)
	switch {
	case ok && element == goneName:
		if new && s.wrong("RFC2483-4/past") {
			return problem(404)
		}
		return problem(410)
	case !ok || element != known1 && element != known2:
		if !new && s.wrong("RFC2169-2/404") {
			return text(200, "text/uri-list", "# "+operand+"\r\n")
		}
		if new && s.wrong("RFC2483-4/unknown") {
			return problem(400)
		}
		return problem(404)
	}
	switch lower[1:] {
	case "2l":
		return s.one(q, new)
	case "2ls":
		return s.all(operand, accept, new)
	case "2rs":
		if s.wrong("RFC2169-3.4/N2Rs") {
			return text(200, "multipart/alternative", "--x--\r\n")
		}
		return text(200, "multipart/alternative; boundary=x", "--x\r\nContent-Type: text/plain\r\n\r\nla\r\n--x--\r\n")
	case "2c":
		return s.described(accept, new)
	case "2n":
		if s.wrong("RFC2483-4.7/I2N") {
			return text(200, "text/uri-list", "# "+operand+"\r\nurn:example:a\r\nurn:example:b\r\n")
		}
		return text(200, "text/uri-list", "# "+operand+"\r\nurn:example:a\r\n")
	case "2ns":
		if !new && s.wrong("RFC2169-3.6/N2Ns") || new && s.wrong("RFC2483-4.8/I2Ns") {
			return text(200, "text/uri-list", "# "+operand+"\r\nhttp://www.names.example/\r\n")
		}
		return text(200, "text/uri-list", "# "+operand+"\r\nurn:example:a\r\nurn:example:b\r\n")
	}
	return problem(404)
}

// one handles N2L and I2L.
func (s *little) one(q *incoming, new bool) *reply {
	status := 303
	switch {
	case q.version == "HTTP/1.0" && !s.wrong("RFC2169-3.1/302"), q.version == "HTTP/1.1" && !new && s.wrong("RFC2169-3.1/303"):
		status = 302
	}
	r := &reply{status: status}
	switch {
	case !new && s.wrong("RFC2169-3.1/location"):
		return r
	case new && s.wrong("RFC2483-4.2/one-of"):
		return r.field("Location", "http://other.example/")
	case new && s.wrong("RFC2483-4.1/I2L"):
		r.field("Location", urls()[1])
	}
	return r.field("Location", urls()[0])
}

// all handles N2Ls and I2Ls.
func (s *little) all(operand, accept string, new bool) *reply {
	wrong := func(id string) bool {
		return !new && s.wrong("RFC2169-"+id) || new && s.wrong("RFC2483-"+id)
	}
	switch {
	case !new && accept == "" && s.wrong("RFC2169-2/service"), wrong("4.2/I2Ls"):
		return problem(404)
	}
	where := slices.Clone(urls())
	if wrong("A/uris") || wrong("5/uris") {
		where = append(where, "http://a b/")
	}
	if !new && !strings.HasPrefix(operand, "urn:") && s.wrong("RFC2169-2/equivalent") {
		where = where[:1]
	}
	if accept == "text/html" {
		var b strings.Builder
		for _, u := range where {
			link := "<A HREF=\"" + html.EscapeString(u) + "\">" + html.EscapeString(u) + "</A>\r\n"
			if !wrong("3.2/html") {
				link = "<LI>" + link
			}
			b.WriteString(link)
		}
		return text(200, "text/html", "<UL>\r\n"+b.String()+"</UL>\r\n")
	}
	comment, end := "# "+operand+"\r\n", "\r\n"
	if wrong("A/lines") || wrong("5/lines") {
		end = "\n"
	}
	if wrong("A/comment") || wrong("5/comment") {
		comment = ""
	}
	if wrong("3.2/uri-list") {
		return text(200, "text/plain", strings.Join(where, end)+end)
	}
	return text(200, "text/uri-list", comment+strings.Join(where, end)+end)
}

// described handles N2C and I2C.
func (s *little) described(accept string, new bool) *reply {
	format := "text/urc-0"
	if accept != "" && !(!new && s.wrong("RFC2169-3.5/accept")) {
		format = accept
	}
	switch {
	case !new && s.wrong("RFC2169-3.5/type"):
		return text(200, format+"; charset", "An album")
	case new && s.wrong("RFC2483-4.5/I2C"):
		return text(200, format, "")
	}
	return text(200, format, "An album")
}

// reverse handles L2Ns, L2Ls and L2C.
func (s *little) reverse(service, url string) *reply {
	switch service {
	case "l2ns":
		if s.wrong("RFC2169-3.7/L2Ns") {
			return text(200, "text/uri-list", "# "+url+"\r\nurn:example:a\r\n")
		}
		return text(200, "text/uri-list", "# "+url+"\r\n"+testAuthority+":"+known1+"\r\n")
	case "l2ls":
		if s.wrong("RFC2169-3.8/L2Ls") {
			return text(200, "text/uri-list", "# "+url+"\r\n")
		}
		return text(200, "text/uri-list", "# "+url+"\r\n"+strings.Join(urls(), "\r\n")+"\r\n")
	}
	if s.wrong("RFC2169-3.9/L2C") {
		return text(200, "text/plain", "An album")
	}
	return text(200, "text/urc-0", "An album")
}

// web handles a path that is a name.
func (s *little) web(q *incoming) *reply {
	name := strings.TrimPrefix(q.target, "/")
	name, component, asked := strings.Cut(name, "?")
	element, ok := cutAuthority(name)
	switch {
	case strings.HasPrefix(name, "/unrelated.invalid") && s.wrong("WEB/open-redirect"):
		return (&reply{status: 301}).field("Location", "/"+name)
	case strings.Contains(name, "%zz"):
		if s.wrong("RFC9110-15.5.1/malformed") {
			return problem(500)
		}
		return problem(400)
	case strings.Contains(name, "%0D%0A") && s.wrong("WEB/line-break"):
		return problem(404).field("X-Asked", "x\r\nX-Conform: injected")
	case !ok:
		return problem(404)
	case element == goneName:
		if s.wrong("RFC9110-15.5.11/410") {
			return problem(404)
		}
		return problem(410)
	case element == oldName:
		if s.wrong("RFC9110-15.4.2/301") {
			return problem(410)
		}
		return (&reply{status: 301}).field("Location", testBase+"/"+testAuthority+":"+known1)
	case element == known2:
		if s.wrong("RFC9110-10.2.2/scheme") {
			return (&reply{status: 303}).field("Location", "javascript:alert(1)")
		}
		return (&reply{status: 303}).field("Location", "http://www.names.example/3")
	case element != known1 && s.wrong("RFC9110-15.5.5/404"):
		return text(200, "text/html", "There is no such name.")
	case element != known1, !strings.HasPrefix(name, "urn:dns:") && s.wrong("RFC8141-3.1/case"):
		return problem(404)
	case asked && component[0] == '+' && s.wrong("RFC8141-2.3.1/r-component"):
		return problem(400)
	}
	if r := s.cited(q.get("Accept")); r != nil {
		return r
	}
	if q.get("Accept") == "text/html" {
		return s.landing()
	}
	r := (&reply{status: 303}).field("Vary", "Accept")
	to := "http://www.names.example/2"
	if asked && component[0] == '=' && !s.wrong("RFC8141-2.3.2/q-component") {
		to += "?" + component[1:]
	}
	r.field("Location", to)
	if s.wrong("RFC9110-15/name") {
		r.status = 204
	}
	if s.wrong("RFC9110-10.2.2/location") {
		r.field("Location", to)
	}
	var links []string
	add := func(id, target, params string) {
		if id == "" || !s.wrong(id) {
			links = append(links, "<"+target+">; "+params)
		}
	}
	add("", "/meta/"+known1, `rel="describedby"; type="application/ld+json"`)
	add("RFC7089-2.2.2/timegate", s.gateURL(), `rel="timegate"`)
	if s.wrong("RFC7089-2.2.3/timemap") {
		add("", "/timemap", `rel="timemap"`)
	} else {
		add("", "/timemap", `rel="timemap"; type="application/link-format"`)
	}
	if s.wrong("RFC9264-6/type") {
		add("", "/linkset", `rel="linkset"`)
	} else {
		add("RFC9264-6/link", "/linkset", `rel="linkset"; type="application/linkset+json"`)
	}
	return r.field("Link", strings.Join(links, ", "))
}

// cited returns a citation.
func (s *little) cited(accept string) *reply {
	body := ""
	switch accept {
	case "application/vnd.citationstyles.csl+json":
		body = `{"type":"song","title":"An album"}`
		if s.wrong("CSL/json") {
			body = `[{"type":"song","title":"An album"}]`
		}
	case "application/x-bibtex":
		body = "@misc{alb002,\n  title = {An album}\n}\n"
		if s.wrong("CSL/bibtex") {
			body = "alb002: An album\n"
		}
	case "application/x-research-info-systems":
		body = "TY  - SOUND\r\nTI  - An album\r\nER  - \r\n"
		if s.wrong("CSL/ris") {
			body = "TI  - An album\r\n"
		}
	default:
		return nil
	}
	return text(200, accept, body).field("Vary", "Accept")
}

// meta returns the description to which links with "describedby" lead.
func (s *little) meta(q *incoming) *reply {
	if q.get("If-None-Match") == `"v1"` && !s.wrong("RFC9110-13.1.2/304") {
		return &reply{status: 304}
	}
	format := "application/ld+json"
	if s.wrong("FAIR-1/describedby-answer") {
		format = "text/html"
	}
	return text(200, format, "{}").field("ETag", `"v1"`)
}

// original returns the URL of the name that has a history.
func original() string { return testBase + "/" + testAuthority + ":" + known1 }

func (s *little) gateURL() string { return testBase + "/timegate/" + original() }

// moments are the times of the mementos.
func moments() []time.Time {
	at := func(year int) time.Time { return time.Date(year, 2, 3, 4, 5, 6, 0, time.UTC) }
	return []time.Time{at(2020), at(2021), at(2022)}
}

func mementoURL(t time.Time) string { return testBase + "/at/" + t.Format("2006") }

func (s *little) timeGate(q *incoming) *reply {
	wish, all := q.get("Accept-Datetime"), moments()
	chosen := all[2]
	when, err := http.ParseTime(wish)
	switch {
	case wish == "":
		if s.wrong("RFC7089-4.5.3/none") {
			chosen = all[0]
		}
	case err != nil:
		if !s.wrong("RFC7089-4.5.3/invalid") {
			return problem(400)
		}
	case when.Before(all[1]):
		if !s.wrong("RFC7089-4.5.3/first") {
			chosen = all[0]
		}
	case s.wrong("RFC7089-4.5.3/last"):
		chosen = all[1]
	}
	r := (&reply{status: 302}).field("Location", mementoURL(chosen))
	negotiated := q.method == "GET" && wish != ""
	if negotiated && s.wrong("RFC7089-4/negotiate") {
		r.status = 303
	}
	if !(negotiated && s.wrong("RFC7089-2.1.2/vary")) {
		r.field("Vary", "accept-datetime")
	}
	if negotiated && s.wrong("RFC7089-4.1.1/redirect") {
		r.field("Memento-Datetime", chosen.Format(http.TimeFormat))
	}
	timeMap := testBase + "/timemap"
	if s.wrong("RFC7089-4.2.1/prefix") {
		timeMap = "/timemap"
	}
	links := "<" + timeMap + `>; rel="timemap"; type="application/link-format"`
	if !(negotiated && s.wrong("RFC7089-2.2.1/original")) {
		links += ", <" + original() + `>; rel="original"`
	}
	return r.field("Link", links)
}

func (s *little) timeMap() *reply {
	var lines []string
	add := func(id, line string) {
		if id == "" || !s.wrong(id) {
			lines = append(lines, line)
		}
	}
	add("RFC7089-5/original", "<"+original()+`>; rel="original"`)
	add("RFC7089-5/timegate", "<"+s.gateURL()+`>; rel="timegate"`)
	add("RFC7089-5/self", `</timemap>; rel="self"; type="application/link-format"`)
	for i, t := range moments() {
		layout := http.TimeFormat
		if i == 1 && s.wrong("RFC7089-2.2.4/datetime") {
			layout = "Monday, 02-Jan-06 15:04:05 GMT"
		}
		add("", "<"+mementoURL(t)+`>; rel="memento"; datetime="`+t.Format(layout)+`"`)
		if s.twins {
			add("", "<"+mementoURL(t)+`-2>; rel="memento"; datetime="`+t.Format(layout)+`"`)
		}
	}
	format := "application/link-format"
	if s.wrong("RFC7089-5/type") {
		format = "text/plain"
	}
	return text(200, format, strings.Join(lines, ",\n"))
}

func (s *little) memento(q *incoming) *reply {
	for _, t := range moments() {
		if strings.TrimSuffix(q.target, "-2") != strings.TrimPrefix(mementoURL(t), testBase) {
			continue
		}
		r := text(200, "text/html", "An album, as it was")
		if s.wrong("RFC7089-5/datetime") {
			t = t.Add(time.Hour)
		}
		if !s.wrong("RFC7089-2.1.1/datetime") {
			r.field("Memento-Datetime", t.Format(http.TimeFormat))
		}
		if !s.wrong("RFC7089-4.1.1/memento-original") {
			r.field("Link", "<"+original()+`>; rel="original"`)
		}
		if s.wrong("RFC7089-4.1.1/memento-vary") {
			r.field("Vary", "Accept-Datetime")
		}
		return r
	}
	return problem(404)
}
