package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A visitor is a client that looks like a browser to a server.
type visitor struct {
	t      *testing.T
	server string
	cookie string
}

// do sends a request, with a form if it is not nil. It returns the status, the body, and the target
// of a redirect.
func (v *visitor) do(path string, form url.Values, fields ...string) (status int, body, leads string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.server+path, nil)
	if form != nil {
		r, err = http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.server+path, strings.NewReader(form.Encode()))
	}
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Cookie", v.cookie)
	for i := 0; i < len(fields); i += 2 {
		if r.Header.Set(fields[i], fields[i+1]); fields[i] == "Host" {
			r.Host = fields[i+1]
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		v.cookie = c.Name + "=" + c.Value
	}
	return resp.StatusCode, string(b), resp.Header.Get("Location")
}

// want checks a response.
func (v *visitor) want(path string, form url.Values, status int, text string, fields ...string) {
	v.t.Helper()
	got, body, leads := v.do(path, form, fields...)
	if got != status || !strings.Contains(body+leads, text) {
		v.t.Errorf("%s: got %d to %q, want %d with %q\n%s", path, got, leads, status, text, body)
	}
}

// TestPagesOfServer signs in to a running server, creates a name and changes it, and signs out.
func TestPagesOfServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, err := startServer(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.stop() })
	run := exec.Command(os.Args[0], "--data", data, "sign-in-link")
	run.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	link, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(strings.TrimSpace(string(link)))
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, server: "http://" + server.admin}
	v.want("/", nil, 303, "/-/ui/")
	v.want("/-/ui/", nil, 303, "/-/ui/sign-in?next=")
	v.want(target.RequestURI(), nil, 200, "Sign in")
	v.want("/-/ui/sign-in/link", url.Values{"code": {target.Query().Get("code")}}, 303, "/-/ui/")
	v.want("/-/ui/", nil, 200, "No backup of this server is known")
	v.want("/-/ui/", nil, 200, "No naming authority is registered yet")

	form := url.Values{"name": {"urn:x-page:1"}, "status": {"active"}, "locations": {"1"}, "location-0-url": {"https://example.org/1"}, "metadata": {"0"}, "do": {"save"}, "accept": {"1"}}
	v.want("/-/ui/new", form, 403, "another site", "Sec-Fetch-Site", "cross-site")
	v.want("/-/ui/new", form, 303, "/-/ui/name/urn%3Ax-page%3A1?done=created")
	v.want("/-/ui/name/urn%3Ax-page%3A1", nil, 200, "https://example.org/1")
	form.Set("revision", "1")
	form.Set("location-0-url", "https://example.org/2")
	v.want("/-/ui/name/urn%3Ax-page%3A1/edit", form, 303, "?done=saved")
	public := &visitor{t: t, server: "http://" + server.public}
	public.want("/urn:x-page:1", nil, 303, "https://example.org/2")

	v.want("/api/v1/names/urn:x-page:1", nil, 401, "missing token")
	public.want("/-/ui/", nil, 404, "")
	v.want("/-/ui/", nil, 421, "", "Host", "attacker.example")
	v.want("/-/ui/sign-out", url.Values{}, 303, "")
	v.want("/-/ui/", nil, 303, "/-/ui/sign-in?next=")
}
