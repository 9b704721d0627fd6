package adminapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/retryafter"
)

// A Setting is the value of an option of the server. Secrets in the value are hidden.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // where the value comes from: default, command line, environment NOMEN_X, or FILE:LINE
	Reload bool   `json:"reload"` // a reload can change the value without a restart
}

// Settings is the response to GET config.
type Settings struct {
	Settings []Setting `json:"settings"` // sorted by key
}

// A SettingChange is a change that a reload makes.
type SettingChange struct {
	Key  string `json:"key"` // an option, a file that was read again, or an authority
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Reloaded is the response to POST reload.
type Reloaded struct {
	Changes  []SettingChange `json:"changes"`            // empty if nothing has changed
	Warnings []string        `json:"warnings,omitempty"` // warnings about the configuration
}

// A ReloadError reports an invalid configuration, or a change that needs a restart. The server
// keeps its previous configuration.
type ReloadError struct {
	Errors []string // each begins with its position: FILE:LINE:COLUMN, environment variable or option
}

func (e *ReloadError) Error() string {
	return "configuration rejected, nothing was changed:\n" + strings.Join(e.Errors, "\n")
}

// A RateError reports that a token sends too many requests.
type RateError struct {
	After time.Duration // when the next request is accepted
}

func (e *RateError) Error() string {
	return "too many requests of this token; repeat in " + retryafter.Format(e.After) + "s"
}

// Reload makes the server read its configuration again. The error is a [*ReloadError] if the
// configuration is invalid or needs a restart.
func (c *Client) Reload(ctx context.Context) (Reloaded, error) {
	return request[Reloaded](ctx, c, http.MethodPost, "reload", nil, nil)
}

// Settings returns the settings of the server.
func (c *Client) Settings(ctx context.Context) ([]Setting, error) {
	all, err := request[Settings](ctx, c, http.MethodGet, "config", nil, nil)
	return all.Settings, err
}
