//go:build attack

package attacks

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dialectSite is a configuration in which one listener speaks all dialects.
const dialectSite = `
[[listen]]
address = "127.0.0.1:0"
dialects = ["ark", "ezid", "handle", "arklet"]

[[dialect]]
name = "ezid"
authorities = ["ark:99999"]

[[dialect]]
name = "handle"
authorities = ["hdl:20.500.9999"]

[[dialect]]
name = "arklet"
authorities = ["ark:99999"]

[[dialect]]
name = "ark"
authorities = ["ark:99999"]
`

// A dialectDoor is a request of a dialect that changes names, or begins a session.
type dialectDoor struct{ method, target, body string }

// dialectDoors are the requests that change names under an ARK and a handle prefix.
func dialectDoors(naan, prefix string) []dialectDoor {
	const values = `{"values":[{"index":1,"type":"URL","data":{"format":"string","value":"https://evil.example/"}}]}`
	return []dialectDoor{
		{"POST", "/mint", `{"naan": "` + naan + `", "shoulder": "/x5", "url": "https://evil.example/"}`},
		{"PUT", "/update", `{"ark": "ark:/` + naan + `/x", "url": "https://evil.example/"}`},
		{"PUT", "/id/ark:/" + naan + "/evil", "_target: https://evil.example/"},
		{"PUT", "/id/ark:/" + naan + "/x?update_if_exists=yes", "_target: https://evil.example/"},
		{"POST", "/id/ark:/" + naan + "/x", "_target: https://evil.example/"},
		{"POST", "/id/ark:/" + naan + "/x", "_status: unavailable"},
		{"DELETE", "/id/ark:/" + naan + "/held", ""},
		{"POST", "/shoulder/ark:/" + naan + "/fk4", "_target: https://evil.example/"},
		{"PUT", "/api/handles/" + prefix + "/evil", values},
		{"PUT", "/api/handles/" + prefix + "/x", values},
		{"PUT", "/api/handles/" + prefix + "/x?index=1", values},
		{"PUT", "/api/handles/" + prefix + "/?mintNewSuffix=true", values},
		{"DELETE", "/api/handles/" + prefix + "/x?index=1", ""},
		{"DELETE", "/api/handles/" + prefix + "/x", ""},
	}
}

// downloadDoor is the request of EZID's dialect for a file with all identifiers of a client.
func downloadDoor() dialectDoor { return dialectDoor{"POST", "/download_request", "format=anvl"} }

// send sends a request of a dialect with a token, in one of the ways in which clients send it.
func (d dialectDoor) send(t *testing.T, s *server, scheme, token string, fields ...string) (status int, body string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), d.method, "http://"+s.public+d.target, strings.NewReader(d.body))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case strings.HasPrefix(d.target, "/api/"):
		r.Header.Set("Content-Type", "application/json")
	case d.target == downloadDoor().target:
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	switch scheme {
	case "Basic":
		r.SetBasicAuth("anna", token)
	case "Bearer":
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	client := http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

// startDialects starts a server that speaks the dialects, with names in the scope and outside of it.
func startDialects(t *testing.T, args ...string) *server {
	t.Helper()
	site := filepath.Join(t.TempDir(), "site.toml")
	if err := os.WriteFile(site, []byte(dialectSite), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startWith(t, options{site: site, args: args})
	for _, prefix := range []string{"ark:99999", "ark:12345", "hdl:20.500.9999", "hdl:20.500.1234"} {
		s.nomen(t, "authority", "put", prefix, "--owner", "archive", "--owner", "library")
		s.nomen(t, "put", prefix+"/x", "https://example.org/x", "--title", "Hushed")
		s.nomen(t, "put", prefix+"/held", "https://example.org/held", "--status", "reserved", "--title", "Embargoed")
	}
	return s
}

// changesNothing sends the requests in all ways, and checks that none succeeds or changes a name.
func changesNothing(t *testing.T, s *server, doors []dialectDoor, token string, fields ...string) {
	t.Helper()
	before := s.nomen(t, "export")
	for _, d := range doors {
		for _, scheme := range []string{"", "Basic", "Bearer"} {
			status, body, header := d.send(t, s, scheme, token, fields...)
			if status < 400 || strings.HasPrefix(body, "success") || strings.HasPrefix(body, `{"responseCode":1,`) || header.Get("Set-Cookie") != "" {
				t.Errorf("%s %s with %q: got %d with %q", d.method, d.target, scheme, status, body)
			}
		}
	}
	if after := s.nomen(t, "export"); after != before {
		t.Errorf("names have changed:\n%s\n%s", before, after)
	}
}

// succeed checks that the requests of the attacks work for a client with rights: that they were not
// rejected because they are malformed.
func succeed(t *testing.T, s *server, token string, fields ...string) {
	t.Helper()
	for _, d := range dialectDoors("99999", "20.500.9999") {
		scheme := "Basic"
		if d.target == "/mint" || d.target == "/update" {
			scheme = "Bearer"
		}
		if status, body, _ := d.send(t, s, scheme, token, fields...); status >= 300 {
			t.Errorf("%s %s with rights: got %d with %q", d.method, d.target, status, body)
		}
	}
}

// TestAttackDialectsInTheClear: a client whose requests others can read sends the right credentials.
// No dialect reads them, and none asks for them.
func TestAttackDialectsInTheClear(t *testing.T) {
	s := startDialects(t, "--trusted-proxy", "127.0.0.0/8")
	token := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "anna", "--role", "administrator"))
	doors := append(dialectDoors("99999", "20.500.9999"), dialectDoor{"GET", "/login", ""}, downloadDoor())
	for _, fields := range [][]string{
		{"X-Forwarded-For", "203.0.113.9"},
		{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "http"},
		{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https, http"},
		{"X-Forwarded-For", "127.0.0.1, 203.0.113.9"},
		{"Forwarded", "for=203.0.113.9;proto=http"},
		{"Forwarded", "for=127.0.0.1;proto=https, for=203.0.113.9;proto=http"},
	} {
		t.Run(strings.Join(fields, " "), func(t *testing.T) {
			changesNothing(t, s, doors, token, fields...)
			if _, _, header := doors[2].send(t, s, "", "", fields...); header.Get("WWW-Authenticate") != "" {
				t.Errorf("the client is asked for a password: %q", header.Get("WWW-Authenticate"))
			}
		})
	}
	succeed(t, s, token, "X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https")
}

// TestAttackDialectsOutsideOfPrefixes: a client with rights on one prefix tries names of another, and
// one with all rights tries names for which the dialect is not switched on.
func TestAttackDialectsOutsideOfPrefixes(t *testing.T) {
	s := startDialects(t)
	scoped := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "evil", "--role", "owner", "--prefix", "ark:99999/mine/", "--prefix", "hdl:20.500.1234"))
	all := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "anna", "--role", "administrator"))
	reader := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "eve", "--role", "reader"))
	changesNothing(t, s, dialectDoors("99999", "20.500.9999"), scoped)
	changesNothing(t, s, dialectDoors("12345", "20.500.1234"), all)
	changesNothing(t, s, dialectDoors("99999", "20.500.9999"), reader)
	succeed(t, s, all)
}

// TestAttackDialectsGuessing: a client tries many passwords. None succeeds, and after some the server
// reads no more of them, also not the right one.
func TestAttackDialectsGuessing(t *testing.T) {
	s := startDialects(t)
	token := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "anna", "--role", "administrator"))
	for i := range 5 {
		changesNothing(t, s, dialectDoors("99999", "20.500.9999"), fmt.Sprintf("%s%d", token[:len(token)-1], i))
	}
	d := dialectDoors("99999", "20.500.9999")[2]
	if status, body, _ := d.send(t, s, "Basic", token); status != http.StatusServiceUnavailable {
		t.Errorf("after 120 guesses: got %d with %q, want 503", status, body)
	}
}

// TestAttackDialectsOfAnotherSite: a page of another site makes a browser send credentials that it
// keeps. The dialect of EZID does not accept them.
func TestAttackDialectsOfAnotherSite(t *testing.T) {
	s := startDialects(t)
	token := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "anna", "--role", "administrator"))
	changesNothing(t, s, append(dialectDoors("99999", "20.500.9999")[2:8], downloadDoor()), token, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
}

// TestAttackDownloads: a client tries to read batch downloads of others: by guessing the names of files, by
// paths out of the directory, in the clear, and by requesting a file without rights.
func TestAttackDownloads(t *testing.T) {
	s := startDialects(t, "--trusted-proxy", "127.0.0.0/8")
	token := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "anna", "--role", "administrator"))
	other := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "evil", "--role", "owner", "--prefix", "hdl:20.500.1234"))
	secure := []string{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https"}
	clear := []string{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "http"}
	request := func(token string) string {
		t.Helper()
		status, body, _ := downloadDoor().send(t, s, "Basic", token, secure...)
		_, file, ok := strings.Cut(body, "/download/")
		if status != http.StatusOK || !ok {
			t.Fatalf("got %d with %q", status, body)
		}
		return file
	}
	fetch := func(file string, fields []string) (int, string) {
		status, body, _ := dialectDoor{"GET", "/download/" + file, ""}.send(t, s, "", "", fields...)
		return status, body
	}
	file := request(token)
	status, body := 0, ""
	for status != http.StatusOK {
		if status, body = fetch(file, secure); status != http.StatusOK && status != http.StatusNotFound {
			t.Fatalf("got %d with %q", status, body)
		}
	}
	if status, body := fetch(file, clear); status < 400 || strings.HasPrefix(body, "\x1f\x8b") {
		t.Errorf("in the clear: got %d with %q", status, body)
	}
	id, suffix, _ := strings.Cut(file, ".")
	for _, guess := range []string{
		"", ".", "..", "../" + file, "%2e%2e/" + file, id, id[:len(id)-1] + "." + suffix, id + "a." + suffix, id + ".zip", id + "." + suffix + "/", id + "." + suffix + "%00",
		strings.ToUpper(id) + "." + suffix, "*." + suffix, strings.Repeat("a", len(id)) + "." + suffix, "../../../../etc/passwd", "..%2f..%2fstore.key",
	} {
		if status, body := fetch(guess, secure); status == http.StatusOK || strings.Contains(body, "root:") {
			t.Errorf("%q: got %d with %q", guess, status, body)
		}
	}
	// The file of a client without rights on the ARKs has none of them.
	status, file = 0, request(other)
	for status != http.StatusOK {
		status, body = fetch(file, secure)
	}
	g, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(g); err != nil || len(text) > 0 {
		t.Errorf("a client without rights got %q, %v", text, err)
	}
}

// TestAttackHiddenARKs: inflections tell nothing about names that are not public, and a client cannot
// put elements or header fields into a description.
func TestAttackHiddenARKs(t *testing.T) {
	s := startDialects(t)
	s.nomen(t, "authority", "put", "ark:99999/closed", "--owner", "archive", "--owner", "library", "--access", "denied")
	s.nomen(t, "put", "ark:99999/closed/1", "https://example.org/1", "--title", "Confidential")
	s.nomen(t, "put", "ark:99999/split", "https://example.org/1", "--title", "A%0Awho: evil")
	for _, inflection := range []string{"?", "??", "?info"} {
		for _, name := range []string{"held", "closed/1"} {
			d := dialectDoor{"GET", "/ark:99999/" + name + inflection, ""}
			status, body, _ := d.send(t, s, "", "")
			if status < 400 || strings.Contains(body, "Embargoed") || strings.Contains(body, "Confidential") {
				t.Errorf("%s: got %d with %q", d.target, status, body)
			}
		}
		d := dialectDoor{"GET", "/ark:99999/split" + inflection, ""}
		if _, body, _ := d.send(t, s, "", ""); strings.Contains(body, "\nwho: evil") {
			t.Errorf("%s: got %q", d.target, body)
		}
		for _, target := range []string{"/ark:99999/a%0d%0aSet-Cookie:%20x=1", "/ark:99999/x%0d%0aX: y", "/ark:99999/" + strings.Repeat("x/", 2000), "/ark:99999//evil.example/", `/ark:99999/"><script>`} {
			d := dialectDoor{"GET", strings.ReplaceAll(target, " ", "%20") + inflection, ""}
			status, _, header := d.send(t, s, "", "")
			if header.Get("Set-Cookie") != "" || header.Get("X") != "" || status >= 500 || strings.Contains(header.Get("Location"), "evil") {
				t.Errorf("%s: got %d with %v", fmt.Sprintf("%.80s", d.target), status, header)
			}
		}
	}
}
