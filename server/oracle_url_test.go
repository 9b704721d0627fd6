package server

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A urlRow is a URL for the services of RFC 2169, 3.7 to 3.9.
type urlRow struct {
	id, url string
	names   []string // public names with this location
	beside  []string // the other locations of these names
	bad     bool
}

func urlRows() []urlRow {
	several := severalPlaces
	return []urlRow{
		{id: "of one name", url: oneURL, names: []string{"urn:dns:names.example:one"}},
		{
			id: "one of several of a name", url: several[1].URL,
			names:  []string{"urn:dns:names.example:several", "urn:dns:names.example:also", "urn:doi:10.1234/too"}, // 2169, 3.7: any known
			beside: []string{several[0].URL, several[2].URL},
		},
		{id: "of one name, in another spelling", url: "HTTPS://One.Example:443/%61", names: []string{"urn:dns:names.example:one"}, beside: []string{oneURL}}, // 3986, 6.2: the same URL
		{id: "of a reserved name", url: secretURL}, // C2: not yet public
		{id: "of names with access denied", url: deniedURL},
		{id: "of nothing", url: "https://nothing.example/"},
		{id: "no URL", url: "https://[::1/", bad: true},
	}
}

// expectURL returns the expectation of the documents for a service about a URL.
func expectURL(c cell, u urlRow) expectation {
	list := func(uris []string) expectation {
		e := c.listed("text/uri-list", uris, true) // 2169, 3.7: encoded as for N2Ls
		e.page, e.links, e.vary = false, false, []string{"accept"}
		if len(u.names) == 0 {
			// A list may be empty (C3), or the URL unknown (2483, 4).
			e.statuses = append(e.statuses, http.StatusNotFound)
		}
		return e
	}
	switch {
	case u.bad:
		return c.failure(http.StatusBadRequest, "malformed")
	case c.service == "L2Ns":
		return list(u.names)
	case c.service == "L2Ls":
		return list(u.beside)
	case len(u.names) == 0: // 2483, 4: a description of an unknown URL
		e := c.failure(http.StatusNotFound, "unknown-name")
		e.also = "no-result"
		return e
	}
	e := c.listed("text/urc-0", nil, false) // 2169, 3.9: the same as for N2C
	e.page, e.links, e.vary = false, false, []string{"accept"}
	if e.statuses[0] == http.StatusOK {
		if e.uris = []string{u.url}; u.url != oneURL && len(u.beside) == 1 {
			e.uris = u.beside // the URL is a spelling of one of them
		}
	}
	return e
}

func TestOracleOfURLs(t *testing.T) {
	world := newWorld(t)
	k := &sender{addr: world.Public}
	defer k.close()
	found := faults{all: map[string][]string{}}
	for _, u := range urlRows() {
		for _, service := range []string{"L2Ns", "L2Ls", "L2C"} {
			for _, accept := range accepts {
				c := cell{form: manner{id: "THTTP", thttp: true}, row: row{id: u.id, name: u.url}, service: service, accept: accept}
				accepted := ""
				if accept != "" {
					accepted = "Accept: " + accept + "\r\n"
				}
				text := fmt.Sprintf(" /uri-res/%s?%s HTTP/1.1\r\nHost: names.test\r\n%s\r\n", service, u.url, accepted)
				got := k.ask(t, []outgoing{{"GET", "GET" + text}, {"HEAD", "HEAD" + text}, {"GET", "GET" + text}})
				found.add(c, expectURL(c, u).check(c, got[0])...)
				found.add(c, sameHead(got[0], got[1])...)
				found.add(c, same(got[0], got[2])...)
				for _, secret := range []string{"names.example:secret", "denied.example:x", "legal.example:x"} {
					if strings.Contains(got[0].body, secret) || strings.Contains(fmt.Sprint(got[0].header), secret) {
						found.add(c, "tells of "+secret)
					}
				}
			}
		}
	}
	found.report(t)
}

// TestOracleOfEquality checks the answers to I=I that the documents determine: lexically
// equivalent names are equal, names that a record declares the same are one thing, and
// others are not known to be (8141, 3; 2483, 4.7 and 4.9).
func TestOracleOfEquality(t *testing.T) {
	world := newWorld(t)
	k := &sender{addr: world.Public}
	defer k.close()
	const one, several = "urn:dns:names.example:one", "urn:dns:names.example:several"
	for _, tt := range []struct {
		a, b   string
		status int
		want   string
	}{
		{one, "URN:DNS:Names.Example:one", 200, "TRUE"},                 // Y95-02, Y95-03
		{one, "urn:dns:names.example:o%6Ee", 200, "TRUE"},               // Y95-13
		{one, "urn:dns:names.example:One", 200, "FALSE"},                // Y95-04
		{one, several, 200, "FALSE"},                                    //
		{several, "urn:dns:names.example:also", 200, "TRUE"},            // bound by the record
		{"urn:example:loose", "URN:EXAMPLE:loose?+x?=y#z", 200, "TRUE"}, // 8141, 3; N12-51
		{one, one + "?=y", 200, "TRUE"},
		{"urn:example:loose", "urn:example:loos%65", 200, "FALSE"},  // N12-52
		{"urn:example:a123,456", "urn:example:a123%2C456", 404, ""}, // 2483, 4.9: they do not exist in any form
		{one, "%", 400, ""},
		{one, "", 400, ""}, // two operands
		{"", one, 400, ""},
		{"urn:dns:names.example:a%zz", one, 400, ""},
	} {
		request := "GET /uri-res/I=I?" + tt.a + "&" + tt.b + " HTTP/1.1\r\nHost: names.test\r\n\r\n"
		got := k.ask(t, []outgoing{{"GET", request}})[0]
		if got.status != tt.status || tt.status == 200 && strings.TrimSpace(got.body) != tt.want {
			t.Errorf("I=I of %q and %q: %d %q, want %d %q", tt.a, tt.b, got.status, got.body, tt.status, tt.want)
		}
	}
}

// TestOracleOfEquivalence requests each name in spellings that are the same name
// according to the documents, and in others that are not: the responses must be equal, or
// not found (2169, 2: "identical results").
func TestOracleOfEquivalence(t *testing.T) {
	world := newWorld(t)
	k := &sender{addr: world.Public}
	defer k.close()
	set := regexp.MustCompile(`<[^>]*>; rel="linkset"`) // it contains the requested URL
	ask := func(target string) answer {
		got := k.ask(t, []outgoing{{"GET", "GET " + target + " HTTP/1.1\r\nHost: names.test\r\n\r\n"}})[0]
		got.header.Set("Link", set.ReplaceAllString(got.header.Get("Link"), `<>; rel="linkset"`))
		return got
	}
	want := []answer{ask("/urn:dns:names.example:one"), ask("/uri-res/N2Ls?urn:dns:names.example:one")}
	for _, spelling := range []string{
		"URN:dns:names.example:one", "urn:DNS:names.example:one", "urn:dns:NAMES.Example:one", // Y95-02, Y95-03
		"urn:dns:names.example:%6fn%65", "urn:dns:names.example:%6Fn%65", // Y95-13
		"urn:dns:names.example:one?+r", // RFC 8141, 2.3.1
	} {
		got := []answer{ask("/" + spelling), ask("/uri-res/N2Ls?" + spelling)}
		for i := range got {
			for _, wrong := range same(want[i], got[i]) {
				// Requests with components are not negotiated in time.
				if !strings.Contains(spelling, "?") || !strings.HasPrefix(wrong, "Link ") && !strings.HasPrefix(wrong, "Vary ") {
					t.Errorf("%s: %s", spelling, wrong)
				}
			}
		}
	}
	for _, other := range []string{
		"urn:dns:names.example:One", "urn:dns:names.example:ONE", // Y95-04
		"urn:dns:names.example:one%20", "urn:dns:names.example:on%C3%A9", "urn:dns:names.example:one%CC%81",
		"urn:dns:names.example:%EF%BD%8Fne", // a full-width o, which NFKC would fold
		"urn:dns:names.example:one%00x",
	} {
		if got := ask("/" + other); got.status != http.StatusNotFound && got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", other, got.status, got.header.Get("Location"))
		}
	}
	if !slices.Contains([]int{302, 303}, want[0].status) {
		t.Errorf("status %d", want[0].status)
	}
}
