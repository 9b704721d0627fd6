package conform_test

import "strings"

// isEZID reports whether a request is for the API of EZID.
func isEZID(q *incoming) bool {
	return strings.HasPrefix(q.target, "/id/") || q.target == "/status" || q.target == "/login" ||
		q.get("No-Redirect") != "" || strings.HasSuffix(q.target, "?info") || strings.HasSuffix(q.target, "??")
}

// ezid answers a request for the API of EZID.
func (s *little) ezid(q *incoming) *reply {
	const media = "text/plain; charset=utf-8"
	id, query, _ := strings.Cut(strings.TrimPrefix(q.target, "/id/"), "?")
	elements := "_created: 1400000000\n_profile: erc\n_status: public\n_target: http://www.names.example/2\n_updated: 1400000001\nerc.what: An album\n"
	switch {
	case q.target == "/status" && s.wrong("EZID-status"):
		return text(200, media, "EZID is up")
	case q.target == "/status" && s.wrong("EZID-type"):
		return text(200, "text/plain", "success: EZID is up")
	case q.target == "/status":
		return text(200, media, "success: EZID is up")
	case q.target == "/login" && s.wrong("EZID-login"):
		return text(401, media, "error: unauthorized").field("WWW-Authenticate", `Basic realm="names"`)
	case q.target == "/login":
		return text(401, media, "error: unauthorized").field("WWW-Authenticate", `Basic realm="EZID"`)
	case q.method != "GET" && s.wrong("EZID-method"):
		return text(400, media, "error: method not allowed")
	case q.method != "GET":
		return text(405, media, "error: method not allowed").field("Allow", "GET")
	case query == "nonesuch=1" && !s.wrong("EZID-parameter"):
		return text(400, media, "error: bad request - unrecognized URL query parameter 'nonesuch'")
	case q.get("No-Redirect") != "" && s.wrong("EZID-resolve"):
		return text(200, media, "")
	case q.get("No-Redirect") != "":
		return text(200, media, "").field("Location", "http://www.names.example/2")
	case query == "?" && s.wrong("EZID-info"):
		return text(404, media, "")
	case !strings.HasPrefix(q.target, "/id/"):
		return text(200, media, elements)
	case id != testAuthority+":"+known1 && s.wrong("EZID-unknown"):
		return text(404, media, "error: bad request - no such identifier")
	case id != testAuthority+":"+known1:
		return text(400, media, "error: bad request - no such identifier")
	case s.wrong("EZID-view"):
		id += "0"
	case s.wrong("EZID-elements"):
		elements = strings.TrimSuffix(elements, "\n")
	case s.wrong("EZID-internal"):
		elements = strings.Replace(elements, "1400000000", "2014-05-13", 1)
	}
	return text(200, media, "success: "+id+"\n"+elements)
}
