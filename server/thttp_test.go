package server

import (
	"strings"
	"testing"
)

func TestTHTTP(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range []struct {
		target, accept string
		status         int
		want           string
	}{
		{"/uri-res/N2L?urn:ietf:rfc:2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/URI-RES/n2l?urn:ietf:rfc:2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/uri-res/I2L?urn%3Aietf%3Arfc%3A2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/uri-res/N2L?urn:ietf:rfc:2648?s=I2C", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/uri-res/N2L?urn:ietf:rfc:2648?=a=1", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt?a=1"},
		{"/uri-res/N2Ls?urn:ietf:rfc:2648", "", 200, "https://www.rfc-editor.org/rfc/rfc2648.txt\r\nhttps://www.rfc-editor.org/rfc/rfc2648.html\r\n"},
		{"/uri-res/N2Ls?urn:ietf:rfc:2648", "text/html,*/*;q=0.8", 200, `<UL><LI><A HREF="https://www.rfc-editor.org/rfc/rfc2648.txt">`},
		{"/uri-res/N2Ls?urn:dns:example.org:bare", "", 200, ""},
		{"/uri-res/N2L?urn:dns:example.org:bare", "", 404, "no location"},
		{"/uri-res/N2C?urn:ietf:rfc:2648", "", 200, "title: A URN Namespace"},
		{"/uri-res/I2Cs?urn:ietf:rfc:2648", "application/json", 200, `"A URN Namespace for IETF Documents"`},
		{"/uri-res/N2Ns?urn:ietf:rfc:2648", "", 200, "urn:doi:10.17487/rfc2648\r\n"},
		{"/uri-res/I2N?urn:ietf:rfc:2648", "", 200, "urn:doi:10.17487/rfc2648\r\n"},
		{"/uri-res/I2N?urn:dns:example.org:alb002", "", 404, "no other name"},
		{"/uri-res/L2Ns?https://example.org/albums/2", "application/json", 200, `"same_as":["urn:dns:example.org:alb002"]`},
		{"/uri-res/L2Ns?https://example.org/albums/", "application/json", 200, `"same_as":[]`},
		{"/uri-res/I=I?urn:ietf:rfc:2648", "", 400, "I=I?URI&URI"},
		{"/uri-res/I=I?urn:ietf:rfc:2648&", "", 400, "I=I?URI&URI"},
		{"/uri-res/I=I?urn:ietf:rfc:2648&2648", "", 400, "including its scheme"},
		{"/N2L?urn:ietf:rfc:2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/n2ls?URN%3Aietf%3Arfc%3A2648", "", 200, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/N2L?x=urn:ietf:rfc:2648", "", 404, "urn:dns:example.org:N2L"},
		{"/uri-res/<script>?urn:ietf:rfc:2648", "text/html", 404, "&lt;script&gt;"},
		{"/uri-res/N2L", "", 400, "SERVICE?URI"},
		{"/uri-res/N2L?", "", 400, "SERVICE?URI"},
		{"/uri-res/N2L?2648", "", 400, "including its scheme"},
		{"/uri-res/N2L?urn:x", "", 400, "assigned-name"},
		{"/uri-res/N2C?urn:dns:example.org:split", "", 410, "a new edition"},
		{"/uri-res/N2L?urn:dns:example.org:old", "", 301, "/urn:dns:example.org:alb002"},
		{"/uri-res/N2L?urn:dns:example.org:urn+m", "", 200, "mailto:names@example.org"},
		// A client that accepts only text/plain gets 200, Location and the list.
		{"/uri-res/N2L?urn:ietf:rfc:2648", "text/plain", 200, "https://www.rfc-editor.org/rfc/rfc2648.txt\r\nhttps://www.rfc-editor.org/rfc/rfc2648.html\r\n"},
		{"/uri-res/N2L?urn:ietf:rfc:2648", "text/plain, */*;q=0.1", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
	} {
		p := ask(s, tt.target, accepting(tt.accept))
		got := string(p.body)
		if p.status/100 == 3 {
			got = p.get("Location")
		}
		if p.status != tt.status || !strings.Contains(got, tt.want) || p.status/100 == 3 && got != tt.want {
			t.Errorf("%s, Accept: %s: got %d %s, want %d %s", tt.target, tt.accept, p.status, got, tt.status, tt.want)
		}
		if tt.accept == "text/plain" && p.get("Location") != "https://www.rfc-editor.org/rfc/rfc2648.txt" {
			t.Errorf("%s: Location %q", tt.target, p.get("Location"))
		}
	}
}

func TestQueries(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range []struct {
		title, query string
		status       int
		want         string
	}{
		{"N12-32 service", "s=I2C", 200, "name: urn:dns:example.org:queried"},
		{"N12-28 keyword in capitals", "S=I2C", 303, "https://example.org/q?a=1#top"},
		{"N12-61 service in small letters", "s=i2c", 303, "https://example.org/q?a=1#top"},
		{"N12-32 unknown service", "s=XYZ", 303, "https://example.org/q?a=1#top"},
		{"A12-1 I2U", "s=I2U", 303, "https://example.org/q?a=1#top"},
		{"N12-27 I=I is not offered", "s=I=I", 303, "https://example.org/q?a=1#top"},
		{"N12-32 escaped service", "s=I2%43", 200, "name: urn:dns:example.org:queried"},
		{"N12-32 service escaped badly", "s=I2C%", 303, "https://example.org/q?a=1#top"},
		{"N12-27 I=I as a form sends it", "s=I%3DI&with=urn:dns:example.org:queried", 200, "TRUE"},
		{"N12-29 twice", "s=I2C&s=I2N", 303, "https://example.org/q?a=1#top"},
		{"N12-29 twice, the others are kept", "s=I2Ls&c=a&c=b", 200, "https://example.org/q?a=1#top"},
		{"N12-30 unknown keyword", "zz=1&s=I2C", 200, "name: urn:dns:example.org:queried"},
		{"N12-31 unknown component", "c=toc", 303, "https://example.org/q?a=1#top"},
		{"N12-25 no directive", "x", 303, "https://example.org/q?a=1#top"},
		{"N12-25 empty", "", 303, "https://example.org/q?a=1#top"},
		{"N12-25 odd ampersands", "&&s=I2C&", 200, "name: urn:dns:example.org:queried"},
		{"q-component", "=b=2", 303, "https://example.org/q?a=1&b=2#top"},
		{"r-component", "+x", 303, "https://example.org/q?a=1#top"},
		{"both", "+x?=b=2", 303, "https://example.org/q?a=1&b=2#top"},
		{"q with plus", "=b?+c", 303, "https://example.org/q?a=1&b?+c#top"},
		{"empty q", "=", 303, "https://example.org/q?a=1#top"},
		{"malformed q", "=%0", 303, "https://example.org/q?a=1#top"},
		{"q with a line end", "=a%0D%0ASet-Cookie:x", 303, "https://example.org/q?a=1&a%0D%0ASet-Cookie:x#top"},
		{"q with a fragment", "=a#b", 303, "https://example.org/q?a=1#top"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			p := ask(s, "/urn:dns:example.org:queried?"+tt.query)
			got := p.get("Location")
			if got == "" {
				got = string(p.body)
			}
			if p.status != tt.status || !strings.Contains(got, tt.want) || p.status == 303 && got != tt.want {
				t.Errorf("got %d %q, want %d %q", p.status, got, tt.status, tt.want)
			}
		})
	}
}
