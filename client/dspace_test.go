package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A DSpace repository resolves handles. What it sends is a location, or says that there is no handle.
func TestDSpace(t *testing.T) {
	base, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		switch strings.TrimPrefix(r.URL.EscapedPath(), "/server/resolve/") {
		case "20.500.9999/1", "20.500.9999/a%20b":
			_, _ = w.Write([]byte(`["https://repository.example/handle/20.500.9999/1"]`))
		case "20.500.9999/null":
			_, _ = w.Write([]byte(`null`))
		case "20.500.9999/empty":
			_, _ = w.Write([]byte(`[]`))
		case "20.500.9999/none":
			_, _ = w.Write([]byte(`[null]`))
		case "20.500.9999/script":
			_, _ = w.Write([]byte(`["javascript:alert(1)"]`))
		case "20.500.9999/page":
			_, _ = w.Write([]byte(`<html>`))
		case "20.500.9999/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNotFound) // the controller is switched off
		}
	})
	c, err := New(Options{Via: "dspace:" + base + "/server", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	resolve := func(of string, service nomen.Service) (*nomen.Answer, error) {
		return c.Resolve(t.Context(), nomen.Question{Name: name.MustParse(of), Service: service, Accept: "text/html"})
	}
	for _, of := range []string{"hdl:20.500.9999/1", "hdl:20.500.9999/a%20b"} {
		for _, service := range []nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2C} {
			a, err := resolve(of, service)
			if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "https://repository.example/handle/20.500.9999/1" {
				t.Errorf("%s, %s: got %+v, %v", of, service, a, err)
			}
		}
	}
	if r := (*asked)[0]; r.Header.Get("Accept") == "" || strings.Contains(r.Header.Get("Accept"), "html") || r.URL.RawQuery != "" {
		t.Errorf("the request is %s with Accept %q", r.URL, r.Header.Get("Accept"))
	}
	for _, of := range []string{"null", "empty", "none"} {
		if a, err := resolve("hdl:20.500.9999/"+of, nomen.I2L); !errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) {
			t.Errorf("%s: got %+v, %v, want an unknown name", of, a, err)
		}
	}
	for _, of := range []string{"page", "busy", "off"} {
		if a, err := resolve("hdl:20.500.9999/"+of, nomen.I2L); err == nil || errors.As(err, new(*nomen.Error)) {
			t.Errorf("%s: got %+v, %v, want a failure", of, a, err)
		}
	}
	if a, err := resolve("ark:12345/x", nomen.I2L); !errors.As(err, new(*RouteError)) {
		t.Errorf("an ARK: got %+v, %v", a, err)
	}
}

func TestParseDSpace(t *testing.T) {
	for _, via := range []string{"dspace:", "dspace:h.example", "dspace:https://h.example/{name}", "dspace:https://h.example/?x", "dspace:https://h.example/uri-res/", "dspace:ftp://h.example/"} {
		if c, err := New(Options{Via: via}); err == nil {
			c.Close()
			t.Errorf("%q is accepted", via)
		}
	}
}
