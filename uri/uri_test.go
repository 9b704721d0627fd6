package uri

import "testing"

func TestResolveKeepsComponents(t *testing.T) {
	tests := []struct{ base, ref, want string }{
		{"foo:/b", "foo:/a/..//b", "foo:/.//b"},
		{"foo:/a/b", "..//c", "foo:/.//c"},
		{"foo:a", "..//c", "foo:/c"},
		{"foo:a/b", "../../c", "foo:/c"},
		{"http://a/b?q", "", "http://a/b?q"},
		{"http://a/b?q#f", "#", "http://a/b?q#"},
		{"http://a/b/c", "/.", "http://a/"},
		{"http://a/b/c", "/..", "http://a/"},
		{"http://a/b/c//d", "../..", "http://a/b/"},
	}
	for _, tt := range tests {
		ref, err := ParseReference(tt.ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := MustParse(tt.base).Resolve(ref)
		if err != nil || got.String() != tt.want {
			t.Errorf("Resolve(%q, %q) = %q, %v; want %q", tt.base, tt.ref, got, err, tt.want)
		}
	}
}

func TestInvalid(t *testing.T) {
	tests := []struct {
		in   string
		off  int
		rule string
	}{
		{"http://a/b c", 10, "pchar"},
		{"http://a/%zz", 9, "pct-encoded"},
		{"http://a/é", 9, "pchar"},
		{"http://[::1", 7, "IP-literal"},
		{"http://[::1]x", 12, "authority"},
		{"http://h:8o/", 10, "port"},
		{"http://u@v@h/", 10, "reg-name"},
		{"http://h\\@i/", 8, "userinfo"},
		{"http://a?[", 9, "query"},
		{"#a#b", 2, "fragment"},
		{"1a:b", 2, "segment-nz-nc"},
		{"a_b:c", 3, "segment-nz-nc"},
		{":b", 0, "segment-nz-nc"},
	}
	for _, tt := range tests {
		_, err := ParseReference(tt.in)
		e, _ := err.(*Error)
		if e == nil || e.Offset != tt.off || e.Rule != tt.rule {
			t.Errorf("ParseReference(%q): %v; want offset %d, rule %s", tt.in, err, tt.off, tt.rule)
		}
	}
}

func TestComponents(t *testing.T) {
	tests := []struct {
		in, scheme, user, host, port, path, query, frag string
		kind                                            HostKind
	}{
		{"http://u:p@h:80/p?q#f", "http", "u:p", "h", "80", "/p", "q", "f", HostName},
		{"http://@h:/?#", "http", "", "h", "", "/", "", "", HostName},
		{"file:///x", "file", "-", "", "-", "/x", "-", "-", HostName},
		{"http://[::1]:8", "http", "-", "[::1]", "8", "", "-", "-", HostIPv6},
		{"http://[v1.x:y]", "http", "-", "[v1.x:y]", "-", "", "-", "-", HostIPvFuture},
		{"http://1.2.3.4?q", "http", "-", "1.2.3.4", "-", "", "q", "-", HostIPv4},
		{"http://1.2.3.400:1#", "http", "-", "1.2.3.400", "1", "", "-", "", HostName},
		{"//a%20b/", "-", "-", "a%20b", "-", "/", "-", "-", HostName},
		{"urn:a:b?+c#d", "urn", "-", "-", "-", "a:b", "+c", "d", HostNone},
		{"", "-", "-", "-", "-", "", "-", "-", HostNone},
	}
	def := func(s string, ok bool) string {
		if !ok {
			return "-"
		}
		return s
	}
	for _, tt := range tests {
		u, err := ParseReference(tt.in)
		if err != nil {
			t.Error(err)
			continue
		}
		got := []string{def(u.Scheme()), def(u.Userinfo()), def(u.Host()), def(u.Port()), u.Path(), def(u.Query()), def(u.Fragment())}
		want := []string{tt.scheme, tt.user, tt.host, tt.port, tt.path, tt.query, tt.frag}
		for i := range got {
			if got[i] != want[i] || u.HostKind() != tt.kind {
				t.Errorf("%q: got %q %v, want %q %v", tt.in, got, u.HostKind(), want, tt.kind)
				break
			}
		}
	}
}
