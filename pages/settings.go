package pages

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
)

const settingsPath = Root + "settings"

func settingsHandlers() handlers {
	return handlers{
		"GET settings":  (*request).settings,
		"POST settings": (*request).reload,
	}
}

type settingsView struct {
	frame
	Version  adminapi.Version
	Settings []adminapi.Setting // settings without secrets
	NoConfig bool               // there is no configuration to show or reload
	Is       Condition
	Known    bool
	Verified []verification
}

func (f *frame) SeesSettings() bool { return f.actor.MayAll(registrar.Administrator) }

// settings shows the settings of the server. The API permits this only for administrators of all
// names.
func (c *request) settings() error {
	v, err := c.settingsView()
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(c.r.Form.Get("reloaded")); err == nil && n >= 0 {
		v.Notice = c.texts.text("settings.reloaded", n)
	}
	c.show(http.StatusOK, "settings", v)
	return nil
}

func (c *request) settingsView() (*settingsView, error) {
	if !c.session.Actor.MayAll(registrar.Administrator) {
		return nil, c.session.Actor.DeniedAll(registrar.Administrator, "settings")
	}
	v := &settingsView{Is: c.seen(), Known: c.condition != nil}
	v.Title, v.Section = c.texts.text("settings.title"), "settings"
	var err error
	if v.Version, err = c.api.Version(c.ctx()); err != nil {
		return nil, err
	}
	if v.Settings, err = c.api.Settings(c.ctx()); isUnsupported(err) {
		v.NoConfig, err = true, nil
	}
	if err != nil {
		return nil, err
	}
	v.Verified, err = c.verified()
	return v, err
}

func (c *request) reload() error {
	done, err := c.api.Reload(c.ctx())
	if err == nil {
		c.see(settingsPath + "?reloaded=" + strconv.Itoa(len(done.Changes)))
		return nil
	}
	var invalid *adminapi.ReloadError
	if !errors.As(err, &invalid) {
		return err
	}
	v, err := c.settingsView()
	if err != nil {
		return err
	}
	for _, text := range invalid.Errors {
		v.Faults = append(v.Faults, problem{"", text})
	}
	c.show(http.StatusUnprocessableEntity, "settings", v)
	return nil
}
