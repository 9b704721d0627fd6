package main

import (
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
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "dns": serveDNS},
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
