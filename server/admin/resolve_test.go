package admin

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
)

// Users of the admin API can see how an answer was determined.
func TestExplain(t *testing.T) {
	srv, s := newTestAPI(t, nil)
	l := listen(t, srv)
	all := grant(t, s, adminapi.AdministratorGrant())
	some := grant(t, s, adminapi.Grant{Who: "x", Role: "reader", Prefixes: []string{"urn:dns:example.org"}})
	for _, tt := range []struct {
		token, query string
		status       int
		want         string
	}{
		{all, "name=urn:ietf:rfc:2648&s=I2C&explain=yes", 200, `"why":["`},
		{all, "name=urn:ietf:rfc:2648&s=I2L&accept=text/html&explain=1", 200, "rfc2648.html"},
		{all, "name=urn%3Aietf%3Arfc%3A2648", 200, "rfc2648.txt"},
		{all, "name=urn:ietf:rfc:2648&s=I=I&with=urn:ietf:rfc:2648", 200, `"same":true`},
		{all, "name=urn:ietf:rfc:2648&s=I=I", 400, "malformed"},
		{all, "name=urn:ietf:rfc:9999999", 404, "unknown-name"},
		{all, "name=urn:dns:example.org:secret&explain=yes", 404, "unknown-name"},
		{all, "name=urn:dns:example.org:split", 410, "a new edition"},
		{all, "name=urn:x", 400, `"offset"`},
		{all, "name=urn:ietf:rfc:2648&explain=perhaps", 400, "explain"},
		{all, "name=urn:ietf:rfc:2648&at=never", 400, `"field":"at"`},
		{all, "name=urn:ietf:rfc:2648&x=y", 400, `"field":"x"`},
		{some, "name=urn:dns:example.org:alb002", 200, "albums/2"},
		{some, "name=urn:ietf:rfc:2648", 403, ""},
		{"", "name=urn:ietf:rfc:2648", 401, ""},
	} {
		c := &adminapi.Client{URL: "http://" + l.Admin.String(), Token: tt.token}
		status, _, body := do(t, c, "GET", "/api/v1/resolve?"+tt.query, "")
		if status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: got %d %s, want %d with %s", tt.query, status, body, tt.status, tt.want)
		}
		if strings.Contains(body, `"why"`) != strings.Contains(tt.query, "explain=yes") && !strings.Contains(tt.query, "explain=1") {
			t.Errorf("%s: %s", tt.query, body)
		}
	}
	if got := exchange(t, l.Public, "GET /urn:ietf:rfc:2648?s=I2C&explain=yes HTTP/1.0\r\nAccept: application/json\r\n\r\n"); strings.Contains(got, `"why"`) {
		t.Errorf("in public: %s", got)
	}
	if got := exchange(t, l.Public, "GET /urn:ietf:rfc:9999999?s=I2C&explain=yes HTTP/1.0\r\nAccept: application/json\r\n\r\n"); strings.Contains(got, `"why"`) {
		t.Errorf("in public: %s", got)
	}
}

// Failed lookups are listed as far as the token has rights.
func TestAdminMisses(t *testing.T) {
	c, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv, s := newTestAPI(t, func(o *Options) { o.Misses = c })
	l := listen(t, srv)
	for _, target := range []string{"/none", "/none", "/urn:ietf:rfc:9999999"} {
		exchange(t, l.Public, "GET "+target+" HTTP/1.0\r\nHost: example.org\r\n\r\n")
	}
	all := &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	some := &adminapi.Client{URL: all.URL, Token: grant(t, s, adminapi.Grant{Who: "x", Role: "administrator", Prefixes: []string{"urn:dns:example.org"}})}
	for _, tt := range []struct {
		client *adminapi.Client
		prefix string
		limit  int
		want   string
	}{
		{all, "", 0, "urn:dns:example.org:none urn:ietf:rfc:9999999"},
		{all, "", 1, "urn:dns:example.org:none"},
		{all, "urn:ietf", 0, "urn:ietf:rfc:9999999"},
		{some, "", 0, "urn:dns:example.org:none"},
	} {
		m, err := tt.client.Misses(t.Context(), tt.prefix, tt.limit)
		var names []string
		for _, miss := range m.Misses {
			names = append(names, miss.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != tt.want || m.Asked != 3 {
			t.Errorf("%q, %d: got %q of %d, %v", tt.prefix, tt.limit, got, m.Asked, err)
		}
	}
	if _, err := some.ClearMisses(t.Context()); err == nil {
		t.Error("a token with prefixes cleared the list")
	}
	if was, err := all.ClearMisses(t.Context()); err != nil || was.Asked != 3 || len(c.List(0)) != 0 {
		t.Errorf("forgotten: %+v, %v", was, err)
	}
	without, st := newTestAPI(t, nil)
	bare := &adminapi.Client{URL: "http://" + listen(t, without).Admin.String(), Token: grant(t, st, adminapi.AdministratorGrant())}
	if m, err := bare.Misses(t.Context(), "", 0); err != nil || len(m.Misses) != 0 {
		t.Errorf("a server that does not count: %+v, %v", m, err)
	}
}
