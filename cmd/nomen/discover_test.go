package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomen-project/nomen/discover/dnstest"
)

// TestDiscoverScripts runs the commands that ask the domain name system, with a
// server of their own. The scripts are in testdata/discover.
func TestDiscoverScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/discover",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NOMEN_DATA", e.WorkDir+"/data")
			e.Values[lastServer] = new(func() error)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "dns": serveDNS, "serve": serve},
	})
}

// serveDNS starts a DNS server of a zone in the background: dns FILE [REFUSED].
// REFUSED is a domain name at which the server fails. It sets $NOMEN_DNS, which
// is the option --dns, and ends with the script.
func serveDNS(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: dns FILE [NAME.]")
	}
	s, err := dnstest.Start(ts.ReadFile(args[0]), func(q dnstest.Query) dnstest.Fault {
		if len(args) == 2 && q.Name == args[1] {
			return dnstest.Fault{Rcode: 2} // SERVFAIL
		}
		return dnstest.Fault{}
	})
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	ts.Setenv("NOMEN_DNS", s.Addr)
}

// If the user names a resolver and a DNS server, the address of the resolver is looked up at this
// DNS server.
func TestDNSOfVia(t *testing.T) {
	dns, err := dnstest.Start("names.example. 60 IN A 127.0.0.1\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dns.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/urc-0")
		io.WriteString(w, "=====\r\nhttps://example.org/x\r\n")
	}))
	defer server.Close()
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	for _, via := range []string{"http://names.example:" + port + "/", "names.example:" + port} {
		var out, log bytes.Buffer
		args := []string{"resolve", "--dns", dns.Addr, "--via", via, "--service", "I2L", "urn:ietf:rfc:1"}
		status := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &log})
		if status != exitYes || !strings.Contains(out.String(), "https://example.org/x") {
			t.Errorf("%s: status %d: %s%s", via, status, &out, &log)
		}
	}
	var log bytes.Buffer
	if status := run(t.Context(), []string{"resolve", "--dns", "ns.example", "--via", "names.example", "urn:ietf:rfc:1"}, streams{in: strings.NewReader(""), out: io.Discard, err: &log}); status != exitUsage {
		t.Errorf("status %d: %s", status, &log)
	}
}
