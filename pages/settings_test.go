package pages

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/servertest"
)

// A fakeConfig is a configuration with three settings.
type fakeConfig struct{ err error }

func (fakeConfig) Settings() []adminapi.Setting {
	return []adminapi.Setting{
		{Key: "public-url", Value: "https://n.example/", Source: "nomen.toml:3", Reload: true},
		{Key: "store", Source: "default"},
		{Key: "<script>", Value: "\u202e<b>", Source: "<b>"},
	}
}

func (f fakeConfig) Reload() (adminapi.Reloaded, error) {
	return adminapi.Reloaded{Changes: []adminapi.SettingChange{{Key: "public-url"}}}, f.err
}

// configure gives a site an API with a configuration.
func (s *site) configure(config admin.Configuration) {
	s.t.Helper()
	now := func() time.Time { return servertest.Now }
	api, err := admin.New(admin.Options{
		Store: s.store, Resolver: resolve.New(s.store, resolve.Options{Now: now}), Registrar: registrar.New(s.store, registrar.Options{Now: now}),
		Now: now, Misses: s.misses, Config: config, Version: "1.2.3",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.pages.client = api.Client
}

func TestSettings(t *testing.T) {
	s := newSite(t)
	s.configure(nil)
	s.get("settings").want(200, "This server has no configuration that can be shown")
	s.configure(fakeConfig{})
	a := s.get("settings")
	a.want(200, "1.2.3", "public-url https://n.example/ nomen.toml:3 by reloading", "store empty default by restarting the server")
	a.wantHarmless("settings")
	a.without("No backup of this server is known") // the condition is not known
	s.pages.condition = func() Condition {
		return Condition{Backup: servertest.Now, Certificate: servertest.Now.AddDate(0, 1, 0), Verified: servertest.Now, Faults: 1}
	}
	s.get("settings").want(200, "The last backup succeeded at 2026-11-20", "expires at 2026-12-20", "1 fault was found")
	s.pages.condition = func() Condition { return Condition{Database: true} }
	s.get("settings").want(200, "backed up by its own means", "uses no certificates")
	s.pages.condition = func() Condition { return Condition{} }
	s.get("settings").want(200, "No backup of this server is known")
}

// Only administrators of all names see and reload the configuration.
func TestSettingsRights(t *testing.T) {
	s := newSite(t)
	s.configure(fakeConfig{})
	s.get("").want(200, "Settings")
	for _, who := range []string{"reader", "editor", "other", "owner", "none"} {
		s.as(who).get("settings").want(http.StatusForbidden)
		s.as(who).get("settings").without("public-url")
		s.as(who).post("settings").want(http.StatusForbidden)
		s.as(who).get("").without("Settings")
	}
}

func TestReload(t *testing.T) {
	s := newSite(t)
	s.configure(fakeConfig{})
	s.post("settings", "public-url", "https://evil.example/").wantSee("/-/ui/settings?reloaded=1")
	s.get("settings?reloaded=1").want(200, "1 setting has changed")
	s.get("settings?reloaded=-1").without("has changed", "have changed")
	s.configure(fakeConfig{&adminapi.ReloadError{Errors: []string{"nomen.toml:3:1: unknown key", "nomen.toml:4:1: <script>"}}})
	a := s.post("settings")
	a.want(422, "nomen.toml:3:1: unknown key", "nomen.toml:4:1: <script>", "public-url")
	a.wantHarmless("settings")
	s.configure(fakeConfig{errors.New("disk on fire")})
	s.post("settings").want(500)
	s.configure(nil)
	s.post("settings").want(501)
}
