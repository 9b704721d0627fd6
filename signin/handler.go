package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/nomen-project/nomen/store"
)

// The paths of the pages.
const (
	providerPath = Path + "/at/"
	callback     = "/callback"
	linkPath     = Path + "/link"
	sessionsPath = Path + "/sessions"
	endAllPath   = Path + "/end-all"
	signOutPath  = Root + "sign-out"

	linkField = "code"
)

// A Kind says what a page is about.
type Kind string

// The kinds of pages.
const (
	Choose    Kind = "choose"    // the choice of how to sign in
	Unknown   Kind = "unknown"   // the person is not a user
	Disabled  Kind = "disabled"  // the user may not sign in
	Forged    Kind = "forged"    // a client other than the proxy has sent the field of the proxy
	LinkPage  Kind = "link"      // a link that the person must confirm
	Listing   Kind = "sessions"  // the sessions of the user
	Failed    Kind = "failed"    // something else failed; see View.Fault
	SignedOut Kind = "signedout" // signed out here, but not at the provider or the proxy
)

// A Fault says what failed.
type Fault string

// The reasons why a request fails.
const (
	FaultFlow     Fault = "flow"     // the response of a provider does not belong to a sign-in of this browser
	FaultDenied   Fault = "denied"   // the person or the provider stopped the sign-in
	FaultProvider Fault = "provider" // the provider sent an invalid response
	FaultAway     Fault = "away"     // the provider does not answer
	FaultLink     Fault = "link"     // the link is invalid, used or expired
	FaultStore    Fault = "store"    // the store is unavailable
	FaultPath     Fault = "path"     // the page does not exist
)

// A View is the content of a page. Its texts are not trusted, unless the comment of a field says
// otherwise.
type View struct {
	Kind      Kind
	Fault     Fault
	Providers []ProviderView
	Contact   string // whom to ask, from the configuration; may be empty
	Subject   string // subject of an unknown person
	Person    string // name of the user
	Code      string // code of a link, for a hidden field named code
	Header    string // name of the field of a proxy
	Provider  string // name of the provider that failed, or at which the person is still signed in
	SignOut   string // URL for signing out at the provider, or "". The URL can be trusted
	ByHeader  bool   // people sign in through a proxy
	Ended     bool   // the client has just signed out
	Sessions  []SessionView
}

// A ProviderView is a provider that people can choose.
type ProviderView struct {
	Name   string
	SignIn string // local URL
	Away   bool   // the provider did not answer a moment ago
}

// A SessionView is a session of the user.
type SessionView struct {
	Provider string // for display: name of the provider; "" for a link
	Created  time.Time
	Used     time.Time
	Current  bool
}

// Handler returns the handler of [Path], of all paths below it, and of sign-out.
func (m *Manager) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request, *state) error{
		"GET " + Path:                             m.choose,
		"GET " + providerPath + "{id}":            m.start,
		"GET " + providerPath + "{id}" + callback: m.finish,
		"GET " + linkPath:                         m.showLink,
		"POST " + linkPath:                        m.takeLink,
		"GET " + sessionsPath:                     m.list,
		"POST " + endAllPath:                      m.endAll,
		"POST " + signOutPath:                     m.signOut,
		"/":                                       func(http.ResponseWriter, *http.Request, *state) error { return errPath },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s := m.state.Load()
			if err := handle(w, r, s); err != nil {
				m.fail(w, r, s, err)
			}
		})
	}
	return mux
}

var errPath = errors.New("signin: page not found")

func (m *Manager) fail(w http.ResponseWriter, r *http.Request, s *state, err error) {
	v := m.view(s, Failed, m.next(r))
	status := http.StatusForbidden
	var unknown *unknownError
	var flow *flowError
	var away *AwayError
	switch {
	case errors.As(err, &unknown):
		v.Kind, v.Subject = Unknown, unknown.subject
		if unknown.disabled {
			v.Kind = Disabled
		}
	case errors.As(err, &flow):
		v.Fault, status = flow.key, http.StatusBadRequest
	case errors.As(err, &away):
		v.Fault, v.Provider, status = FaultAway, away.Provider, http.StatusServiceUnavailable
	case errors.Is(err, errLink):
		v.Fault, status = FaultLink, http.StatusGone
	case errors.Is(err, errPath):
		v.Fault, status = FaultPath, http.StatusNotFound
	default:
		v.Fault, status = FaultStore, http.StatusServiceUnavailable
	}
	m.log.Warn("sign-in failed", "err", err)
	m.countFailure(r, err)
	m.o.Show(w, r, status, v)
}

// view returns a view with links to the providers. After signing in, the user is redirected to
// next.
func (m *Manager) view(s *state, kind Kind, next string) View {
	v := View{Kind: kind, Contact: s.Contact, ByHeader: s.Header != ""}
	for _, p := range s.providers {
		target := providerPath + p.ID + "?next=" + url.QueryEscape(next)
		v.Providers = append(v.Providers, ProviderView{p.name(), target, p.isAway()})
	}
	return v
}

// choose shows the ways to sign in. It redirects a client that is signed in already.
func (m *Manager) choose(w http.ResponseWriter, r *http.Request, s *state) error {
	session, err := m.Session(r)
	if err != nil {
		return err
	}
	if session != nil {
		see(w, m.next(r))
		return nil
	}
	if value, ok := s.header(r); ok {
		p, err := m.o.People.PersonOf(r.Context(), ByHeader+" "+value)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return &unknownError{ByHeader + " " + value, p != nil && p.Disabled}
	}
	v := m.view(s, Choose, m.next(r))
	v.Ended = r.URL.Query().Has("ended")
	m.o.Show(w, r, http.StatusOK, v)
	return nil
}

func (s *state) byID(r *http.Request) (*provider, error) {
	for _, p := range s.providers {
		if p.ID == r.PathValue("id") {
			return p, nil
		}
	}
	return nil, errPath
}

func (m *Manager) start(w http.ResponseWriter, r *http.Request, s *state) error {
	p, err := s.byID(r)
	if err != nil {
		return err
	}
	return m.startFlow(w, r, p)
}

func (m *Manager) finish(w http.ResponseWriter, r *http.Request, s *state) error {
	p, err := s.byID(r)
	if err != nil {
		return err
	}
	return m.endFlow(w, r, s, p)
}

// showLink asks the person to confirm the sign-in. Otherwise a program that opens the links in a
// mail, such as a virus scanner, would use the link.
func (m *Manager) showLink(w http.ResponseWriter, r *http.Request, s *state) error {
	c, ok := parseCredential(r.URL.Query().Get(linkField))
	if !ok {
		return errLink
	}
	p, err := m.linked(r.Context(), c)
	if err != nil {
		return err
	}
	v := m.view(s, LinkPage, Root)
	v.Person, v.Code = p.Name, c.String()
	m.o.Show(w, r, http.StatusOK, v)
	return nil
}

func (m *Manager) takeLink(w http.ResponseWriter, r *http.Request, _ *state) error {
	c, ok := parseCredential(r.PostFormValue(linkField))
	if !ok {
		return errLink
	}
	p, err := m.useLink(r.Context(), c)
	if err != nil {
		return err
	}
	if err := m.begin(w, r, p, ByLink, nil); err != nil {
		return err
	}
	m.o.Count(wayLink, resultSuccess)
	see(w, Root)
	return nil
}

func (m *Manager) list(w http.ResponseWriter, r *http.Request, s *state) error {
	session, err := m.Session(r)
	if err != nil {
		return err
	}
	if session == nil {
		see(w, Path+"?next="+url.QueryEscape(Root))
		return nil
	}
	v := m.view(s, Listing, Root)
	v.Person = session.Name
	v.Sessions, err = m.sessionViews(r.Context(), s, &session.Person, r)
	if err != nil {
		return err
	}
	m.o.Show(w, r, http.StatusOK, v)
	return nil
}

func (m *Manager) sessionViews(ctx context.Context, s *state, p *Person, r *http.Request) (views []SessionView, err error) {
	text, err := m.secret(ctx, sessionsKey(p.ID))
	if err != nil {
		return nil, err
	}
	all, err := parseSessions(text)
	if err != nil {
		return nil, err
	}
	c, _ := presented(r)
	for _, e := range all {
		valid, err := m.survives(ctx, p, e.Revision)
		if err != nil {
			return nil, err
		}
		if !valid || e.isOver(s, m.now()) {
			continue
		}
		v := SessionView{Created: e.Created, Used: e.Used, Current: c.user == p.ID && c.matches(e.Hash)}
		if at := s.byIssuer(e.Provider); at != nil {
			v.Provider = at.name()
		}
		views = append(views, v)
	}
	return views, nil
}

func (m *Manager) endAll(w http.ResponseWriter, r *http.Request, s *state) error {
	session, err := m.Session(r)
	if err != nil {
		return err
	}
	if session != nil {
		if err := m.EndAll(r.Context(), session.ID); err != nil {
			return err
		}
		m.log.Info("all sessions ended", "user", session.ID)
	}
	return m.leave(w, r, s)
}

func (m *Manager) signOut(w http.ResponseWriter, r *http.Request, s *state) error {
	p, err := m.presentedProvider(r, s)
	if err == nil {
		err = m.endPresented(r)
	}
	if err != nil {
		return err
	}
	if p == nil || !p.SignOut {
		return m.leave(w, r, s)
	}
	setCookie(w, cookieName, "", -1)
	v := m.view(s, SignedOut, Root)
	v.Provider, v.SignOut = p.name(), m.endSessionURL(r.Context(), p)
	m.o.Show(w, r, http.StatusOK, v)
	return nil
}

func (m *Manager) leave(w http.ResponseWriter, r *http.Request, s *state) error {
	setCookie(w, cookieName, "", -1)
	if _, ok := s.header(r); ok { // the proxy would sign the next request in again
		m.o.Show(w, r, http.StatusOK, m.view(s, SignedOut, Root))
		return nil
	}
	see(w, Path+"?ended")
	return nil
}
