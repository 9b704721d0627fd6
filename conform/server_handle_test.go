package conform_test

import "strings"

// isHandle reports whether a request is for the API or the proxy of a Handle server.
func isHandle(q *incoming) bool {
	path, query, _ := strings.Cut(q.target, "?")
	return strings.HasPrefix(path, "/api/handles") || query == "noredirect" || query == "ignore_aliases"
}

// handle answers a request for the API or the proxy of a Handle server.
func (s *little) handle(q *incoming) *reply {
	const media, page = "application/json;charset=UTF-8", "text/html; charset=utf-8"
	name, query, _ := strings.Cut(strings.TrimPrefix(q.target, "/api/handles"), "?")
	name = strings.TrimPrefix(name, "/")
	fails := func(id string, status int, body string) *reply {
		if s.wrong(id) {
			status++
		}
		return text(status, media, body)
	}
	switch {
	case query == "noredirect" && name == testAuthority+":"+known1 && s.wrong("HDL-noredirect"):
		return text(200, page, "<p>")
	case query == "noredirect" && name == testAuthority+":"+known1:
		return text(200, page, "<table>")
	case query == "noredirect":
		return fails("HDL-page", 404, "").without("Content-Type").field("Content-Type", page)
	case query == "ignore_aliases" && s.wrong("HDL-redirect"):
		return text(302, page, `<a href="http://www.names.example/3">`).field("Location", "http://www.names.example/2")
	case query == "ignore_aliases":
		return text(302, page, `<a href="http://www.names.example/2">`).field("Location", "http://www.names.example/2")
	case strings.HasPrefix(query, "prefix=") && s.wrong("HDL-rights"):
		return text(401, media, `{"responseCode":402}`)
	case strings.HasPrefix(query, "prefix="):
		return text(401, media, `{"responseCode":402}`).field("WWW-Authenticate", `Basic realm="handle"`)
	case q.method != "GET":
		return fails("HDL-method", 501, `{"responseCode":4}`)
	case name == "":
		return fails("HDL-empty", 400, `{"responseCode":102}`)
	case name != testAuthority+":"+known1:
		return fails("HDL-unknown", 404, `{"responseCode":100}`)
	case query == "type=NO-SUCH-TYPE":
		return fails("HDL-nothing", 200, `{"responseCode":200}`)
	}
	return s.handleValues(q, name, query)
}

// handleValues answers a request for the values of a handle.
func (s *little) handleValues(q *incoming, name, query string) *reply {
	url := `{"index":1,"type":"URL","data":{"format":"string","value":"http://www.names.example/2"},"ttl":86400,"timestamp":"2014-05-13T16:53:20Z"}`
	more := `,{"index":2,"type":"DESC","data":{"format":"string","value":"An album"},"ttl":86400,"timestamp":"2014-05-13T16:53:20Z"}`
	if query == "index=1" && !s.wrong("HDL-index") || query == "type=URL" && !s.wrong("HDL-select") {
		more = ""
	}
	if s.wrong("HDL-value") {
		url = strings.Replace(url, `"format":"string",`, "", 1)
	}
	if s.wrong("HDL-time") {
		url = strings.Replace(url, `,"timestamp":"2014-05-13T16:53:20Z"`, "", 1)
	}
	if s.wrong("HDL-resolve") {
		name = strings.ToUpper(name)
	}
	media, body := "application/json;charset=UTF-8", `{"responseCode":1,"handle":"`+name+`","values":[`+url+more+`]}`
	if s.wrong("HDL-type") {
		media = "application/json"
	}
	if query == "callback=got" {
		media, body = "application/javascript;charset=UTF-8", "got("+body+");"
	}
	if s.wrong("HDL-jsonp") {
		body = strings.TrimSuffix(body, ";")
	}
	r := text(200, media, body)
	if q.get("Origin") != "" && !s.wrong("HDL-cors") {
		r.field("Access-Control-Allow-Origin", "*")
	}
	return r
}
