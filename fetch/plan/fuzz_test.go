package plan

import (
	"testing"

	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// FuzzRequests plans the request for any URI, in every dialect.
func FuzzRequests(f *testing.F) {
	for s := range extra.Catalogue().All() {
		f.Add(s.Example)
		f.Add(s.Name + "://u:p@h:1/a%09b;c=d/..//*?e+f%0A#")
	}
	f.Fuzz(func(t *testing.T, s string) {
		for d := uri.Draft1993; d.IsValid(); d++ {
			if u, err := d.Parse(s); err == nil {
				requests(t, u)
			}
		}
	})
}

// requests checks that line-based requests contain no line breaks, and that the
// host can be looked up.
func requests(t *testing.T, u uri.URI) {
	t.Helper()
	name, _ := u.Scheme()
	s, ok := extra.Catalogue().Lookup(name)
	if !ok {
		return
	}
	r, err := RequestOf(s, u, Client{Mail: "a@b.example", NewsServer: "n.example"})
	if err != nil {
		return
	}
	for _, line := range r.Commands {
		if hasLineEnd(line) {
			t.Errorf("Request(%q): command %q contains a line break", u, line)
		}
	}
	if r.Network != "" && !isHost(r.Host) && !isIPv6Text(r.Host) {
		t.Errorf("Request(%q): host %q", u, r.Host)
	}
	if s.Name == "gopher" && u.Dialect() == uri.Draft1993 && hasLineEnd(r.Send) {
		t.Errorf("Request(%q): sends %q", u, r.Send)
	}
}

func hasLineEnd(s string) bool {
	for i := range len(s) {
		if s[i] == '\r' || s[i] == '\n' || s[i] == 0 {
			return true
		}
	}
	return false
}

// FuzzGopherItem parses any menu line: its locator must be a valid URI of its
// scheme.
func FuzzGopherItem(f *testing.F) {
	f.Add("8Library\tguest\th.example\t2323\r\n")
	f.Add("hPage\tGET /a b?c\twww.example\t80")
	f.Add("0Read\tftp:ftp.example@/pub/a;b\tgw\t70\t+")
	f.Add("7x\tURL:http://h/\th\t1")
	f.Fuzz(func(t *testing.T, line string) {
		item, err := ParseGopherItem(line)
		if err != nil {
			return
		}
		u, err := item.Locator()
		if err != nil {
			return
		}
		if u.IsReference() || hasLineEnd(u.String()) {
			t.Errorf("Locator(%q) = %q", line, u)
		}
		if again, err := uri.Parse(u.String()); err != nil || again != u {
			t.Errorf("Locator(%q) = %q is parsed as %q, %v", line, u, again, err)
		}
	})
}

// FuzzGateways passes any locator through gateways: the URL to fetch must stay
// at the gateway, below its path.
func FuzzGateways(f *testing.F) {
	f.Add("x-foo:a/../../b?c#d")
	f.Add("wais://h/db?x@y:1")
	f.Add("urn:x-y:%2e%2e/..")
	var tables []Gateways
	for _, template := range []string{"http://gw.example/base/", "http://gw.example/base/{+uri}", "http://gw.example/base/q?u={rest}"} {
		g, err := Gateways{}.With("*", template)
		if err != nil {
			f.Fatal(err)
		}
		tables = append(tables, g)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.Parse(s)
		if err != nil {
			return
		}
		for _, g := range tables {
			at, ok, err := g.Locator(u)
			if err != nil || !ok {
				continue
			}
			host, _ := at.Host()
			if path := at.Normalize(uri.LevelPath).Path(); host != "gw.example" || len(path) < 6 || path[:6] != "/base/" {
				t.Errorf("Locator(%q) = %q", u, at)
			}
			if _, ok := at.Fragment(); ok {
				t.Errorf("Locator(%q) = %q has a fragment", u, at)
			}
		}
	})
}
