package htaccess

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
)

const cascade = `Options -MultiViews
AddType text/turtle .ttl
RewriteEngine On
RewriteBase /w/
# Turtle for programs
RewriteCond %{HTTP_ACCEPT} text/turtle [OR]
RewriteCond %{HTTP_ACCEPT} application/x-turtle
RewriteRule ^ehs$ https://h.example/ehs.ttl [R=302,L]
RewriteCond %{HTTP_ACCEPT} !rdf
RewriteCond %{HTTP_USER_AGENT} ^mozilla [NC]
RewriteRule ^ehs$ https://h.example/ehs.html [R=303,L]
RewriteRule ^ehs$ - [R=406,L]
RewriteRule ^v/([0-9]+)\.(ttl|owl)$ "https://h.example/v$1#\
$2 x" [R=307,NE,L]
RewriteRule ^e/(.*)$ https://h.example/$1#f%{QUERY_STRING} [L]
RewriteCond %{QUERY_STRING} ^id=([0-9]+)$
RewriteRule ^q$ https://h.example/id/%1? [R=301,L]
RewriteRule ^q$ https://h.example/q?all [R=301,QSA,L]
RewriteCond %{REQUEST_URI} ^/w/up/(.*)$
RewriteRule !^q https://h.example%{REQUEST_URI} [R,QSD]
RewriteRule ^rel/(.*)$ new/$1 [R=308,L]
RewriteRule ^root$ /other [R=308,L]
RewriteRule ^gone$ - [G]
RewriteRule ^x(.*)y$ https://$1.h.example/ [R,L]
RedirectMatch 302 ^/w/match/(.*)$ https://h.example/m/$1
Redirect seeother /w/old https://h.example/new
ErrorDocument 404 https://h.example/missing
`

func TestConvert(t *testing.T) {
	c := convertFile(t, "w/.htaccess", cascade)
	if len(c.report.Refused) > 0 || c.report.Handled != c.report.Directives || c.report.Directives != 25 {
		t.Errorf("got %+v, want 25 directives, all handled", c.report)
	}
	set, err := c.set().Check(c.prefix)
	if err != nil {
		t.Fatal(err)
	}
	browser := rule.Request{UserAgent: "Mozilla/5.0", Accept: "text/html"}
	for _, tt := range []struct {
		element string
		request rule.Request
		want    string
	}{
		{"ehs", rule.Request{Accept: "text/turtle;q=0.1, text/html", UserAgent: "Mozilla/5.0"}, "302 https://h.example/ehs.ttl append"},
		{"ehs", rule.Request{Accept: "application/x-turtle"}, "302 https://h.example/ehs.ttl append"},
		{"ehs", browser, "303 https://h.example/ehs.html append"},
		{"ehs", rule.Request{Accept: "application/rdf+xml", UserAgent: "Mozilla/5.0"}, "406  "},
		{"v/12.ttl", browser, "307 https://h.example/v12#ttl%20x ignore"},
		{"v/12.ttl", rule.Request{Query: "a=1&b"}, "307 https://h.example/v12#ttl%20x?a=1&b ignore"},
		{"e/a%20%23b/c", rule.Request{Query: "a%20b"}, "302 https://h.example/a%20%23b/c%23fa%2520b append"},
		{"q", rule.Request{Query: "id=7"}, "301 https://h.example/id/7 ignore"},
		{"q", rule.Request{Query: "id=x"}, "301 https://h.example/q?all append"},
		{"up/%C3%A9/b", rule.Request{}, "302 https://h.example/w/up/%C3%A9/b ignore"},
		{"rel/a", rule.Request{}, "308 http://w3id.org/w/new/a append"},
		{"root", rule.Request{}, "308 http://w3id.org/other append"},
		{"gone", rule.Request{}, "410  "},
		{"xay", rule.Request{}, "302 https://a.h.example/ append"},
		{"match/a/b", rule.Request{}, "302 https://h.example/m/a/b append"},
		{"old/a", rule.Request{}, "303 https://h.example/new/a append"},
		{"older", rule.Request{}, "302 https://h.example/missing ignore"},
		{"v//12.ttl", browser, "307 https://h.example/v12#ttl%20x ignore"},
	} {
		r, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/"+tt.element), tt.request)
		got := ""
		if ok {
			url := ""
			if len(r.Locations) > 0 {
				url = r.Locations[0].URL
			}
			got = fmt.Sprint(r.Status, " ", url, " ", r.Query)
		}
		if got != tt.want {
			t.Errorf("%s, %+v: got %q, want %q", tt.element, tt.request, got, tt.want)
		}
	}
	if r, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/x@evil.example/y"), rule.Request{}); ok && len(r.Locations) > 0 && !strings.HasPrefix(r.Locations[0].URL, "https://h.example/") {
		t.Errorf("a name leads to %s", r.Locations[0].URL)
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		text   string
		reason string // of the first line; "" if all is handled
	}{
		{"RewriteRule ^a$ $1 [R]", "redirects"}, // nothing precedes: RewriteEngine is off
		{"Header set Access-Control-Allow-Origin *", ""},
		{"Header set X-Frame-Options DENY", "rules do not set fields"},
		{"<IfModule mod_rewrite.c>\nRewriteEngine on\nRewriteRule ^a$ https://h.example/ [L]\n</IfModule>", ""},
		{"<Files x>\nRewriteEngine on\n</Files>", "unsupported section"},
		{"Require ip 10.0.0.0/8", "rules do not restrict access"},
		{"Foo bar", "unsupported directive"},
		{"ErrorDocument 404 /404.html", "only the URL"},
		{"Redirect /w/a", "must have a path"},
		{"RedirectMatch 302 ^/w/(.*)$ $1", "depends on the request"},
		{"RewriteOptions inherit", "not inherited"},
		{"RewriteRule ^a$ /b [L]\nRewriteEngine on", "on the server without a redirect"},
		{"RewriteRule ^a$ https://h.example/ [R=302, L]\nRewriteEngine on", "Apache rejects the file"},
		{"RewriteRule ^a$ https://h.example/ [E=a:b]\nRewriteEngine on", "unsupported flag E=a:b"},
		{"RewriteRule ^a$ https://%{ENV:X}/ [R]\nRewriteEngine on", "unsupported variable %{ENV:X}"},
		{"SetEnvIf Request_URI ^.*$ X=h.example\nRewriteRule ^a$ https://%{ENV:X}/ [R]\nRewriteEngine on", ""},
		{"SetEnvIf Referer rdf X=h.example\nRewriteRule ^a$ https://%{ENV:X}/ [R]\nRewriteEngine on", "the variable X is not supported"},
		{"RewriteCond %{HTTP_COOKIE} x\nRewriteRule ^a$ https://h.example/ [R]\nRewriteEngine on", "unsupported variable"},
		{"RewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule ^a$ https://h.example/ [R]\nRewriteEngine on", ""},
		{"RewriteCond %{HTTP_ACCEPT} x", "no rule follows"},
		{"RewriteRule ^(?!a)b$ https://h.example/ [R]\nRewriteEngine on", "unsupported regular expression"},
		{"RewriteRule ^a https://h.example/ [R]\nRewriteRule ^(.*)$ https://h.example/?u=$1 [R,L]\nRewriteEngine on", "without the flag L"},
		{"RewriteRule ^a$ https://h.example/ [R]\nRewriteRule ^(.*)$ https://h.example/all [R,L]\nRewriteEngine on", ""},
		{"RewriteRule ^/a$ https://h.example/ [R,L]\nRewriteEngine on", ""}, // never matches
		{"RewriteEngine on\nRewriteRule ^([^/]+)/([^/.]+)$ https://h.example/ [L]\nRewriteRule ^(some-museums|b)/([^/]+)$ https://h.example/2 [L]", ""},
		{"RewriteEngine on\nRewriteRule ^a https://h.example/ [L]\nRewriteRule ^ab$ https://h.example/2 [L]", ""}, // the second is never reached
	} {
		c := convertFile(t, "w/.htaccess", tt.text)
		switch {
		case strings.HasPrefix(tt.text, "RewriteRule ^a$ $1"):
			if len(c.report.Refused) != 0 || len(c.set()) != 0 {
				t.Errorf("%q: got %+v, want no rule", tt.text, c.report)
			}
		case tt.reason == "" && len(c.report.Refused) > 0:
			t.Errorf("%q: %+v", tt.text, c.report.Refused)
		case tt.reason != "" && (len(c.report.Refused) == 0 || c.report.Refused[0].Line != 1 || !strings.Contains(c.report.Refused[0].Reason, tt.reason)):
			t.Errorf("%q: got %+v, want %s in line 1", tt.text, c.report.Refused, tt.reason)
		}
	}
}

// TestColumns checks that a message names the column of what is not understood.
func TestColumns(t *testing.T) {
	for _, tt := range []struct {
		text   string
		line   int
		column int
	}{
		{"  Foo bar", 1, 3},
		{"\ufeffFoo bar", 1, 4},
		{"RewriteRule ^a$ https://h.example/ [R=302,S=2]", 1, 43},
		{"RewriteRule ^a(.*$ https://h.example/ [R]", 1, 13},
		{"RewriteRule ^a$ \"other page.html\" [L]", 1, 18},
		{"RewriteRule ^a$ \\\n https://%{ENV:X}/ [R]", 1, 0},
		{"\tRewriteCond %{HTTP_COOKIE} x\nRewriteRule ^a$ https://h.example/ [R]", 1, 14},
		{"RewriteCond %{HTTP_ACCEPT} (?!x) [NC]\nRewriteRule ^a$ https://h.example/ [R]", 1, 28},
		{"RedirectMatch 302 ^/w/(.*)$ $1", 1, 29},
		{"Redirect 299 /w/a https://h.example/", 1, 10},
	} {
		c := convertFile(t, "w/.htaccess", tt.text+"\nRewriteEngine on\n")
		if len(c.report.Refused) == 0 || c.report.Refused[0].Line != tt.line || c.report.Refused[0].Column != tt.column {
			t.Errorf("%q: got %+v, want line %d, column %d", tt.text, c.report.Refused, tt.line, tt.column)
		}
	}
}

// Alternatives at the end of the conditions, of which the last has the flag OR, always hold.
func TestOrAtTheEnd(t *testing.T) {
	c := convertFile(t, "w/.htaccess", "RewriteEngine on\nRewriteCond %{HTTP_ACCEPT} !rdf\nRewriteCond %{HTTP_ACCEPT} html [OR]\nRewriteRule ^a$ https://h.example/ [L]\n")
	set, err := c.set().Check(c.prefix)
	if err != nil || len(c.report.Refused) > 0 {
		t.Fatal(err, c.report)
	}
	for accept, want := range map[string]bool{"html": true, "json": true, "rdf": false} {
		if _, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/a"), rule.Request{Accept: accept}); ok != want {
			t.Errorf("%s: got %v, want %v", accept, ok, want)
		}
	}
}

// TestReachable checks that no rule is left out that some request reaches.
func TestReachable(t *testing.T) {
	for _, tt := range []struct{ text, element, want string }{
		{"RewriteRule ^a$ https://1.example/ [L]\nRewriteRule ^a https://2.example/ [L]", "ab", "https://2.example/"},
		{"RewriteRule ^a$ https://1.example/ [L]\nRewriteRule a$ https://2.example/ [L]", "ba", "https://2.example/"},
		{"RewriteRule ^a https://1.example/ [L]\nRewriteRule a https://2.example/ [L]", "bab", "https://2.example/"},
		{"RewriteRule ^(\\w+)$ https://1.example/ [L]\nRewriteRule ^(.+)$ https://2.example/ [L]", "a-b", "https://2.example/"},
		{"RewriteRule ^([^/]+)$ https://1.example/ [L]\nRewriteRule ^(.+)$ https://2.example/ [L]", "a/b", "https://2.example/"},
		{"RewriteRule ^a$ https://1.example/ [L]\nRedirectMatch ^/w/a https://2.example/", "ab", "https://2.example/"},
		{"RewriteRule ^a$ https://1.example/ [L]\nRewriteCond %{REQUEST_URI} ^/w/a\nRewriteRule .* https://2.example/ [L]", "ab", "https://2.example/"},
	} {
		c := convertFile(t, "w/.htaccess", "RewriteEngine on\n"+tt.text+"\n")
		set, err := c.set().Check(c.prefix)
		if err != nil || len(c.report.Refused) > 0 {
			t.Fatal(err, c.report)
		}
		if r, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/"+tt.element), rule.Request{}); !ok || len(r.Locations) != 1 || r.Locations[0].URL != tt.want {
			t.Errorf("%q: %s: got %+v, want %s", tt.text, tt.element, r, tt.want)
		}
	}
}

// TestForms checks forms of directives that are rare.
func TestForms(t *testing.T) {
	const engine = "RewriteEngine on\n"
	for _, tt := range []struct {
		text, element string
		request       rule.Request
		want          string
	}{
		{"Redirect 301 /w/a/ https://h.example/b/", "a/x", rule.Request{}, "301 https://h.example/b/x"},
		{"Redirect 301 /w/a/ https://h.example/b/", "a", rule.Request{}, ""},
		{"RedirectMatch 302 (?i)^/w/A$ https://h.example/", "a", rule.Request{}, "302 https://h.example/"},
		{"RedirectMatch 302 ^/w/a$ https://h.example/a%20b%2520c?x%20y#f%20g", "a", rule.Request{}, "302 https://h.example/a%2520b%252520c?x%20y#f%20g"},
		{"Redirect 302 /w/a https://h.example/a%20b?x%20y", "a", rule.Request{}, "302 https://h.example/a%20b?x%20y"},
		{engine + "RewriteRule ^a$ - [R=404,L]\nErrorDocument 404 https://h.example/none", "a", rule.Request{}, "302 https://h.example/none"},
		{engine + "RewriteRule ^a$ - [R=406]\nErrorDocument 406 https://h.example/types", "a", rule.Request{}, "302 https://h.example/types"},
		{engine + "RewriteBase /w/x\nRewriteRule ^a$ ../b [R,L]", "a", rule.Request{}, "302 http://w3id.org/w/b"},
		{engine + "RewriteBase /\nRewriteRule ^a$ ../../b [R,L]", "a", rule.Request{}, "302 http://w3id.org/b"},
		{engine + "RewriteCond %{HTTPS} !=on\nRewriteRule ^a$ https://h.example/ [R,L]", "a", rule.Request{}, "302 https://h.example/"},
		{engine + "RewriteCond %{HTTP_HOST} ^www\\. [NC]\nRewriteRule ^a$ https://1.example/ [L]\nRewriteRule ^a$ https://2.example/ [L]", "a", rule.Request{}, "302 https://2.example/"},
		{engine + "RewriteCond %{QUERY_STRING} ^f=(.)$\nRewriteCond %{HTTP_ACCEPT} =html\nRewriteRule ^a$ https://h.example/%1? [L]", "a", rule.Request{Query: "f=x", Accept: "html"}, "302 https://h.example/x"},
		{engine + "RewriteCond %{QUERY_STRING} ^f=(.)$\nRewriteCond %{HTTP_ACCEPT} html\nRewriteRule ^a$ https://h.example/%1? [L]", "a", rule.Request{Query: "f=x", Accept: "html"}, "302 https://h.example/"},
		{engine + "<Files *.ttl>\nForceType text/turtle\n</Files>\n<Limit GET>\nOrder allow,deny\nAllow from all\n</Limit>\nRewriteRule ^a$ https://h.example/ [L]", "a", rule.Request{}, "302 https://h.example/"},
		{engine + "RewriteRule ^a$ https://h.example/?x#y [NE,QSA,L]", "a", rule.Request{Query: "b=1"}, "302 https://h.example/?x#y&b=1"},
	} {
		c := convertFile(t, "w/.htaccess", tt.text)
		set, err := c.set().Check(c.prefix)
		if err != nil || len(c.report.Refused) > 0 {
			t.Errorf("%q: %v, %+v", tt.text, err, c.report)
			continue
		}
		got := ""
		if r, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/"+tt.element), tt.request); ok && len(r.Locations) == 1 {
			got = fmt.Sprint(r.Status, " ", r.Locations[0].URL)
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestOrder checks that in a directory RewriteRule precedes Redirect, wherever they stand, as in Apache.
func TestOrder(t *testing.T) {
	c := convertFile(t, "w/.htaccess", "RedirectMatch 301 ^/w/a https://alias.example/\nRewriteEngine on\nRewriteRule ^a$ https://h.example/ [R=303,L]\n")
	set, err := c.set().Check(c.prefix)
	if err != nil || len(c.report.Refused) > 0 {
		t.Fatal(err, c.report)
	}
	for element, want := range map[string]int{"a": 303, "ab": 301} {
		if r, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/"+element), rule.Request{}); !ok || r.Status != want {
			t.Errorf("%s: got %+v, want %d", element, r, want)
		}
	}
	c = convertFile(t, "w/.htaccess", "RewriteEngine on\nRewriteRule ^a$ - [L]\nRedirect 301 /w/a https://alias.example/\n")
	if len(c.report.Refused) != 1 || c.report.Refused[0].Line != 2 || !strings.Contains(c.report.Refused[0].Reason, "the redirect in line 3") {
		t.Errorf("got %+v", c.report)
	}
}

// A rule without the flag L: the next one that matches its result decides.
func TestWithoutLast(t *testing.T) {
	c := convertFile(t, "w/.htaccess", "RewriteEngine on\nRewriteCond %{HTTP_ACCEPT} html\nRewriteRule ^(.+) https://h.example/html [R=303]\nRewriteCond %{HTTP_ACCEPT} rdf\nRewriteRule ^(.+) https://h.example/rdf [R=302,L]\n")
	set, err := c.set().Check(c.prefix)
	if err != nil || len(c.report.Refused) > 0 {
		t.Fatal(err, c.report)
	}
	for accept, want := range map[string]string{"html": "https://h.example/html", "rdf": "https://h.example/rdf", "html, rdf": "https://h.example/rdf"} {
		r, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/a"), rule.Request{Accept: accept})
		if !ok || len(r.Locations) != 1 || r.Locations[0].URL != want {
			t.Errorf("%s: got %+v, want %s", accept, r, want)
		}
	}
}

// TestW3id imports the files of w3id.org.
func TestW3id(t *testing.T) {
	files := w3id(t)
	full, handled := 0, int64(0)
	for file, text := range files {
		c := convertFile(t, file, text)
		if len(c.report.Refused) == 0 {
			full++
		}
		handled += c.report.Handled
		if lines := directivesIn(text); c.report.Directives != lines || c.report.Handled+int64(len(c.report.Refused)) != lines {
			t.Errorf("%s: %d of %d directives are accounted for", file, c.report.Directives, lines)
		}
		if set := c.set(); len(set) > 0 {
			if _, err := set.Check(c.prefix); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	t.Logf("%d of %d files are fully handled (%d directives)", full, len(files), handled)
	if len(files) > 1 && 10*full < 9*len(files) {
		t.Errorf("%d of %d files are fully handled, want 90%%", full, len(files))
	}
}

// directivesIn counts directives in another way than the importer.
func directivesIn(text string) (n int64) {
	text = strings.NewReplacer("\r\n", "\n", "\ufeff", "").Replace(text)
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", ""), "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			n++
		}
	}
	return n
}

func FuzzConvert(f *testing.F) {
	f.Add(cascade)
	f.Add("RewriteEngine on\nRewriteRule ^(a+)+$ https://h.example/$1%1%{REQUEST_URI} [R,NE,B]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		c := convertFile(t, "w/.htaccess", text)
		if set := c.set(); len(set) > 0 {
			if _, err := set.Check(c.prefix); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
