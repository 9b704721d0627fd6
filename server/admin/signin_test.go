package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// TestSignInLink checks who may make a link, and that the response is not kept anywhere.
func TestSignInLink(t *testing.T) {
	var made []string
	until := testNow.Add(10 * time.Minute)
	api, _ := newTestAPI(t, func(o *Options) {
		o.SignInLink = func(_ context.Context, user string) (string, time.Time, error) {
			if user != "u-00000001" {
				return "", until, store.ErrNotFound
			}
			made = append(made, user)
			return "https://pages.example.org/x?code=y", until, nil
		}
	})
	ctx := t.Context()
	admin := api.Client(person("u-admin", registrar.Administrator))
	link, err := admin.SignInLink(ctx, "u-00000001")
	if err != nil || link.URL != "https://pages.example.org/x?code=y" || !link.Until.Equal(until) || len(made) != 1 {
		t.Errorf("got %+v, %v", link, err)
	}
	if _, err := admin.SignInLink(ctx, "u-00000002"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown user: %v", err)
	}
	for _, a := range []registrar.Actor{person("u-owner", registrar.Owner), person("u-some", registrar.Administrator, "urn:dns:example.org")} {
		if _, err := api.Client(a).SignInLink(ctx, "u-00000001"); !errors.As(err, new(*registrar.DeniedError)) {
			t.Errorf("%s: %v", a.Who, err)
		}
	}
	if len(made) != 1 {
		t.Errorf("made %q", made)
	}
	plain, _ := newTestAPI(t, nil)
	var status *adminapi.StatusError
	if _, err := plain.Client(person("u-admin", registrar.Administrator)).SignInLink(ctx, "u-00000001"); !errors.As(err, &status) || status.Status != http.StatusNotImplemented {
		t.Errorf("without pages: %v", err)
	}
}

// TestEndSessions checks who may sign a user out, and that the sessions of a user are removed when the
// user is disabled or redacted.
func TestEndSessions(t *testing.T) {
	var ended []string
	fail := false
	api, _ := newTestAPI(t, func(o *Options) {
		o.EndSessions = func(_ context.Context, user string) error {
			if fail {
				return errors.New("the vault is away")
			}
			ended = append(ended, user)
			return nil
		}
	})
	ctx := t.Context()
	admin := api.Client(person("u-admin", registrar.Administrator))
	out, err := admin.PutUser(ctx, &store.User{Name: "Anna"}, store.AnyRevision, "")
	if err != nil {
		t.Fatal(err)
	}
	u := out.User
	want := func(what string, n int) {
		t.Helper()
		if len(ended) != n || n > 0 && ended[n-1] != u.ID {
			t.Errorf("%s: ended %q, want %d times", what, ended, n)
		}
	}
	want("added", 0)
	if err := admin.EndSessions(ctx, u.ID); err != nil {
		t.Error(err)
	}
	want("signed out", 1)
	if err := admin.EndSessions(ctx, "u-00000000"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown user: %v", err)
	}
	for _, a := range []registrar.Actor{person("u-owner", registrar.Owner), person("u-some", registrar.Administrator, "urn:dns:example.org"), person(u.ID, registrar.Reader)} {
		if err := api.Client(a).EndSessions(ctx, u.ID); !errors.As(err, new(*registrar.DeniedError)) {
			t.Errorf("%s: %v", a.Who, err)
		}
	}
	want("not permitted", 1)
	for i, disabled := range []bool{true, false} {
		u.Disabled = disabled
		if _, err := admin.PutUser(ctx, u, store.AnyRevision, ""); err != nil {
			t.Error(err)
		}
		want([]string{"disabled", "enabled"}[i], 2)
	}
	fail = true
	if err := admin.EndSessions(ctx, u.ID); err == nil {
		t.Error("no error while the vault is away")
	}
	u.Disabled = true
	if _, err := admin.PutUser(ctx, u, store.AnyRevision, ""); err != nil {
		t.Errorf("a user cannot be disabled while the vault is away: %v", err)
	}
	fail = false
	if _, err := admin.RedactUser(ctx, u.ID, registrar.Redaction{Reason: "left", Expected: store.AnyRevision}); err != nil {
		t.Error(err)
	}
	want("redacted", 3)
	plain, _ := newTestAPI(t, nil)
	var status *adminapi.StatusError
	if err := plain.Client(person("u-admin", registrar.Administrator)).EndSessions(ctx, u.ID); !errors.As(err, &status) || status.Status != http.StatusNotImplemented {
		t.Errorf("without pages: %v", err)
	}
}

// TestSecretsNotLogged: the access log has no query of a page about signing in.
func TestSecretsNotLogged(t *testing.T) {
	var log bytes.Buffer
	api, _ := newTestAPI(t, func(o *Options) {
		o.AccessLog = slog.New(slog.NewTextHandler(&log, nil))
		o.Pages = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	})
	for target, want := range map[string]string{
		"/-/ui/sign-in/link?code=secret":                 "/-/ui/sign-in/link?...",
		"/-/ui/sign-in/at/uni/callback?code=secret":      "/-/ui/sign-in/at/uni/callback?...",
		"http://localhost/-/ui/sign-in/link?code=secret": "/-/ui/sign-in/link?...",
		"/-/ui/sign-in":             "target=/-/ui/sign-in ",
		"/-/ui/names?prefix=public": "/-/ui/names?prefix=public",
	} {
		log.Reset()
		request := httptest.NewRequest("GET", target, nil)
		request.Host = "localhost"
		api.ServeHTTP(httptest.NewRecorder(), request)
		if got := log.String(); strings.Contains(got, "secret") || !strings.Contains(got, want) {
			t.Errorf("%s: logged %s", target, got)
		}
	}
}
