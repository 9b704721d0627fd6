package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/signin/signintest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// fakePeople are the users of a test.
type fakePeople struct {
	mu       sync.Mutex
	byID     map[string]Person
	disabled map[string]uint64 // the last revision in which a user was disabled
	subjects map[string]string // IDs by subject
	err      error
	added    []Newcomer
}

func (f *fakePeople) Person(_ context.Context, id string) (*Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.byID[id]
	if f.err == nil && !ok {
		return nil, store.ErrNotFound
	}
	return &p, f.err
}

func (f *fakePeople) PersonOf(ctx context.Context, subject string) (*Person, error) {
	f.mu.Lock()
	id := f.subjects[subject]
	f.mu.Unlock()
	return f.Person(ctx, id)
}

func (f *fakePeople) Add(_ context.Context, n Newcomer) (*Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subjects[n.Subject] != "" {
		return nil, fmt.Errorf("the subject belongs to a user already")
	}
	f.added = append(f.added, n)
	p := Person{ID: fmt.Sprintf("u-%08d", len(f.added)), Name: n.Name}
	p.Actor.Who = p.ID
	f.byID[p.ID], f.subjects[n.Subject] = p, p.ID
	return &p, nil
}

func (f *fakePeople) LastDisabled(_ context.Context, id string, after uint64) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := f.disabled[id]; last > after {
		return last, f.err
	}
	return 0, f.err
}

// change changes a user.
func (f *fakePeople) change(id string, edit func(*Person)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.byID[id]
	edit(&p)
	p.Revision++
	if f.byID[id] = p; p.Disabled {
		f.disabled[id] = p.Revision
	}
}

// A slowVault takes a millisecond to read and to write, so that what happens at the same time
// overlaps.
type slowVault struct{ store.Vault }

func (v slowVault) Secret(ctx context.Context, key string) ([]byte, error) {
	text, err := v.Vault.Secret(ctx, key)
	time.Sleep(time.Millisecond) // in a bubble of synctest
	return text, err
}

func (v slowVault) PutSecret(ctx context.Context, key string, value []byte) error {
	time.Sleep(time.Millisecond)
	return v.Vault.PutSecret(ctx, key, value)
}

// slow makes the vault of all nodes slow.
func (s *stage) slow() {
	for _, m := range s.nodes {
		m.o.Vault = slowVault{s.vault}
	}
}

// A stage is some nodes that share a store.
type stage struct {
	*testing.T
	vault  *memstore.Store
	people *fakePeople
	time   time.Time // of the fake clock
	clock  sync.Mutex
	set    Settings
	nodes  []*Manager
	counts sync.Map // how many sign-ins were counted, as *atomic.Int64, by way and result
}

// count counts a sign-in.
func (s *stage) count(way, result string) {
	n, _ := s.counts.LoadOrStore(way+" "+result, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// wantCounts fails the test unless exactly these sign-ins were counted since the last call.
func (s *stage) wantCounts(want string) {
	s.Helper()
	var got []string
	for what, n := range s.counts.Range {
		got = append(got, fmt.Sprintf("%s %d", what, n.(*atomic.Int64).Load()))
	}
	s.counts.Clear()
	slices.Sort(got)
	if got := strings.Join(got, ", "); got != want {
		s.Errorf("counted %q, want %q", got, want)
	}
}

const anna, zoe = "u-anna0000", "u-zoe00000"

func newStage(t *testing.T, change func(*Settings)) *stage {
	t.Helper()
	s := &stage{T: t, vault: memstore.New(), time: noon, people: &fakePeople{byID: map[string]Person{}, disabled: map[string]uint64{}, subjects: map[string]string{}}}
	for _, id := range []string{anna, zoe} {
		s.people.byID[id] = Person{ID: id, Name: "Ms " + id, Actor: actor(id, registrar.Editor, "urn:dns:example.org")}
		s.people.subjects["header "+id] = id
	}
	s.set = Settings{URL: "https://pages.example.org", Contact: "the registrar's office"}
	if change != nil {
		change(&s.set)
	}
	s.nodes = []*Manager{s.node(), s.node()}
	return s
}

func actor(who string, role registrar.Role, prefixes ...string) registrar.Actor {
	g := registrar.Grant{Role: role}
	for _, p := range prefixes {
		g.Prefixes = append(g.Prefixes, name.MustParsePrefix(p))
	}
	return registrar.Actor{Who: who, Grants: []registrar.Grant{g}}
}

func (s *stage) now() time.Time {
	s.clock.Lock()
	defer s.clock.Unlock()
	return s.time
}

func (s *stage) pass(d time.Duration) {
	s.clock.Lock()
	defer s.clock.Unlock()
	s.time = s.time.Add(d)
}

// node returns a manager whose pages are views as JSON.
func (s *stage) node() *Manager {
	s.Helper()
	m, err := New(Options{
		Vault: s.vault, People: s.people, Now: s.now, Count: s.count,
		IsLocal: func(target string) bool { return strings.HasPrefix(target, Root) },
		Show: func(w http.ResponseWriter, _ *http.Request, status int, v View) {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(v)
		},
	}, s.set)
	if err != nil {
		s.Fatal(err)
	}
	return m
}

// setAll changes the settings of all nodes.
func (s *stage) setAll(change func(*Settings)) {
	s.Helper()
	change(&s.set)
	for _, m := range s.nodes {
		if err := m.Set(s.set); err != nil {
			s.Fatal(err)
		}
	}
}

// A browser keeps cookies as browsers do.
type browser struct {
	s       *stage
	node    int
	cookies map[string]string
}

func (s *stage) browser() *browser { return &browser{s: s, cookies: map[string]string{}} }

// request returns a request with the cookies.
func (b *browser) request(method, target string, form url.Values) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

// A page is a response.
type page struct {
	status int
	to     string // redirected
	View
	cookies []*http.Cookie
}

func (b *browser) do(r *http.Request) page {
	b.s.Helper()
	w := httptest.NewRecorder()
	m := b.s.nodes[b.node]
	m.Protect(m.Handler()).ServeHTTP(w, r)
	p := page{status: w.Code, to: w.Header().Get("Location"), cookies: w.Result().Cookies()}
	b.keep(p.cookies)
	if p.to == "" {
		if err := json.Unmarshal(w.Body.Bytes(), &p.View); err != nil {
			b.s.Fatalf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
		}
	}
	return p
}

// keep keeps the cookies of a response.
func (b *browser) keep(cookies []*http.Cookie) {
	for _, c := range cookies {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
}

func (b *browser) get(target string) page { b.s.Helper(); return b.do(b.request("GET", target, nil)) }

func (b *browser) post(target string, form ...string) page {
	b.s.Helper()
	v := url.Values{}
	for i := 0; i < len(form); i += 2 {
		v.Set(form[i], form[i+1])
	}
	return b.do(b.request("POST", target, v))
}

// user returns the ID of the user who is signed in at a node, "" for none.
func (b *browser) user() string {
	b.s.Helper()
	session := b.session()
	if session == nil {
		return ""
	}
	return session.ID
}

func (b *browser) session() *Session {
	b.s.Helper()
	session, err := b.s.nodes[b.node].Session(b.request("GET", Root, nil))
	if err != nil {
		b.s.Fatal(err)
	}
	return session
}

// link signs a user in with a link.
func (b *browser) link(user string) page {
	b.s.Helper()
	target, _, err := b.s.nodes[b.node].Link(b.s.Context(), user)
	if err != nil {
		b.s.Fatal(err)
	}
	return b.post(linkPath, linkField, b.get(target).Code)
}

func (p page) want(t testing.TB, status int, kind Kind, fault Fault) {
	t.Helper()
	if p.status != status || p.Kind != kind || p.Fault != fault {
		t.Errorf("got %d, page %q, fault %q, to %q; want %d, %q, %q", p.status, p.Kind, p.Fault, p.to, status, kind, fault)
	}
}

func (p page) wantTo(t testing.TB, target string) {
	t.Helper()
	if p.status != http.StatusSeeOther || p.to != target {
		t.Errorf("got %d to %q (page %q, fault %q), want 303 to %q", p.status, p.to, p.Kind, p.Fault, target)
	}
}

// withProvider adds a provider to the settings.
func withProvider(p *signintest.Provider) func(*Settings) {
	return func(s *Settings) {
		s.Providers = []Provider{{
			ID: "uni", Name: "University", Issuer: p.URL, ClientID: signintest.ClientID, ClientSecret: signintest.ClientSecret,
			Map: []Mapping{{"groups", "editors", actor("", registrar.Editor, "urn:nbn:fi").Grants[0]}},
		}}
	}
}

// at begins a sign-in, visits the provider, and returns the target to which it sends back.
func (b *browser) at(next string) string {
	b.s.Helper()
	p := b.get(providerPath + "uni?next=" + url.QueryEscape(next))
	if p.status != http.StatusSeeOther {
		b.s.Fatalf("got %d, fault %q", p.status, p.Fault)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(p.to)
	if err != nil {
		b.s.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	back, err := resp.Location()
	if err != nil {
		b.s.Fatalf("%v: %s", err, text)
	}
	return back.String()
}
