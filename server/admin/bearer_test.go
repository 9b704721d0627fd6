package admin

import (
	"errors"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
)

// Tokens of dialects have the rights and limits of the admin API.
func TestBearer(t *testing.T) {
	api, s := newTestAPI(t, func(o *Options) { o.Limits = Limits{Rate: 1, Burst: 2} })
	token := grant(t, s, adminapi.Grant{Who: "anna", Role: "editor"})
	id, _, _ := adminapi.SplitToken(token)
	for i, want := range []bool{true, true, false} {
		a, err := api.Bearer(t.Context(), token)
		if a.Who != "anna" || (err == nil) != want || !want && !errors.As(err, new(*adminapi.RateError)) {
			t.Errorf("request %d: got %q, %v", i, a.Who, err)
		}
	}
	if _, err := api.Account(t.Context(), id, ""); !errors.As(err, new(*adminapi.RateError)) {
		t.Errorf("an identity of the token: got %v, want the limit of the token", err)
	}
	for _, wrong := range []string{"", id, id + ".", id + ".wrong", "none.none"} {
		if _, err := api.Bearer(t.Context(), wrong); !errors.Is(err, adminapi.ErrUnauthorized) {
			t.Errorf("%q: got %v", wrong, err)
		}
	}
}

func TestAccount(t *testing.T) {
	api, admin, owner, _ := newUsers(t)
	if a, err := api.Account(t.Context(), "", owner); err != nil || a.Who != owner || a.Role() != registrar.Owner {
		t.Errorf("a user: got %+v, %v", a, err)
	}
	if _, err := admin.RedactUser(t.Context(), owner, registrar.Redaction{Reason: "left", Expected: ^uint64(0)}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ token, user string }{{"", owner}, {"", "u-00000000"}, {"none", ""}} {
		if _, err := api.Account(t.Context(), tt.token, tt.user); !errors.Is(err, adminapi.ErrUnauthorized) {
			t.Errorf("%+v: got %v", tt, err)
		}
	}
}
