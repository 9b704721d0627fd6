package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
)

// get sends a request with a token, without the retries of the client.
func get(t *testing.T, c *adminapi.Client, method, path string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.URL+adminapi.Root+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// TestTokenRate: a token can send only so many requests per second. Each token has a rate of
// its own, and administrators of all names have none. New limits apply at once.
func TestTokenRate(t *testing.T) {
	api, s := newTestAPI(t, func(o *Options) { o.Limits = Limits{Rate: 1, Burst: 2} })
	l := listen(t, api)
	as := func(g adminapi.Grant) *adminapi.Client {
		return &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, g)}
	}
	editor, other, root := as(adminapi.Grant{Who: "anna", Role: "editor"}), as(adminapi.Grant{Who: "ben", Role: "administrator", Prefixes: []string{"urn:ietf"}}), as(adminapi.AdministratorGrant())
	for i, want := range []int{200, 200, 429, 429} {
		resp := get(t, editor, "GET", "version")
		if resp.StatusCode != want || (resp.Header.Get("Retry-After") == "1") != (want == 429) {
			t.Errorf("request %d: got %s, Retry-After %q", i, resp.Status, resp.Header.Get("Retry-After"))
		}
		if resp := get(t, root, "GET", "version"); resp.StatusCode != 200 {
			t.Errorf("an administrator: %s", resp.Status)
		}
	}
	if resp := get(t, other, "GET", "version"); resp.StatusCode != 200 {
		t.Errorf("another token: %s", resp.Status)
	}
	if got := get(t, &adminapi.Client{URL: editor.URL, Token: "none.none"}, "GET", "version"); got.StatusCode != 401 {
		t.Errorf("an invalid token: %s", got.Status)
	}
	api.Set(Settings{Limits: Limits{Rate: 1000, Burst: 2000}})
	reader := as(adminapi.Grant{Who: "c", Role: "reader"})
	for range 3 {
		if resp := get(t, reader, "GET", "version"); resp.StatusCode != 200 {
			t.Errorf("with a higher limit: %s", resp.Status)
		}
	}
	if resp := get(t, editor, "GET", "version"); resp.StatusCode != 429 {
		t.Errorf("a token that spent its burst before: %s", resp.Status)
	}
}

// The client waits until the server accepts its request.
func TestClientWaits(t *testing.T) {
	asked := time.Now()
	api, s := newTestAPI(t, func(o *Options) {
		o.Limits = Limits{Rate: 2, Burst: 1}
		o.Now = func() time.Time { return testNow.Add(time.Since(asked)) }
	})
	c := &adminapi.Client{URL: "http://" + listen(t, api).Admin.String(), Token: grant(t, s, adminapi.Grant{Who: "anna", Role: "editor"})}
	for range 2 {
		if _, err := c.Version(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A fakeConfiguration is a Configuration for tests.
type fakeConfiguration struct{ err error }

func (f *fakeConfiguration) Settings() []adminapi.Setting {
	return []adminapi.Setting{{Key: "rate", Value: "10", Source: "default", Reload: true}}
}

func (f *fakeConfiguration) Reload() (adminapi.Reloaded, error) {
	return adminapi.Reloaded{Changes: []adminapi.SettingChange{{Key: "rate", From: "10", To: "20"}}}, f.err
}

// TestReload: only administrators of all names reload, and get all errors of a configuration.
func TestReload(t *testing.T) {
	config := &fakeConfiguration{}
	api, s := newTestAPI(t, func(o *Options) { o.Config = config })
	l := listen(t, api)
	as := func(g adminapi.Grant) *adminapi.Client {
		return &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, g)}
	}
	root := as(adminapi.AdministratorGrant())
	out, err := root.Reload(t.Context())
	if err != nil || len(out.Changes) != 1 || out.Changes[0].To != "20" {
		t.Errorf("got %+v, %v", out, err)
	}
	if all, err := root.Settings(t.Context()); err != nil || len(all) != 1 || all[0].Key != "rate" {
		t.Errorf("got %+v, %v", all, err)
	}
	want := []string{`f:1:2: rate "x": must be a number`, "f:2:3: unknown key"}
	config.err = &adminapi.ReloadError{Errors: want}
	var invalid *adminapi.ReloadError
	if _, err := root.Reload(t.Context()); !errors.As(err, &invalid) || !slices.Equal(invalid.Errors, want) || !strings.Contains(err.Error(), want[0]) {
		t.Errorf("got %v", err)
	}
	for _, g := range []adminapi.Grant{{Who: "o", Role: "owner"}, {Who: "p", Role: "administrator", Prefixes: []string{"urn:ietf"}}} {
		for _, path := range []string{"POST reload", "GET config"} {
			method, path, _ := strings.Cut(path, " ")
			if resp := get(t, as(g), method, path); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s as %s: %s", method, path, g.Who, resp.Status)
			}
		}
	}
}

// An API of a program without a configuration says so.
func TestNoConfiguration(t *testing.T) {
	api, s := newTestAPI(t, nil)
	c := &adminapi.Client{URL: "http://" + listen(t, api).Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	for _, path := range []string{"POST reload", "GET config"} {
		method, path, _ := strings.Cut(path, " ")
		if resp := get(t, c, method, path); resp.StatusCode != http.StatusNotImplemented {
			t.Errorf("%s %s: %s", method, path, resp.Status)
		}
	}
}

// A client learns from the error when the server accepts its next request.
func TestRateErrorOfClient(t *testing.T) {
	api, s := newTestAPI(t, func(o *Options) { o.Limits = Limits{Rate: 1.0 / 90, Burst: 1} })
	ctx, cancel := context.WithCancel(t.Context())
	c := &adminapi.Client{URL: "http://" + listen(t, api).Admin.String(), Token: grant(t, s, adminapi.Grant{Who: "anna", Role: "editor"})}
	if _, err := c.Version(ctx); err != nil {
		t.Fatal(err)
	}
	var body []byte
	c.HTTP = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if body, err = io.ReadAll(resp.Body); err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		cancel() // so that the client does not wait
		return resp, nil
	})}
	_, err := c.Version(ctx)
	var rate *adminapi.RateError
	if !errors.As(err, &rate) || rate.After != 90*time.Second || err.Error() != "too many requests of this token; repeat in 90s" {
		t.Errorf("got %#v: %v; want 90s", rate, err)
	}
	if !bytes.Contains(body, []byte(`"retry_after":90`)) {
		t.Errorf("body: %s", body)
	}
}
