package links

import (
	"net/url"
	"strings"
	"testing"
)

const article = `<!DOCTYPE html><html><head><title>On the Measurement of Rivers</title>
<meta name="DC.identifier" content="urn:nbn:fi:ex-17"><meta property="og:title" content="Rivers measured">
<style>p{color:red}</style></head><body><nav>Home About Contact</nav><header>Library</header>
<p>The length of a river depends on the scale of the map on which we measure it,
and on the care with which the pen follows every bend of the bank.</p>
<script>var x = "never shown"</script><footer>12 visitors</footer></body></html>`

// TestPage checks what is read of a page.
func TestPage(t *testing.T) {
	p := readPage([]byte(article))
	text := strings.Join(p.words, " ")
	if !strings.HasPrefix(text, "the length of a river") || strings.Contains(text, "contact") || strings.Contains(text, "shown") || strings.Contains(text, "visitors") {
		t.Errorf("text: got %q", text)
	}
	for _, want := range []string{"Measurement of Rivers", "urn:nbn:fi:ex-17", "Rivers measured"} {
		if !strings.Contains(p.title, want) {
			t.Errorf("title: got %q, want it to contain %q", p.title, want)
		}
	}
}

// TestConfirm checks by what a page is confirmed.
func TestConfirm(t *testing.T) {
	p := readPage([]byte(article))
	for _, tt := range []struct {
		names, titles []string
		want          bool
	}{
		{nil, nil, false},
		{[]string{"URN:NBN:fi:ex-17"}, nil, true},
		{[]string{"urn:nbn:fi:ex-18"}, nil, false},
		{[]string{"the"}, nil, false}, // too short
		{nil, []string{"On the measurement of rivers"}, true},
		{nil, []string{"Measurement of rivers and mountains"}, true},   // two of three words
		{nil, []string{"Measurement of mountains and valleys"}, false}, // one of three
		{nil, []string{"of a"}, false},
		{nil, []string{"Bread", "On rivers"}, true},
	} {
		if got := confirms([]byte(article), &p, tt.names, tt.titles); got != tt.want {
			t.Errorf("names %q, titles %q: got %v, want %v", tt.names, tt.titles, got, tt.want)
		}
	}
}

// TestFingerprint checks that fingerprints differ little if texts differ little.
func TestFingerprint(t *testing.T) {
	print := func(text string) uint64 {
		p := readPage([]byte("<p>" + text))
		return p.fingerprint()
	}
	text := strings.Repeat("the length of a river depends on the scale of the map on which we measure it ", 1) +
		strings.Join(strings.Fields(article)[20:], " ")
	same := strings.Replace(text, "visitors", "guests", 1) + " 7 of 9"
	other := "this domain is for sale please contact the owner of this domain to make an offer for it today or tomorrow"
	if d := distance(print(text), print(same)); d > 12 {
		t.Errorf("similar texts differ in %d bits", d)
	}
	if d := distance(print(text), print(other)); d <= 16 {
		t.Errorf("different texts differ in only %d bits", d)
	}
	if got := print("Not found"); got != 0 {
		t.Errorf("short text: got %x, want 0", got)
	}
}

// TestSoftTarget checks which redirects are suspicious.
func TestSoftTarget(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.example/x/1", "https://a.example/x/1", false},
		{"http://a.example/x/1", "https://a.example/y/1", false},
		{"http://a.example/x/1", "https://a.example/", true},
		{"http://a.example/x/1", "https://b.example", true},
		{"http://a.example/", "https://b.example/", false},
		{"http://a.example/x/1", "https://a.example/?id=1", false},
		{"http://a.example/x/1", "https://a.example/login?next=/x/1", true},
		{"http://a.example/x/1", "https://a.example/errors/404.html", true},
		{"http://a.example/x/1", "https://a.example/NotFound", true},
		{"http://a.example/login", "http://a.example/login", false},
	} {
		from, _ := url.Parse(tt.from)
		to, _ := url.Parse(tt.to)
		if got := softTarget(from, to); got != tt.want {
			t.Errorf("%s to %s: got %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte(article))
	f.Add([]byte("<nav><nav></nav><meta name=citation_title content=x/><title>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := readPage(body)
		if len(p.words) > maxWords || len(p.title) > maxTitle {
			t.Errorf("%d words, %d bytes of title", len(p.words), len(p.title))
		}
		p.fingerprint()
		confirms(body, &p, []string{"abcdef"}, []string{"abcdef"})
	})
}
