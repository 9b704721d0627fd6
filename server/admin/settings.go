package admin

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits bound what tokens can use. If a field is zero, the default applies, which is the value
// after the semicolon in the comment.
type Limits struct {
	Rate      float64 // requests per second of one token, unless it is a token of an administrator of all names; 100
	Burst     int     // requests of one token in a burst, with the same exception; as many as Rate allows in 5 s
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

// maxTokenRates is the maximum number of tokens that have a rate limit of their own. All other
// tokens share one.
const maxTokenRates = 10_000

// Settings are what [API.Set] can change while the API is in use.
type Settings struct {
	Hosts     []string     // Host fields that are accepted in addition to addresses and localhost
	AccessLog *slog.Logger // receives one line per request; disabled if nil
	Limits    Limits

	SecondPerson adminapi.SecondPerson
}

// settings has the values of Settings in the form in which requests use them.
type settings struct {
	hosts  map[string]bool
	access *slog.Logger
	limits Limits
	second adminapi.SecondPerson
}

// Set changes the settings. Requests in progress may use the earlier settings. Requests before the
// change still count for the limits of tokens.
func (s *API) Set(o Settings) {
	next := &settings{hosts: map[string]bool{}, access: o.AccessLog, limits: o.Limits.withDefaults(), second: o.SecondPerson}
	for _, h := range o.Hosts {
		next.hosts[store.CanonicalHost(h)] = true
	}
	s.settings.Store(next)
	s.rates.Set(next.limits.Rate, next.limits.Burst, s.now())
}

// checkRate counts a request, and returns an error if its token sends too many requests.
func (s *API) checkRate(c *call) error { return s.spend(c.actor, c.token()) }

// isOperator reports whether a request was sent by an administrator of all names.
func (c *call) isOperator() bool {
	return c.actor.MayAll(registrar.Administrator)
}

// A Configuration is the configuration of the program that runs an API.
type Configuration interface {
	// Settings returns the settings in effect, sorted by key, without secrets.
	Settings() []adminapi.Setting

	// Reload reads the configuration again. If it returns an error, nothing has changed. Otherwise
	// all changes are in effect. The error may be an [*adminapi.ReloadError].
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

// errNoConfig is the error of requests about the configuration if [Options].Config is nil.
var errNoConfig = &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this server has no configuration that it could reload"}
