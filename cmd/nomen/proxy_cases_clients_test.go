//go:build clients

package main

import (
	"fmt"
	"strings"
)

// A passedCase is a request that a proxy must pass on unchanged, and its response too.
type passedCase struct {
	what   string // in the table
	method string // GET if empty
	target string
	fields string // of the request, each with its CRLF
	body   string
	status int // that the server itself sends

	noHTTP2 bool // Go's HTTP/2 does not send or answer it
}

// proxyNames are the names of the test.
func proxyNames() string {
	var all strings.Builder
	add := func(name, location string) {
		fmt.Fprintf(&all, `{"name":%q,"locations":[{"url":%q}],"metadata":{"title":["Title of %[1]s"]}}`+"\n", name, location)
	}
	for _, status := range []string{"301", "302", "303", "307", "308"} {
		add("urn:x-s"+status+":1", "https://www.example.edu/"+status+"?a=1&b=%2F//")
	}
	for i, odd := range oddNames {
		add(odd.name, fmt.Sprintf("https://www.example.edu/odd/%d", i))
	}
	add("urn:x-odd:far", "https://www.example.edu/"+strings.Repeat("x", 20000))
	add("urn:x-odd:withdrawn", "https://www.example.edu/withdrawn")
	add("urn:x-closed:1", "https://www.example.edu/closed")
	add("urn:x-court:1", "https://www.example.edu/court")
	all.WriteString(`{"name":"urn:x-odd:many","locations":[`)
	for i := range 10 {
		fmt.Fprintf(&all, `{"url":"https://www.example.edu/%d/%s","priority":%[1]d},`, i+1, strings.Repeat("x", 2000))
	}
	return strings.TrimSuffix(all.String(), ",") + `],"metadata":{"title":["Many locations"]}}` + "\n"
}

// oddNames are names that proxies like to change. The path is the name after a slash.
var oddNames = []struct{ what, name string }{
	{"an escaped slash", "urn:x-odd:a%2Fb"},
	{"an escaped slash in lower case", "urn:x-odd:low%2fcase"},
	{"two slashes", "urn:x-odd:a//b"},
	{"a slash at the end", "urn:x-odd:dir/"},
	{"a URL in the path", "https://purl.example.edu/net//x%2Fy"},
	{"an escaped question mark", "urn:x-odd:what%3F"},
	{"an escaped number sign", "urn:x-odd:a%23b"},
	{"an escaped percent sign", "urn:x-odd:100%25"},
	{"a semicolon", "urn:x-odd:a;v=1"},
	{"plus signs", "urn:x-odd:a+b++c"},
	{"all sub-delims", "urn:x-odd:!$&'()*+,;=:@~"},
	{"UTF-8 in escapes", "urn:x-odd:caf%C3%A9-%E4%B8%AD"},
	{"escaped angle brackets", "doi:10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O"},
	{"an ARK with a slash after its scheme", "ark:/12345/x5wf6789"},
	{"a dot segment", "urn:x-odd:a/./b"},
	{"two dots as a segment", "urn:x-odd:a/../b"},
	{"escaped dots as a segment", "urn:x-odd:a/%2E%2E/b"},
	{"a dot at the end", "urn:x-odd:end."},
	{"2,000 bytes", "urn:x-odd:" + strings.Repeat("x", 1990)},
}

// passedCases returns the requests: each status, and each odd name.
func passedCases() []passedCase {
	const accept = "Accept: application/json\r\n"
	cases := []passedCase{
		{what: "200, description", target: "/urn:x-s303:1?s=I2C", status: 200},
		{what: "200, page with gzip", target: "/urn:x-s303:1?s=I2C", fields: "Accept: text/html\r\nAccept-Encoding: gzip\r\n", status: 200},
		{what: "200, text with gzip", target: "/urn:x-s303:1?s=I2C&format=text", fields: "Accept-Encoding: gzip\r\n", status: 200},
		{what: "200, header of 25 kB", target: "/urn:x-odd:many?s=I2C", status: 200},
		{what: "200, HEAD", method: "HEAD", target: "/urn:x-s303:1?s=I2C", status: 200},
		{what: "200, batch of 2 MB", method: "POST", target: "/-/resolve", fields: "Content-Type: text/uri-list\r\n", body: strings.Repeat("urn:x-odd:absent-"+strings.Repeat("z", 180)+"\n", 9990), status: 200},
		{what: "200, THTTP", target: "/uri-res/N2C?urn:x-s303:1", status: 200},
		{what: "204, OPTIONS", method: "OPTIONS", target: "/urn:x-s303:1", fields: "Origin: https://other.example\r\nAccess-Control-Request-Method: GET\r\n", status: 204},
		{what: "206, part of a list", target: "/-/list/urn:x-odd", fields: "Range: bytes=3-20\r\n", status: 206},
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		cases = append(cases, passedCase{what: fmt.Sprintf("%d, redirect", status), target: fmt.Sprintf("/urn:x-s%d:1", status), status: status})
	}
	cases = append(cases, []passedCase{
		{what: "303, location of 20 kB", target: "/urn:x-odd:far", status: 303},
		{what: "304", target: "/urn:x-s303:1?s=I2C", fields: "If-None-Match: *\r\n", status: 304},
		{what: "400, invalid name", target: "/urn:x-odd:", status: 400},
		{what: "403", target: "/urn:x-closed:1", status: 403},
		{what: "404", target: "/urn:x-odd:absent", fields: accept, status: 404},
		{what: "405", method: "DELETE", target: "/urn:x-s303:1", status: 405},
		{what: "406", target: "/urn:x-s303:1?s=I2C", fields: "Accept: */*;q=0\r\n", status: 406},
		{what: "410", target: "/urn:x-odd:withdrawn", status: 410},
		{what: "412", target: "/urn:x-s303:1?s=I2C", fields: "If-Match: \"x\"\r\n", status: 412},
		{what: "415", method: "POST", target: "/-/resolve", fields: "Content-Type: image/png\r\n", body: "x", status: 415},
		{what: "416", target: "/-/list/urn:x-odd", fields: "Range: bytes=900000-\r\n", status: 416},
		{what: "451", target: "/urn:x-court:1", status: 451},
	}...)
	const others = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Host: other.example\r\nX-Forwarded-Proto: gopher\r\nForwarded: for=203.0.113.9;host=other.example\r\n"
	cases = append(cases, passedCase{what: "200, with fields of other proxies", target: "/urn:x-s303:1?s=I2C", fields: others, status: 200},
		passedCase{what: "200, element, with fields of other proxies", target: "/alb002", fields: others, status: 200})
	for _, odd := range oddNames {
		cases = append(cases, passedCase{what: odd.what, target: "/" + odd.name, status: 303})
	}
	return append(cases, []passedCase{
		{what: "a query", target: "/urn:x-s303:1?a=1&&b;c=%2F?//", status: 303},
		{what: "a query without content", target: "/urn:x-s303:1?", status: 303},
		{what: "a q-component", target: "/urn:x-s303:1?=q=%2F//;x", status: 303},
		{what: "an r-component", target: "/urn:x-s303:1?+r", status: 303},
		{what: "an empty first segment", target: "//urn:x-s303:1", status: 404},
		{what: "empty segments before a URL", target: "///https://purl.example.edu/net//x%2Fy%3F?a=//%2F", fields: accept, status: 404},
		{what: "slashes alone", target: "//", status: 404},
		{what: "dollar signs", target: "/urn:x-odd:$1$0", status: 404},
		{what: "a dollar sign alone", target: "/$0", status: 404},
		{what: "an empty element", target: "/urn:x-odd:?s=I2C", status: 400},
		{what: "escaped NUL", target: "/urn:x-odd:a%00b", status: 400},
		{what: "escaped LF", target: "/urn:x-odd:a%0Ab", status: 404},
		{what: "an incomplete escape", target: "/urn:x-odd:a%2", status: 400, noHTTP2: true},
		{what: "dots above the root", target: "/../urn:x-s303:1", status: 404},
		{what: "a vertical bar and a caret", target: "/urn:x-odd:a|b^c", status: 404},
		{what: "a quote and angle brackets", target: "/urn:x-odd:\"<a>\"", status: 404},
		{what: "a backslash", target: "/urn:x-odd:a\\b", status: 404},
		{what: "brackets and braces", target: "/urn:x-odd:[a]{b}", status: 400},
		{what: "UTF-8 without escapes", target: "/urn:x-odd:café", status: 404},
		{what: "a target of 8,000 bytes", target: "/urn:x-odd:" + strings.Repeat("y", 7989), status: 400},
	}...)
}
