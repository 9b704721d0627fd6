package client

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/guard"
)

// If a resolver of the 1995 protocol redirects to a web page, the client reads the description
// there and follows further redirections.
func TestPage(t *testing.T) {
	base, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/first":
			w.Header().Set("Location", "a%20b?c")
			w.WriteHeader(302)
		case "/loop":
			w.Header().Set("Location", "/loop")
			w.WriteHeader(302)
		case "/name":
			w.Header().Set("Location", "urn:isbn:1")
			w.WriteHeader(302)
		case "/file":
			w.Header().Set("Location", "ftp://example.org/x")
			w.WriteHeader(302)
		default:
			w.Header().Set("Content-Type", format.TypeJSON)
			format.WriteJSON(w, rich(t, nomen.I2C))
		}
	})
	real := strings.TrimPrefix(base, "http://")
	_, port, _ := strings.Cut(real, ":")
	n := newInternet(t)
	n.hosts["page.example"] = []string{"127.0.0.1"}
	n.host("example.com", "192.0.2.1", func(r request) string {
		element := strings.Fields(r.line)[1]
		return moved(302, "Found", "http://page.example:"+port+"/"+element)
	})
	o := Options{DNS: n, DialContext: dialEither(n, real)}
	c := newClient(t, o)
	resolve := func(element string, service nomen.Service) (*nomen.Answer, error) {
		return c.Resolve(t.Context(), ask(t, "urn:dns:example.com:"+element, service))
	}

	a, err := resolve("first", nomen.I2N)
	if err != nil || !slices.Equal(a.Names, []string{"urn:doi:10.1/2"}) || a.Service != nomen.I2N || a.Locations != nil {
		t.Fatalf("got %+v, %v", a, err)
	}
	if r := (*asked)[1]; r.RequestURI != "/a%20b?c" || r.Header.Get("Accept") != richest {
		t.Errorf("asked for %q, %q", r.RequestURI, r.Header.Get("Accept"))
	}
	if a, err := resolve("first", nomen.I2Ls); err != nil || a.Locations[0].URL != "http://page.example:"+port+"/first" {
		t.Errorf("for locations: %+v, %v", a, err)
	}
	if a, err := resolve("file", nomen.I2C); err != nil || a.Locations[0].URL != "ftp://example.org/x" || a.Service != nomen.I2C {
		t.Errorf("a description that cannot be read: %+v, %v", a, err)
	}
	var loop *RedirectError
	if _, err := resolve("loop", nomen.I2C); !errors.As(err, &loop) || !loop.Loop {
		t.Errorf("a loop of pages: %v", err)
	}
	var route *RouteError
	if _, err := resolve("name", nomen.I2C); !errors.As(err, &route) || route.Name != "urn:isbn:1" {
		t.Errorf("back to a name: %v", err)
	}
	*asked = nil
	o.Guard = true
	n.hosts["example.com"] = []string{"2606:2800:220:1::1"}
	n.serve["[2606:2800:220:1::1]:4500"] = n.serve["192.0.2.1:4500"]
	c = newClient(t, o)
	var refused *guard.AddressError
	if _, err := resolve("first", nomen.I2C); !errors.As(err, &refused) || len(*asked) != 0 {
		t.Errorf("a page in a private network: %v", err)
	}
}

// A page without a description for programs is the location, if the resolver has no services
// and redirects to it.
func TestPageForPeople(t *testing.T) {
	for _, head := range []string{"Content-Type: text/html", "Content-Type: application/pdf", "X: no type"} {
		n := newInternet(t)
		n.hosts["resolver.example"], n.hosts["page.example"] = []string{"192.0.2.1"}, []string{"2606:2800:220:1::1"}
		n.serve["192.0.2.1:80"] = says("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://page.example/x\r\n\r\n")
		n.serve["[2606:2800:220:1::1]:80"] = says("HTTP/1.1 200 OK\r\nConnection: close\r\n" + head + "\r\n\r\n<p>")
		for _, service := range []nomen.Service{nomen.I2C, nomen.I2Cs} {
			a, err := n.client(Options{Via: "http://resolver.example/"}).Resolve(t.Context(), ask(t, rfc+"#f", service))
			if err != nil || a.Service != service || a.Name.Key() != rfc || !slices.Equal(a.Locations, []nomen.Location{{URL: "http://page.example/x#f"}}) {
				t.Errorf("%s, %s: got %+v, %v", head, service, a, err)
			}
		}
		var e *FormatError // Y95-35
		if a, err := n.client(Options{Via: "http://resolver.example/"}).Resolve(t.Context(), ask(t, rfc, nomen.I2Ns)); !errors.As(err, &e) || string(e.Body) != "<p>" {
			t.Errorf("%s: got %+v, %v", head, a, err)
		}
	}
}

// A tombstone with one successor redirects a question for a location, but no other question.
// With several successors people choose. A redirection that passes on the question for all
// locations leads to a list; any other is a location.
func TestRedirectToList(t *testing.T) {
	const one, two = "https://example.org/1", "https://example.org/2"
	list, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", format.TypeURIList)
		if strings.Contains(r.URL.Path, "people") {
			w.Header().Set("Content-Type", "image/png")
		}
		_, _ = io.WriteString(w, one+"\r\n"+two+"\r\n")
	})
	for _, tt := range []struct {
		to      string
		service nomen.Service
		want    []string
	}{
		{list + "/find?n=x&s=I2Ls", nomen.I2Ls, []string{one, two}},
		{list + "/find?n=x", nomen.I2Ls, []string{list + "/find?n=x"}},
		{list + "/find?n=x&s=I2L", nomen.I2Ls, []string{list + "/find?n=x&s=I2L"}},
		{list + "/people?s=I2Ls", nomen.I2Ls, []string{list + "/people?s=I2Ls"}},
		{list + "/find?n=x&s=I2Ls", nomen.I2L, []string{list + "/find?n=x&s=I2Ls"}},
	} {
		base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, tt.to, http.StatusSeeOther) })
		a, err := newClient(t, Options{Via: base}).Resolve(t.Context(), ask(t, alb, tt.service))
		if err != nil {
			t.Errorf("%s of %s: %v", tt.service, tt.to, err)
			continue
		}
		var got []string
		for _, l := range a.Locations {
			got = append(got, l.URL)
		}
		if !slices.Equal(got, tt.want) || a.Service != tt.service {
			t.Errorf("%s of %s: got %s %q, want %q", tt.service, tt.to, a.Service, got, tt.want)
		}
	}
}
