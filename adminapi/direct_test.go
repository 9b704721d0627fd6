package adminapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A client sends the token only to the server itself: neither to a proxy, nor to the target of a
// redirect.
func TestDirect(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c := &Client{URL: server.URL, Token: "id.secret", HTTP: Direct()}
	if _, err := c.Version(t.Context()); err == nil || asked != 0 {
		t.Errorf("another server was asked %d times: %v", asked, err)
	}
	if transport, ok := Direct().Transport.(*http.Transport); !ok || transport.Proxy != nil {
		t.Error("a proxy of the environment is asked")
	}
}
