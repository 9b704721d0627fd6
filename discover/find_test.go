package discover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/discover/dnstest"
	"github.com/nomen-project/nomen/name"
)

// rfcZone has the examples of RFC 2915, 3403 and 3404. If two documents have different records at
// the same name, the records of the earlier document have another name here.
const rfcZone = `
; RFC 3404, 5.1
foo.urn.arpa. IN NAPTR 100 10 "s" "foolink+I2L+I2C"   "" foolink.udp.example.com.
foo.urn.arpa. IN NAPTR 100 20 "s" "rcds+I2C"          "" rcds.udp.example.com.
foo.urn.arpa. IN NAPTR 100 30 "s" "thttp+I2L+I2C+I2R" "" thttp.tcp.example.com.
rcds.udp.example.com. IN SRV 0 0 1000 deffoo.example.com.
rcds.udp.example.com. IN SRV 0 0 1000 dbexample.com.au.
rcds.udp.example.com. IN SRV 0 0 1000 ukexample.com.uk.
thttp.tcp.example.com. IN SRV 0 0 8080 thttp.example.com.
; "an additional first step"
urn.uri.arpa. IN NAPTR 100 10 "" "" "!^urn:([^:]+):.*$!\\1.urn.arpa!i" .

; RFC 3403, 6.1
cid.urn.arpa. IN NAPTR 100 10 "" "" "!^urn:cid:.+@([^\\.]+\\.)(.*)$!\\2!i" .
example.com. IN NAPTR 100 50 "a" "z3950+N2L+N2C"    "" cidserver.example.com.
example.com. IN NAPTR 100 50 "a" "rcds+N2C"         "" cidserver.example.com.
example.com. IN NAPTR 100 50 "s" "http+N2L+N2C+N2R" "" www.example.com.
www.example.com. IN SRV 0 0 80 www.example.com.

; RFC 3404, 5.2
cid.uri.arpa. IN NAPTR 100 10 "" "" "!^cid:.+@([^\\.]+\\.)(.*)$!\\2!i" .

; RFC 2915, 7.1
gatech.edu. IN NAPTR 100 50 "s" "z3950+I2L+I2C"    "" _z3950._tcp.gatech.edu.
gatech.edu. IN NAPTR 100 50 "s" "rcds+I2C"         "" _rcds._udp.gatech.edu.
gatech.edu. IN NAPTR 100 50 "s" "http+I2L+I2C+I2R" "" _http._tcp.gatech.edu.
_z3950._tcp.gatech.edu. IN SRV 0 0 1000 z3950.gatech.edu.
_z3950._tcp.gatech.edu. IN SRV 0 0 1000 z3950.cc.gatech.edu.
_z3950._tcp.gatech.edu. IN SRV 0 0 1000 z3950.uga.edu.
_http._tcp.gatech.edu.  IN SRV 0 0 80   www.gatech.edu.
_rcds._udp.gatech.edu.  IN SRV 0 0 80   rcds.gatech.edu.

; RFC 2915, 7.2; RFC 3404, 5.3 misprints the expression
http.uri.arpa. IN NAPTR 100 90 "" "" "!http://([^/:]+)!\\1!i" .
www.foo.com. IN NAPTR 100 100 "s" "http+I2R" "" _http._tcp.foo.com.
www.foo.com. IN NAPTR 100 100 "s" "ftp+I2R"  "" _ftp._tcp.foo.com.
_http._tcp.foo.com. IN SRV 0 0 80 mirror1.foo.com.
_http._tcp.foo.com. IN SRV 1 0 80 mirror2.foo.com.
_ftp._tcp.foo.com.  IN SRV 0 0 21 ftp.foo.com.
`

// ways collects what a finder yields: the String of each way, and the kind of each error.
func ways(ctx context.Context, f *Finder, n string) []string {
	var all []string
	for w, err := range f.Find(ctx, name.MustParse(n)) {
		var dnsError *net.DNSError
		var ruleError *RuleError
		switch {
		case errors.As(err, &ruleError):
			all = append(all, "rules of "+ruleError.Key+": "+ruleError.Reason)
		case errors.As(err, &dnsError) && dnsError.IsNotFound:
			all = append(all, "not found")
		case errors.As(err, &dnsError):
			all = append(all, "DNS failure")
		case err != nil:
			all = append(all, err.Error())
		default:
			s := w.String()
			if len(w.Services) > 0 {
				s += " " + strings.Join(w.Services, " ")
			}
			all = append(all, s)
		}
	}
	return all
}

func newFinder(t *testing.T, o Options) *Finder {
	t.Helper()
	if o.Pick == nil {
		o.Pick = func(int) int { return 0 }
	}
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestExamplesOfTheRFCs(t *testing.T) {
	_, r := startDNS(t, rfcZone, nil)
	for _, tt := range []struct {
		why, name string
		protocols []string
		want      []string
	}{
		{"RFC 3404, 5.1, for who knows RCDS and not foolink", "urn:foo:002372413:annual-report-1997", []string{"rcds"}, []string{
			"rcds deffoo.example.com:1000 I2C", "rcds dbexample.com.au:1000 I2C", "rcds ukexample.com.uk:1000 I2C",
			"thttp http://thttp.example.com:8080/uri-res/ I2L I2C I2R", // offered as a last resort
		}},
		{"RFC 3404, 5.1, for who knows THTTP alone", "urn:foo:002372413:annual-report-1997", nil, []string{
			"thttp http://thttp.example.com:8080/uri-res/ I2L I2C I2R",
		}},
		{"RFC 3403, 6.1", "urn:cid:199606121851.1@bar.example.com", []string{"z3950", "rcds"}, []string{
			"z3950 cidserver.example.com:0 I2L I2C", "rcds cidserver.example.com:0 I2C",
			"thttp http://www.example.com/uri-res/ I2L I2C I2R",
		}},
		{"RFC 3404, 5.2: the same as a URI", "cid:199606121851.1@bar.example.com", nil, []string{
			"thttp http://www.example.com/uri-res/ I2L I2C I2R",
		}},
		{"RFC 2915, 7.1, for who prefers Z39.50", "urn:cid:39CB83F7.A8450130@fake.gatech.edu", []string{"z3950"}, []string{
			"z3950 z3950.gatech.edu:1000 I2L I2C", "z3950 z3950.cc.gatech.edu:1000 I2L I2C", "z3950 z3950.uga.edu:1000 I2L I2C",
			"thttp http://www.gatech.edu/uri-res/ I2L I2C I2R",
		}},
		{"RFC 2915, 7.2", "http://www.foo.com/software/latest-beta.exe", nil, []string{
			"thttp http://mirror1.foo.com/uri-res/ I2R", "thttp http://mirror2.foo.com/uri-res/ I2R",
		}},
		{"no rules", "urn:isbn:9789510184356", nil, nil},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := ways(t.Context(), newFinder(t, Options{Rules: r, Protocols: tt.protocols}), tt.name)
			if !slices.Equal(got, tt.want) {
				t.Errorf("N12-50: got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestUniformStart checks that the rule of urn.uri.arpa leads to the rules of the namespace (RFC
// 3404, 5.1).
func TestUniformStart(t *testing.T) {
	_, r := startDNS(t, rfcZone, nil)
	var got []string
	s := search{f: newFinder(t, Options{Rules: r}), aus: "urn:foo:002372413:annual-report-1997", yield: func(w Way) bool {
		got = append(got, w.String())
		return true
	}}
	err := s.run(t.Context(), "urn.uri.arpa", "scheme urn")
	if want := []string{"thttp http://thttp.example.com:8080/uri-res/"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestRules resolves the name urn:xx:a. Each zone has the rules of urn:xx at xx.urn.arpa, and the
// records to which they lead.
func TestRules(t *testing.T) {
	const srv = "_t.example. IN SRV 0 0 80 t.example.\n"
	for _, tt := range []struct{ why, zone, want string }{
		{"orders come before preferences", `
@ NAPTR 20 1 "a" "thttp" "" second.example.
@ NAPTR 10 9 "a" "thttp" "" first.example.`, "thttp http://first.example/uri-res/"},
		{"a higher order is not considered after a match", `
@ NAPTR 10 1 "a" "other" "" first.example.
@ NAPTR 20 1 "a" "thttp" "" second.example.`, ""},
		{"it is if nothing has matched", `
@ NAPTR 10 1 "a" "thttp" "!^urn:y!first.example!" .
@ NAPTR 20 1 "a" "thttp" "" second.example.`, "thttp http://second.example/uri-res/"},
		{"equal orders go by preference, and are alternatives", `
@ NAPTR 10 2 "a" "thttp" "" second.example.
@ NAPTR 10 1 "a" "thttp" "" first.example.`, "thttp http://first.example/uri-res/|thttp http://second.example/uri-res/"},
		{"unknown flags are passed over before the order counts", `
@ NAPTR 10 1 "x" "thttp" "" first.example.
@ NAPTR 20 1 "a" "thttp" "" second.example.`, "thttp http://second.example/uri-res/"},
		{"also beside known ones", `
@ NAPTR 10 1 "a7" "thttp" "" first.example.
@ NAPTR 20 1 "A" "thttp" "" second.example.`, "thttp http://second.example/uri-res/"},
		{"flags that exclude each other", `
@ NAPTR 10 1 "sa" "thttp" "" first.example.
@ NAPTR 20 1 "aA" "thttp" "" second.example.`, "thttp http://second.example/uri-res/"},
		{"an expression and a replacement are an error", `
@ NAPTR 10 1 "a" "thttp" "!.*!first.example!" first.example.
@ NAPTR 20 1 "a" "thttp" "" second.example.`, "thttp http://second.example/uri-res/"},
		{"neither leads nowhere", `
@ NAPTR 10 1 "a" "thttp" "" .
@ NAPTR 20 1 "a" "thttp" "" second.example.`, "thttp http://second.example/uri-res/"},
		{"a malformed expression does not match", `
@ NAPTR 10 1 "a" "thttp" "!(!first.example!" .
@ NAPTR 20 1 "a" "thttp" "" second.example.`, "thttp http://second.example/uri-res/"},
		{"a malformed service field matches but is of no use", `
@ NAPTR 10 1 "a" "+" "" first.example.
@ NAPTR 10 2 "a" "thttp" "" same.example.
@ NAPTR 20 1 "a" "thttp" "" second.example.`, "thttp http://same.example/uri-res/"},
		{"no protocol at the end", `
@ NAPTR 10 1 "a" "" "" first.example.
@ NAPTR 10 2 "a" "+I2L" "" first.example.`, ""},
		{"unknown services", `
@ NAPTR 10 1 "a" "thttp+teleport" "" first.example.
@ NAPTR 10 2 "a" "thttp+teleport+I2L" "" second.example.`, "thttp http://second.example/uri-res/ I2L"},
		{"services before the protocol", `@ NAPTR 10 1 "a" "I2L+I2C+thttp" "" first.example.`, "thttp http://first.example/uri-res/ I2L I2C"},
		{"no domain name results", `@ NAPTR 10 1 "a" "thttp" "!.*!a b!" .`, ""},
		{"a place", `@ NAPTR 10 1 "u" "" "!^urn:xx:(.*)$!https://x.example/\\1!" .`, "location https://x.example/a"},
		{"a place where a service has its result", `@ NAPTR 10 1 "U" "http+I2C" "!^urn:xx:(.*)$!https://x.example/\\1!" .`, "location https://x.example/a I2C"},
		{"a place of another scheme", `@ NAPTR 10 1 "u" "ftp+I2R" "!^urn:xx:(.*)$!ftp://x.example/\\1!" .`, "location ftp://x.example/a I2R"},
		{"a protocol that is not spoken", `@ NAPTR 10 1 "u" "rcds+I2R" "!^urn:xx:(.*)$!ftp://x.example/\\1!" .`, ""},
		{"no place", `@ NAPTR 10 1 "u" "" "!^urn:xx:(.*)$!\\1!" .`, ""},
		{"the rest is the protocol's", `@ NAPTR 10 1 "p" "thttp+I2L" "" host.example.`, "thttp http://host.example/uri-res/ I2L"},
		{"whose rules are not known", `@ NAPTR 10 1 "p" "wire+I2L" "" host.example.`, ""},
		{"servers in their order", `
@ NAPTR 10 1 "s" "thttp" "" _t.example.
_t.example. IN SRV 2 0 80 last.example.
_t.example. IN SRV 1 0 4500 First.example.
_t.example. IN SRV 1 0 0 odd.example.`, "thttp http://first.example:4500/uri-res/|thttp http://last.example/uri-res/"},
		{"a service that is not offered", `
@ NAPTR 10 1 "s" "thttp" "" _t.example.
@ NAPTR 10 2 "a" "thttp" "" other.example.
_t.example. IN SRV 0 0 0 .`, "thttp http://other.example/uri-res/"},
		{"no SRV records are a failure", `
@ NAPTR 10 1 "s" "thttp" "" _t.example.
@ NAPTR 10 2 "a" "thttp" "" other.example.`, "rules of _t.example: a rule refers to it, but it has no SRV records"},
		{"further rules", `
@ NAPTR 10 1 "" "" "" next.example.
@ NAPTR 10 2 "" "" "" after.example.
next.example.  IN NAPTR 1 1 "a" "thttp" "" one.example.
after.example. IN NAPTR 1 1 "a" "thttp" "" two.example.`, "thttp http://one.example/uri-res/|thttp http://two.example/uri-res/"},
		{"every rule is applied to the name", `
@ NAPTR 10 1 "" "" "!^urn:(xx):.*!\\1.example!" .
xx.example. IN NAPTR 1 1 "a" "thttp" "!^xx.example$!wrong.example!" .
xx.example. IN NAPTR 2 1 "s" "thttp" "!^urn:xx:a$!_t.example!" .
` + srv, "thttp http://t.example/uri-res/"},
		{"a rule that leads to nothing ends it", `
@ NAPTR 10 1 "" "" "" none.example.
@ NAPTR 10 2 "a" "thttp" "" other.example.`, "rules of xx.urn.arpa: they lead to none.example, which has none"},
		{"so does one to rules without use", `
@ NAPTR 10 1 "" "" "" next.example.
@ NAPTR 10 2 "a" "thttp" "" other.example.
next.example. IN NAPTR 1 1 "a" "rcds" "" one.example.`, "rules of next.example: none of them leads further"},
		{"but not one for a protocol that is not spoken", `
@ NAPTR 10 1 "" "rcds+I2C" "" none.example.
@ NAPTR 10 2 "a" "thttp" "" other.example.`, "thttp http://other.example/uri-res/"},
		{"a circle of one", `@ NAPTR 10 1 "" "" "" xx.urn.arpa.`, "rules of xx.urn.arpa: they form a loop back to xx.urn.arpa"},
		{"a circle of three", `
@ NAPTR 10 1 "" "" "" a.example.
a.example. IN NAPTR 1 1 "" "" "" b.example.
b.example. IN NAPTR 1 1 "" "" "" A.Example.`, "rules of b.example: they form a loop back to a.example"},
		{"no circle, but no end", endless(40), "rules of 16.example: more than 16 steps lead here"},
		{"the same way twice", `
@ NAPTR 10 1 "a" "thttp" "" one.example.
@ NAPTR 10 2 "a" "http" "" ONE.example.`, "thttp http://one.example/uri-res/"},
		{"expressions that would take for ever elsewhere", `
@ NAPTR 10 1 "a" "thttp" "!^(([a-z:]+)+)+$$!one.example!" .
@ NAPTR 20 1 "a" "thttp" "!^((((.{9}){9}){9}){9})!one.example!" .
@ NAPTR 30 1 "a" "thttp" "" last.example.`, "thttp http://one.example/uri-res/"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, r := startDNS(t, "$ORIGIN xx.urn.arpa.\n"+tt.zone, nil)
			got := strings.Join(ways(t.Context(), newFinder(t, Options{Rules: r}), "urn:xx:a"), "|")
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// endless returns rules each of which leads to another.
func endless(n int) string {
	var b strings.Builder
	b.WriteString("@ NAPTR 1 1 \"\" \"\" \"\" 1.example.\n")
	for i := range n {
		fmt.Fprintf(&b, "%d.example. IN NAPTR 1 1 \"\" \"\" \"\" %d.example.\n", i+1, i+2)
	}
	return b.String()
}

// TestFailureIsNoAnswer checks that a failure of DNS is an error, and does not mean that there are
// no rules. The finder still yields the ways of the later steps.
func TestFailureIsNoAnswer(t *testing.T) {
	for _, tt := range []struct {
		spoiled string
		rcode   int
		want    string
	}{
		{"xx.urn.arpa.", 2, "DNS failure|path https://fallback.example/"},
		{"xx.urn.arpa.", 3, "path https://fallback.example/"},
		{"_t.example.", 2, "DNS failure|path https://fallback.example/"},
		{"_t.example.", 3, "rules of _t.example: a rule refers to it, but it has no SRV records|path https://fallback.example/"},
	} {
		_, r := startDNS(t, "xx.urn.arpa. IN NAPTR 1 1 \"s\" \"thttp\" \"\" _t.example.\n_t.example. IN SRV 0 0 80 t.example.", func(q dnstest.Query) dnstest.Fault {
			if q.Name == tt.spoiled {
				return dnstest.Fault{Rcode: tt.rcode}
			}
			return dnstest.Fault{}
		})
		f := newFinder(t, Options{Rules: r, Default: "https://fallback.example/"})
		if got := strings.Join(ways(t.Context(), f, "urn:xx:a"), "|"); got != tt.want {
			t.Errorf("%s, error %d: got %q, want %q", tt.spoiled, tt.rcode, got, tt.want)
		}
	}
}

func TestFindIsLazy(t *testing.T) {
	s, r := startDNS(t, rfcZone, nil)
	f := newFinder(t, Options{
		Table: []Entry{{Prefix: "urn:foo", Target: "own.example"}},
		Rules: r, Public: []Entry{{Prefix: "urn:foo", Target: "https://public.example/"}},
	})
	for want, n := range []int{0, 2, 2} { // NAPTR and SRV
		count := 0
		for range f.Find(t.Context(), name.MustParse("urn:foo:1")) {
			if count++; count > want {
				break
			}
		}
		if got := len(s.Queries()); got != n {
			t.Errorf("after %d ways: %d queries, want %d", want+1, got, n)
		}
	}
}

func TestFindOrder(t *testing.T) {
	_, r := startDNS(t, rfcZone, nil)
	f := newFinder(t, Options{
		Table: []Entry{
			{Prefix: "urn:foo", Target: "short.example"},
			{Prefix: "urn:foo:1", Target: "one.example:80"},
			{Prefix: "urn:foo:1", Target: "https://two.example/uri-res/", Services: []string{"I2L"}},
			{Prefix: "urn:secret", Target: None},
			{Prefix: "urn:dns:own.example", Target: "[2001:db8::1]:4600"},
		},
		Port: 4501, Rules: r, Default: "192.0.2.1",
		Public: []Entry{{Prefix: "urn:foo", Target: "https://public.example/{name}"}, {Prefix: "doi", Target: "https://doi.example/{element}?n={name}"}},
	})
	const rules, last = "thttp http://thttp.example.com:8080/uri-res/ I2L I2C I2R", "authority 192.0.2.1:4501"
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"urn:foo:1:2", []string{"authority one.example:80", "thttp https://two.example/uri-res/ I2L", rules, "path https://public.example/{name}", last}},
		{"urn:foo:2", []string{"authority short.example:4501", rules, "path https://public.example/{name}", last}},
		{"urn:secret:x", nil},
		{"urn:dns:Own.example:x", []string{"authority [2001:db8::1]:4600", "authority own.example:4501", last}},
		{"urn:dns:sub.own.example:x", []string{"authority sub.own.example:4501", last}}, // Y95-11, Y95-19
		{"doi:10.1000/a?b", nil},
		{"doi:10.1000/A&b", []string{"location https://doi.example/10.1000/a&b?n=doi:10.1000/a%26b", last}},
		{"urn:bar:x", []string{last}},
	} {
		n, err := name.Parse(tt.name)
		if err != nil && tt.want == nil {
			continue // no name has a query
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := ways(t.Context(), f, n.Key()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q\nwant %q", tt.name, got, tt.want)
		}
	}
	if got := ways(t.Context(), newFinder(t, Options{}), "urn:dns:names.example.org:x"); !slices.Equal(got, []string{"authority names.example.org:4500"}) { // Y95-29
		t.Errorf("without options: %q", got)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if got := ways(cancelled, f, "urn:foo:2"); !slices.Equal(got, []string{"context canceled"}) {
		t.Errorf("cancelled: %q", got)
	}
}

// TestExpiredRules checks that rules that have expired while the caller tried a way are no longer
// used (RFC 3402, 3.3, note 2; RFC 3403, 3).
func TestExpiredRules(t *testing.T) {
	zone := func(host string) string {
		return `xx.urn.arpa. 60 IN NAPTR 1 1 "a" "thttp" "" one.example.` + "\n" + `xx.urn.arpa. 60 IN NAPTR 1 2 "a" "thttp" "" ` + host
	}
	s, err := dnstest.Start(zone("old.example."), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	r := resolverOf(t, ResolverOptions{Servers: []string{s.Addr}, Now: clock})
	f := newFinder(t, Options{Rules: r, Now: clock})
	var got []string
	for w, err := range f.Find(t.Context(), name.MustParse("urn:xx:a")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, w.Host)
		if len(got) == 1 {
			now = now.Add(61 * time.Second)
			if err := s.Serve(zone("new.example.")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := []string{"one.example", "new.example"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	now = now.Add(time.Hour)
	count := 0
	for _, err := range f.Find(t.Context(), name.MustParse("urn:xx:a")) {
		now = now.Add(61 * time.Second) // always too slow
		if count++; err != nil {
			break
		}
	}
	if count > 3 {
		t.Errorf("%d ways", count)
	}
}

func TestSortSRV(t *testing.T) {
	records := []SRV{{2, 0, 1, "c", 0}, {1, 3, 1, "b3", 0}, {1, 0, 1, "b0", 0}, {0, 0, 1, "a", 0}, {1, 1, 1, "b1", 0}}
	order := func(pick func(int) int) string {
		var s []string
		for _, r := range sortSRV(records, pick) {
			s = append(s, r.Target)
		}
		return strings.Join(s, " ")
	}
	for drawn, want := range []string{"a b0 b1 b3 c", "a b1 b0 b3 c", "a b3 b0 b1 c", "a b3 b0 b1 c", "a b3 b0 b1 c"} {
		first := true
		if got := order(func(n int) int {
			if n == 5 && first { // of weights 0, 1 and 3
				first = false
				return drawn
			}
			return 0
		}); got != want {
			t.Errorf("drawn %d: got %q, want %q", drawn, got, want)
		}
	}
	if records[0].Target != "c" {
		t.Error("the argument was changed")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{
		{Default: "ftp://x.example/"},
		{Default: "https://x.example/{element}"},
		{Default: None},
		{Table: []Entry{{Prefix: "urn", Target: "x.example"}}},
		{Public: []Entry{{Prefix: "urn:xx", Target: ""}}},
	} {
		_, err := New(o)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%+v: got %v", o, err)
		}
	}
}

// If there are more rules or servers than the limit, the first by order or priority are tried,
// wherever they are in the DNS response.
func TestFindCutsBehindTheOrder(t *testing.T) {
	var zone strings.Builder
	for i := range 2 * maxRules {
		fmt.Fprintf(&zone, "many.urn.arpa. IN NAPTR %d 1 \"s\" \"thttp+I2L\" \"\" h%d.example.org.\n", 1000-i, 1000-i)
		fmt.Fprintf(&zone, "h%d.example.org. IN SRV %d 0 80 s%d.example.org.\n", 1001-2*maxRules, 1000-i, 1000-i)
	}
	_, r := startDNS(t, zone.String(), nil)
	f := newFinder(t, Options{Rules: r})
	got := ways(t.Context(), f, "urn:many:x")
	first := fmt.Sprintf("thttp http://s%d.example.org/uri-res/ I2L", 1001-2*maxRules)
	if len(got) != maxRules || got[0] != first {
		t.Errorf("%d ways, the first of them %q; want %d and %q", len(got), got[:min(1, len(got))], maxRules, first)
	}
}
