package server

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// check compares a response with the expected one and returns the differences.
func (e expectation) check(c cell, a answer) (wrong []string) {
	fault := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if a.header.Get("Date") == "" { // 9110, 6.6.1; C3
		fault("no Date")
	}
	if a.header.Get("Access-Control-Allow-Origin") != "*" { // C3: CORS open for reading
		fault("%d without Access-Control-Allow-Origin", a.status)
	}
	if !slices.Contains(e.statuses, a.status) {
		fault("row %q, service %q: status %d, want %d", c.row.id, c.service, a.status, e.statuses)
		return wrong
	}
	if a.status != e.statuses[0] {
		return wrong
	}
	if got := a.header.Get("Location"); got != e.location {
		fault("row %q, service %q: Location %q, want %q", c.row.id, c.service, got, e.location)
	}
	if !strings.Contains(a.reason, e.urn) {
		fault("row %q: reason phrase %q without %s", c.row.id, a.reason, e.urn)
	}
	if !strings.Contains(a.header.Get("Cache-Control"), e.cached) {
		fault("row %q: Cache-Control %q without %s", c.row.id, a.header.Get("Cache-Control"), e.cached)
	}
	vary := strings.ToLower(strings.Join(a.header.Values("Vary"), ","))
	for _, v := range e.vary {
		if !slices.ContainsFunc(strings.Split(vary, ","), func(s string) bool { return strings.TrimSpace(s) == v }) {
			fault("%d, service %q: Vary %q without %s", a.status, c.service, vary, v)
		}
	}
	if e.page || e.tagged {
		wrong = append(wrong, e.checkValidators(a)...)
	}
	if e.links {
		wrong = append(wrong, e.checkLinks(c, a)...)
	}
	if e.body != "" && a.body != e.body {
		fault("row %q: body %q, want %q", c.row.id, a.body, e.body)
	}
	return append(wrong, e.checkBody(c, a)...)
}

// checkValidators checks the validators of every 200 about a name (C3; Y95-68).
func (e expectation) checkValidators(a answer) (wrong []string) {
	if tag := a.header.Get("ETag"); len(tag) < 3 || tag[0] != '"' {
		wrong = append(wrong, fmt.Sprintf("200 with ETag %q", tag))
	}
	if _, err := http.ParseTime(a.header.Get("Last-Modified")); err != nil && e.page {
		wrong = append(wrong, "200 with Last-Modified: "+err.Error())
	}
	if a.header.Get("Cache-Control") == "" {
		wrong = append(wrong, "200 without Cache-Control")
	}
	return wrong
}

// checkLinks checks the links of every name (C3), in the syntax of RFC 8288.
func (e expectation) checkLinks(c cell, a answer) (wrong []string) {
	byRel := map[string][]string{}
	for _, v := range a.header.Values("Link") {
		links, err := readLinks(v)
		if err != nil {
			return []string{"Link: " + err.Error()}
		}
		for _, l := range links {
			byRel[l.params["rel"]] = append(byRel[l.params["rel"]], l.target)
		}
	}
	if got, want := byRel["cite-as"], []string{worldURL + "/" + c.row.name}; !slices.Equal(got, want) {
		wrong = append(wrong, fmt.Sprintf("row %q, service %q: cite-as %q, want %q", c.row.id, c.service, got, want))
	}
	for _, rel := range []string{"describedby", "linkset"} {
		if len(byRel[rel]) == 0 {
			wrong = append(wrong, fmt.Sprintf("row %q, service %q: no link %s", c.row.id, c.service, rel))
		}
	}
	for _, u := range e.items {
		if !slices.Contains(byRel["item"], u) {
			wrong = append(wrong, fmt.Sprintf("row %q, service %q: no link item to %s in %q", c.row.id, c.service, u, byRel["item"]))
		}
	}
	return wrong
}

// checkBody checks the body according to its type.
func (e expectation) checkBody(c cell, a answer) (wrong []string) {
	if e.types == nil && e.words == nil && e.uris == nil && e.parts < 0 {
		return nil
	}
	contentType := a.header.Get("Content-Type")
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil && a.body != "" {
		return []string{fmt.Sprintf("Content-Type %q: %v", contentType, err)}
	}
	if e.types != nil && !slices.Contains(e.types, mediaType) {
		return []string{fmt.Sprintf("%d, service %q, Accept %q: type %q, want one of %q", a.status, c.service, c.accept, mediaType, e.types)}
	}
	if e.body != "" {
		return nil
	}
	if e.parts >= 0 && mediaType != "multipart/alternative" {
		if e.parts > 1 {
			return []string{fmt.Sprintf("row %q, Accept %q: one resource of %d", c.row.id, c.accept, e.parts)}
		}
		return nil
	}
	r, err := readBody(contentType, a.body)
	if err != nil {
		return []string{fmt.Sprintf("row %q, service %q: %s: %v", c.row.id, c.service, mediaType, err)}
	}
	if e.parts >= 0 && len(r.parts) != e.parts {
		wrong = append(wrong, fmt.Sprintf("row %q, Accept %q: %d resources, want %d", c.row.id, c.accept, len(r.parts), e.parts))
	}
	for _, w := range e.words {
		if !strings.Contains(strings.ToLower(r.text), strings.ToLower(w)) && !(w == "true" && r.true) {
			wrong = append(wrong, fmt.Sprintf("row %q, service %q: %d in %s without %q: %.80q", c.row.id, c.service, a.status, mediaType, w, a.body))
		}
	}
	wrong = append(wrong, e.checkProblem(c, a, mediaType, r)...)
	if a.status == http.StatusOK {
		wrong = append(wrong, e.checkURIs(c, mediaType, r)...)
	}
	return wrong
}

// checkProblem checks the members of RFC 9457 and of the contract.
func (e expectation) checkProblem(c cell, a answer, mediaType string, r *reading) (wrong []string) {
	if e.problem == "" || mediaType != "application/problem+json" {
		return nil
	}
	t, _ := r.object["type"].(string)
	if last := t[strings.LastIndexAny(t, "/:#")+1:]; last != e.problem && (last != e.also || last == "") {
		wrong = append(wrong, fmt.Sprintf("row %q, service %q: problem of type %q, want %q", c.row.id, c.service, t, e.problem))
	}
	if s, _ := r.object["status"].(float64); int(s) != a.status {
		wrong = append(wrong, fmt.Sprintf("row %q: problem of status %v, want %d", c.row.id, s, a.status))
	}
	if _, ok := r.object["offset"].(float64); !ok && e.problem == "malformed" {
		wrong = append(wrong, "malformed without offset: "+a.body)
	}
	return wrong
}

// checkURIs compares the URIs in a body. The requested name may appear there too (2169,
// appendix A).
func (e expectation) checkURIs(c cell, mediaType string, r *reading) (wrong []string) {
	got := slices.DeleteFunc(slices.Clone(r.uris), func(u string) bool {
		return strings.HasSuffix(u, c.row.name) && !slices.Contains(e.uris, u)
	})
	for _, w := range e.uris {
		// A name is not a URL: in text/urc-0 it is metainformation (Y95-48, Y95-49).
		if !slices.Contains(got, w) && !(mediaType == "text/urc-0" && strings.HasPrefix(w, "urn:")) {
			wrong = append(wrong, fmt.Sprintf("row %q, service %q: %s in %q without %s", c.row.id, c.service, mediaType, got, w))
		}
		if strings.HasPrefix(mediaType, "text/") && !strings.Contains(r.text, w) {
			wrong = append(wrong, fmt.Sprintf("row %q, service %q: %s does not show %s", c.row.id, c.service, mediaType, w))
		}
	}
	if e.exact && len(got) > len(e.uris) {
		wrong = append(wrong, fmt.Sprintf("row %q, service %q: %s has %q, want %q", c.row.id, c.service, mediaType, got, e.uris))
	}
	return wrong
}
