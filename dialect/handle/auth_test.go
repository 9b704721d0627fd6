package handle

import (
	"net/http"
	"testing"
)

// A client that has sent too many wrong passwords must wait, even with a right one.
func TestTooManyPasswords(t *testing.T) {
	h := newHarness(t)
	const at = base + "20.500.9999/abc"
	for i := range 5 {
		h.want("GET", at, basic("300:20.500.9999/ADMIN", "wrong"), "", 403, `{"responseCode":403,"message":"Authentication failed","handle":"20.500.9999/abc"}`)
		if resp := h.do("PUT", at, "Bearer wrong", created); resp.StatusCode != 403 {
			t.Errorf("attempt %d with Bearer: got %d, want 403", i, resp.StatusCode)
		}
	}
	const wait = `{"responseCode":3,"message":"too many wrong passwords from this address; try again in 10s","handle":"20.500.9999/abc"}`
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		h.want(method, at, asEditor, "", 503, wait)
	}
	if resp := h.do("GET", at, "Bearer wrong", ""); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "10" {
		t.Errorf("got %d with Retry-After %q, want 503 with 10", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	h.want("GET", at, "", "", 404, `{"responseCode":100,"handle":"20.500.9999/abc"}`)
}
