package uri

import (
	"net/netip"
	"slices"
	"testing"
)

var portRules = []SchemeRules{
	httpRules,
	{Scheme: "https", DefaultPort: "443", RootPath: true},
	{Scheme: "ftp", DefaultPort: "21"},
	{Scheme: "gopher", DefaultPort: "70"},
	{Scheme: "telnet", DefaultPort: "23"},
}

func codes(found []Finding) []FindingCode {
	var out []FindingCode
	for _, f := range found {
		out = append(out, f.Code)
	}
	return out
}

// U93-12 to U93-14, U97-33, U97-68 to U97-70, U03-23, U03-64 to U03-69.
func TestSecurityVectors(t *testing.T) {
	type vector struct {
		ID, Dialect, Input, Numeric, Host string
		HostKind                          string        `json:"host_kind"`
		Findings                          []FindingCode `json:"findings"`
		NotFindings                       []FindingCode `json:"not_findings"`
	}
	for _, v := range vectors[vector](t, "security.json", "vectors") {
		d, ok := dialectOf(v.Dialect)
		if !ok {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			u := mustReference(t, d, v.Input)
			found := u.Inspect(portRules...)
			for _, c := range v.Findings {
				if !slices.Contains(codes(found), c) {
					t.Errorf("%q: no finding %s in %s", v.Input, c, codes(found))
				}
			}
			for _, c := range v.NotFindings {
				if slices.Contains(codes(found), c) {
					t.Errorf("%q: finding %s", v.Input, c)
				}
			}
			host, _ := u.Host()
			if v.Host != "" && host != v.Host {
				t.Errorf("%q: host %q, want %q", v.Input, host, v.Host)
			}
			if v.Numeric != "" {
				got, ok := ParseNumericHost(host)
				if want := netip.MustParseAddr(v.Numeric); !ok || got != want {
					t.Errorf("ParseNumericHost(%q) = %v, want %v", host, got, want)
				}
			}
			if v.HostKind != "" && kindName(d, u.HostKind()) != v.HostKind {
				t.Errorf("%q: host kind %s, want %s", v.Input, kindName(d, u.HostKind()), v.HostKind)
			}
		})
	}
}

// Each finding, and its offset. U03-62 is the good practice of 2003, 6.3.
func TestInspect(t *testing.T) {
	tests := []struct {
		in   string
		code FindingCode
		off  int
	}{
		{"http://a b/", FindingInvalid, 8},
		{"http://a/%00", FindingNUL, 9},
		{"http://a/%0a", FindingCRLF, 9},
		{"http://a/%1B", FindingControl, 9},
		{"http://a/b%2fc", FindingDelimiter, 10},
		{"http://a/%2541", FindingDoubleEscape, 9},
		{"http://a/%E9", FindingCharset, 9},
		{"http://a/%C3%A9/%E9", FindingCharset, 16},
		{"http://a/b%41", FindingNeedlessEscape, 10},
		{"http://a/%3a", FindingLowerEscape, 9},
		{"HTTP://a/", FindingUpperScheme, 0},
		{"http://A/", FindingUpperHost, 7},
		{"http://a/b/../c", FindingDots, 11},
		{"/b/./c", FindingDots, 3},
		{"http://a/b/%2e%2E/c", FindingEscapedDots, 11},
		{"http:///x", FindingEmptyHost, 7},
		{"http://xn--bcher-kva.example/", FindingPunycode, 7},
		{"http://www.xn--pypal-4ve.example/", FindingMixedScript, 11},
		{"http://a.p%D0%B0ypal.example/", FindingMixedScript, 9},
		{"http://a:/", FindingNeedlessPort, 9},
		{"http://a:80/", FindingNeedlessPort, 9},
		{"http://a:99999/", FindingPortRange, 9},
		{"http://a:81/", FindingReservedPort, 9},
		{"http://a.b@c/", FindingUserinfoLook, 7},
		{"http://u:p@c/", FindingPassword, 9},
		{`http://a\@b/`, FindingBackslash, 8},
		{"http://a\t/", FindingStripped, 8},
		{" http://a/", FindingStripped, 0},
		{"http://a@b@c/", FindingAmbiguousAt, 7},
		{"http://" + longLabel + ".example/", FindingLongLabel, 7},
	}
	for _, tt := range tests {
		found := Latest.Inspect(tt.in, portRules...)
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == tt.code })
		if i < 0 || found[i].Offset != tt.off {
			t.Errorf("Inspect(%q) = %+v, want %s at %d", tt.in, found, tt.code, tt.off)
		}
	}
}

const longLabel = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// URIs without findings.
func TestInspectNothing(t *testing.T) {
	for _, s := range []string{
		"http://a.example/b/c?d=e#f", "urn:isbn:0451450523", "", "../x", "mailto:a@b.example",
		"file:///x", "file://localhost/x", "file://h/x", "ark:/12148/x", "http://10.0.0.1/", "http://[::1]/", "https://a.example/%C3%A9",
	} {
		if found := Latest.Inspect(s, portRules...); len(found) > 0 {
			t.Errorf("Inspect(%q) = %+v", s, found)
		}
	}
}

// Other readers see other hosts. The hosts of curl are those that version 7.88
// reported.
func TestReaders(t *testing.T) {
	const refused = "-"
	tests := []struct{ in, browser, netURL, curl string }{
		{"http://a.example/", "a.example", "a.example", "a.example"},
		{`http://a\@b.example/`, "a", refused, "b.example"},
		{"http://a@b@c.example/", "c.example", "c.example", refused},
		{"http:/x.example/", "x.example", "", "x.example"},
		{"http:///x.example/", "x.example", "", "x.example"},
		{"http:x.example", "x.example", "", refused},
		{"http:\\\\x.example/", "x.example", "", refused},
		{"http://0x7f.1/", "127.0.0.1", "0x7f.1", "127.0.0.1"},
		{"http://127.1/", "127.0.0.1", "127.1", "127.0.0.1"},
		{"http://1.2.3.256/", refused, "1.2.3.256", "1.2.3.256"},
		{"http://ex%61mple.example/", "example.example", refused, "example.example"},
		{"ht\ntp://a\t.example/", "a.example", refused, refused},
		{"http://[0:0::1]/", "::1", "::1", "::1"},
		{"foo://A.example/", "a.example", "a.example", refused},
		{"ark:/12148/x", "", "", refused},
		{"gopher://A.example/", "a.example", "a.example", "a.example"},
		{"file://localhost/x", "", "localhost", ""},
		{"file://h/x", "h", "h", refused},
		{"file:///x", "", "", ""},
		{"http://a.example:99999/", refused, "a.example", refused},
	}
	for _, tt := range tests {
		for r, want := range map[Reader]string{ReaderBrowser: tt.browser, ReaderNetURL: tt.netURL, ReaderCurl: tt.curl} {
			got, ok := r.Read(tt.in)
			if !ok {
				got.Host = refused
			}
			if got.Host != want {
				t.Errorf("%s.Read(%q) = %q, want %q", r, tt.in, got.Host, want)
			}
		}
	}
}

func TestReaderFindings(t *testing.T) {
	for in, want := range map[string]FindingCode{
		"http:///x.example/":     FindingReaderHost,
		"http:/x.example":        FindingReaderHost,
		"http:x.example":         FindingReaderHost,
		"http://127.1/":          FindingReaderHost,
		`http://a\@b.example/`:   FindingReaderHost,
		"http://a@b@c.example/":  FindingReaderHost,
		"h\nttp://a.example/":    FindingReaderHost,
		"http://a.example/[b]":   FindingReaderHost,
		"http://a%2Eb.example/x": "",
	} {
		got := slices.Contains(codes(Latest.Inspect(in)), FindingReaderHost)
		if got != (want != "") {
			t.Errorf("Inspect(%q): reader-host %v", in, got)
		}
	}
}

func TestParseNumericHost(t *testing.T) {
	for in, want := range map[string]string{
		"1.2.3.4": "1.2.3.4", "0": "0.0.0.0", "4294967295": "255.255.255.255", "0x": "", "08": "", "1.2.3.4.5": "",
		"4294967296": "", "1.256": "1.0.1.0", "1.16777216": "", "1.2.65536": "", "256.1": "", "": "", "1.": "", "a": "", "0xg": "",
	} {
		got, ok := ParseNumericHost(in)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("ParseNumericHost(%q) = %v, %v; want %q", in, got, ok, want)
		}
	}
}

func TestDecodePunycode(t *testing.T) {
	for in, want := range map[string]string{ // RFC 3492, 7.1 and common names
		"bcher-kva": "bücher", "mnchen-3ya": "münchen", "ihqwcrb4cv8a8dqg056pqjye": "他们为什么不说中文",
		"b1abfaaepdrnnbgefbadotcwatmq2g4l": "почемужеонинеговорятпорусски", "a-": "a",
	} {
		if got, ok := decodePunycode(in); !ok || string(got) != want {
			t.Errorf("decodePunycode(%q) = %q, %v; want %q", in, string(got), ok, want)
		}
	}
	for _, in := range []string{"9999999999999999", "kva!", "-\x80", "zzzzzzzzzzzzzzzzzzzz9"} {
		if got, ok := decodePunycode(in); ok {
			t.Errorf("decodePunycode(%q) = %q", in, string(got))
		}
	}
}

// Inspect accepts any input, and its offsets are within the text.
func FuzzInspect(f *testing.F) {
	for _, s := range []string{"http://a:b@c:80/%00?#", `http:\\a`, "http://xn--a-0/", "http://[::1", "http://0x7f.1/%2e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for d := Draft1993; d.IsValid(); d++ {
			for _, finding := range d.Inspect(s, portRules...) {
				if finding.Offset < 0 || finding.Offset > len(s) || finding.Message == "" {
					t.Errorf("%s: Inspect(%q): %+v", d, s, finding)
				}
			}
		}
	})
}
