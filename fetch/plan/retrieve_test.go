package plan

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

func old(t *testing.T, s string) uri.URI {
	t.Helper()
	u, err := uri.Draft1993.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// named returns a scheme of the standard catalogue.
func named(t *testing.T, name string) scheme.Scheme {
	t.Helper()
	s, ok := extra.Catalogue().Lookup(name)
	if !ok {
		t.Fatalf("no scheme %q", name)
	}
	return s
}

// requestOf returns the request for a locator, or fails the test.
func requestOf(t *testing.T, u uri.URI, c Client) Request {
	t.Helper()
	name, _ := u.Scheme()
	s, ok := extra.Catalogue().Lookup(name)
	if !ok {
		t.Fatalf("no scheme %q", name)
	}
	r, err := RequestOf(s, u, c)
	if err != nil {
		t.Fatalf("Request(%q): %v", u, err)
	}
	return r
}

// The server and the object of a request.
func TestRequest(t *testing.T) {
	for _, tt := range []struct{ in, network, host, port, send, object string }{
		{"http://h.example/a/b?c+d#e", "tcp", "h.example", "80", "/a/b?c+d", ""}, // U93-40
		{"http://h.example", "tcp", "h.example", "80", "/", ""},
		{"http://h.example:8001?x", "tcp", "h.example", "8001", "/?x", ""},
		{"wais://h.example:2100/db?a+b%2Bc", "tcp", "h.example", "2100", "a b+c", "db"},
		{"wais://h.example/db/TEXT/1234/doc%2Fid", "tcp", "h.example", "210", "db", "doc/id"}, // U93-47
		{"prospero://h.example/a%20b%002%00x", "udp", "h.example", "1525", "", "a b"},         // U93-55: a UDP port
		{"gopher://h.example/00/About%20Gopher", "tcp", "h.example", "70", "0/About Gopher", "0/About Gopher"},
		{"gopher://h.example/7find?cats+dogs", "tcp", "h.example", "70", "find\tcats dogs", "find"},
		{"gopher://h.example", "tcp", "h.example", "70", "", ""},
		{"whois://h.example/name%20x", "tcp", "h.example", "43", "name x", "name x"}, // U93-61
		{"afs://cell.example/usr/x", "", "", "", "", "/afs/cell.example/usr/x"},
		{"file://h.example/x", "tcp", "h.example", "21", "", "x"},
		{"nntp://h.example/a.b/12", "tcp", "h.example", "119", "12", "a.b"},
		{"nntp://h.example/id@x.example", "tcp", "h.example", "119", "", "id@x.example"},
	} {
		r := requestOf(t, old(t, tt.in), Client{})
		if r.Network != tt.network || r.Host != tt.host || r.Port != tt.port || r.Send != tt.send || r.Object != tt.object {
			t.Errorf("Request(%q) = %+v, want %+v", tt.in, r, tt)
		}
		if _, ok := r.URI.Fragment(); ok {
			t.Errorf("Request(%q): the fragment is sent: %q", tt.in, r.URI)
		}
	}
	for _, tt := range []struct{ in, host, port, send string }{
		{"http://[2001:db8::1]:8080/", "2001:db8::1", "8080", "/"},
		{"https://h.example/a%2Fb", "h.example", "443", "/a%2Fb"},
		{"gopher://h.example/7find%09cats%09+", "h.example", "70", "find\tcats\t+"},
		{"gopher://h.example/0a?b", "h.example", "70", "a?b"},
		{"news://n.example/*", "n.example", "119", ""},
		{"wais://h.example/db?a+b", "h.example", "210", "a+b"},
		{"file:///etc/motd", "", "", ""},
	} {
		r := requestOf(t, uri.MustParse(tt.in), Client{})
		if r.Host != tt.host || r.Port != tt.port || r.Send != tt.send {
			t.Errorf("Request(%q) = %+v, want %+v", tt.in, r, tt)
		}
	}
}

func TestRequestOfDocuments(t *testing.T) {
	r := requestOf(t, old(t, "wais://h.example/db/TEXT/1234/doc%2Fid"), Client{}) // U93-47
	if r.Type != "TEXT" || r.Length != 1234 {
		t.Errorf("type and length: got %q, %d; want TEXT, 1234", r.Type, r.Length)
	}
	if r := requestOf(t, old(t, "wais://h.example/db?x"), Client{}); r.Type != "" || r.Length != -1 {
		t.Errorf("of an index: got %q, %d; want none", r.Type, r.Length)
	}
	r = requestOf(t, old(t, "prospero://h.example/obj%00%00alpha%00beta"), Client{}) // U93-52
	if r.Object != "obj" || r.Version != "" || !slices.Equal(r.Fields, []string{"alpha", "beta"}) {
		t.Errorf("Prospero: %+v", r)
	}
	r = requestOf(t, uri.MustParse("gopher://h.example/0a"), Client{})
	if r.Type != "0" || r.Format != "text/plain" || !r.Text {
		t.Errorf("Gopher: %+v", r)
	}
}

// What cannot be requested, and why.
func TestRequestRefuses(t *testing.T) {
	var interactive *InteractiveError
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"telnet://h.example", ErrInteractive}, // U93-59
		{"rlogin://u@h.example", ErrInteractive},
		{"tn3270://h.example", ErrInteractive},
		{"x500:c/o", ErrUndefined}, // U93-60
		{"mid:a@b.example", ErrNotLocator},
		{"urn:isbn:9789510184356", ErrNotLocator},
		{"snmp://h.example", ErrNoAlgorithm}, // U93-62
		{"http://h%2Fx.example/", ErrHost},
		{"http://a%0D%0Ab/", ErrHost},
		{"gopher://-x.example/", ErrHost},
		{"http://[v1.x]/", ErrHost},   // not the name v1.x
		{"news:a.b", ErrNotAvailable}, // no server is configured
		{"file://other.example/x", ErrNotAvailable},
	} {
		name, _, _ := strings.Cut(tt.in, ":")
		s, ok := extra.Catalogue().Lookup(name)
		if !ok {
			t.Fatalf("no scheme %q", name)
		}
		if _, err := RequestOf(s, uri.MustParse(tt.in), Client{}); !errors.Is(err, tt.want) {
			t.Errorf("Request(%q): got %v, want %v", tt.in, err, tt.want)
		} else if tt.want == ErrInteractive && !errors.As(err, &interactive) {
			t.Errorf("Request(%q): got %T, want a session with it", tt.in, err)
		}
	}
	s, _ := extra.Catalogue().Lookup("gopher")
	var f *scheme.Finding
	if _, err := RequestOf(s, uri.MustParse("gopher://h.example/0a%0Ab"), Client{}); !errors.As(err, &f) || f.Code != scheme.CodeInjection {
		t.Errorf("Request of an invalid locator: got %v, want the finding", err)
	}
	w, _ := extra.Catalogue().Lookup("wais")
	if _, err := RequestOf(w, old(t, "wais://h.example/d/T/99999999999999999999/x"), Client{}); err == nil {
		t.Error("Request of a document of 10^20 octets: no error")
	}
}

// TestFTPRequest checks what is sent to servers: the anonymous convention, the
// port, the transfer mode (from the format, which the suffix determines), the
// order of commands, and server-specific names.
func TestFTPRequest(t *testing.T) {
	vms, unix := VMSNames(), UnixNames()
	c := Client{
		Mail:    "joe@example.org",
		Formats: map[string]Format{"txt": {"text/plain", true}, "ps": {"application/postscript", false}},
		Servers: map[string]FTPServer{
			"vms.example": {Names: &vms, TypeLast: true},
			"one.example": {Whole: true},
			"dir.example": {TypeLast: true},
			"nix.example": {Names: &unix},
		},
	}
	for _, tt := range []struct {
		d        uri.Dialect
		in, port string
		commands string
		ids      string
	}{
		{uri.Draft1993, "ftp://h.example/f", "21", "USER anonymous|PASS joe@example.org|TYPE I|RETR f", "U93-42"},
		{uri.Draft1993, "ftp://h.example:2121/pub/a.txt", "2121", "USER anonymous|PASS joe@example.org|TYPE A|CWD pub|RETR a.txt", "U93-43, U93-46"},
		{uri.Draft1993, "ftp://h.example/a%20b.PS", "21", "USER anonymous|PASS joe@example.org|TYPE I|RETR a b.PS", "U93-42, U93-46"},
		{uri.Draft1993, "ftp://joe:pw@h.example/a.unknown", "21", "USER joe|PASS pw|TYPE I|RETR a.unknown", "U93-42"},
		{uri.Draft1993, "ftp://vms.example/A/B/C.TXT", "21", "USER anonymous|PASS joe@example.org|TYPE A|RETR [A.B]C.TXT", "U93-45"},
		{uri.Draft1993, "ftp://one.example/a/b", "21", "USER anonymous|PASS joe@example.org|TYPE I|RETR a/b", "U93-45"},
		{uri.Draft1993, "ftp://dir.example/a/b", "21", "USER anonymous|PASS joe@example.org|CWD a|TYPE I|RETR b", "U93-45"},
		{uri.Latest, "ftp://nix.example/%2Fetc/motd", "21", "USER anonymous|PASS joe@example.org|TYPE I|RETR /etc/motd", "U93-45"},
		{uri.Latest, "ftp://myname@host.dom/%2Fetc/motd", "21", "USER myname|TYPE I|CWD /etc|RETR motd", ""},
		{uri.Latest, "ftp://host.dom/a/b;type=a", "21", "USER anonymous|PASS joe@example.org|TYPE A|CWD a|RETR b", ""},
		{uri.Latest, "ftp://host.dom/a/b.txt;type=i", "21", "USER anonymous|PASS joe@example.org|TYPE I|CWD a|RETR b.txt", ""},
		{uri.Latest, "ftp://host.dom/a/;type=d", "21", "USER anonymous|PASS joe@example.org|TYPE A|CWD a|NLST", ""},
	} {
		u, err := tt.d.Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		r := requestOf(t, u, c)
		if got := strings.Join(r.Commands, "|"); got != tt.commands || r.Port != tt.port {
			t.Errorf("%s: Request(%q): port %s, commands %s; want %s, %s", tt.ids, tt.in, r.Port, got, tt.port, tt.commands)
		}
	}
	r := requestOf(t, old(t, "ftp://h.example/f"), c)
	if r.Login != (Login{"anonymous", "joe@example.org", true}) {
		t.Errorf("U93-42: login: got %+v", r.Login)
	}
	if _, err := RequestOf(named(t, "ftp"), old(t, "ftp://h.example/f"), Client{Mail: "a\r\nDELE x"}); err == nil {
		t.Error("mail address with a line break: no error")
	}
	if _, err := RequestOf(named(t, "ftp"), old(t, "ftp://vms.example/a.b/c"), c); !errors.Is(err, ErrLocalName) {
		t.Errorf("invalid VMS path: got %v", err)
	}
	for suffix, f := range UsualFormats() {
		if f.Type == "" || suffix != strings.ToLower(suffix) {
			t.Errorf("UsualFormats: %q is %+v", suffix, f)
		}
	}
}

// A fakeNetwork records the requests of its steps.
type fakeNetwork struct{ requested []string }

func (w *fakeNetwork) step(out Outcome, err error) Step {
	return func(_ context.Context, r Request) (Outcome, error) {
		w.requested = append(w.requested, r.URI.String())
		return out, err
	}
}

func object(text string) Outcome {
	return Outcome{Resource: &Resource{Body: io.NopCloser(strings.NewReader(text))}}
}

func locators(us ...string) Outcome {
	var out Outcome
	for _, s := range us {
		out.Locators = append(out.Locators, uri.MustParse(s))
	}
	return out
}

// The algorithm returns a set of locators, or the object.
func TestRetrieve(t *testing.T) {
	w := &fakeNetwork{}
	at := time.Date(1993, 7, 14, 12, 0, 0, 0, time.UTC)
	r := Retriever{
		Steps: map[string]Step{
			"HTTP":     w.step(object("x"), nil),
			"prospero": w.step(locators("ftp://h.example/f", "gopher://h.example/0f"), nil),
			"ftp":      w.step(Outcome{}, ErrNotAvailable),
			"gopher":   w.step(object("y"), nil),
			"wais":     w.step(Outcome{}, nil),
		},
		Now: func() time.Time { return at },
	}
	ctx := context.Background()
	out, err := r.Retrieve(ctx, uri.MustParse("http://h.example/a#f"))
	if err != nil || out.Resource == nil || out.Resource.URI.String() != "http://h.example/a" || !out.Resource.Retrieved.Equal(at) {
		t.Errorf("U93-68: Retrieve(http): %+v, %v", out, err)
	}
	out, err = r.Retrieve(ctx, uri.MustParse("prospero://h.example/o"))
	if err != nil || len(out.Locators) != 2 || out.Resource != nil {
		t.Errorf("U93-68, U93-55: Retrieve(prospero): %+v, %v", out, err)
	}
	got, err := r.Follow(ctx, uri.MustParse("prospero://h.example/o"))
	if err != nil || got.URI.String() != "gopher://h.example/0f" || got.Format != "text/plain" {
		t.Errorf("Follow(prospero): %+v, %v", got, err)
	}
	if want := "prospero://h.example/o|ftp://h.example/f|gopher://h.example/0f"; !strings.HasSuffix(strings.Join(w.requested, "|"), want) {
		t.Errorf("requested %q, want %s last", w.requested, want)
	}
	if _, err := r.Retrieve(ctx, uri.MustParse("wais://h.example/db")); !errors.Is(err, ErrOutcome) {
		t.Errorf("a step that returns nothing: got %v", err)
	}
	ref, _ := uri.ParseReference("a/b")
	if _, err := r.Retrieve(ctx, ref); !errors.Is(err, ErrNotLocator) {
		t.Errorf("Retrieve of a partial form: got %v", err)
	}
}

// An expired article is not available; no archive is tried instead.
func TestExpiredArticle(t *testing.T) {
	w := &fakeNetwork{}
	r := Retriever{
		Client: Client{NewsServer: "news.example:1119"},
		Steps:  map[string]Step{"news": w.step(Outcome{}, ErrNotAvailable), "http": w.step(object("x"), nil)},
	}
	_, err := r.Follow(context.Background(), old(t, "news:abc@h.example"))
	if !errors.Is(err, ErrNotAvailable) || len(w.requested) != 1 {
		t.Errorf("U93-51: Follow: %v after requesting %q; want ErrNotAvailable after one", err, w.requested)
	}
	q := requestOf(t, old(t, "news:abc@h.example"), r.Client)
	if q.Host != "news.example" || q.Port != "1119" || q.Type != "article" || q.Object != "abc@h.example" {
		t.Errorf("Request: %+v", q)
	}
	if _, err := RequestOf(named(t, "news"), old(t, "news:*"), Client{NewsServer: "a b"}); err == nil {
		t.Error("invalid news server host: no error")
	}
}

// A Prospero directory returns access methods, and external links become
// locators of the method's scheme.
func TestAccessMethods(t *testing.T) {
	for _, d := range []uri.Dialect{uri.Draft1993, uri.Latest} {
		for _, tt := range []struct {
			m    AccessMethod
			want string
		}{
			{AccessMethod{"AFTP", "h.example", "", "/pub/a b"}, "ftp://h.example/pub/a%20b"},
			{AccessMethod{"ftp", "h.example", "2121", "x"}, "ftp://h.example:2121/x"},
			{AccessMethod{"AFS", "cell.example", "", "usr/x"}, "afs://cell.example/usr/x"},
			{AccessMethod{"GOPHER", "h.example", "70", "0/a"}, "gopher://h.example/00/a"},
			{AccessMethod{"GOPHER", "h.example", "", ""}, "gopher://h.example/1"},
			{AccessMethod{"PROSPERO", "h.example", "1525", "o"}, "prospero://h.example/o"},
		} {
			u, err := tt.m.Locator(d)
			if err != nil || u.String() != tt.want {
				t.Errorf("U93-55: %s: Locator(%+v) = %q, %v; want %q", d, tt.m, u, err, tt.want)
			}
		}
		for _, m := range []AccessMethod{{"NFS", "h", "", "x"}, {"FTP", "", "", "x"}, {"FTP", "a/b", "", "x"}, {"FTP", "h", "", "a\r\nb"}} {
			if u, err := m.Locator(d); err == nil {
				t.Errorf("%s: Locator(%+v) = %q, want an error", d, m, u)
			}
		}
	}
	external, err := AccessMethod{"AFTP", "mirror.example", "", "/f"}.Locator(uri.Latest)
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeNetwork{}
	r := Retriever{Steps: map[string]Step{
		"prospero": w.step(Outcome{Locators: []uri.URI{external}}, nil),
		"ftp":      w.step(object("x"), nil),
	}}
	got, err := r.Follow(context.Background(), uri.MustParse("prospero://h.example/o"))
	if err != nil || got.URI.String() != "ftp://mirror.example/f" {
		t.Errorf("U93-54: Follow: %+v, %v, want the ftp locator", got, err)
	}
}

// Local access is off by default, and used only for files.
func TestLocalAccess(t *testing.T) {
	w := &fakeNetwork{}
	local := &fakeNetwork{}
	r := Retriever{Steps: map[string]Step{"ftp": w.step(object("x"), nil), "http": w.step(object("x"), nil)}}
	retrieve := func(s string) {
		t.Helper()
		if _, err := r.Retrieve(context.Background(), uri.MustParse(s)); err != nil {
			t.Error(err)
		}
	}
	retrieve("ftp://h.example/f")
	r.Local = local.step(object("y"), nil)
	retrieve("FTP://h.example/g")
	retrieve("http://h.example/h")
	r.Local = local.step(Outcome{}, ErrNotAvailable)
	retrieve("ftp://h.example/i")
	if got, want := strings.Join(w.requested, "|"), "ftp://h.example/f|http://h.example/h|ftp://h.example/i"; got != want {
		t.Errorf("U93-44: requested over the network: %s, want %s", got, want)
	}
	if got, want := strings.Join(local.requested, "|"), "FTP://h.example/g|ftp://h.example/i"; got != want {
		t.Errorf("U93-44: requested locally: %s, want %s", got, want)
	}
}

// Following locators that lead to each other terminates.
func TestFollowEnds(t *testing.T) {
	w := &fakeNetwork{}
	r := Retriever{Steps: map[string]Step{"prospero": w.step(locators("prospero://h.example/o"), nil)}}
	if _, err := r.Follow(context.Background(), uri.MustParse("prospero://h.example/o")); !errors.Is(err, ErrTooManySteps) {
		t.Errorf("loop: got %v", err)
	}
	n := 0
	r.Steps["prospero"] = func(context.Context, Request) (Outcome, error) {
		n++
		return locators("prospero://h.example/" + strings.Repeat("o", n+1)), nil
	}
	if _, err := r.Follow(context.Background(), uri.MustParse("prospero://h.example/o")); !errors.Is(err, ErrTooManySteps) || n > maxSteps {
		t.Errorf("chain: got %v after %d steps", err, n)
	}
	w.requested = nil
	r.Steps["prospero"] = w.step(locators("ftp://h.example/f", "ftp://h.example/f", "gopher://h.example/"), nil)
	r.Steps["ftp"], r.Steps["gopher"] = w.step(Outcome{}, ErrNotAvailable), w.step(object("x"), nil)
	if _, err := r.Follow(context.Background(), uri.MustParse("prospero://h.example/o")); err != nil || len(w.requested) != 3 {
		t.Errorf("repeated locator: requested %q, %v", w.requested, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Follow(ctx, uri.MustParse("prospero://h.example/o")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	ref, _ := uri.ParseReference("x")
	r.Steps["prospero"] = w.step(Outcome{Locators: []uri.URI{ref}}, nil)
	if _, err := r.Retrieve(context.Background(), uri.MustParse("prospero://h.example/o")); !errors.Is(err, ErrOutcome) {
		t.Errorf("step that returns a partial form: got %v", err)
	}
}

// The same locator is retrieved again each time, and the result carries the
// time.
func TestSameLocatorAtAnotherTime(t *testing.T) {
	now := time.Unix(0, 0)
	texts := []string{"old", "new"}
	r := Retriever{
		Steps: map[string]Step{"http": func(context.Context, Request) (Outcome, error) {
			out := object(texts[0])
			texts = texts[1:]
			return out, nil
		}},
		Now: func() time.Time { now = now.Add(time.Hour); return now },
	}
	u := uri.MustParse("http://h.example/")
	first, err1 := r.Follow(context.Background(), u)
	second, err2 := r.Follow(context.Background(), u)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	a, _ := io.ReadAll(first.Body)
	b, _ := io.ReadAll(second.Body)
	if string(a) != "old" || string(b) != "new" || second.Retrieved.Sub(first.Retrieved) != time.Hour {
		t.Errorf("U93-72: got %q at %v and %q at %v", a, first.Retrieved, b, second.Retrieved)
	}
}

// A client can configure gateways for schemes that it does not support, and a
// scheme can suggest a gateway of its own.
func TestRetrieveThroughGateway(t *testing.T) {
	w := &fakeNetwork{}
	g, err := Gateways{}.With("x-foo", "http://gw.example/")
	if err != nil {
		t.Fatal(err)
	}
	r := Retriever{Steps: map[string]Step{"http": w.step(object("x"), nil)}, Gateways: g}
	ctx := context.Background()
	got, err := r.Follow(ctx, uri.MustParse("x-foo:bar#f"))
	if err != nil || got.URI.String() != "http://gw.example/x-foo%3Abar" {
		t.Errorf("U93-70: Follow(x-foo:bar): %+v, %v", got, err)
	}
	if _, err := r.Retrieve(ctx, uri.MustParse("x-bar:x")); !errors.Is(err, ErrNoAlgorithm) {
		t.Errorf("no gateway: got %v", err)
	}
	if _, err := r.Retrieve(ctx, uri.MustParse("gopher://h.example/")); !errors.Is(err, ErrNoAlgorithm) {
		t.Errorf("known, not supported, no gateway: got %v", err)
	}
	if _, err := r.Retrieve(ctx, uri.MustParse("telnet://h.example/")); !errors.Is(err, ErrInteractive) {
		t.Errorf("a session: got %v", err)
	}
	if _, err := r.Retrieve(ctx, uri.MustParse("x500:c/o")); !errors.Is(err, ErrUndefined) { // U93-60
		t.Errorf("x500: got %v", err)
	}
	if _, err := r.Retrieve(ctx, uri.MustParse("gopher:x")); !scheme.HasError([]scheme.Finding{asFinding(err)}) {
		t.Errorf("invalid locator: got %v", err)
	}
	r.Steps["urn"] = w.step(locators("http://h.example/"), nil) // a configured step defines the retrieval
	if out, err := r.Retrieve(ctx, uri.MustParse("urn:x-y:z")); err != nil || len(out.Locators) != 1 {
		t.Errorf("a URN with a step: got %v, %v", out, err)
	}
	if got := w.requested[len(w.requested)-1]; got != "urn:x-y:z" {
		t.Errorf("N12-46: the step for names got %q, want the whole URN", got)
	}
	c, err := extra.Catalogue().With(scheme.Scheme{
		Name: "foo", Title: "foos", Reference: "r", Retrieval: "through its gateway", Gateway: "http://foo.example/get?{rest}",
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Catalogue = &c
	if _, err := r.Retrieve(ctx, uri.MustParse("foo:a/b")); !errors.Is(err, ErrNoAlgorithm) {
		t.Errorf("gateway of the scheme, not enabled: got %v", err)
	}
	r.ProposedGateways = true
	got, err = r.Follow(ctx, uri.MustParse("foo:a/b"))
	if err != nil || got.URI.String() != "http://foo.example/get?a%2Fb" {
		t.Errorf("U93-69: Follow(foo:a/b): %+v, %v", got, err)
	}
	r.Gateways, _ = g.With("*", "gopher://gw.example/0")
	if _, err := r.Retrieve(ctx, uri.MustParse("wais://h.example/db")); !errors.Is(err, ErrNoAlgorithm) {
		t.Errorf("gateway whose scheme is not supported: got %v", err)
	}
}

// Configuration takes precedence over the protocol of the scheme, even where
// that is supported.
func TestConfigurationComesFirst(t *testing.T) {
	w := &fakeNetwork{}
	all, err := Gateways{}.With(AnyScheme, "http://any.example/")
	if err != nil {
		t.Fatal(err)
	}
	r := Retriever{Steps: map[string]Step{"http": w.step(object("by http"), nil), "ftp": w.step(object("by ftp"), nil)}, Gateways: all}
	u := uri.MustParse("ftp://h.example/a")
	if got, err := r.Follow(t.Context(), u); err != nil || got.URI != u {
		t.Errorf("U97-02: with a gateway for all unsupported schemes: %+v, %v", got, err)
	}
	if r.Gateways, err = all.With("FTP", "http://gw.example/"); err != nil {
		t.Fatal(err)
	}
	got, err := r.Follow(t.Context(), u)
	if want := "http://gw.example/ftp%3A%2F%2Fh.example%2Fa"; err != nil || got.URI.String() != want {
		t.Errorf("U97-02: with a gateway for ftp: %+v, %v, want %s", got, err, want)
	}
}

// asFinding returns the scheme.Finding in err's chain.
func asFinding(err error) scheme.Finding {
	var f *scheme.Finding
	if !errors.As(err, &f) {
		return scheme.Finding{}
	}
	return *f
}

func TestGateways(t *testing.T) {
	var g Gateways
	for _, w := range [][2]string{
		{"WAIS", "http://wais.example/go?u={uri}"},
		{"x-*", "https://x.example/{+uri}"},
		{"*", "http://all.example/"},
		{"wais", "http://wais.example/{rest}/x"}, // replaces the first
	} {
		var err error
		if g, err = g.With(w[0], w[1]); err != nil {
			t.Fatal(err)
		}
	}
	for in, want := range map[string]string{
		"wais://h/db?a#f": "http://wais.example/%2F%2Fh%2Fdb%3Fa/x",
		"x-foo:a/b?c":     "https://x.example/x-foo:a/b?c",
		"X-Foo:a":         "https://x.example/X-Foo:a",
		"gopher://h/1":    "http://all.example/gopher%3A%2F%2Fh%2F1",
		"http://h/":       "", // would lead to itself
		"urn:x-y:z":       "http://all.example/urn%3Ax-y%3Az",
	} {
		u, ok, err := g.Locator(uri.MustParse(in))
		if err != nil || ok != (want != "") || u.String() != want {
			t.Errorf("Locator(%q) = %q, %v, %v; want %q", in, u, ok, err, want)
		}
	}
	for _, in := range []string{"x-foo:a/../../admin", "x-foo:a/%2e%2E/b", "x-foo:.", "x-foo:a?..", "x-foo://h/./b"} {
		if u, _, err := g.Locator(uri.MustParse(in)); !errors.Is(err, ErrThrough) {
			t.Errorf("Locator(%q) = %q, %v; want ErrThrough", in, u, err)
		}
	}
	ref, _ := uri.ParseReference("a")
	if _, ok, err := g.Locator(ref); ok || err != nil {
		t.Errorf("Locator of a partial form: %v, %v", ok, err)
	}
	n := 0
	for scheme, template := range g.All() {
		n++
		if scheme == "" || !strings.Contains(template, "{") {
			t.Errorf("All: %q, %q", scheme, template)
		}
		if n == 2 {
			break
		}
	}
	for _, w := range [][2]string{
		{"", "http://h/"},
		{"1x", "http://h/"},
		{"x", "/h/"},
		{"x", "http:///"},
		{"x", "http://{uri}/"},
		{"x", "{uri}://h/"},
		{"http", "http://h/"},
		{"x", "http://h/{uri}#{rest}"},
		{"x", "http://h/{what}"},
		{"x", "mailto:a@b"},
		{"x", "http://h/ {uri}"},
		{"x", "http://u{uri}@h/"},
	} {
		if _, err := (Gateways{}).With(w[0], w[1]); !errors.Is(err, ErrGateway) {
			t.Errorf("With(%q, %q): got %v, want ErrGateway", w[0], w[1], err)
		}
	}
}

// Sessions are passed to a program as a name and arguments, never as a shell
// command line.
func TestSessionCommand(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"telnet://h.example", "telnet|h.example"},
		{"telnet://guest@h.example:2323/", "telnet|-l|guest|h.example|2323"},
		{"telnet://guest:secret@h.example:23/", "telnet|-l|guest|h.example"},
		{"telnet://[2001:db8::1]/", "telnet|2001:db8::1"},
		{"rlogin://joe%20x@h.example:99", "rlogin|-l|joe x|-p|99|h.example"},
		{"tn3270://joe@h.example/", "tn3270|h.example"},
	} {
		program, args, err := SessionOf(uri.MustParse(tt.in)).Command(UsualLaunchers())
		if got := strings.Join(append([]string{program}, args...), "|"); err != nil || got != tt.want {
			t.Errorf("U93-59: Command(%q) = %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{
		"telnet://-x/", "telnet://a%20b/", "telnet://$(reboot)/", "telnet://h;x/", "telnet://-l@h.example/",
		"telnet://a%0Ab@h.example/", "telnet://h.example:99999/", "telnet://h.example:0/", "telnet:x", "telnet://[v1.x]/",
	} {
		if _, args, err := SessionOf(uri.MustParse(in)).Command(UsualLaunchers()); !errors.Is(err, ErrUnsafeSession) {
			t.Errorf("U93-59: Command(%q) = %q, %v; want ErrUnsafeSession", in, args, err)
		}
	}
	s := SessionOf(uri.MustParse("TELNET://joe:secret@h.example/"))
	if s != (Session{Scheme: "telnet", Host: "h.example", User: "joe", Password: "secret"}) {
		t.Errorf("SessionOf: %+v", s)
	}
	if text := (&InteractiveError{s}).Error(); strings.Contains(text, "secret") {
		t.Errorf("the error contains the password: %s", text)
	}
	if _, _, err := SessionOf(uri.MustParse("ssh://h.example")).Command(UsualLaunchers()); !errors.Is(err, ErrNoLauncher) {
		t.Errorf("session without a program: got %v", err)
	}
}

// Menu items that refer to other protocols become locators of those protocols.
func TestGopherItems(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"8Library\t\th.example\t23", "telnet://h.example"},
		{"8Library\tguest\th.example\t2323\r\n", "telnet://guest@h.example:2323"},
		{"TLibrary\tjoe:x\th.example\t23", "tn3270://joe%3Ax@h.example"},
		{"hPage\tURL:http://example.org/a?b\tgopher.example\t70", "http://example.org/a?b"},
		{"hPage\t/URL:http://example.org/a?b\tgopher.example\t70", "http://example.org/a?b"},
		{"hPage\tGET /a b?c\twww.example\t80", "http://www.example/a%20b?c"},
		{"hPage\t/page.html\th.example\t70", "gopher://h.example/h/page.html"},
		{"0Read me\tftp:ftp.example@/pub/a b.txt\tgw.example\t70", "ftp://ftp.example/pub/a%20b.txt"},
		{"1FTP\tftp:ftp.example@\tgw.example\t70", "ftp://ftp.example/"},
		{"0About\t0/About Gopher\th.example\t70", "gopher://h.example/00/About%20Gopher"},
		{"1Menu\t\th.example\t7070", "gopher://h.example:7070/1"},
		{"7Find\tq?x\th.example\t70\t+", "gopher://h.example/7q%3Fx%09%09+"},
		{"0Odd\tftp:no at\th.example\t70", "gopher://h.example/0ftp:no%20at"},
	} {
		item, err := ParseGopherItem(tt.line)
		if err != nil {
			t.Error(err)
			continue
		}
		u, err := item.Locator()
		if err != nil || u.String() != tt.want {
			t.Errorf("U93-58: Locator(%q) = %q, %v; want %q", tt.line, u, err, tt.want)
		}
	}
	for _, line := range []string{
		"", "\r\n", "0a\tb\tc", "0a\x00\tb\th\t70", "iHello\tx\th.example\t70", "3Error\t\th.example\t70",
		"0a\tb\th h\t70", "0a\tb\th\tx", "8a\tu\t-x\t23", "hx\tURL:not a uri\th\t70", "0a\tb\t\t70", "hx\tURL:javascript:alert(1)\th\t70",
		"0x" + strings.Repeat("y", maxGopherLine) + "\ta\tb\t1",
	} {
		item, err := ParseGopherItem(line)
		if err == nil {
			_, err = item.Locator()
		}
		if !errors.Is(err, ErrGopherItem) {
			t.Errorf("%.40q: got %v, want ErrGopherItem", line, err)
		}
	}
}

// An object has one official name, in full form, which is the base for
// references inside it.
func TestOfficialName(t *testing.T) {
	o := Object{Fetched: uri.MustParse("ftp://mirror/x/doc")}
	resolve := func(want string) {
		t.Helper()
		if got, err := o.Resolve("g"); err != nil || got.String() != want {
			t.Errorf("U93-29: Resolve(g) = %q, %v; want %q", got, err, want)
		}
	}
	resolve("ftp://mirror/x/g")
	if _, ok := o.Official(); ok {
		t.Error("an official name from nowhere")
	}
	o, err := o.WithOfficial(uri.MustParse("http://a/b/doc"))
	if err != nil {
		t.Fatal(err)
	}
	resolve("http://a/b/g")
	partial, _ := uri.ParseReference("b/doc")
	if _, err := o.WithOfficial(partial); !errors.Is(err, ErrPartial) {
		t.Errorf("U93-30: a partial form: got %v", err)
	}
	if _, err := o.WithOfficial(uri.URI{}); !errors.Is(err, ErrPartial) {
		t.Errorf("no name: got %v", err)
	}
	if _, err := o.WithOfficial(uri.MustParse("urn:isbn:9789510184356")); !errors.Is(err, ErrSecondName) {
		t.Errorf("U93-30: a second name: got %v", err)
	}
	if same, err := o.WithOfficial(uri.MustParse("http://a/b/doc")); err != nil || same != o {
		t.Errorf("the same name again: got %v", err)
	}
	if got, ok := o.Official(); !ok || got.String() != "http://a/b/doc" {
		t.Errorf("Official: %q, %v", got, ok)
	}
	named, err := Object{Fetched: o.Fetched}.WithOfficial(uri.MustParse("urn:isbn:9789510184356")) // any scheme is allowed
	if err != nil || extra.Catalogue().KindOf(named.Base()) != scheme.KindName {
		t.Errorf("a URN: %v, base %q", err, named.Base())
	}
	if _, err := o.Resolve("a b"); err == nil {
		t.Error("Resolve(a b): no error")
	}
}
