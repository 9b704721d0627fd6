package server

import (
	"net/http"
	"testing"
)

// Browsers tell where the page that sends a request comes from: by Sec-Fetch-Site, or
// else by Origin.
func TestCrossSite(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.PublicURL = "https://names.example:8443" })
	const site, mode, dest = "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"
	for _, tt := range []struct {
		fields http.Header
		want   bool
	}{
		{http.Header{}, false},
		{http.Header{site: {"none"}}, false},
		{http.Header{site: {"same-origin"}, "Origin": {"http://evil.example"}}, false}, // Sec-Fetch-Site takes precedence
		{http.Header{site: {"same-site"}}, true},
		{http.Header{site: {"cross-site"}}, true},
		{http.Header{site: {"new-word"}}, true},
		{http.Header{site: {"cross-site"}, mode: {"navigate"}, dest: {"document"}}, false},
		{http.Header{site: {"cross-site"}, mode: {"navigate"}, dest: {"iframe"}}, true},
		{http.Header{site: {"cross-site"}, mode: {"no-cors"}, dest: {"document"}}, true},
		{http.Header{"Origin": {"http://here.example:4500"}}, false},
		{http.Header{"Origin": {"https://HERE.example:4500"}}, false}, // TLS may be terminated by a proxy
		{http.Header{"Origin": {"https://names.example:8443"}}, false},
		{http.Header{"Origin": {"https://names.example"}}, true},
		{http.Header{"Origin": {"http://here.example"}}, true},
		{http.Header{"Origin": {"http://evil.example"}}, true},
		{http.Header{"Origin": {"null"}}, true},
		{http.Header{"Origin": {""}}, true},
		{http.Header{"Origin": {"://"}}, true},
	} {
		if got := s.isCrossSite(tt.fields, "here.example:4500"); got != tt.want {
			t.Errorf("%v: got %t, want %t", tt.fields, got, tt.want)
		}
	}
}
