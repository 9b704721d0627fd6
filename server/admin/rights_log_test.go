package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// TestRightsInLog checks that each request that changes who may do what is in the log of changes,
// with its author, and that no entry has a secret or the hash of one.
func TestRightsInLog(t *testing.T) {
	api, s := newTestAPI(t, nil)
	spelling, root := adminapi.NewToken(adminapi.Grant{Who: "root", Role: "administrator"}, testNow)
	if err := api.registrar.PutToken(t.Context(), registrar.Operator(), root, "first"); err != nil {
		t.Fatal(err)
	}
	d := counter{t, "http://" + listen(t, api).Admin.String(), spelling}
	made := map[string]string{} // IDs of what the requests have made
	secrets := []string{spelling}
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", "tokens", `{"who":"Press","role":"editor","prefixes":["urn:x-new"]}`, "token {token} 1 editor Press"},
		{"POST", "users", `{"name":"Ada","subjects":["header ada"]}`, "user {user} 1 Ada []"},
		{"POST", "users/{user}/grants", `{"add":[{"role":"owner","prefixes":["urn:x-new"]}]}`, "user {user} 2 Ada [{owner [urn:x-new]}]"},
		{"POST", "users/{user}/grants", `{"remove":[{"role":"owner","prefixes":["urn:x-new"]}]}`, "user {user} 3 Ada []"},
		{"PUT", "users/{user}", `{"name":"Ada","subjects":["header ada"],"grants":[{"role":"reader"}]}`, "user {user} 4 Ada [{reader []}]"},
		{"PUT", "users/{user}", `{"name":"Ada","subjects":["header ada"],"disabled":true,"grants":[{"role":"reader"}]}`, "user {user} 5 Ada [{reader []}] disabled"},
		{"POST", "users/{user}/redact", `{"reason":"left"}`, "user {user} 6  [] disabled"},
		{"PUT", "authorities/urn:x-new", `{"owners":["archive","library"]}`, "authority urn:x-new 1 [archive library]"},
		{"PUT", "authorities/urn:x-new", `{"owners":["library","press"]}`, "authority urn:x-new 2 [library press]"},
		{"POST", "authorities/urn:x-new/redact", `{"reason":"wrong"}`, "authority urn:x-new 3 [library press]"},
		{"DELETE", "tokens/{token}", "", "token {token} 2 revoked Press"},
		{"POST", "tokens/{token}/redact", `{"reason":"left"}`, "token {token} 3 revoked "},
	} {
		before, err := store.HeadOf(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		expand := func(text string) string {
			for what, id := range made {
				text = strings.ReplaceAll(text, "{"+what+"}", id)
			}
			return text
		}
		status, body := d.do(tt.method, expand(tt.path), tt.body)
		if status/100 != 2 {
			t.Fatalf("%s %s: %d %s", tt.method, tt.path, status, body)
		}
		var created struct {
			ID, Token string
			User      struct{ ID string }
		}
		_ = json.Unmarshal([]byte(body), &created)
		if created.Token != "" {
			made["token"], secrets = created.ID, append(secrets, created.Token)
		}
		if created.User.ID != "" {
			made["user"] = created.User.ID
		}
		var got []string
		for e, err := range store.Changes(t.Context(), s, before.Size) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Change.Who != "root" {
				t.Errorf("%s %s: entry %d is by %q, want root", tt.method, tt.path, e.Seq, e.Change.Who)
			}
			got = append(got, rightsOf(e.Change))
		}
		if want := expand(tt.want); len(got) != 1 || got[0] != want {
			t.Errorf("%s %s: the log has %q, want %q", tt.method, tt.path, got, want)
		}
	}
	_, log := d.do("GET", "changes", "")
	for _, secret := range secrets {
		if _, part, _ := strings.Cut(secret, "."); strings.Contains(log, part) {
			t.Error("the log has the secret of a token")
		}
	}
	if !strings.Contains(log, made["token"]) || strings.Contains(log, "Press") || strings.Contains(log, `"hash":"`+fmt.Sprintf("%x", root.Hash)) {
		t.Errorf("the log is\n%s", log)
	}
}

// rightsOf describes the rights in a change.
func rightsOf(c *store.Change) string {
	switch {
	case c.Rights != nil:
		state := c.Rights.Role
		if c.Rights.Revoked {
			state = "revoked"
		}
		return fmt.Sprintf("token %s %d %s %s", c.Rights.ID, c.Rights.Revision, state, c.Rights.Who)
	case c.User != nil:
		text := fmt.Sprintf("user %s %d %s %v", c.User.ID, c.User.Revision, c.User.Name, c.User.Grants)
		if c.User.Disabled {
			text += " disabled"
		}
		return text
	case c.Authority != nil:
		return fmt.Sprintf("authority %s %d %v", c.Authority.Prefix, c.Authority.Revision, c.Authority.Owners)
	}
	return c.Subject().Key
}
