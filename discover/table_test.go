package discover

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/name"
)

func TestParseEntry(t *testing.T) {
	for _, tt := range []struct{ line, name, want string }{
		{"urn:nbn:fi https://urn.fi/{name}", "urn:nbn:fi-fe1", "path https://urn.fi/{name}"},
		{"  URN:NBN:FI\thttps://urn.fi/ \r", "urn:nbn:fi:x-fe1", "path https://urn.fi/"},
		{"urn:xx names.Example.org", "urn:xx:a", "authority names.example.org:4500"},
		{"urn:xx names.example.org.:80", "urn:xx:a", "authority names.example.org:80"},
		{"urn:xx 192.0.2.1", "urn:xx:a", "authority 192.0.2.1:4500"},
		{"urn:xx 2001:db8::1", "urn:xx:a", "authority [2001:db8::1]:4500"},
		{"urn:xx [2001:db8::1]:80", "urn:xx:a", "authority [2001:db8::1]:80"},
		{"urn:xx [2001:db8::1]", "urn:xx:a", "authority [2001:db8::1]:4500"},
		{"urn:xx http://h.example/uri-res/ services=I2L,n2c", "urn:xx:a", "thttp http://h.example/uri-res/"},
		{"urn:xx https://h.example:8443/a/URI-RES/", "urn:xx:a", "thttp https://h.example:8443/a/URI-RES/"},
		{"urn:xx https://h.example/r?u={name}", "urn:xx:a", "path https://h.example/r?u={name}"},
		{"urn:xx https://h.example/{element}.html", "urn:xx:a:b", "location https://h.example/a:b.html"},
		{"ark https://n2t.example/{name}", "ark:/12345/x", "path https://n2t.example/{name}"},
		{"urn:ietf:rfc https://h.example/?n={element}&x={name}", "urn:ietf:rfc:2648", "location https://h.example/?n=2648&x=urn:ietf:rfc:2648"},
		{"urn:dns:example.org names.example.org:80/full", "urn:dns:EXAMPLE.org:x", "authority names.example.org:80/full"},
		{"urn:ietf names.example.org/element", "urn:ietf:rfc:1", "authority names.example.org:4500/element"},
		{"urn:dns:example.org names.example.org:80", "urn:dns:EXAMPLE.org:x", "authority names.example.org:80"},
	} {
		e, err := ParseEntry(tt.line)
		if err != nil {
			t.Error(err)
			continue
		}
		f := newFinder(t, Options{Table: []Entry{e}})
		if got := ways(t.Context(), f, tt.name); len(got) == 0 || strings.TrimSuffix(got[0], " I2L I2C") != tt.want {
			t.Errorf("%q for %s: got %q, want %q", tt.line, tt.name, got, tt.want)
		}
		again, err := ParseEntry(e.String())
		if err != nil || again.Prefix != e.Prefix || again.Target != e.Target || !slices.Equal(again.Services, e.Services) {
			t.Errorf("%q is written %q and read %+v, %v", tt.line, e, again, err)
		}
	}
}

func TestParseEntryRefusals(t *testing.T) {
	for _, tt := range []struct {
		line   string
		offset int
		rule   string
	}{
		{"", 0, "prefix"},
		{"urn:xx", 0, "target"},
		{"urn host.example", 3, "assigned-name"},
		{"urn:xx a..b", 7, "target"},
		{"urn:xx host.example:0", 20, "target"},
		{"urn:xx host.example:99999", 20, "target"},
		{"urn:xx host.example/path", 7, "target"},
		{"urn:xx ftp://h.example/", 7, "target"},
		{"urn:xx https:///x", 7, "target"},
		{"urn:xx https://user:secret@h.example/", 7, "target"},
		{"urn:xx https://h.example/#f", 7, "target"},
		{"urn:xx https://{name}.example/", 7, "target"}, // the host is not part of a name
		{"urn:xx https://{element}/", 7, "target"},
		{"urn:xx https://h.example/{nss}", 25, "target"},
		{"urn:xx https://h.example/{name", 25, "target"},
		{"urn:xx https://h.example/?a=b", 25, "target"},
		{"urn:xx https://h.example/<", 7, "target"},
		{"urn:xx h.example I2L", 17, "entry"},
		{"urn:xx h.example services=", 17, "services"},
		{"urn:xx h.example services=I2L,I3L", 17, "services"},
		{"urn:xx h.example services=I2L more", 30, "entry"},
		{"urn:xx https://h.example/" + strings.Repeat("a", maxTarget), 7 + maxTarget, "target"},
	} {
		_, err := ParseEntry(tt.line)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.offset || e.Rule != tt.rule || e.Input != tt.line {
			t.Errorf("ParseEntry(%.60q): got %v, want offset %d, rule %s", tt.line, err, tt.offset, tt.rule)
		}
	}
}

func TestParseTable(t *testing.T) {
	entries, err := ParseTable("# comment\n\nurn:xx h.example\r\nurn:yy\n  # more\nurn:zz a..b\nurn:zz h.example:80 services=I2L\n")
	if len(entries) != 2 || entries[0].Prefix != "urn:xx" || entries[1].Target != "h.example:80" {
		t.Errorf("entries %+v", entries)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "line 4, offset 0: target: missing") || !strings.Contains(lines[1], "line 6, offset 7: target: ") {
		t.Errorf("errors %q", lines)
	}
}

// TestPublic checks that the built-in table agrees with what the operators of the resolvers
// document.
func TestPublic(t *testing.T) {
	f := newFinder(t, Options{Public: Public()})
	for n, want := range map[string]string{
		"urn:nbn:de:101:1-201102033592":  "path https://nbn-resolving.org/{name}",
		"urn:nbn:fi-fe19991055":          "path https://urn.fi/{name}",
		"urn:nbn:se:uu:diva-3475":        "path https://urn.kb.se/resolve?urn={name}",
		"urn:nbn:hu-4317":                "path https://nbn.urn.hu/N2L?{name}",
		"doi:10.17487/RFC2648":           "location https://doi.org/10.17487/rfc2648",
		"urn:doi:10.1000/182":            "path https://doi.org/{name}",
		"hdl:4263537/4000":               "location https://hdl.handle.net/4263537/4000",
		"ark:/53355/cl010066723":         "path https://n2t.net/{name}",
		"urn:ietf:rfc:2648":              "location https://www.rfc-editor.org/info/rfc2648",
		"urn:issn:0317-8471":             "location https://portal.issn.org/resource/ISSN/0317-8471",
		"urn:nir:stato:legge:1990-08-07": "thttp https://www.normattiva.it/uri-res/ I2Ls",
		"info:doi/10.1000/182":           "location https://doi.org/10.1000/182",
	} {
		if got := ways(t.Context(), f, n); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", n, got, want)
		}
	}
	if got := ways(t.Context(), f, "urn:nbn:xx-1"); got != nil {
		t.Errorf("an unknown country: %q", got)
	}
}

func FuzzParseTable(f *testing.F) {
	for _, s := range []string{
		"urn:nbn:fi https://urn.fi/{name}\n", "# c\nurn:xx h.example:80 services=I2L,I2C", "doi https://h.example/{element}?{name}",
		"urn:xx [::1]:80", "urn:xx -", "urn:xx https://h.example/uri-res/", "urn:xx http://{name}/",
	} {
		f.Add(s, "urn:xx:a")
	}
	f.Fuzz(func(t *testing.T, text, asked string) {
		entries, err := ParseTable(text)
		if err == nil {
			for _, e := range entries {
				again, err := ParseEntry(e.String())
				if err != nil || again.String() != e.String() {
					t.Fatalf("%q is read %+v, %v", e, again, err)
				}
			}
		}
		finder, err := New(Options{Table: entries})
		if err != nil {
			t.Fatalf("entries of %q: %v", text, err)
		}
		n, err := name.Parse(asked)
		if err != nil {
			return
		}
		for w, err := range finder.Find(t.Context(), n) {
			if err != nil || w.Kind == "" || w.URL == "" && w.Host == "" || strings.ContainsAny(w.URL, " \r\n\t\"<>") {
				t.Fatalf("%q for %q: %+v, %v", text, asked, w, err)
			}
		}
	})
}
