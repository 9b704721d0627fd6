package server

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A tombstone does not show its locations in any format or protocol, unless its owner has
// chosen to show them.
func TestTombstonesHideLocations(t *testing.T) {
	srv, s := newTestServer(t, nil)
	const place = "https://withdrawn.example/paper"
	later := modified.Add(time.Hour)
	for _, hidden := range []bool{true, false} {
		n := name.MustParse("urn:dns:example.org:hidden")
		if !hidden {
			n = name.MustParse("urn:dns:example.org:shown")
		}
		for _, c := range []store.Change{
			{Record: &store.Record{Name: n, Status: nomen.Active, Locations: []nomen.Location{{URL: place}}}, Time: modified, Expected: 0},
			{Record: &store.Record{
				Name: n, Status: nomen.Retired, Reason: "withdrawn", Locations: []nomen.Location{{URL: place, Type: "text/html"}}, ShowLocations: !hidden,
				Metadata: nomen.Metadata{"title": {"A paper"}},
			}, Time: later, Expected: 1},
			{Record: &store.Record{
				Name: name.MustParse(n.Key() + "-replaced"), Status: nomen.Retired, Successors: []string{"urn:dns:example.org:alb002"},
				Locations: []nomen.Location{{URL: place}}, ShowLocations: !hidden,
			}, Time: later, Expected: 0},
		} {
			if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := listen(t, srv)
	ask := func(request string) string {
		t.Helper()
		conn, err := net.Dial("tcp", l.Public.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	head := func(path, accept string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + l.Public.String() + "\r\nConnection: close\r\nAccept: " + accept + "\r\n\r\n"
	}
	shownSomewhere := 0
	for _, element := range []string{"hidden", "shown", "hidden-replaced", "shown-replaced"} {
		n := "urn:dns:example.org:" + element
		requests := map[string]string{
			"1995, HTTP/0.9": "GET " + element + "\r\n",
			"1995, HTTP/1.0": "GET " + n + " HTTP/1.0\r\n\r\n",
			"list of names":  "POST /-/resolve HTTP/1.1\r\nHost: " + l.Public.String() + "\r\nConnection: close\r\nContent-Type: text/uri-list\r\nContent-Length: " + strconv.Itoa(len(n)+2) + "\r\n\r\n" + n + "\r\n",
			"as of now":      head("/"+n+"?at="+testNow.Format(time.RFC3339), "text/html"),
			"its time map":   head("/-/timemap/"+n, "*/*"),
		}
		for _, accept := range []string{
			"text/html", "application/json", "application/ld+json", "application/linkset", "application/linkset+json",
			"text/urc-0", "text/uri-list", "text/plain", "application/problem+json", "*/*",
		} {
			for _, service := range []string{"", "?s=I2C", "?s=I2Ls", "?s=I2Ns", "?s=I2Cs"} {
				requests["web "+accept+" "+service] = head("/"+n+service, accept)
			}
			requests["thttp "+accept] = head("/uri-res/N2C?"+n, accept)
			requests["thttp list "+accept] = head("/uri-res/N2Ls?"+n, accept)
		}
		for title, request := range requests {
			shows := strings.Contains(ask(request), place)
			if strings.HasPrefix(element, "hidden") && shows {
				t.Errorf("%s, %s: the tombstone shows its location:\n%s", element, title, ask(request))
			}
			if strings.HasPrefix(element, "shown") && shows {
				shownSomewhere++
			}
		}
	}
	if shownSomewhere == 0 {
		t.Error("no answer shows the location of a tombstone that is to show it")
	}
	if got := ask(head("/urn:dns:example.org:shown", "text/html")); !strings.Contains(got, " 410 ") || !strings.Contains(got, place) {
		t.Errorf("a tombstone that shows its locations: %s", got)
	}
	if got := ask(head("/urn:dns:example.org:hidden?at="+modified.Format(time.RFC3339), "text/html")); !strings.Contains(got, place) {
		t.Errorf("a former location is part of the history: %s", got)
	}
	if got := ask(head("/uri-res/L2Ns?"+place, "text/uri-list")); strings.Contains(got, "urn:") {
		t.Errorf("names of the location: %s", got)
	}
}
