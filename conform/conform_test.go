package conform_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/conform"
)

// options returns the options of a run on the test server.
func (s *little) options() conform.Options {
	return conform.Options{
		Target: testHost, Profiles: slices.DeleteFunc(conform.Profiles(), func(p conform.Profile) bool { return p == conform.ARK }), Authority: testAuthority,
		Names:   []string{testAuthority + ":" + known1, known2},
		Retired: testAuthority + ":" + goneName, Moved: oldName,
		TimeGate: testBase + "/timegate/",
		Timeout:  time.Minute, Dial: s.dial,
	}
}

// try runs the cases and returns the results by ID.
func try(t *testing.T, o conform.Options) map[string]conform.Result {
	t.Helper()
	results := map[string]conform.Result{}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))) // later than all dates that the server sends
		if _, err := conform.Run(t.Context(), o, func(r conform.Result) { results[r.ID] = r }); err != nil {
			t.Fatal(err)
		}
	})
	return results
}

// ended returns the IDs of the cases with the given verdict.
func ended(results map[string]conform.Result, v conform.Verdict) []string {
	var ids []string
	for id, r := range results {
		if r.Verdict == v {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// A server that supports everything passes every case except the one about
// gateways.
func TestRightServer(t *testing.T) {
	results := try(t, (&little{}).options())
	arks := len(try(t, (&little{}).arkOptions()))
	if got, want := len(results)+arks, len(conform.Cases()); got != want {
		t.Errorf("%d results, want %d", got, want)
	}
	if got := ended(results, conform.Fail); len(got) > 0 {
		t.Errorf("failed: %q, %s", got, results[got[0]].Detail)
	}
	if got, want := ended(results, conform.NotApplicable), []string{"Y95-64/follow"}; !slices.Equal(got, want) {
		t.Errorf("not applicable: %q, want %q", got, want)
	}
}

// A gateway, which accepts only whole URNs, fails no case.
func TestGateway(t *testing.T) {
	results := try(t, (&little{gateway: true}).options())
	if got := ended(results, conform.Fail); len(got) > 0 {
		t.Errorf("failed: %q, %s", got, results[got[0]].Detail)
	}
	na := ended(results, conform.NotApplicable)
	if want := []string{"RFC9110-15.4.2/301", "Y95-30/bare", "Y95-37/host", "Y95-42/where", "Y95-43/urn"}; !slices.Equal(na, want) {
		t.Errorf("not applicable: %q, want %q", na, want)
	}
}

// A server that violates a case fails that case, and only that one.
func TestEachCaseFailsAlone(t *testing.T) {
	for _, c := range conform.Cases() {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			s := &little{breaks: c.ID, gateway: c.ID == "Y95-64/follow"}
			o := s.options()
			if c.Profile == conform.ARK {
				o = s.arkOptions()
			}
			results := try(t, o)
			if got, want := ended(results, conform.Fail), []string{c.ID}; !slices.Equal(got, want) {
				for _, id := range got {
					t.Logf("%s: %s", id, results[id].Detail)
				}
				t.Errorf("failed: %q, want %q (%s)", got, want, results[c.ID].Detail)
			}
		})
	}
}

// Identifiers are unique, and each case is described.
func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conform.Cases() {
		if seen[c.ID] {
			t.Errorf("duplicate ID %s", c.ID)
		}
		seen[c.ID] = true
		if !strings.HasSuffix(c.Words, ".") || c.Source == "" || !slices.Contains([]conform.Force{conform.Must, conform.Should, conform.May}, c.Force) {
			t.Errorf("incomplete: %+v", c)
		}
	}
}

// Without --name, names come from urn+a, and their authority from the target.
func TestFindsNames(t *testing.T) {
	s := &little{}
	o := conform.Options{Target: testHost, Profiles: []conform.Profile{conform.Yaurn}, Timeout: time.Minute, Dial: s.dial}
	subject, err := conform.Run(t.Context(), o, func(conform.Result) {})
	if err != nil || subject.Authority != testAuthority || !slices.Equal(subject.Elements, []string{known1, known2}) || subject.Form != "bare" {
		t.Errorf("got %+v, %v", subject, err)
	}
	s.breaks = "Y95-56/urn+a"
	if _, err := conform.Run(t.Context(), o, func(conform.Result) {}); !errors.Is(err, conform.ErrNoNames) {
		t.Errorf("without a list: got %v, want ErrNoNames", err)
	}
}

// Without --profile, what the server does not support is not applicable; with
// it, the first case fails.
func TestProfileNotOffered(t *testing.T) {
	s := &little{breaks: "RFC2169-2/service"}
	o := s.options()
	o.Profiles = nil
	results := try(t, o)
	if got := ended(results, conform.Fail); len(got) > 0 {
		t.Errorf("failed: %q", got)
	}
	if r := results["RFC2169-2/service"]; r.Verdict != conform.NotApplicable || !strings.Contains(r.Detail, "not supported: N2Ls") {
		t.Errorf("got %+v", r)
	}
}

// A rejection by a server in front is attributed to it and not to the resolver,
// based on the response.
func TestFront(t *testing.T) {
	for _, tt := range []struct {
		name, field string
		want        conform.Verdict
	}{
		{"nothing shows one", "", conform.Fail},
		{"a reverse proxy by its name", "Server: nginx/1.22.1\r\n", conform.NotApplicable},
		{"Via", "Via: 1.1 edge\r\n", conform.NotApplicable},
		{"another Server than with names", "Server: edge\r\n", conform.NotApplicable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &little{}
			o := s.options()
			o.Profiles = []conform.Profile{conform.Yaurn}
			o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				outer, inner := net.Pipe()
				go front(inner, tt.field, func() net.Conn { c, _ := s.dial(ctx, network, address); return c })
				return outer, nil
			}
			results := try(t, o)
			for _, id := range []string{"Y95-30/bare", "Y95-32/simple"} {
				if got := results[id]; got.Verdict != tt.want {
					t.Errorf("%s: got %s (%s), want %s", id, got.Verdict, got.Detail, tt.want)
				}
			}
			want := []string{}
			if tt.want == conform.Fail {
				want = []string{"Y95-30/bare", "Y95-32/simple"}
			}
			if got := ended(results, conform.Fail); !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("failed: %q, want %q", got, want)
			}
		})
	}
}

// A reverse proxy may replace the Host field, so that the resolver cannot
// reject it.
func TestReplacedHost(t *testing.T) {
	results := try(t, (&little{breaks: "Y95-37/host", server: "nginx"}).options())
	if got := ended(results, conform.Fail); len(got) > 0 {
		t.Errorf("failed: %q, %s", got, results[got[0]].Detail)
	}
	if r := results["Y95-37/host"]; r.Verdict != conform.NotApplicable || !strings.Contains(r.Detail, "Server: nginx") {
		t.Errorf("got %s, %s", r.Verdict, r.Detail)
	}
}

// Datetimes have no fractions: of two Mementos of the same second, either is
// correct.
func TestMementosOfOneSecond(t *testing.T) {
	results := try(t, (&little{twins: true}).options())
	if got := ended(results, conform.Fail); len(got) > 0 {
		t.Errorf("failed: %q, %s", got, results[got[0]].Detail)
	}
}

// front forwards Full-Requests for paths without the slash, and rejects others.
func front(conn net.Conn, field string, dial func() net.Conn) {
	defer conn.Close()
	buf := make([]byte, 64<<10)
	n, err := conn.Read(buf)
	if err != nil {
		return
	}
	request := string(buf[:n])
	line, _, _ := strings.Cut(request, "\r\n")
	if words := strings.Fields(line); len(words) != 3 || !strings.HasPrefix(words[1], "/") {
		_, _ = io.WriteString(conn, "HTTP/1.0 400 Bad Request\r\n"+field+"Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n")
		return
	}
	inner := dial()
	defer inner.Close()
	if !strings.Contains(line, " /list ") {
		request = strings.Replace(request, " /", " ", 1)
	}
	go func() { _, _ = io.WriteString(inner, request) }()
	_, _ = io.Copy(conn, inner)
}

// Below a path, the bare ElementID cannot be requested, but other forms can.
func TestBasePath(t *testing.T) {
	s := &little{below: "/names"}
	o := s.options()
	o.Target = "http://" + testHost + "/names/"
	o.TimeGate = ""
	results := try(t, o)
	if got := ended(results, conform.Fail); len(got) > 0 {
		t.Errorf("failed: %q, %s", got, results[got[0]].Detail)
	}
	for _, id := range []string{"Y95-30/bare", "Y95-38/urn"} {
		if r := results[id]; r.Verdict != conform.NotApplicable || !strings.Contains(r.Detail, "below the path /names") {
			t.Errorf("%s: got %s, %s", id, r.Verdict, r.Detail)
		}
	}
}

// A server that sends odd bytes, too many, or none, causes failures and nothing
// worse.
func TestHostileServer(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":         "",
		"no HTTP":         "220 ready\r\n",
		"half a header":   "HTTP/1.0 200 OK\r\nContent-",
		"a long header":   "HTTP/1.0 200 OK\r\nX: " + strings.Repeat("x", 3<<20),
		"a long body":     "HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\n\r\n" + strings.Repeat("=====\r\n", 1<<19),
		"a bad length":    "HTTP/1.0 200 OK\r\nContent-Length: -5\r\n\r\nx",
		"a huge length":   "HTTP/1.0 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
		"bad chunks":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"a status of 4":   "HTTP/1.0 2000 OK\r\n\r\n",
		"bad links":       "HTTP/1.0 200 OK\r\nLink: <a>; rel=\"timegate, <, ;;=\r\n\r\n",
		"bad JSON":        "HTTP/1.0 200 OK\r\nContent-Type: application/linkset+json\r\nLink: <x>; rel=\"linkset timegate timemap describedby\"\r\n\r\n{\"linkset\":[null,3,{\"a\":[null]}]}",
		"escape sequence": "HTTP/1.0 200 \x1b[31mred\u202e\r\nContent-Type: text/\x1b[2J\r\n\r\n\x1b]0;title\x07\u202e",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := (&little{}).options()
			if len(answer) > 1000 {
				o.Profiles = []conform.Profile{conform.THTTP}
			}
			o.Dial = func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() {
					defer server.Close()
					_, _ = server.Read(make([]byte, 64<<10))
					_, _ = io.WriteString(server, answer)
				}()
				return client, nil
			}
			var shown bytes.Buffer
			failed := 0
			_, err := conform.Run(t.Context(), o, func(r conform.Result) {
				if err := conform.WriteText(&shown, r, true); err != nil {
					t.Error(err)
				}
				line, err := json.Marshal(r)
				if err != nil {
					t.Error(err)
				}
				shown.Write(line)
				if r.Verdict == conform.Fail {
					failed++
				}
			})
			if err != nil || failed == 0 {
				t.Errorf("%d failures, %v", failed, err)
			}
			if i := bytes.IndexFunc(shown.Bytes(), func(r rune) bool { return r != '\n' && r < ' ' || r >= 0x7f }); i >= 0 {
				t.Errorf("the report has the byte %#x", shown.Bytes()[i])
			}
		})
	}
}

// Run does not wait longer than the timeout for a server that does not respond.
func TestTimeout(t *testing.T) {
	o := (&little{}).options()
	o.Profiles = []conform.Profile{conform.Yaurn}
	o.Timeout = 5 * time.Millisecond
	o.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, server) }()
		return client, nil
	}
	r := try(t, o)["Y95-41/200"]
	if r.Verdict != conform.Fail || !strings.Contains(r.Detail, "timeout") {
		t.Errorf("got %s: %s", r.Verdict, r.Detail)
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		options conform.Options
		want    string
	}{
		{conform.Options{Target: "http://names.example/a b"}, "invalid target"},
		{conform.Options{Target: "gopher://names.example/"}, "scheme gopher"},
		{conform.Options{Target: "http://names.example/?x"}, "query"},
		{conform.Options{Target: "http://me@names.example/"}, "user information"},
		{conform.Options{Target: ""}, "missing host"},
		{conform.Options{Target: "names.example", Names: []string{"a b"}}, `invalid name or URL "a b"`},
		{conform.Options{Target: "names.example", Names: []string{"a\r\nX: y"}}, "invalid name or URL"},
		{conform.Options{Target: "names.example", Timeout: -1}, "must be positive"},
	} {
		var bad *conform.OptionError
		if _, err := conform.Run(t.Context(), tt.options, nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.options, err, tt.want)
		}
	}
	if _, err := conform.ParseProfiles("1995,nothing"); err == nil || !strings.Contains(err.Error(), `unknown profile "nothing": want 1995, thttp`) {
		t.Errorf("got %v", err)
	}
	if got, err := conform.ParseProfiles("Web, 1995,web"); err != nil || !slices.Equal(got, []conform.Profile{conform.Web, conform.Yaurn}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// Reports contain the verdict, the description of the requirement, and the
// bytes.
func TestReports(t *testing.T) {
	s := &little{breaks: "Y95-41/404"}
	o := s.options()
	o.Profiles = []conform.Profile{conform.Yaurn}
	var all []conform.Result
	subject, err := conform.Run(t.Context(), o, func(r conform.Result) { all = append(all, r) })
	if err != nil {
		t.Fatal(err)
	}
	var count conform.Count
	var text, junit bytes.Buffer
	for _, r := range all {
		count.Add(r)
		if err := conform.WriteText(&text, r, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"fail            Y95-41/404  The resolver answers a request for an unknown name with 404",
		"    draft-ietf-uri-yaurn-00, 3.4.1; must\n    > GET no-such-name-7f3a9c21 HTTP/1.0\\r\\n\n    > \\r\\n\n    < HTTP/1.0 200 OK\\r\\n\n",
		"pass            Y95-41/200  ",
		"not applicable  Y95-64/follow  ",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if got := count.String(); !strings.Contains(got, " passed, 1 failed, 1 not applicable") {
		t.Errorf("got %s", got)
	}
	if err := conform.WriteJUnit(&junit, subject, all); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Tests != len(all) || read.Failures != 1 || len(read.Suites) != 1 || read.Suites[0].Name != "1995" || len(read.Suites[0].Cases) != len(all) {
		t.Errorf("JUnit: got %+v", read)
	}
	line, err := json.Marshal(all[1])
	if want := `"exchanges":[{"sent":"GET no-such-name-7f3a9c21 HTTP/1.0\\r\\n\\r\\n","sent_bytes":38,"got":"HTTP/1.0 200 OK\\r\\n`; err != nil || !strings.Contains(string(line), want) {
		t.Errorf("JSON: got %s, want %s", line, want)
	}
}

// Every requirement of sections 3 and 4 of the draft of 1995 has a case, or
// docs/reference/conformance.md says why it has none.
func TestCoversSections3And4(t *testing.T) {
	spec, err := os.ReadFile("../docs/spec/1995-yaurn.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../docs/reference/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, doc, begins := bytes.Cut(doc, []byte("requirements cannot be observed:"))
	doc, _, ends := bytes.Cut(doc, []byte("requirements can be observed in part:"))
	if !begins || !ends {
		t.Fatal("docs/reference/conformance.md: the table of requirements that cannot be observed was not found")
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^- \*\*(Y95-\d+)\*\* · ([^·]*) ·`).FindAllSubmatch(spec, -1) {
		id := string(m[1])
		if !slices.ContainsFunc(strings.Split(string(m[2]), ", "), func(s string) bool { return s[0] == '3' || s[0] == '4' }) {
			continue
		}
		found++
		has := slices.ContainsFunc(conform.Cases(), func(c conform.Case) bool { return strings.HasPrefix(c.ID, id+"/") })
		if waived := bytes.Contains(doc, m[1]); has == waived {
			t.Errorf("%s: has a case: %t; docs/reference/conformance.md says that it cannot be observed: %t", id, has, waived)
		}
	}
	if found < 40 {
		t.Errorf("only %d requirements found", found)
	}
}
