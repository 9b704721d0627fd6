package admin

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits bound what tokens can use. A zero field means the default, which follows the
// semicolon in its comment.
type Limits struct {
	Rate      float64 // requests per second of one token, except those of administrators of all names; 100
	Burst     int     // requests of such a token in a burst; as many as Rate allows in 5 s
	TokenJobs int     // jobs of one token that run at once; 4
	Jobs      int     // jobs that run at once; 8
}

func (l Limits) withDefaults() Limits {
	l.Rate = cmp.Or(l.Rate, 100)
	l.Burst = cmp.Or(l.Burst, max(int(5*l.Rate), 1))
	l.TokenJobs = cmp.Or(l.TokenJobs, 4)
	l.Jobs = cmp.Or(l.Jobs, 8)
	return l
}

// maxTokenRates is how many tokens have a rate limit each. All further tokens share one.
const maxTokenRates = 10_000

// Settings are what [API.Set] can change while the API is in use.
type Settings struct {
	Hosts     []string     // Host fields that are accepted in addition to addresses and localhost
	AccessLog *slog.Logger // receives one line per request; disabled if nil
	Limits    Limits
}

// settings are Settings in the form that requests need.
type settings struct {
	hosts  map[string]bool
	access *slog.Logger
	limits Limits
}

// Set changes settings. Requests in progress may use the earlier settings. What tokens have used
// of their limits still counts.
func (s *API) Set(o Settings) {
	next := &settings{hosts: map[string]bool{}, access: o.AccessLog, limits: o.Limits.withDefaults()}
	for _, h := range o.Hosts {
		next.hosts[store.CanonicalHost(h)] = true
	}
	s.settings.Store(next)
	s.rates.Set(next.limits.Rate, next.limits.Burst, s.now())
}

// checkRate returns an error if the token of a request sends too many requests.
func (s *API) checkRate(c *call) error {
	if c.isOperator() {
		return nil
	}
	if wait := s.rates.Spend(c.token(), s.now()); wait > 0 {
		return &adminapi.RateError{After: wait}
	}
	return nil
}

// isOperator reports whether a request was sent by an administrator of all names.
func (c *call) isOperator() bool {
	return c.actor.MayAll(registrar.Administrator)
}

// A Configuration is the configuration of the program around an API.
type Configuration interface {
	// Settings returns the settings in effect, sorted by key, without secrets.
	Settings() []adminapi.Setting

	// Reload reads the configuration again. It changes everything or, with an error, nothing.
	// The error may be an [*adminapi.ReloadError].
	Reload() (adminapi.Reloaded, error)
}

func (s *API) getConfig(c *call) error {
	if err := c.requireAllNames("config"); err != nil {
		return err
	}
	if s.config == nil {
		return errNoConfig
	}
	return writeJSON(c.w, http.StatusOK, adminapi.Settings{Settings: s.config.Settings()})
}

func (s *API) reload(c *call) error {
	if err := c.requireAllNames("config"); err != nil {
		return err
	}
	if s.config == nil {
		return errNoConfig
	}
	out, err := s.config.Reload()
	if err != nil {
		return err
	}
	if out.Changes == nil {
		out.Changes = []adminapi.SettingChange{}
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// errNoConfig is returned by a server whose program has no configuration.
var errNoConfig = &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this server has no configuration that it could reload"}
