package admin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// minted mints with a client and returns the names.
func minted(t *testing.T, c *adminapi.Client, m adminapi.Minting) (all []string, err error) {
	t.Helper()
	err = c.Mint(t.Context(), m, func(n name.Name) { all = append(all, n.Key()) })
	return all, err
}

func TestAdminMint(t *testing.T) {
	c, s, _ := admin(t)
	names := func(first, last string, of int) func(t *testing.T, got []string, err error) {
		return func(t *testing.T, got []string, err error) {
			t.Helper()
			if err != nil || len(got) != of || got[0] != first || got[of-1] != last {
				t.Errorf("got %q, %v", got, err)
			}
		}
	}
	m := adminapi.Minting{Prefix: "urn:dns:example.org", Template: "new{seq:2:1-5}", Count: 3, Why: "a new series"}
	dry := m
	dry.DryRun = true
	for _, m := range []adminapi.Minting{dry, m} {
		got, err := minted(t, c, m)
		names("urn:dns:example.org:new01", "urn:dns:example.org:new03", 3)(t, got, err)
	}
	if rec, err := s.Get(t.Context(), name.MustParse("urn:dns:example.org:new03"), time.Time{}); err != nil || rec.Status != nomen.Reserved {
		t.Errorf("got %+v, %v", rec, err)
	}
	// The names already minted are reported, and why there are no more.
	got, err := minted(t, c, m)
	var refusal *registrar.RefusalError
	if len(got) != 2 || got[1] != "urn:dns:example.org:new05" || !errors.As(err, &refusal) || refusal.Rule != "exhausted" {
		t.Errorf("the last two: %q, %v", got, err)
	}
	got, err = minted(t, c, adminapi.Minting{Prefix: "uuid", Count: 1})
	if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], "urn:uuid:") {
		t.Errorf("of a namespace: %q, %v", got, err)
	}
	var denied *registrar.DeniedError
	for _, dry := range []bool{false, true} {
		elsewhere := &adminapi.Client{URL: c.URL, Token: grant(t, s, adminapi.Grant{Who: "e", Role: "editor", Prefixes: []string{"urn:dns:other.example"}})}
		if got, err := minted(t, elsewhere, adminapi.Minting{Prefix: "urn:dns:example.org", Template: "x{seq}", Count: 1, DryRun: dry}); !errors.As(err, &denied) || len(got) != 0 {
			t.Errorf("without rights there: %q, %v", got, err)
		}
	}
	reader := &adminapi.Client{URL: c.URL, Token: grant(t, s, adminapi.Grant{Who: "r", Role: "reader"})}
	if got, err := minted(t, reader, dry); !errors.As(err, &denied) {
		t.Errorf("a reader: %q, %v", got, err)
	}
	for body, want := range map[string]struct {
		status int
		told   string
	}{
		`{"prefix":"urn:dns:example.org","template":"one{seq}"}`:           {200, `{"minted":"urn:dns:example.org:one1"}` + "\n" + `{"done":true}`},
		`{"prefix":"urn:dns:example.org","template":"x{sqe}"}`:             {422, `"field":"template","offset":2`},
		`{"prefix":"urn:dns:example.org","template":"x{seq}","count":0}`:   {400, `"field":"count"`},
		`{"prefix":"urn:dns:example.org","template":"x{seq}","count":2e6}`: {400, `"field":"count"`},
		`{"prefix":"nothing at all","template":"x{seq}"}`:                  {400, `malformed-name`},
		`{"template":"x{seq}"}`:                                            {400, ``},
		`{"prefix":"isbn","count":1}`:                                      {422, `a template is required`},
		`{"prefix":"urn:dns:example.org","templat":"x{seq}"}`:              {400, `templat`},
		`{"prefix":"urn:dns:example.org","template":"x","why":"a\u0007b"}`: {422, `"field":"why"`},
	} {
		if status, _, got := do(t, c, "POST", "/api/v1/mint", body); status != want.status || !strings.Contains(got, want.told) {
			t.Errorf("%s: %d %s, want %d %s", body, status, got, want.status, want.told)
		}
	}
	if _, err := s.Get(t.Context(), name.MustParse("urn:dns:example.org:x"), time.Time{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a rejected name was reserved: %v", err)
	}
}
