package pages

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/messages"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/registrar"
)

// Root is the path of the pages.
const Root = "/-/ui/"

const (
	signInPath   = Root + "sign-in"
	languagePath = Root + "language"
)

// maxForm is the maximum size of the body of a request, in bytes.
const maxForm = 4 << 20

// A Session is the session of a user who is signed in.
type Session struct {
	UserID string
	Name   string          // for display
	Actor  registrar.Actor // the user, with current rights
}

// Sessions looks up the session of a request. It must be safe for concurrent use.
type Sessions interface {
	// Session returns the session of a request, or nil if the client is not signed in. It returns
	// an error if the session cannot be looked up.
	Session(r *http.Request) (*Session, error)
}

// Options configure Pages.
type Options struct {
	Client   func(registrar.Actor) *adminapi.Client // returns a client of the admin API with the rights of an actor; required
	Sessions Sessions                               // required

	// SignIn handles requests for the paths sign-in and sign-out, and for paths below sign-in, all
	// relative to [Root]. If SignIn is nil, these paths do not exist.
	SignIn http.Handler

	// Condition returns the state of the server that the overview shows to administrators of all
	// names. It may be nil.
	Condition func() Condition

	// PublicURL returns the URL of the public listener as readers see it, or "" if it is unknown.
	// It may be nil.
	PublicURL func() string

	TrustedOrigins []string // origins, such as https://names.example.org, whose pages may also send forms

	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // receives failures; discarded if nil
}

// A Condition is the state of a server that administrators must watch.
type Condition struct {
	Backup      time.Time // time of the last successful backup; zero if unknown
	Database    bool      // the store is a database, which is backed up by other means
	Certificate time.Time // time at which the first certificate expires; zero without certificates
	Verified    time.Time // end of the last complete background verification; zero if never
	Faults      uint64    // number of faults that this verification found
	Answers     []Answers // responses of the public listener since Started
	Started     time.Time
}

// Answers is the number of responses with a status in a class.
type Answers struct {
	Class int // 2 for 2xx, and so on
	Count uint64
}

// Pages is the handler of the pages. It is safe for concurrent use.
type Pages struct {
	client    func(registrar.Actor) *adminapi.Client
	sessions  Sessions
	condition func() Condition // may be nil
	publicURL func() string    // may be nil
	sent      sentForms
	now       func() time.Time
	log       *slog.Logger
	messages  *messages.Set
	editions  map[string]edition // by language
	static    map[string]asset
	handler   http.Handler
}

// New returns Pages. It returns an error if a required option is missing or if an option is
// invalid.
func New(o Options) (*Pages, error) {
	texts, err := readTexts()
	if err != nil {
		return nil, err
	}
	editions, err := newEditions(texts)
	if err != nil {
		return nil, err
	}
	return newPages(o, texts, editions)
}

func newPages(o Options, texts *messages.Set, editions map[string]edition) (*Pages, error) {
	if o.Client == nil || o.Sessions == nil {
		return nil, errors.New("pages: options: Client and Sessions are required")
	}
	p := &Pages{client: o.Client, sessions: o.Sessions, condition: o.Condition, publicURL: o.PublicURL, now: o.Now, log: o.Log, messages: texts, editions: editions, static: assets()}
	if p.now == nil {
		p.now = time.Now
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	var err error
	p.handler, err = p.protected(p.routes(o.SignIn), o.TrustedOrigins)
	return p, err
}

func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer requestlog.Panic(p.log)
	secure(w.Header())
	most := int64(maxForm)
	if r.URL.Path == uploadPath {
		most = maxUpload
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	p.handler.ServeHTTP(w, r)
}

// secure sets the header fields that all responses have.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// protected returns a handler that rejects forms sent by pages of other sites.
func (p *Pages) protected(h http.Handler, trusted []string) (http.Handler, error) {
	var crossOrigin http.CrossOriginProtection
	for _, origin := range trusted {
		if err := crossOrigin.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.newRequest(w, r).refuse(http.StatusForbidden, "error.cross-site", "")
	}))
	return crossOrigin.Handler(h), nil
}

func (p *Pages) routes(signIn http.Handler) http.Handler {
	mux := http.NewServeMux()
	if signIn != nil {
		for _, path := range []string{"sign-in", "sign-in/", "sign-out"} {
			mux.Handle(Root+path, signIn)
		}
	}
	mux.HandleFunc("POST "+languagePath, p.serveLanguage)
	mux.HandleFunc("GET "+staticPath+"{file}", p.serveStatic)
	for _, handlers := range allHandlers() {
		for pattern, handle := range handlers {
			method, path, _ := strings.Cut(pattern, " ")
			mux.Handle(method+" "+Root+path, p.page(handle))
		}
	}
	mux.Handle("/", p.page(func(*request) error { return errNoPage }))
	return mux
}

// handlers are the functions that answer requests, by method and path below [Root].
type handlers map[string]func(*request) error

func allHandlers() []handlers {
	return []handlers{nameHandlers(), meHandlers(), tokenHandlers(), userHandlers(), logHandlers(), uploadHandlers(), jobHandlers(), relocateHandlers(), retireHandlers(), missHandlers(), settingsHandlers(), authorityHandlers(), statisticsHandlers(), giveHandlers(), mintHandlers()}
}

func nameHandlers() handlers {
	return handlers{
		"GET {$}":                     (*request).dashboard,
		"GET names":                   (*request).names,
		"GET name/{name}":             (*request).name,
		"GET new":                     (*request).newName,
		"POST new":                    (*request).create,
		"GET name/{name}/record.json": (*request).recordFile,
		"GET name/{name}/edit":        (*request).edit,
		"POST name/{name}/edit":       (*request).save,
		"GET name/{name}/retire":      (*request).retireForm,
		"POST name/{name}/retire":     (*request).retire,
		"GET name/{name}/delete":      (*request).deleteForm,
		"POST name/{name}/delete":     (*request).delete,
		"GET name/{name}/restore":     (*request).restoreForm,
		"POST name/{name}/restore":    (*request).restore,
		"GET name/{name}/redact":      (*request).redactForm,
		"POST name/{name}/redact":     (*request).redact,
		"GET name/{name}/history":     (*request).history,
		"GET name/{name}/diff":        (*request).diff,
	}
}
