package messages

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/text/language"
)

// header has the section that every catalogue must have.
const header = "[format]\nname = \"X\"\nday = \"2006-01-02\"\ntime = \"2006-01-02 15:04 UTC\"\n"

// newSet returns a set with these texts of the section a in each language.
func newSet(t *testing.T, texts string, languages ...string) *Set {
	t.Helper()
	files := fstest.MapFS{}
	for _, l := range languages {
		files["m_"+l+".toml"] = &fstest.MapFile{Data: []byte(header + "[a]\n" + texts)}
	}
	s, err := Read(files, "m_", languages...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestText(t *testing.T) {
	c := newSet(t, "b = \"from {1} to {2}, {1}\"\nn.one = \"{1} name of {2}\"\nn.other = \"{1} names of {2}\"\n", "en").All()[0]
	at := time.Date(2026, 2, 3, 14, 5, 6, 0, time.FixedZone("", 3600))
	for _, tt := range []struct {
		key  string
		args []any
		want string
	}{
		{"a.b", []any{"{2}", 7}, "from {2} to 7, {2}"},
		{"a.b", []any{"x\u202ey", 12345}, "from x[U+202E]y to 12345, x[U+202E]y"},
		{"a.b", []any{at, "<b>"}, "from 2026-02-03 13:05 UTC to <b>, 2026-02-03 13:05 UTC"},
		{"a.n", []any{1, "x"}, "1 name of x"},
		{"a.n", []any{12345, "x"}, "12,345 names of x"},
		{"a.n", []any{uint64(0), 12345}, "0 names of 12345"},
		{"a.none", nil, "a.none"},
	} {
		if got := c.Text(tt.key, tt.args...); got != tt.want {
			t.Errorf("%s %v: got %q, want %q", tt.key, tt.args, got, tt.want)
		}
		if got, err := c.Lookup(tt.key, tt.args...); tt.args != nil && (got != tt.want || err != nil) {
			t.Errorf("%s %v: got %q, %v, want %q", tt.key, tt.args, got, err, tt.want)
		}
	}
	for _, args := range [][]any{nil, {1}, {1, 2, 3}} {
		if got, err := c.Lookup("a.b", args...); err == nil {
			t.Errorf("%d arguments: got %q", len(args), got)
		}
	}
	if got, err := c.Lookup("a.none"); err == nil {
		t.Errorf("an unknown key has the text %q", got)
	}
}

// An argument that is HTML stays unchanged. All other arguments are escaped.
func TestMarkup(t *testing.T) {
	c := newSet(t, `b = "1 < 2 & {1}, {2}"`, "en").All()[0]
	got, err := c.Lookup("a.b", template.HTML("<b>x</b>"), "<i>\u202e")
	if want := template.HTML("1 &lt; 2 &amp; <b>x</b>, &lt;i&gt;[U+202E]"); got != want || err != nil {
		t.Errorf("got %#v, %v, want %q", got, err, want)
	}
	if got := c.Text("a.b", template.HTML("<b>x</b>"), 1); got != "1 < 2 & <b>x</b>, 1" {
		t.Errorf("got %q", got)
	}
}

func TestNumbers(t *testing.T) {
	s := newSet(t, "", "en", "de", "fr", "fi")
	for tag, want := range map[string]string{"en": "1,234,567", "de": "1.234.567", "fr": "1\u00a0234\u00a0567", "fi": "1\u00a0234\u00a0567"} {
		if got := s.In(tag).Number(1234567); got != want {
			t.Errorf("%s: got %q, want %q", tag, got, want)
		}
	}
	var all sync.WaitGroup
	for i := range 4 { // at once
		all.Go(func() {
			for range 100 {
				if got := s.In("de").Number(1000 + i); got[:2] != "1." {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	all.Wait()
}

// TestCategories has examples from the rules of CLDR.
func TestCategories(t *testing.T) {
	for tag, want := range map[string]string{"en": "one other", "de": "one other", "fi": "one other", "fr": "one other", "pl": "few many one", "ja": "other", "br": "few many one other two"} {
		if got := strings.Join(Categories(language.MustParse(tag)), " "); got != want {
			t.Errorf("%s: got %q, want %q", tag, got, want)
		}
	}
	for _, tt := range []struct {
		tag  string
		n    uint64
		want string
	}{
		{"en", 0, "other"},
		{"en", 1, "one"},
		{"en", 1<<63 + 1, "other"},
		{"fr", 0, "one"},
		{"fr", 2, "other"},
		{"fi", 1, "one"},
		{"pl", 22, "few"},
		{"ar", 0, "zero"},
		{"ar", 2, "two"},
	} {
		if got := Category(language.MustParse(tt.tag), tt.n); got != tt.want {
			t.Errorf("%s %d: got %q, want %q", tt.tag, tt.n, got, tt.want)
		}
	}
}

func TestReadRejects(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no TOML", "[", "m_en.toml: "},
		{"no format", "[a]\nb = \"c\"", "format.name is missing"},
		{"no section", "a = \"b\"", "m_en.toml: "},
		{"number", header + "[a]\nb = 1", "a.b: invalid value 1"},
		{"nested too deeply", header + "[a]\nb.c.d = \"e\"", "a.b: invalid value"},
		{"open brace", header + "[a]\nb = \"{1\"", `a.b: "{1": {`},
		{"close brace", header + "[a]\nb = \"1}\"", `a.b: "1}": unexpected }`},
		{"named argument", header + "[a]\nb = \"{name}\"", "from {1} to {9}"},
		{"argument 0", header + "[a]\nb = \"{0}\"", "from {1} to {9}"},
	} {
		files := fstest.MapFS{"m_en.toml": {Data: []byte(tt.text)}}
		if _, err := Read(files, "m_", "en"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.name, err, tt.want)
		}
	}
	for _, languages := range [][]string{nil, {"fr"}, {"e n"}} {
		if _, err := Read(fstest.MapFS{"m_en.toml": {Data: []byte(header)}}, "m_", languages...); err == nil {
			t.Errorf("%q: no error", languages)
		}
	}
}

func TestFor(t *testing.T) {
	s := newSet(t, "", "en", "de", "fr", "fi")
	for _, tt := range []struct{ cookie, accept, want string }{
		{"", "", "en"},
		{"", "de", "de"},
		{"", "de-CH, en;q=0.5", "de"},
		{"", "fr-CA", "fr"},
		{"", "sv, fi;q=0.8, en;q=0.5", "fi"},
		{"", "en;q=0.1, fi;q=0.2", "fi"},
		{"", "de;q=0, fr;q=0.1", "fr"},
		{"", "ja", "en"},
		{"", "*", "en"},
		{"", "DE", "de"},
		{"", "\x00,;q=", "en"},
		{"", strings.Repeat("fi, ", maxAccept/4+1), "en"},
		{"de", "fi", "de"},
		{"ja", "fi", "fi"},
		{"de-DE", "fi", "fi"},
		{"../de", "fi", "fi"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if tt.accept != "" {
			r.Header.Set("Accept-Language", tt.accept)
		}
		if tt.cookie != "" {
			r.AddCookie(NewCookie(tt.cookie, "/"))
		}
		if got := s.For(r).Tag(); got != tt.want {
			t.Errorf("cookie %q, %q: got %s, want %s", tt.cookie, tt.accept, got, tt.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	h := http.Header{"Vary": {"Accept"}}
	newSet(t, "", "fi").All()[0].Describe(h)
	if got := h.Values("Vary"); h.Get("Content-Language") != "fi" || !slices.Equal(got, []string{"Accept", "Accept-Language, Cookie"}) {
		t.Errorf("got %v", h)
	}
	c := NewCookie("fi", "/x/").String()
	if want := "lang=fi; Path=/x/; Max-Age=31536000; HttpOnly; SameSite=Lax"; c != want {
		t.Errorf("got %q, want %q", c, want)
	}
}
