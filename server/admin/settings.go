package admin

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits are the limits for tokens. The comment of each field ends with its default, which replaces
// zero.
type Limits struct {
	Rate      float64 // requests per second of a token, except for administrators of all names; 100
	Burst     int     // requests of a token in a burst, with the same exception; the requests that Rate permits in 5 s
	TokenJobs int     // running jobs of a token; 4
	Jobs      int     // running jobs of all tokens; 8
}

func (l Limits) withDefaults() Limits {
	l.Rate = cmp.Or(l.Rate, 100)
	l.Burst = cmp.Or(l.Burst, max(int(5*l.Rate), 1))
	l.TokenJobs = cmp.Or(l.TokenJobs, 4)
	l.Jobs = cmp.Or(l.Jobs, 8)
	return l
}

// maxTokenRates is the maximum number of tokens with their own rate limit. All other tokens share a
// rate limit.
const maxTokenRates = 10_000

// Settings are the options that [API.Set] can change while the API is in use.
type Settings struct {
	Hosts     []string     // Host fields that are accepted besides addresses and localhost
	AccessLog *slog.Logger // receives one record per request; nil disables it
	Limits    Limits

	SecondPerson adminapi.SecondPerson
}

// settings has the Settings in an internal form.
type settings struct {
	hosts  map[string]bool
	access *slog.Logger
	limits Limits
	second adminapi.SecondPerson
}

// Set changes the settings. Requests in progress may still use the previous settings. Requests
// before the change still count towards the rate limits.
func (s *API) Set(o Settings) {
	next := &settings{hosts: map[string]bool{}, access: o.AccessLog, limits: o.Limits.withDefaults(), second: o.SecondPerson}
	for _, h := range o.Hosts {
		next.hosts[store.CanonicalHost(h)] = true
	}
	s.settings.Store(next)
	s.rates.Set(next.limits.Rate, next.limits.Burst, s.now())
}

func (s *API) checkRate(c *call) error { return s.spend(c.actor, c.token()) }

func (c *call) isOperator() bool {
	return c.actor.MayAll(registrar.Administrator)
}

// A Configuration is the configuration of the program that runs an API.
type Configuration interface {
	// Settings returns the settings in effect, sorted by key, without secrets.
	Settings() []adminapi.Setting

	// Reload reads the configuration again. If it returns an error, no change has taken effect;
	// otherwise all changes have. The error may be an [*adminapi.ReloadError].
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

var errNoConfig = &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this server has no configuration that it could reload"}
