package discover

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/nomen-project/nomen/discover/dnstest"
	"github.com/nomen-project/nomen/name"
)

func zoneOf(prefix string) Zone {
	return Zone{Prefix: name.MustParsePrefix(prefix), Host: "Names.Example.org.", TTL: time.Hour}
}

// text returns the records of a zone as a file.
func text(t *testing.T, z Zone) string {
	t.Helper()
	records, err := z.Records()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range records {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}

func TestZoneRecords(t *testing.T) {
	const server = "names.example.org.\t3600\tIN\tNAPTR\t100 10 \"s\" \"thttp+I2L+I2Ls+I2C+I2Cs+I2N+I2Ns\" \"\" _thttp._tcp.names.example.org.\n" +
		"_thttp._tcp.names.example.org.\t3600\tIN\tSRV\t0 0 4500 names.example.org.\n"
	const needs = "; names.example.org. needs A or AAAA records, one for each address of the resolver\n"
	for prefix, want := range map[string]string{
		"urn:nbn:fi":                "nbn.urn.arpa.\t3600\tIN\tNAPTR\t100 10 \"\" \"\" \"!^urn:nbn:fi[-:].*$!names.example.org!i\" .\n" + server + needs,
		"urn:example":               "example.urn.arpa.\t3600\tIN\tNAPTR\t100 10 \"\" \"\" \"\" names.example.org.\n" + server + needs,
		"doi":                       "doi.uri.arpa.\t3600\tIN\tNAPTR\t100 10 \"\" \"\" \"\" names.example.org.\n" + server + needs,
		"ark:12345":                 "ark.uri.arpa.\t3600\tIN\tNAPTR\t100 10 \"\" \"\" \"!^ark:12345[/.].*$!names.example.org!i\" .\n" + server + needs,
		"doi:10.1000":               "doi.uri.arpa.\t3600\tIN\tNAPTR\t100 10 \"\" \"\" \"!^doi:10\\\\.1000[/].*$!names.example.org!i\" .\n" + server + needs,
		"urn:dns:example.org":       "; example.org. needs A or AAAA records, one for each address of names.example.org.\n",
		"urn:dns:names.example.org": needs,
	} {
		got := text(t, zoneOf(prefix))
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", prefix, got, want)
		}
		p := dns.NewZoneParser(strings.NewReader(got), "", "")
		count := 0
		for _, ok := p.Next(); ok; _, ok = p.Next() {
			count++
		}
		if err := p.Err(); err != nil || count != strings.Count(want, "\tIN\t") {
			t.Errorf("%s: %d records are read, %v", prefix, count, err)
		}
	}
	z := zoneOf("urn:dns:example.org")
	z.Addresses, z.Port = addrs("192.0.2.1", "2001:db8::1"), 4600
	if got, want := text(t, z), "example.org.\t3600\tIN\tA\t192.0.2.1\nexample.org.\t3600\tIN\tAAAA\t2001:db8::1\n; example.org. must also listen on port 4500, for clients that do not know port 4600\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for why, z := range map[string]Zone{
		"a long prefix": zoneOf("urn:example:" + strings.Repeat("a", 250)),
		"no host":       {Prefix: name.MustParsePrefix("doi")},
		"an address":    {Prefix: name.MustParsePrefix("doi"), Host: "192.0.2.1"},
	} {
		if got, err := z.Records(); err == nil {
			t.Errorf("%s: %v", why, got)
		}
	}
}

// TestZoneCheck checks that a zone with the printed records has no differences, and that its rules
// lead to the resolver.
func TestZoneCheck(t *testing.T) {
	for _, prefix := range []string{"urn:nbn:fi", "urn:example", "doi", "ark:12345", "doi:10.1000", "urn:ietf:rfc", "urn:dns:example.org", "hdl"} {
		z := zoneOf(prefix)
		z.Addresses = addrs("192.0.2.1", "2001:db8::1")
		_, r := startDNS(t, text(t, z)+"names.example.org. IN A 192.0.2.1\nnames.example.org. IN AAAA 2001:db8::1\n", nil)
		got, err := z.Check(t.Context(), r)
		if err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", prefix, got, err)
		}
		z.Addresses = nil
		if got, err := z.Check(t.Context(), r); err != nil || len(got) != 0 {
			t.Errorf("%s, addresses unknown: %v, %v", prefix, got, err)
		}
	}
}

func TestZoneCheckDifferences(t *testing.T) {
	z := zoneOf("urn:nbn:fi")
	z.Addresses = addrs("192.0.2.1")
	good := text(t, z)
	old := zoneOf("urn:dns:example.org")
	for _, tt := range []struct {
		why, zone string
		z         Zone
		want      []string
	}{
		{"nothing", "a.example. IN A 192.0.2.1", z, []string{"nbn.urn.arpa. NAPTR: missing", "names.example.org. NAPTR: missing", "_thttp._tcp.names.example.org. SRV: missing", "names.example.org. A: missing"}},
		{"another expression", strings.Replace(good, "nbn:fi[", "nbn:se[", 1), z, []string{"nbn.urn.arpa. NAPTR: missing"}},
		{"a rule for other names beside it", good + "nbn.urn.arpa. IN NAPTR 1 1 \"\" \"\" \"!^urn:nbn:se.*!se.example!\" .", z, nil},
		{"a rule that comes before it", good + "nbn.urn.arpa. IN NAPTR 1 1 \"a\" \"thttp\" \"\" se.example.", z, []string{"names.example.org. NAPTR: other rules lead"}},
		{"a broken rule that comes before it", good + "nbn.urn.arpa. IN NAPTR 1 1 \"\" \"\" \"\" se.example.", z, []string{"names.example.org. NAPTR: a name such as"}},
		{"another port", strings.Replace(good, " 4500 ", " 4600 ", 1), z, []string{"_thttp._tcp.names.example.org. SRV: missing", "_thttp._tcp.names.example.org. SRV: unexpected: found 0 0 4600"}},
		{"another address", strings.Replace(good, "192.0.2.1", "192.0.2.9", 1), z, []string{"names.example.org. A: missing: want 192.0.2.1", "names.example.org. A: unexpected: found 192.0.2.9"}},
		{"other services", strings.Replace(good, "+I2Ns", "", 1), z, []string{"names.example.org. NAPTR: missing", "names.example.org. NAPTR: unexpected"}},
		{"another order", strings.Replace(good, "100 10", "7 8", 2), z, nil},
		{"no host", "a.example. IN A 192.0.2.1", old, []string{"names.example.org. A: the host has no address"}},
		{"an address too few and one too many", "names.example.org. IN A 192.0.2.1\nexample.org. IN AAAA 2001:db8::1", old, []string{"example.org. A: missing", "example.org. AAAA: unexpected"}}, // Y95-23, Y95-24
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, r := startDNS(t, tt.zone, nil)
			got, err := tt.z.Check(t.Context(), r)
			if err != nil || len(got) != len(tt.want) {
				t.Fatalf("got %v, %v, want %q", got, err, tt.want)
			}
			for i, d := range got {
				if !strings.HasPrefix(d.String(), tt.want[i]) {
					t.Errorf("got %s, want %q", d, tt.want[i])
				}
			}
		})
	}
}

func TestZoneCheckFailure(t *testing.T) {
	_, r := startDNS(t, "a.example. IN A 192.0.2.1", always(dnstest.Fault{Rcode: 2}))
	for _, prefix := range []string{"urn:nbn:fi", "urn:dns:example.org"} {
		got, err := zoneOf(prefix).Check(t.Context(), r)
		var e *net.DNSError
		if !errors.As(err, &e) || e.IsNotFound || len(got) != 0 {
			t.Errorf("%s: %v, %v", prefix, got, err)
		}
	}
}

func TestInterleave(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"192.0.2.1 192.0.2.2 192.0.2.3 2001:db8::1", "192.0.2.1 2001:db8::1 192.0.2.2 192.0.2.3"},
		{"2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2", "2001:db8::1 192.0.2.1 2001:db8::2 192.0.2.2"},
		{"2001:db8::1", "2001:db8::1"},
	} {
		got, err := Addresses(t.Context(), zone{"ip h.": addrs(strings.Fields(tt.in)...)}, "h")
		if err != nil || !slices.Equal(got, addrs(strings.Fields(tt.want)...)) {
			t.Errorf("got %v, %v, want %s", got, err, tt.want)
		}
	}
	var in []string
	for i := range 40 {
		in = append(in, fmt.Sprintf("2001:db8::%x", i+1))
	}
	got, err := Addresses(t.Context(), zone{"ip h.": addrs(append(in, "192.0.2.1")...)}, "h")
	if err != nil || len(got) != maxAddresses || !got[1].Is4() {
		t.Errorf("the other family is lost: %v, %v", got, err)
	}
}
