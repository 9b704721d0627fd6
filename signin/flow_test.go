package signin

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/signin/signintest"
)

func newProviderStage(t *testing.T) (*stage, *signintest.Provider) {
	t.Helper()
	p := signintest.New(t)
	s := newStage(t, withProvider(p))
	p.Now = s.now
	s.people.subjects[p.URL+" 17"] = anna
	return s, p
}

// TestFlow: a user signs in at a provider, and goes on to the page that was asked for. The
// response may arrive at another node.
func TestFlow(t *testing.T) {
	s, p := newProviderStage(t)
	if p.Requests("/.well-known/openid-configuration") != 0 {
		t.Error("the provider was asked before it was needed")
	}
	b := s.browser()
	choose := b.get(Path + "?next=" + url.QueryEscape(Root+"names?prefix=urn:x-a&n=1"))
	choose.want(t, 200, Choose, "")
	if len(choose.Providers) != 1 || choose.Providers[0].Name != "University" || choose.Providers[0].Away {
		t.Fatalf("providers: %+v", choose.Providers)
	}
	start := b.get(choose.Providers[0].SignIn)
	u, err := url.Parse(start.to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if start.status != 303 || !strings.HasPrefix(start.to, p.URL+"/authorize?") || q.Get("redirect_uri") != "https://pages.example.org/-/ui/sign-in/at/uni/callback" ||
		q.Get("scope") != "openid profile email" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" || q.Get("nonce") == q.Get("state") {
		t.Errorf("sent to %s", start.to)
	}
	c := start.cookies[0]
	if c.Name != "__Host-nomen-flow" || !c.Secure || !c.HttpOnly || c.MaxAge != 600 || c.SameSite != 2 {
		t.Errorf("cookie %v", c)
	}
	back := b.at(Root + "names?prefix=urn:x-a&n=1")
	b.node = 1
	b.get(back).wantTo(t, "/-/ui/names?prefix=urn:x-a&n=1")
	if got := b.session(); got == nil || got.ID != anna || got.Provider != p.URL || got.Actor.Role() != registrar.Editor {
		t.Errorf("session %+v", got)
	}
	if _, left := b.cookies[flowCookie]; left {
		t.Error("the cookie of the flow is left")
	}
	b.get(Path+"?next=/-/ui/names").wantTo(t, "/-/ui/names")
	s.wantCounts("provider success 1")
}

// TestFlowFails: every invalid response of a provider is rejected.
func TestFlowFails(t *testing.T) {
	swap := func(key, value string) func(*browser, url.Values) {
		return func(_ *browser, q url.Values) { q.Set(key, value) }
	}
	change := func(key string, value any) func(*signintest.Provider) {
		return func(p *signintest.Provider) { p.Change = func(id map[string]any) { id[key] = value } }
	}
	for _, tt := range []struct {
		name   string
		set    func(*signintest.Provider)
		back   func(*browser, url.Values)
		status int
		fault  Fault
	}{
		{"wrong state", nil, swap("state", "x"), 400, FaultFlow},
		{"no state", nil, func(_ *browser, q url.Values) { q.Del("state") }, 400, FaultFlow},
		{"no flow", nil, func(b *browser, _ url.Values) { delete(b.cookies, flowCookie) }, 400, FaultFlow},
		{"flow of another browser", nil, func(b *browser, _ url.Values) { b.cookies[flowCookie] = newFlow("uni", Root, noon).String() }, 400, FaultFlow},
		{"flow at another provider", nil, func(b *browser, q url.Values) {
			f := newFlow("other", Root, noon)
			b.cookies[flowCookie] = f.String()
			q.Set("state", f.state())
		}, 400, FaultFlow},
		{"malformed flow", nil, func(b *browser, _ url.Values) { b.cookies[flowCookie] = "e30" }, 400, FaultFlow},
		{"late", nil, func(b *browser, _ url.Values) { b.s.pass(flowTime) }, 400, FaultFlow},
		{"no code", nil, func(_ *browser, q url.Values) { q.Del("code") }, 400, FaultFlow},
		{"response of another issuer", nil, swap("iss", "https://evil.example"), 400, FaultFlow},
		{"denied", nil, swap("error", "access_denied"), 400, FaultDenied},
		{"wrong code", nil, swap("code", "x"), 400, FaultProvider},
		{"wrong nonce", change("nonce", "x"), nil, 400, FaultProvider},
		{"no nonce", func(p *signintest.Provider) { p.Change = func(id map[string]any) { delete(id, "nonce") } }, nil, 400, FaultProvider},
		{"wrong audience", change("aud", "other"), nil, 400, FaultProvider},
		{"other authorized party", change("azp", "other"), nil, 400, FaultProvider},
		{"several audiences", change("aud", []string{"nomen", "other"}), nil, 400, FaultProvider},
		{"wrong issuer", change("iss", "https://evil.example"), nil, 400, FaultProvider},
		{"expired", change("exp", noon.Add(-time.Minute).Unix()), nil, 400, FaultProvider},
		{"no subject", change("sub", ""), nil, 400, FaultProvider},
		{"subject with a line break", change("sub", "17\nx"), nil, 400, FaultProvider},
		{"long subject", change("sub", strings.Repeat("1", 256)), nil, 400, FaultProvider},
		{"unknown person", change("sub", "18"), nil, 403, ""},
		{"in time", nil, func(b *browser, _ url.Values) { b.s.pass(flowTime - time.Second) }, 303, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, p := newProviderStage(t)
			if tt.set != nil {
				tt.set(p)
			}
			b := s.browser()
			u, err := url.Parse(b.at(Root))
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			if tt.back != nil {
				tt.back(b, q)
			}
			u.RawQuery = q.Encode()
			got := b.get(u.String())
			s.wantCounts(map[Fault]string{FaultFlow: "provider invalid 1", FaultProvider: "provider invalid 1", FaultDenied: "provider denied 1"}[got.Fault] +
				map[int]string{403: "provider unknown 1", 303: "provider success 1"}[got.status])
			if got.status != tt.status || got.Fault != tt.fault {
				t.Errorf("got %d, page %q, fault %q; want %d, %q", got.status, got.Kind, got.Fault, tt.status, tt.fault)
			}
			if (b.user() != "") != (tt.status == 303) {
				t.Errorf("user %q", b.user())
			}
		})
	}
}

// TestCodeOnce: a response of the provider works once.
func TestCodeOnce(t *testing.T) {
	s, _ := newProviderStage(t)
	b := s.browser()
	back := b.at(Root)
	flow := b.cookies[flowCookie]
	b.get(back).wantTo(t, Root)
	thief := s.browser()
	thief.cookies[flowCookie] = flow
	thief.get(back).want(t, 400, Failed, FaultProvider)
	if thief.user() != "" {
		t.Error("signed in twice")
	}
}

// TestVerifier: the provider does not accept a code with the verifier of another flow.
func TestVerifier(t *testing.T) {
	s, _ := newProviderStage(t)
	b, thief := s.browser(), s.browser()
	stolen, err := url.Parse(b.at(Root))
	if err != nil {
		t.Fatal(err)
	}
	own, err := url.Parse(thief.at(Root))
	if err != nil {
		t.Fatal(err)
	}
	q := own.Query()
	q.Set("code", stolen.Query().Get("code"))
	own.RawQuery = q.Encode()
	thief.get(own.String()).want(t, 400, Failed, FaultProvider)
}

// TestKeyRotation: a new key of the provider is found without a restart.
func TestKeyRotation(t *testing.T) {
	s, p := newProviderStage(t)
	b := s.browser()
	b.get(b.at(Root)).wantTo(t, Root)
	p.Rotate()
	b = s.browser()
	b.get(b.at(Root)).wantTo(t, Root)
	if b.user() != anna {
		t.Error("not signed in")
	}
}

// TestProviderAway: while a provider is away, its page says so, other ways work, and the provider
// is not asked all the time. Afterwards it works without a restart.
func TestProviderAway(t *testing.T) {
	s, p := newProviderStage(t)
	b := s.browser()
	p.Away = true
	for range 3 {
		got := b.get(providerPath + "uni")
		got.want(t, 503, Failed, FaultAway)
		if got.Provider != "University" || len(got.Providers) != 1 || !got.Providers[0].Away {
			t.Errorf("page %+v", got.View)
		}
	}
	if n := p.Requests("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("%d requests", n)
	}
	if page := b.get(Path); !page.Providers[0].Away {
		t.Error("the page does not say that the provider is away")
	}
	if b.link(anna); b.user() != anna {
		t.Error("a link does not work")
	}
	p.Away = false
	s.pass(retryTime)
	b = s.browser()
	back := b.at(Root)
	p.Away = true
	b.get(back).want(t, 503, Failed, FaultAway)
	p.Away = false
	b.get(b.at(Root)).wantTo(t, Root)
	p.Away = true // what was discovered remains valid for a day, and longer if it must
	s.pass(25 * time.Hour)
	if start := b.get(providerPath + "uni"); start.status != 303 {
		t.Errorf("got %d, fault %q", start.status, start.Fault)
	}
}

// TestWrongDiscovery: a provider that says it is another one is not used, nor one that would get
// secrets unencrypted.
func TestWrongDiscovery(t *testing.T) {
	s, p := newProviderStage(t)
	s.setAll(func(s *Settings) { s.Providers[0].Issuer = p.URL + "/" })
	s.browser().get(providerPath+"uni").want(t, 503, Failed, FaultAway)
	for url, ok := range map[string]bool{"https://a.example/x": true, "http://127.0.0.1:9/x": true, "http://a.example/x": false, "": false, "javascript:x": false} {
		for _, c := range []oidc.ProviderConfig{{AuthURL: url, TokenURL: "https://a.example/"}, {AuthURL: "https://a.example/", TokenURL: url}} {
			if err := checkEndpoints(c.NewProvider(t.Context())); (err == nil) != ok {
				t.Errorf("endpoints %+v: %v", c, err)
			}
		}
	}
}

// TestNext: a sign-in leads only to pages.
func TestNext(t *testing.T) {
	s, _ := newProviderStage(t)
	for _, next := range []string{"", "https://evil.example/", "//evil.example/", `/\evil.example`, "/", "/-/ui/sign-in", "/-/ui/sign-out", "/-/ui/" + strings.Repeat("x", 2000)} {
		b := s.browser()
		b.get(b.at(next)).wantTo(t, "/-/ui/")
	}
	b := s.browser()
	back, err := url.Parse(b.at(Root))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := parseFlow(b.request("GET", Root, nil), noon)
	f.Next = "https://evil.example/"
	b.cookies[flowCookie] = f.String()
	b.get(back.String()).wantTo(t, "/-/ui/")
}

// TestClaims: a claim gives rights in addition to those of the user, until the provider or the
// settings say otherwise.
func TestClaims(t *testing.T) {
	s, p := newProviderStage(t)
	rights := func(b *browser) (all []string) {
		session := b.session()
		if session == nil {
			return nil
		}
		for _, g := range session.Actor.Grants {
			text := g.Role.String()
			for _, prefix := range g.Prefixes {
				text += " " + prefix.String()
			}
			all = append(all, text)
		}
		return all
	}
	own, mapped := "editor urn:dns:example.org", "editor urn:nbn:fi"
	for _, tt := range []struct {
		groups any
		want   []string
	}{
		{nil, []string{own}},
		{"editors", []string{own, mapped}},
		{[]any{"readers", "editors", 7, nil}, []string{own, mapped}},
		{"editors2", []string{own}},
		{[]any{"Editors", " editors"}, []string{own}},
		{map[string]any{"editors": true}, []string{own}},
		{true, []string{own}},
	} {
		p.Claims["groups"] = tt.groups
		b := s.browser()
		b.get(b.at(Root)).wantTo(t, Root)
		if got := rights(b); !slices.Equal(got, tt.want) {
			t.Errorf("groups %v: %q, want %q", tt.groups, got, tt.want)
		}
	}
	p.Claims["groups"] = "editors"
	b := s.browser()
	b.get(b.at(Root))
	s.setAll(func(s *Settings) { s.Providers = slices.Clone(s.Providers); s.Providers[0].Map = nil })
	if got := rights(b); !slices.Equal(got, []string{own}) {
		t.Errorf("without the mapping: %q", got)
	}
	s.setAll(func(s *Settings) { s.Providers = nil })
	if b.user() != "" {
		t.Error("signed in by a provider that was removed")
	}
}

// TestUserInfo: claims that are not in the ID token are taken from UserInfo, if it is about the
// same person. They do not replace those in the ID token.
func TestUserInfo(t *testing.T) {
	s, p := newProviderStage(t)
	for _, tt := range []struct {
		sub  string
		want int
	}{{"17", 2}, {"18", 1}} {
		p.Info = map[string]any{"sub": tt.sub, "groups": "editors", "aud": "x"}
		b := s.browser()
		b.get(b.at(Root)).wantTo(t, Root)
		if got := len(b.session().Actor.Grants); got != tt.want {
			t.Errorf("UserInfo of %s: %d grants, want %d", tt.sub, got, tt.want)
		}
	}
	p.Info["sub"], p.Claims["groups"] = "17", "readers"
	b := s.browser()
	if b.get(b.at(Root)); len(b.session().Actor.Grants) != 1 {
		t.Error("UserInfo replaced a claim")
	}
}

// TestUnknownPerson: a person without rights sees whom to ask, and is not added.
func TestUnknownPerson(t *testing.T) {
	s, p := newProviderStage(t)
	p.Claims["sub"] = "stranger"
	b := s.browser()
	got := b.get(b.at(Root))
	got.want(t, 403, Unknown, "")
	if got.Contact != "the registrar's office" || got.Subject != p.URL+" stranger" || b.user() != "" || len(s.people.added) != 0 {
		t.Errorf("page %+v, user %q, added %v", got.View, b.user(), s.people.added)
	}
	s.people.subjects[p.URL+" 17"] = anna
	s.people.change(anna, func(p *Person) { p.Disabled = true })
	p.Claims["sub"], p.Claims["groups"] = "17", "editors"
	b = s.browser()
	if b.get(b.at(Root)).want(t, 403, Disabled, ""); b.user() != "" {
		t.Error("a disabled user is signed in")
	}
	s.wantCounts("provider disabled 1, provider unknown 1")
}

// TestNewcomer: a person for whom claims give rights becomes a user, once.
func TestNewcomer(t *testing.T) {
	s, p := newProviderStage(t)
	p.Claims = map[string]any{"sub": "19", "groups": "editors", "name": "  Zoë\u202e \n\x00Å ", "email": "zoe@example.org"}
	var running sync.WaitGroup
	for i := range 4 {
		b := s.browser()
		b.node = i % 2
		back := b.at(Root)
		running.Go(func() { b.get(back).wantTo(t, Root) })
	}
	running.Wait()
	want := Newcomer{Subject: p.URL + " 19", Name: "Zoë Å", Mail: "zoe@example.org"}
	if len(s.people.added) != 1 || s.people.added[0] != want {
		t.Errorf("added %q, want %q", s.people.added, want)
	}
}

func TestClaimTexts(t *testing.T) {
	for _, tt := range []struct{ claims, name, mail string }{
		{`{"sub":"1"}`, "1", ""},
		{`{"sub":"1","email":"a@example.org"}`, "a@example.org", "a@example.org"},
		{`{"sub":"1","preferred_username":"ann","email":"x"}`, "ann", ""},
		{`{"sub":"1","name":"\n","email":"A <a@example.org>"}`, "A <a@example.org>", ""},
		{`{"sub":"\u0007","name":7,"email":["a@example.org"]}`, "-", ""},
		{`{"name":"` + strings.Repeat("é", 150) + `"}`, strings.Repeat("é", 100), ""},
		{`{"name":"x","email":"` + strings.Repeat("a", 300) + `@example.org"}`, "x", ""},
	} {
		c := claims{}
		if err := json.Unmarshal([]byte(tt.claims), &c); err != nil {
			t.Fatal(err)
		}
		if got := c.name(); got != tt.name {
			t.Errorf("%.60s: name %q, want %q", tt.claims, got, tt.name)
		}
		if got := c.mail(); got != tt.mail {
			t.Errorf("%.60s: mail %q, want %q", tt.claims, got, tt.mail)
		}
	}
}
