//go:build attack

package attacks

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestAttackScopedAdministrator tries each request of the admin API as an administrator of one
// prefix. No request may change anything outside the prefix, or take over requests or names of
// other authorities. No request may reveal whether a name outside the prefix is reserved: the
// responses about a reserved name and a missing name must be the same, in any letter case.
func TestAttackScopedAdministrator(t *testing.T) {
	s := start(t)
	s.nomen(t, "authority", "put", "urn:x-fold", "--fold-case", "--owner", "a", "--owner", "b")
	s.nomen(t, "authority", "put", "urn:x-fold:mine", "--owner", "me", "--owner", "you")
	s.nomen(t, "authority", "put", "urn:dns:victim.example", "--owner", "a", "--owner", "b", "--host", "www.victim.example")
	s.nomen(t, "put", "urn:dns:victim.example:a", "https://victim.example/a")
	s.nomen(t, "put", "urn:x-fold:other:1", "--status", "reserved", "https://other.example/embargoed")
	s.nomen(t, "put", "urn:x-fold:mine:1", "https://mine.example/1")
	scoped := strings.TrimSpace(s.nomen(t, "token", "make", "--who", "evil", "--role", "administrator",
		"--prefix", "urn:x-fold:mine", "--prefix", "urn:x-fold:miners:", "--prefix", "urn:dns:evil.example", "--prefix", "https://evil.example"))
	before := s.nomen(t, "export")
	times := regexp.MustCompile(`"modified":"[^"]*"`)
	do := func(token, method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.admin+"/api/v1/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}

	refused := []struct{ method, path, body string }{
		{"PUT", "authorities/urn:x-fold:mine", `{"owners":["me","you"],"hosts":["www.victim.example"]}`},
		{"PUT", "authorities/urn:x-fold:mine", `{"owners":["me","you"],"hosts":["new.example"]}`},
		{"PUT", "authorities/urn:x-fold:mine", `{"owners":["me","you"],"addresses":["127.0.0.1"]}`},
		{"PUT", "authorities/urn:x-fold:mine", `{"owners":["me","you"],"default":true}`},
		{"PUT", "authorities/urn:x-fold:mine", `{"owners":["me","a"]}`},
		{"PUT", "authorities/urn:dns:evil.example", `{}`},
		{"PUT", "authorities/https://evil.example", `{}`},
		{"PUT", "authorities/urn:x-fold", `{"fold_case":false}`},
		{"PUT", "authorities/urn:dns:victim.example", `{}`},
		{"POST", "authorities/urn:dns:victim.example/redact", `{"reason":"x"}`},
		{"POST", "verify", ``},
		{"POST", "backup", `{"dir":"/tmp/evil"}`},
		{"GET", "tokens", ``},
		{"POST", "tokens", `{"who":"evil","role":"administrator"}`},
		{"POST", "tokens", `{"who":"evil","role":"reader","prefixes":["urn:x-fold:mine"]}`},
		{"DELETE", "misses", ``},
		{"POST", "import?as=anna", `{"name":"urn:x-fold:mine:9"}`},
		{"PUT", "names/urn:dns:victim.example:a", `{"locations":[{"url":"https://evil.example/"}]}`},
	}
	for _, tt := range refused {
		if status, body := do(scoped, tt.method, tt.path, tt.body); status != http.StatusForbidden {
			t.Errorf("%s %s %s: got %d %s, want 403", tt.method, tt.path, tt.body, status, body)
		}
	}

	// A reserved name and a name that does not exist. "NAME" stands for one of these two.
	const there, missing = "urn:x-fold:other:1", "urn:x-fold:other:2"
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "names/NAME", ``},
		{"HEAD", "names/NAME", ``},
		{"GET", "names/NAME/history", ``},
		{"PUT", "names/NAME", `{"locations":[{"url":"https://evil.example/"}]}`},
		{"DELETE", "names/NAME", ``},
		{"POST", "names/NAME/retire", `{"reason":"x"}`},
		{"POST", "names/NAME/redact", `{"reason":"x","revisions":[1]}`},
		{"POST", "names", `{"requests":[{"record":{"name":"NAME","locations":[{"url":"https://evil.example/"}]}}]}`},
		{"POST", "names", `{"dry_run":true,"requests":[{"record":{"name":"NAME"}}]}`},
		{"POST", "names", `{"dry_run":true,"requests":[{"record":{"name":"urn:x-fold:mine:7","same_as":["NAME"],"successors":["NAME"]}}]}`},
		{"POST", "names/urn:x-fold:mine:1/retire", `{"reason":"moved","successors":["NAME"]}`},
		{"GET", "resolve?explain=yes&name=NAME", ``},
		{"GET", "find?location=https://other.example/", ``},
		{"GET", "names?prefix=NAME", ``},
		{"GET", "export?prefix=NAME", ``},
	} {
		var answers []string
		for _, n := range []string{there, missing, strings.ToUpper(there[len("urn:x-fold:"):]), strings.ToUpper(missing[len("urn:x-fold:"):])} {
			if !strings.HasPrefix(n, "urn:") {
				n = "urn:x-fold:" + n
			}
			in := func(text string) string { return strings.ReplaceAll(text, "NAME", n) }
			_, body := do(scoped, tt.method, in(tt.path), in(tt.body))
			for _, spelled := range []string{there, missing, n} {
				body = strings.ReplaceAll(body, spelled, "NAME")
			}
			if strings.Contains(tt.path, "mine:1") { // the response shows earlier changes of the administrator's own name
				_, body, _ = strings.Cut(body, `"warnings"`)
			}
			answers = append(answers, times.ReplaceAllString(body, ""))
			if strings.Contains(body, "embargoed") {
				t.Errorf("%s %s %s: got %s", tt.method, in(tt.path), in(tt.body), body)
			}
		}
		for i, got := range answers {
			if got != answers[0] {
				t.Errorf("%s %s %s: answer %d differs:\n%s\n%s", tt.method, tt.path, tt.body, i, answers[0], got)
			}
		}
	}
	for _, body := range []string{
		`{"prefix":"urn:x-fold:other","template":"{seq}","count":1,"dry_run":true}`,
		`{"prefix":"urn:x-fold:OTHER","template":"{seq}","count":1,"dry_run":true}`,
		`{"prefix":"urn:x-fold:other","count":1,"dry_run":true}`,
		`{"prefix":"urn:x-fold","template":"other:{seq}","count":1}`,
	} {
		if _, got := do(scoped, "POST", "mint", body); strings.Contains(got, "other:2") || strings.Contains(got, "minted") {
			t.Errorf("mint %s: got %s", body, got)
		}
	}
	for _, tt := range [][2]string{
		{"relocate", `{"from":"https://other.example/","to":"https://evil.example/"}`},
		{"relocate", `{"from":"https://victim.example/","to":"https://evil.example/"}`},
		{"undo", `{"from":1,"to":1000,"force":true,"dry_run":true}`},
	} {
		if _, got := do(scoped, "POST", tt[0], tt[1]); strings.Contains(got, "other") || strings.Contains(got, "victim") {
			t.Errorf("%s %s: got %s", tt[0], tt[1], got)
		}
	}

	theirs := func(export string) (lines []string) {
		for line := range strings.Lines(export) {
			if !strings.Contains(line, "urn:x-fold:mine") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if got, want := strings.Join(theirs(s.nomen(t, "export")), ""), strings.Join(theirs(before), ""); got != want {
		t.Errorf("names of others have changed:\n%s\nwere\n%s", got, want)
	}
	if status, _, err := s.get("", "/urn:dns:victim.example:a"); err != nil || status != http.StatusSeeOther {
		t.Errorf("the victim's name: %d, %v", status, err)
	}
}
