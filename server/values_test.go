package server

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// valuesHead returns a request of HTTP/1.1.
func valuesHead(host, path, accept string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nAccept: " + accept + "\r\nAccept-Language: fi\r\n\r\n"
}

// Private values, and the locations that are views of them, are shown at no public door, also not
// for an earlier time, for a longer name, or as the names of a location. Public locations show no
// attributes of their values.
func TestPrivateValuesAreHidden(t *testing.T) {
	srv, s := newTestServer(t, nil)
	const private, secret, public = "https://private.example/hush", "hushhush", "https://public.example/seen"
	authority := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:example.org"), Owners: []string{"a", "b"}, List: true}
	authority.Suffix = store.SuffixAppend
	changes := []store.Change{{Authority: authority, Time: modified.Add(time.Minute), Expected: store.AnyRevision}}
	record := func(element string, status nomen.Status, permissions string) *store.Record {
		return &store.Record{
			Name: name.MustParse("urn:dns:example.org:" + element), Status: status, ShowLocations: status == nomen.Retired,
			Metadata: nomen.Metadata{"title": {"A paper"}},
			Locations: []nomen.Location{
				{URL: private, Lang: "fi", Type: "text/html", Index: 1},
				{URL: public, Priority: 2, Index: 2, Attributes: `id="` + secret + `"`},
			},
			Values: []nomen.Value{
				{Index: 1, Type: "URL", Permissions: permissions},
				{Index: 2, Type: "10320/loc", Data: "<locations/>"},
				{Index: 300, Type: "HS_SECKEY", Data: secret, Permissions: "1100"},
			},
		}
	}
	for _, c := range []struct {
		element string
		status  nomen.Status
	}{{"hidden", nomen.Active}, {"hidden-old", nomen.Retired}, {"shown", nomen.Active}} {
		permissions := map[bool]string{true: "1100", false: ""}[strings.HasPrefix(c.element, "hidden")]
		changes = append(changes, store.Change{Record: record(c.element, c.status, permissions), Time: modified, Expected: store.AnyRevision})
	}
	later := record("hidden", nomen.Active, "1100") // so the state before is history
	later.Metadata["title"] = []string{"The paper"}
	changes = append(changes, store.Change{Record: later, Time: modified.Add(time.Hour), Expected: store.AnyRevision})
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	l := listen(t, srv)
	host := l.Public.String()
	privateShown, publicShown := 0, 0
	for _, element := range []string{"hidden", "hidden-old", "shown"} {
		for title, request := range publicRequests(host, element) {
			got := exchange(t, l.Public, request)
			if strings.Contains(got, secret) {
				t.Errorf("%s, %s: shows a private value:\n%s", element, title, got)
			}
			if strings.Contains(got, public) {
				publicShown++
			}
			if !strings.Contains(got, private) {
				continue
			}
			if privateShown++; element != "shown" {
				t.Errorf("%s, %s: shows a private location:\n%s", element, title, got)
			}
		}
	}
	if privateShown == 0 || publicShown == 0 {
		t.Errorf("%d answers show the location of a public value, and %d the one that is always public", privateShown, publicShown)
	}
	if got := exchange(t, l.Public, valuesHead(host, "/uri-res/L2Ns?"+private, "text/uri-list")); strings.Contains(got, "hidden") || !strings.Contains(got, "urn:dns:example.org:shown") {
		t.Errorf("names of the location: %s", got)
	}
	if got := exchange(t, l.Public, valuesHead(host, "/urn:dns:example.org:hidden", "*/*")); !strings.Contains(got, "Location: "+public+"\r\n") {
		t.Errorf("not redirected to the public location: %s", got)
	}
	if srv.metrics == nil || strings.Contains(shownMetrics(srv), secret) {
		t.Error("the metrics show a private value")
	}
}

// publicRequests returns requests about a name at the public doors of a server.
func publicRequests(host, element string) map[string]string {
	n := "urn:dns:example.org:" + element
	requests := map[string]string{
		"1995, HTTP/0.9": "GET " + element + "\r\n",
		"1995, HTTP/1.0": "GET " + n + " HTTP/1.0\r\n\r\n",
		"list of names": "POST /-/resolve HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nContent-Type: text/uri-list\r\nContent-Length: " +
			strconv.Itoa(len(n)+2) + "\r\n\r\n" + n + "\r\n",
		"its time map":   valuesHead(host, "/-/timemap/"+n, "*/*"),
		"names":          valuesHead(host, "/-/list/urn:dns:example.org", "*/*"),
		"a longer name":  valuesHead(host, "/"+n+"/chapter/1", "*/*"),
		"without fields": "GET /" + n + " " + "HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n",
		"head":           strings.Replace(valuesHead(host, "/"+n, "*/*"), http.MethodGet, http.MethodHead, 1),
	}
	for _, accept := range []string{
		"text/html", "application/json", "application/ld+json", "text/turtle", "application/linkset", "application/linkset+json", "application/cbor",
		"text/urc-0", "text/uri-list", "text/plain", "application/problem+json", "text/x-bibliography", "application/x-bibtex", "*/*",
	} {
		for _, service := range []string{"", "?s=I2C", "?s=I2L", "?s=I2Ls", "?s=I2Ns", "?s=I2Cs", "?s=I2C&at=" + modified.Add(time.Minute).Format(time.RFC3339)} {
			requests["web "+accept+" "+service] = valuesHead(host, "/"+n+service, accept)
		}
		for _, service := range []string{"N2C", "N2Ls", "N2L", "N2Ns"} {
			requests["thttp "+service+" "+accept] = valuesHead(host, "/uri-res/"+service+"?"+n, accept)
		}
	}
	return requests
}
