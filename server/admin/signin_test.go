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
