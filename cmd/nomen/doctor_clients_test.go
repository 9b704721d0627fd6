//go:build clients

package main

import (
	"slices"
	"strings"
	"testing"
)

// doctor runs nomen doctor on a machine with more options.
func (m *machine) doctor(options string) string {
	said, _ := m.try("nomen doctor " + options) // fails if there is a problem
	return said
}

// doctorOfProxy checks what nomen doctor says behind a proxy that is configured as on its page,
// and about what is wrong elsewhere: DNS, and a server that does not know the proxy.
func (m *machine) doctorOfProxy(t *testing.T) {
	t.Helper()
	checks := []string{"DNS", "certificate", "public URL", "proxy", "client address"}
	said := m.doctor("")
	for line := range strings.Lines(said) {
		state, rest, _ := strings.Cut(line, "  ")
		check, _, _ := strings.Cut(strings.TrimSpace(rest), "  ")
		i := slices.Index(checks, check)
		if i >= 0 {
			checks = slices.Delete(checks, i, i+1)
		}
		if state == stateProblem || i >= 0 && state != stateOK {
			t.Errorf("behind the proxy of the page, nomen doctor says %s", line)
		}
	}
	if len(checks) > 0 {
		t.Errorf("nomen doctor says nothing about %q:\n%s", checks, said)
	}
	m.doctorSays(t, "--public-url https://id.other.example", "problem  DNS", `host "id.other.example" not found in DNS`)
	m.doctorSays(t, "--public-url https://id.example.edu:4501", "problem  public URL", "cannot be reached")
	const config = "/etc/nomen/nomen.toml"
	m.run(t, "cp "+config+" right.toml; sed -i /trusted-proxy/d "+config+"; systemctl restart nomen")
	m.doctorSays(t, "", "problem  client address", "requests from 192.0.2.10 seem to come from 127.0.0.1, so that all clients share one limit")
	m.run(t, "cp right.toml "+config+"; systemctl restart nomen")
}

// doctorSays checks that a line of nomen doctor begins with one text and contains the other.
func (m *machine) doctorSays(t *testing.T, options, begins, contains string) {
	t.Helper()
	said := m.doctor(options)
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, begins) && strings.Contains(line, contains) {
			return
		}
	}
	t.Errorf("nomen doctor %s: no line %q with %q:\n%s", options, begins, contains, said)
}
