package htaccess

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
)

// The directives that a .htaccess file may have, by module, as in the documentation of Apache httpd
// 2.4. Each is handled, or refused with a reason: after "!", the beginning of the reason.
var directives = map[string][]string{
	"core": {
		"AcceptPathInfo On", "AddDefaultCharset utf-8", "CGIMapExtension sys:/x .cgi", "CGIPassAuth On", "CGIVar REQUEST_URI original-uri",
		"ContentDigest On", "DefaultType none", "EnableMMAP Off", "EnableSendfile Off", "FileETag MTime", "ForceType text/turtle",
		"LimitRequestBody 0", "LimitXMLRequestBody 1000", "Options -MultiViews +FollowSymLinks", "RLimitCPU 9", "RLimitMEM 9", "RLimitNPROC 9",
		"ScriptInterpreterSource Script", "ServerSignature Off", "SetHandler default-handler", "SetInputFilter x", "SetOutputFilter x",
		"ErrorDocument 404 https://h.example/none", `ErrorDocument 404 "none" !only the URL`, "ErrorDocument 404 /none !only the URL", "ErrorDocument 500 https://h.example/ !unsupported status",
		"Require all granted", "Require all denied !rules do not restrict", "Require ip 10.0.0.0/8 !rules do not restrict",
		"<Files x>\nForceType text/html\n</Files>", "<FilesMatch x>\nForceType text/html\n</FilesMatch>", "<Limit GET>\nRequire all granted\n</Limit>", "<LimitExcept GET>\nRequire all denied\n</LimitExcept> !rules do not restrict",
		"<Files x>\nRedirect /w/x https://h.example/\n</Files> !unsupported section <files>",
		"<If true>\nForceType text/html\n</If> !unsupported section <if>", "<ElseIf true>\n</ElseIf> !unsupported section <elseif>", "<Else>\n</Else> !unsupported section <else>",
		"<IfDefine X>\n</IfDefine> !unsupported section <ifdefine>", "<IfDirective X>\n</IfDirective> !unsupported section <ifdirective>", "<IfFile x>\n</IfFile> !unsupported section <iffile>",
		"<IfSection x>\n</IfSection> !unsupported section <ifsection>", "<IfVersion >= 2.4>\n</IfVersion> !unsupported section <ifversion>",
		"<IfModule mod_rewrite.c>\nRedirect /w/x https://h.example/\n</IfModule>", "<IfModule !mod_rewrite.c>\nRedirect /w/x nonsense\n</IfModule>",
		"Include x.conf !unsupported directive", "Error text !unsupported directive", "QualifyRedirectURL On !unsupported directive", "AllowOverride None !unsupported directive",
	},
	"mod_rewrite": {
		"RewriteBase /w/", `RewriteBase "/w x/"`, "RewriteBase /w x/ !must have one path", "RewriteBase !must have one path", "RewriteBase x !must have one path",
		"RewriteEngine On", "RewriteEngine off", "RewriteEngine on off", "RewriteEngine yes !must be on or off", "RewriteEngine !must be on or off",
		"RewriteOptions Inherit !rules are not inherited", "RewriteOptions AllowNoSlash !rules are not inherited",
		"RewriteCond %{HTTP_ACCEPT} x !no rule follows", "RewriteRule ^a$ https://h.example/ [R,L]", "RewriteRule ^a$ !must have a pattern", "RewriteMap m txt:/x !unsupported directive",
		"RewriteRule ^a$ https://h.example/${m:$1} [R] !unsupported map", "RewriteRule ^a$ /b [R,L]", "RewriteRule ^a$ -", "RewriteRule ^a$ b !rewrites the path",
	},
	"mod_alias": {
		"Redirect /w/a https://h.example/", "Redirect 410 /w/a", "Redirect gone /w/a", "RedirectMatch 303 ^/w/(.*) https://h.example/$1", "RedirectMatch gone ^/w/a", "RedirectPermanent /w/a https://h.example/",
		"RedirectTemp /w/a https://h.example/", "Redirect 500 /w/a !unsupported status", "Redirect a https://h.example/ !unsupported status", "RedirectRelative On !unsupported directive",
		"Alias /a /b !unsupported directive", "AliasPreservePath On !unsupported directive",
	},
	"mod_headers": {
		"Header set Access-Control-Allow-Origin *", "Header always set Access-Control-Allow-Methods GET", "Header append Vary Accept", "Header set X-A b !rules do not set fields",
		"Header set Access-Control-Allow-Origin https://a.example !rules do not set fields", "Header set Access-Control-Allow-Credentials true !rules do not set fields",
		"Header unset ETag !rules do not set fields", "Header edit Location a b !rules do not set fields", "Header !must have an action", "RequestHeader set Accept x !unsupported directive",
	},
	"mod_mime": {
		"AddCharset utf-8 .x", "AddEncoding gzip .gz", "AddHandler x .y", "AddInputFilter x .y", "AddLanguage de .de", "AddOutputFilter x .y", "AddType text/turtle .ttl", "DefaultLanguage de",
		"ModMimeUsePathInfo On", "MultiviewsMatch Any", "RemoveCharset .x", "RemoveEncoding .x", "RemoveHandler .x", "RemoveInputFilter .x", "RemoveLanguage .x", "RemoveOutputFilter .x", "RemoveType .x",
	},
	"mod_negotiation": {"ForceLanguagePriority None", "LanguagePriority en de", "CacheNegotiatedDocs On !unsupported directive"},
	"mod_dir":         {"DirectoryIndex index.html", "DirectoryIndexRedirect On", "DirectorySlash Off", "DirectoryCheckHandler On", "FallbackResource /x !unsupported directive"},
	"mod_setenvif":    {"SetEnvIf Accept rdf F=rdf", "SetEnvIfNoCase Accept rdf F=rdf", "BrowserMatch curl c", "BrowserMatchNoCase curl c", "SetEnvIfExpr true c !unsupported directive"},
	"mod_env":         {"SetEnv A b", "UnsetEnv A", "PassEnv A"},
	"others": {
		"ExpiresActive On", "ExpiresByType text/html A1", "ExpiresDefault A1", "AddOutputFilterByType DEFLATE text/html", "IndexOptions FancyIndexing", "Order allow,deny", "Allow from all", "Satisfy any",
		"Deny from all !rules do not restrict", "Allow from 10.0.0.1 !rules do not restrict", "AuthType Basic !unsupported directive", "<RequireAll>\n</RequireAll> !unsupported section <requireall>",
		"CheckSpelling On !unsupported directive", "Action x /y !unsupported directive", "Substitute s/a/b/ !unsupported directive", "SSLRequireSSL !unsupported directive", "ProxyPass /a https://h.example/ !unsupported directive",
		"php_value a b", "XBitHack on", "NoSuchDirective !unsupported directive",
	},
}

// TestDirectives checks that no directive is dropped without a reason.
func TestDirectives(t *testing.T) {
	for module, all := range directives {
		for _, tt := range all {
			text, reason, refused := strings.Cut(tt, " !")
			if strings.HasPrefix(tt, "<IfModule !") {
				text, refused = tt, false
			}
			c := convertFile(t, "w/.htaccess", "RewriteEngine on\n"+text+"\n")
			switch {
			case !refused && len(c.report.Refused) > 0:
				t.Errorf("%s: %q: %+v", module, text, c.report.Refused)
			case refused && (len(c.report.Refused) == 0 || !strings.HasPrefix(c.report.Refused[0].Reason, reason)):
				t.Errorf("%s: %q: got %+v, want %s", module, text, c.report.Refused, reason)
			}
			if n := directivesIn(c.text); c.report.Handled+int64(len(c.report.Refused)) != n {
				t.Errorf("%s: %q: %d of %d directives are accounted for", module, text, c.report.Handled+int64(len(c.report.Refused)), n)
			}
		}
	}
}

// TestFlags checks each flag of RewriteRule and RewriteCond, with its long form.
func TestFlags(t *testing.T) {
	for flag, supported := range map[string]bool{
		"B": true, "B=/?": false, "BNP": false, "backrefnoplus": false, "BCTLS": false, "BNE": false, "C": false, "chain": false, "CO=a:b:c": false, "cookie=a:b:c": false,
		"DPI": true, "discardpath": true, "E=A:b": false, "env=A:b": false, "END": true, "F": true, "forbidden": true, "G": true, "gone": true,
		"H=x": false, "handler=x": false, "L": true, "last": true, "N": false, "N=2": false, "next": false, "NC": true, "nocase": true, "NE": true, "noescape": true,
		"NS": true, "nosubreq": true, "P": false, "proxy": false, "PT": true, "passthrough": true, "QSA": true, "qsappend": true, "QSD": true, "qsdiscard": true,
		"QSL": false, "qslast": false, "R": true, "R=301": true, "R=308": true, "R=permanent": true, "R=temp": true, "R=seeother": true, "R=404": true, "R=500": false, "R=999": false,
		"redirect=303": true, "S=1": false, "skip=1": false, "T=text/html": false, "type=text/html": false, "UnsafeAllow3F": false, "UnsafePrefixStat": false, "UNC": false, "XX": false,
	} {
		c := convertFile(t, "w/.htaccess", "RewriteEngine on\nRewriteRule ^(a)$ https://h.example/$1 ["+flag+"]\n")
		if got := len(c.report.Refused) == 0; got != supported || !got && !strings.HasPrefix(c.report.Refused[0].Reason, "unsupported ") {
			t.Errorf("[%s]: got %+v, want %v", flag, c.report.Refused, supported)
		}
	}
	for flag, supported := range map[string]bool{"NC": true, "nocase": true, "OR": true, "ornext": true, "NV": true, "novary": true, "XX": false} {
		c := convertFile(t, "w/.htaccess", "RewriteEngine on\nRewriteCond %{HTTP_ACCEPT} rdf ["+flag+"]\nRewriteRule ^a$ https://h.example/ [L]\n")
		if got := len(c.report.Refused) == 0; got != supported {
			t.Errorf("RewriteCond [%s]: got %+v, want %v", flag, c.report.Refused, supported)
		}
	}
	// What a refused rule decides about other rules is not forgotten.
	for text, refused := range map[string]int{
		"RewriteRule ^a - [C]\nRewriteRule ^b https://h.example/ [L]\nRewriteRule ^c https://h.example/ [L]":                                          2,
		"RewriteRule ^a - [C]\nRewriteRule ^b - [C]\nRewriteRule ^c https://h.example/ [L]\nRewriteRule ^d https://h.example/ [L]":                    3,
		"RewriteRule ^a - [S=2]\nRewriteRule ^b https://h.example/ [L]\nRewriteRule ^c https://h.example/ [L]\nRewriteRule ^d https://h.example/ [L]": 3,
		"RewriteRule ^a - [S=1]\nRewriteRule ^b - [C]\nRewriteRule ^c https://h.example/ [L]":                                                         3,
	} {
		if c := convertFile(t, "w/.htaccess", "RewriteEngine on\n"+text+"\n"); len(c.report.Refused) != refused {
			t.Errorf("%q: got %+v, want %d refused", text, c.report.Refused, refused)
		}
	}
}

// TestVariables checks the variables that conditions and targets can have, as in the documentation of
// mod_rewrite.
func TestVariables(t *testing.T) {
	const none = "RewriteEngine on\n"
	for variable, uses := range map[string]string{ // "c": in conditions, "t": in targets
		"HTTP_ACCEPT": "c", "HTTP_COOKIE": "", "HTTP_FORWARDED": "", "HTTP_HOST": "ct", "HTTP_PROXY_CONNECTION": "", "HTTP_REFERER": "", "HTTP_USER_AGENT": "c",
		"AUTH_TYPE": "", "CONN_REMOTE_ADDR": "", "CONTEXT_PREFIX": "", "CONTEXT_DOCUMENT_ROOT": "", "IPV6": "", "PATH_INFO": "", "QUERY_STRING": "ct", "REMOTE_ADDR": "", "REMOTE_HOST": "",
		"REMOTE_IDENT": "", "REMOTE_PORT": "", "REMOTE_USER": "", "REQUEST_METHOD": "c", "SCRIPT_FILENAME": "", "DOCUMENT_ROOT": "", "SCRIPT_GROUP": "", "SCRIPT_USER": "",
		"SERVER_ADDR": "", "SERVER_ADMIN": "", "SERVER_NAME": "ct", "SERVER_PORT": "", "SERVER_PROTOCOL": "", "SERVER_SOFTWARE": "", "TIME_YEAR": "", "TIME": "",
		"API_VERSION": "", "CONN_REMOTE_ADDR2": "", "HTTPS": "c", "IS_SUBREQ": "c", "REQUEST_FILENAME": "", "REQUEST_SCHEME": "ct", "REQUEST_URI": "ct", "THE_REQUEST": "",
		"ENV:A": "", "SSL:SSL_CIPHER": "", "HTTP:Accept": "c", "HTTP:Accept-Language": "c", "HTTP:X-Forwarded-Proto": "", "LA-U:REMOTE_USER": "", "LA-F:REMOTE_USER": "",
		"HTTP_ACCEPT_LANGUAGE": "c", // is always empty
	} {
		c := convertFile(t, "w/.htaccess", none+"RewriteCond %{"+variable+"} ^.\nRewriteRule ^a$ https://h.example/ [L]\n")
		if got := len(c.report.Refused) == 0; got != strings.Contains(uses, "c") {
			t.Errorf("%s in a condition: got %+v", variable, c.report.Refused)
		}
		c = convertFile(t, "w/.htaccess", none+"RewriteRule ^a$ https://h.example/%{"+variable+"} [L]\n")
		if got := len(c.report.Refused) == 0; got != strings.Contains(uses, "t") {
			t.Errorf("%s in a target: got %+v", variable, c.report.Refused)
		}
	}
	for _, test := range []string{"<a", ">a", "<=a", ">=a", "-eq 1", "-gt", "-lt", "-ne", "-x", "-h", "-L", "-U", "-F"} {
		c := convertFile(t, "w/.htaccess", none+"RewriteCond %{QUERY_STRING} "+test+"\nRewriteRule ^a$ https://h.example/ [L]\n")
		if len(c.report.Refused) != 2 {
			t.Errorf("test %s: got %+v", test, c.report.Refused)
		}
	}
	for _, text := range []string{"expr \"true\"", "$1 ^x", "%{HTTP_ACCEPT}%{QUERY_STRING} ^x", "abc ^x", "%1 ^x"} {
		c := convertFile(t, "w/.htaccess", none+"RewriteCond "+text+"\nRewriteRule ^(a)$ https://h.example/ [L]\n")
		if len(c.report.Refused) != 2 {
			t.Errorf("RewriteCond %s: got %+v", text, c.report.Refused)
		}
	}
}

// TestEnvironment checks rules that depend on variables of SetEnvIf: the last one that matches counts.
func TestEnvironment(t *testing.T) {
	const text = `RewriteEngine on
SetEnvIf Accept ^.+$ SYNTAX=other
SetEnvIf Accept rdf SYNTAX=rdf
SetEnvIfNoCase User-Agent ^mozilla SYNTAX=html
SetEnvIf Request_URI ^/w/(\d+)/(.*)$ VERSION=/v$1 ANCHOR=$2
SetEnvIf Request_URI ^ ROOT=https://h.example
SetEnvIf Request_URI ^/w/none !ROOT
RewriteCond %{ENV:SYNTAX} ^(rd)f$
RewriteRule ^ %{ENV:ROOT}%{env:VERSION}/%1.%{ENV:SYNTAX}#%{ENV:ANCHOR} [R=303,NE,L]
RewriteCond %{ENV:SYNTAX} =html
RewriteRule ^ %{ENV:ROOT}/index.html [R=303,L]
RewriteCond %{ENV:SYNTAX} .
RewriteRule ^ %{ENV:ROOT}/%{ENV:SYNTAX} [R=302,L]
RewriteCond %{ENV:REDIRECT_STATUS} ^$
RewriteRule ^ https://h.example/none [R=302,L]
`
	c := convertFile(t, "w/.htaccess", text)
	if len(c.report.Refused) > 0 {
		t.Fatalf("%+v", c.report.Refused)
	}
	checkAnswers(t, c, []answered{
		{"a", "application/rdf+xml", "curl", "303 https://h.example/rd.rdf#"},
		{"12/x", "application/rdf+xml", "curl", "303 https://h.example/v12/rd.rdf#x"},
		{"a", "application/rdf+xml", "Mozilla/5.0", "303 https://h.example/index.html"},
		{"a", "text/html", "MOZILLA", "303 https://h.example/index.html"},
		{"a", "text/html", "curl", "302 https://h.example/other"},
		{"a", "", "curl", "302 https://h.example/none"},
		{"none", "text/html", "curl", "302 http://w3id.org/other"},
	})
	for _, bad := range []string{
		"SetEnvIf Referer x A=b\nRewriteRule ^ https://h.example/%{ENV:A} [R,L]", "SetEnv A b\nRewriteRule ^ https://h.example/%{ENV:A} [R,L]",
		"SetEnvIf Accept (x) A=$0\nRewriteRule ^ https://h.example/%{ENV:A} [R,L]", "RewriteRule ^ - [E=A:b]\nRewriteRule ^ https://h.example/%{ENV:A} [R,L]",
		"SetEnvIf Accept (?=x) A=b\nRewriteRule ^ https://h.example/%{ENV:A} [R,L]", "RewriteRule ^ https://h.example/%{ENV:A} [R,L]",
		"SetEnvIf Request_URI (x) A=$1\nRewriteCond %{ENV:A} x\nRewriteRule ^ https://h.example/ [R,L]", strings.Repeat("SetEnvIf Accept x A=b\n", maxVariants+1) + "RewriteRule ^ https://h.example/%{ENV:A} [R,L]",
	} {
		if c := convertFile(t, "w/.htaccess", "RewriteEngine on\n"+bad+"\n"); len(c.report.Refused) == 0 {
			t.Errorf("%q is not refused", bad)
		}
	}
}

// TestVersions checks variables that depend on several tests of the path, as in pmd/log: rules for
// values that only some paths give are kept, and no rule is left out unless its values are impossible.
func TestVersions(t *testing.T) {
	const text = `RewriteEngine on
SetEnvIf Request_URI ^/w$ ROOT=https://h.example DOC=/dev
SetEnvIf Request_URI ^/w/(.*)$ ROOT=https://h.example DOC=/dev ANCHOR=$1
SetEnvIf Request_URI ^/w/(\d+\.\d+\.\d+)$ ROOT=https://h.example DOC=/$1
SetEnvIf Request_URI ^/w/(\d+\.\d+\.\d+)/(.*)$ ROOT=https://h.example DOC=/$1 ANCHOR=$2
RewriteRule ^docs($|/.*)$ https://h.example/docs [L]
RewriteCond %{HTTP_ACCEPT} html
RewriteRule ^(.*)$ %{ENV:ROOT}%{ENV:DOC}/index.html#%{ENV:ANCHOR} [R=303,L,NE]
RewriteCond %{HTTP_ACCEPT} .+
RewriteRule ^.*$ %{ENV:ROOT}%{ENV:DOC}/406.html [R=406,L]
RewriteRule ^(.*)$ %{ENV:ROOT}%{ENV:DOC}/all [R=303,L]
`
	c := convertFile(t, "w/.htaccess", text)
	if len(c.report.Refused) > 0 {
		t.Fatalf("%+v", c.report.Refused)
	}
	checkAnswers(t, c, []answered{
		{"", "text/html", "", "303 https://h.example/dev/index.html#"},
		{"x", "text/html", "", "303 https://h.example/dev/index.html#x"},
		{"0.00.00", "text/html", "", "303 https://h.example/0.00.00/index.html#0.00.00"},
		{"1.2.3/x", "text/html", "", "303 https://h.example/1.2.3/index.html#x"},
		{"1.2.3", "text/turtle", "", "406"},
		{"1.2.3", "", "", "303 https://h.example/1.2.3/all"},
		{"docs/1.2.3", "", "", "302 https://h.example/docs"},
	})
	// Only names with a dot reach the second rule, which is kept.
	c = convertFile(t, "w/.htaccess", "RewriteEngine on\nRewriteRule ^([^/]+)/([^/.]+)$ https://h.example/1 [L]\nRewriteRule ^(museums|b)/([^/]+)$ https://h.example/2 [L]\n")
	checkAnswers(t, c, []answered{{"museums/a.b", "", "", "302 https://h.example/2"}, {"museums/a", "", "", "302 https://h.example/1"}})
	// A path that is too long to be found could give the value b.
	const long = "RewriteEngine on\nSetEnvIf Request_URI (a.?){1000}y A=b\nRewriteRule ^ https://h.example/%{ENV:A} [R,L]\n"
	if c := convertFile(t, "w/.htaccess", long); len(c.report.Refused) == 0 {
		t.Error("a rule for which no test was found is left out")
	}
}

// TestAfterConstant checks a rule without the flag L whose result is the same for all requests: later
// rules apply to the URL.
func TestAfterConstant(t *testing.T) {
	c := convertFile(t, "w/.htaccess", `RewriteEngine on
RewriteRule ^$ https://h.example/home
RewriteRule ^a/b$ https://h.example/ab [R=303]
RewriteRule ^word$ https://h.example/word [R=303]
RewriteRule ^.{3}$ https://h.example/three [L]
RewriteRule ^([a-z]+)/?$ https://h.example/letters/$1 [L]
RewriteCond %{HTTP_ACCEPT} rdf
RewriteRule ^https://(.*)$ https://rdf.example/$1 [R=307,L]
RewriteCond %{HTTP_ACCEPT} keep
RewriteRule (.*) - [L]
RewriteRule (.+) https://all.example/?u=$1
`)
	if len(c.report.Refused) > 0 {
		t.Fatalf("%+v", c.report.Refused)
	}
	checkAnswers(t, c, []answered{
		{"a/b", "", "", "302 https://all.example/?u=https://h.example/ab/b"},
		{"a/b", "rdf", "", "307 https://rdf.example/h.example/ab/b"},
		{"a/b", "keep", "", "303 https://h.example/ab"},
		{"word", "", "", "302 https://all.example/?u=https://h.example/word"},
		{"abc", "", "", "302 https://h.example/three"},
		{"abcd", "", "", "302 https://h.example/letters/abcd"},
		{"A/BC", "", "", "302 https://all.example/?u=A/BC"},
	})
}

// answered is a request with what its rule answers.
type answered struct{ element, accept, agent, want string }

func checkAnswers(t *testing.T, c convertedFile, all []answered) {
	t.Helper()
	set, err := c.set().Check(c.prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range all {
		got := ""
		if r, ok, _ := set.Apply(name.MustParse("http://w3id.org/w/"+tt.element), rule.Request{Accept: tt.accept, UserAgent: tt.agent}); ok {
			got = fmt.Sprint(r.Status)
			for _, l := range r.Locations {
				got += " " + l.URL
			}
		}
		if got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}
