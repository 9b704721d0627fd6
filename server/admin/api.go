package admin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/internal/health"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/rates"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog/publish"
)

// Options configure an API.
type Options struct {
	Store     store.Reader         // required
	Registrar *registrar.Registrar // makes changes; required
	Resolver  nomen.Resolver       // answers questions about names as the public listener does; required

	Authorities *store.Table // cache of the authorities in Store, shared with Resolver; if nil, the API creates a cache

	Version  string   // version of this program
	Instance string   // identifies this server in the response to GET version, unless ""
	Hosts    []string // Host fields that are accepted besides addresses and localhost

	// NodeToken is a token that is not in the store and that only this API accepts. It may be nil.
	NodeToken *store.Token

	// Pages answers requests for paths below [PagesRoot]; see package pages. It gets only requests
	// whose Host field is accepted. Pages of other sites can cause such requests, so Pages must
	// check their origin. It may be nil.
	Pages http.Handler

	// SignInLink returns a URL that signs in anyone who opens it as the given user. The URL can be
	// used once, until the returned time. SignInLink returns [store.ErrNotFound] for an unknown
	// user. It may be nil.
	SignInLink func(ctx context.Context, user string) (url string, until time.Time, err error)

	// EndSessions ends all sessions of a user of the pages. It may be nil.
	EndSessions func(ctx context.Context, user string) error

	// SendTest sends a test message to each recipient of the reports about all names. It may be nil.
	SendTest func(context.Context) []adminapi.Delivery

	Search store.Searcher // finds names by words; nil if the server has no index

	Publication *publish.Log // the published log of the store; nil if it is not published

	Links   *links.Watcher // checks locations; nil if the server does not check them
	Archive *links.Archive // finds preserved copies of dead locations; may be nil

	Misses *misses.Counter // counts failed lookups; nil disables it
	Counts *counts.Counter // counts resolutions; nil disables it

	Scratch func() (bulk.Scratch, error) // temporary storage for dry runs of large files; if nil, they use memory

	Jobs string // directory in which jobs are saved, which the first job creates; if "", jobs are only in memory

	// SharedJobs stores the jobs and their files for all servers that use the same store. If it is
	// not nil, the directory Jobs contains only the bodies of requests that are being received.
	// Jobs that an earlier run left in the directory are moved to SharedJobs.
	SharedJobs store.JobStore

	Pacer    *pacer.Pacer // pauses background work while requests are answered; may be nil
	Scrub    int          // number of changes of the store per second that [API.Run] verifies; 0 disables the verification
	ScrubDir string       // directory in which the progress of the verification is saved; if "", it is not saved

	// Metrics counts requests, and is also the handler of /-/metrics. Clients on this machine can
	// read /-/metrics without a token, and other clients with any valid token. If Metrics is nil,
	// nothing is counted and /-/metrics does not exist.
	Metrics Metrics

	Limits Limits // limits for each token

	SecondPerson adminapi.SecondPerson // which requests a second person must approve

	Config Configuration // the configuration, which administrators can read and reload, or nil

	Timeout time.Duration // maximum time for each step of a stream; 30 s if zero

	Now       func() time.Time // the clock; time.Now if nil
	Log       *slog.Logger     // receives failures; discarded if nil
	AccessLog *slog.Logger     // receives one record per request, whose attribute remote is a netip.Addr; nil disables it
}

// PagesRoot is the path of the pages on the admin listener.
const PagesRoot = "/-/ui/"

// Metrics counts the requests and tasks of an API. It must be safe for concurrent use.
type Metrics interface {
	AdminRequest(role string, status int)      // a request was answered; role is the role of its token, or "none"
	Ran(task string, at time.Time, err error)  // a verification ([adminapi.JobVerify]) or backup ([adminapi.JobBackup]) of the whole store ended
	Expect(task string, lastSuccess time.Time) // a task last succeeded at that time, in an earlier run of the server
	http.Handler                               // responds with the metrics
}

// An API is the handler of the admin listener. It is safe for concurrent use.
type API struct {
	store       store.Reader
	registrar   *registrar.Registrar
	resolver    nomen.Resolver
	authorities *store.Table

	version  string
	instance string
	searcher store.Searcher // may be nil
	links    *links.Watcher // may be nil
	archive  *links.Archive // may be nil
	publish  *publish.Log   // may be nil
	misses   *misses.Counter
	counts   *counts.Counter
	scratch  func() (bulk.Scratch, error)
	timeout  time.Duration
	now      func() time.Time
	log      *slog.Logger

	settings atomic.Pointer[settings]
	rates    *rates.Table[string] // by the result of [call.token]
	config   Configuration        // may be nil
	pages    http.Handler         // may be nil

	signInLink  func(context.Context, string) (string, time.Time, error) // may be nil
	endSessions func(context.Context, string) error                      // may be nil

	sendTest func(context.Context) []adminapi.Delivery // may be nil

	handler   http.Handler
	health    health.State
	nodeToken *store.Token
	metrics   Metrics // may be nil
	uses      tokenUses
	jobs      *jobTable
	scrub     *scrub // may be nil
	figures   *figures
}

// authorityLife limits how long an API may use a cached authority after another process has changed
// it.
const authorityLife = time.Second

// New returns an API. It returns an error if a required option is missing.
func New(o Options) (*API, error) {
	if o.Store == nil || o.Registrar == nil || o.Resolver == nil {
		return nil, errors.New("admin: options: Store, Registrar and Resolver are required")
	}
	s := &API{
		store: o.Store, registrar: o.Registrar, resolver: o.Resolver, authorities: o.Authorities,
		version: cmp.Or(o.Version, "(unknown version)"), instance: o.Instance, config: o.Config, pages: o.Pages, signInLink: o.SignInLink, endSessions: o.EndSessions,
		sendTest: o.SendTest, searcher: o.Search, links: o.Links, archive: o.Archive, publish: o.Publication, misses: o.Misses, counts: o.Counts, scratch: o.Scratch, timeout: cmp.Or(o.Timeout, 30*time.Second),
		now: o.Now, log: o.Log, nodeToken: o.NodeToken, metrics: o.Metrics,
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.authorities == nil {
		s.authorities = store.NewTable(o.Store, s.now, authorityLife)
	}
	limits := o.Limits.withDefaults()
	s.rates = rates.New[string](limits.Rate, limits.Burst, maxTokenRates)
	s.Set(Settings{Hosts: o.Hosts, AccessLog: o.AccessLog, Limits: o.Limits, SecondPerson: o.SecondPerson})
	s.health.Store, s.health.Clock, s.health.Authorities = o.Store, o.Registrar.ClockProblem, s.authorities
	s.uses.registrar, s.uses.log = s.registrar, s.log
	s.jobs = newJobs(o.Jobs, o.SharedJobs, s.now, s.log)
	s.jobs.ends, s.jobs.pacer = s.tokenInvalid, o.Pacer
	s.jobs.limits = func() Limits { return s.settings.Load().limits }
	s.countTasks()
	s.figures = newFigures(s.now, s.log, o.Pacer)
	s.scrub = newScrub(s, o.Store, o.Scrub, o.ScrubDir)
	s.handler = s.protected()
	return s, nil
}

// ServeHTTP answers a request if its Host field is an IP address, localhost or one of
// [Options].Hosts. It rejects other hosts to prevent DNS rebinding, by which a web page could reach
// the API under its own host name. ServeHTTP also rejects requests that pages of other sites have
// caused.
func (s *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Run does the background work of the API until ctx ends. It reads the jobs of other servers. If
// [Options].Scrub enables it, Run also verifies the store.
func (s *API) Run(ctx context.Context) {
	if err := s.jobs.refresh(ctx); err != nil {
		s.log.Info("jobs cannot be read yet", "err", err)
	} else if s.metrics != nil && s.jobs.shared != nil {
		s.expectTasks()
	}
	if s.scrub != nil {
		s.scrub.run(pacer.With(ctx, s.jobs.pacer))
	}
}

// Drain makes /-/readyz report that the server is shutting down. After the call, each connection is
// closed after its next response.
func (s *API) Drain() { s.health.Close() }

// Shutdown interrupts all jobs and counts. It waits until they have ended, or until ctx ends.
func (s *API) Shutdown(ctx context.Context) {
	s.health.Close()
	s.jobs.close(ctx)
	s.figures.close()
}
