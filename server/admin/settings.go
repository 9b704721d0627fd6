package admin

import (
	"cmp"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/retryafter"
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
	s.rates.set(next.limits, s.now())
}

// tokenRates limits how often each token sends requests. It is safe for concurrent use.
type tokenRates struct {
	mu     sync.Mutex
	limits Limits
	of     map[string]*rate.Limiter // by the ID of the token
}

// maxTokenRates is how many tokens are remembered. Then those with a full bucket are forgotten.
const maxTokenRates = 10_000

func (r *tokenRates) set(l Limits, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits = l
	for _, of := range r.of {
		of.SetLimitAt(now, rate.Limit(l.Rate))
		of.SetBurstAt(now, l.Burst)
	}
}

// spend counts a request of a token. The error is an [*adminapi.RateError].
func (r *tokenRates) spend(token string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.of[token]
	if of == nil {
		r.tidy(now)
		of = rate.NewLimiter(rate.Limit(r.limits.Rate), r.limits.Burst)
		r.of[token] = of
	}
	n := of.ReserveN(now, 1)
	if after := n.DelayFrom(now); after > 0 {
		n.CancelAt(now)
		return &adminapi.RateError{After: after}
	}
	return nil
}

// tidy makes room for another token.
func (r *tokenRates) tidy(now time.Time) {
	if r.of == nil {
		r.of = map[string]*rate.Limiter{}
	}
	if len(r.of) < maxTokenRates {
		return
	}
	for token, of := range r.of {
		if of.TokensAt(now) >= float64(r.limits.Burst) {
			delete(r.of, token)
		}
	}
}

// checkRate returns an error if the token of a request sends too many requests.
func (s *API) checkRate(c *call) error {
	if c.isOperator() {
		return nil
	}
	err := s.rates.spend(c.token(), s.now())
	if limit, ok := err.(*adminapi.RateError); ok {
		c.w.Header().Set("Retry-After", retryafter.Format(limit.After))
	}
	return err
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
