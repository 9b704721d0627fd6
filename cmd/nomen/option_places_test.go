package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/adminapi"
)

// badOptions returns an invalid value, as TOML, for each option of serve that is text, or a number
// with a limited range. If an option depends on others, lines with these precede the value.
func badOptions() map[string][]string {
	const backups, acme = "backup.to = \"/srv/backups\"\n", "tls = \"acme\"\nacme-accept-terms = true\n"
	return map[string][]string{
		"listen": {`"x y"`, `":99999"`, `"postgres://h/d"`}, "admin": {`["x y"]`, `["unix:"]`}, "tls": {`"maybe"`},
		"tls-cert": {`"none.pem"`, "tls-key = \"none.pem\"\n" + `"none.pem"`}, "tls-key": {`"none.pem"`},
		"acme-email": {acme + `"x"`}, "acme-directory": {acme + `"http://a.example"`}, "acme-root": {acme + `"none.pem"`},
		"acme-eab-id": {acme + `"x"`}, "acme-eab-key-file": {acme + `"none"`, acme + "acme-eab-id = \"x\"\n" + `"none"`},
		"public-url": {`"ftp://a.example"`, acme + `"https://192.0.2.1"`}, "trusted-proxy": {`["bogus"]`}, "registry": {`"none.json"`},
		"host": {`["x y"]`}, "drain": {`"-1s"`}, "scrub": {"-2"}, "stale-if-error": {`"-1s"`},
		"memory": {"5"}, "connections": {"-1"}, "connections-per-address": {"-1"}, "rate": {"0", "-1"}, "asks": {"0"},
		"log.key": {`"none"`}, "log.witness": {`["x"]`}, "log.quorum": {"-1", "1"}, "log.timeout": {`"0s"`},
		"links.contact": {`"x"`}, "links.probe": {`["x y"]`, `["ftp://a.example"]`}, "links.own": {`["a.example=0"]`, `["a.example=x"]`, `["a.example/b"]`}, "links.proxy": {`"socks5://a.example"`, `"http://a:b@a.example"`},
		"links.availability": {`"x"`, `"https://a.example/x"`, "links.check = true\nlinks.timegate = \"https://a.example/\"\n" + `"https://a.example/x"`}, "links.timegate": {`"ftp://a.example/"`, `"https://a.example/"`}, "links.archive-host": {`["https://a.example"]`, `["a b"]`},
		"reports.to": {`["x"]`, `["a@example.org"]`}, "reports.contacts": {"true"}, "reports.from": {`"x y"`},
		"reports.smtp": {`"mail.example.org"`, `"smtp://u:p@mail.example.org"`}, "reports.smtp-user": {`"x"`}, "reports.smtp-password-file": {"reports.smtp-user = \"x\"\n" + `"none"`},
		"reports.sendmail": {`"sendmail"`, "reports.smtp = \"smtps://a.example\"\n" + `"/usr/sbin/sendmail"`}, "reports.webhook": {`"ftp://a.example"`}, "reports.webhook-secret-file": {`"none"`},
		"country-db": {`"none.mmdb"`}, "country-header": {`"a b"`},
		"table": {`"none"`}, "public-table": {`"missing"`}, "dns": {`["x y"]`}, "default-resolver": {`"x y"`, "ask-others = \"off\"\n" + `"ftp://a.example"`},
		"ask-others": {`"some"`}, "proxy": {`"some"`}, "own-users": {`["bogus"]`}, "connect": {"[443]", "proxy = \"all\"\n[70000]"},
		"gopher": {`"x y"`, `":99999"`}, "gopher-host": {`"x y"`}, "log-format": {`"xml"`}, "access-log-addresses": {`"some"`},
		"store":     {`"mysql://a.example"`, `"postgres://a.example:x/d"`, `"postgres://a.example/d?pool=x"`},
		"backup.to": {`"backups"`, "store = \"postgres://127.0.0.1:1/d?wait=0s\"\n" + `"/srv/backups"`}, "backup.at": {`"03:00"`, backups + `"x"`},
		"backup.every": {`"24h"`, backups + `"1s"`}, "backup.keep": {"3", backups + "0"}, "backup.keep-weekly": {"1", backups + "-1"}, "backup.rehearse": {"1", backups + "-1"},
		"backup.hook": {`["true"]`, backups + `[""]`}, "backup.hook-timeout": {`"1h"`, backups + `"-1s"`},
		"limits.burst": {"-1"}, "limits.costly": {"0"}, "limits.resources": {"0"}, "limits.batch-names": {"0"}, "limits.batch-bytes": {"0"},
		"limits.measure-timeout": {`"0s"`}, "limits.ask-timeout": {`"0s"`}, "limits.resource-timeout": {`"0s"`}, "limits.head-timeout": {`"0s"`},
		"limits.idle-timeout": {`"0s"`}, "limits.timeout": {`"0s"`}, "limits.token-rate": {"0"}, "limits.token-burst": {"-1"}, "limits.token-jobs": {"0"}, "limits.jobs": {"0"}, "second-person.relocate-above": {"-1"}, "second-person.redact": {`"maybe"`},
		"sign-in.url": {`"http://a.example"`, `"https://a.example/x"`}, "sign-in.idle": {`"0s"`, `"-1s"`}, "sign-in.absolute": {`"-1s"`},
		"sign-in.header":  {`"X-User"`, "sign-in.proxies = [\"unix:a\"]\n" + `"a b"`, "sign-in.proxies = [\"unix:a\"]\n" + `"cookie"`},
		"sign-in.proxies": {`["unix:a"]`, "sign-in.header = \"X-User\"\n" + `["10.0.0.0/8"]`}, "sign-in.ca": {`"none.pem"`},
		"site.name": {`"a\u0007b"`, `"` + strings.Repeat("x", 101) + `"`}, "site.logo": {`"none.svg"`, `"option_places_test.go"`, `"."`},
		"site.accent": {`"red"`, `"#ffcc00"`}, "site.background": {`"#12345"`, `"#808080"`}, "site.accent-dark": {`"#zzzzzz"`, `"#333333"`}, "site.background-dark": {`"#"`, `"#777777"`},
		"site.footer": {`"a\u202eb"`}, "site.links": {`["Privacy"]`, `["Privacy javascript:alert(1)"]`, `["Privacy https://user@example.org/"]`}, "site.contact": {`"names@example.org"`, `"javascript:alert(1)"`},
		"sign-in.contact": nil, // every text is a person to ask
		"demo":            {"read-only = true\ntrue"},
		"data":            nil, // every text is the name of a directory
	}
}

// TestOptionErrorsHavePlaces: an invalid value of any option in the file is rejected by all that
// read it, each time with its place. A new option needs a row in badOptions.
func TestOptionErrorsHavePlaces(t *testing.T) {
	bad := badOptions()
	command := &cli{}
	serve, _, err := command.root().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	check := func(f *pflag.Flag) {
		if classOf(f.Name) == ofCommand {
			return
		}
		values, ok := bad[f.Name]
		switch f.Value.Type() {
		case "string", "stringSlice", "stringArray":
			if !ok {
				t.Errorf("badOptions has no invalid value of %s", f.Name)
			}
		default:
			values = append(values, `"x y"`)
		}
		for _, value := range values {
			before, value := value[:strings.LastIndexByte(value, '\n')+1], value[strings.LastIndexByte(value, '\n')+1:]
			checkDoors(t, before+f.Name+" = "+value+"\n", 1+strings.Count(before, "\n"), len(f.Name)+len(" = ")+1)
		}
	}
	serve.InheritedFlags().VisitAll(check)
	serve.LocalFlags().VisitAll(check)
}

// TestSectionErrorsHavePlaces: the same for tables, for options of other commands, and for
// unknown keys.
func TestSectionErrorsHavePlaces(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
	}{
		{"rate = = 1\n", 1, 8},
		{"rat = 1\n", 1, 1},
		{"timeout = \"x\"\n", 1, 11},
		{"[limits]\nburst = -1\n", 2, 9},
		{"[backup]\nat = \"03:00\"\n", 2, 6},
		{"[backup]\ntoo = \"/srv\"\n", 2, 1},
		{"[[listen]]\naddress = \"x y\"\n", 2, 11},
		{"default-resolver = \"ftp://a.example\"\ndns = [\"x y\"]\n", 1, 20},
		{"listen = \":1\"\ntls = \"files\"\ntls-cert = \"none.pem\"\ntls-key = \"none.pem\"\n", 3, 12},
		{"[[listen]]\naddress = \"127.0.0.1:80\"\nrate = 1\n", 3, 1},
		{"tls-cert = \"none.pem\"\ntls-key = \"none.pem\"\n[[listen]]\naddress = \":1\"\ntls = \"files\"\n", 1, 12},
		{"[[listen]]\naddress = \":1\"\ntls = \"files\"\ncert = \"none.pem\"\nkey = \"none.pem\"\n", 3, 7},
		{"[[listen]]\naddress = \"127.0.0.1:4501\"\n", 2, 11},
		{"listen = \":1\"\n[[listen]]\naddress = \":2\"\n", 1, 1},
		{"listen = \":1\"\n[listen]\naddress = \":2\"\n", 1, 1},
		{"[[authority]]\nprefix = \"urn:x-a\"\nmax_age = -1\n", 3, 11},
		{"[[authority]]\nprefix = \"urn:x-a\"\n[[authority]]\nprefix = \"urn:x-a\"\n", 4, 10},
	} {
		checkDoors(t, c.text, c.line, c.column)
	}
}

// checkDoors checks that everything that reads a configuration file rejects a text, with an error
// at a line and column, or at the first element of a list there.
func checkDoors(t *testing.T, text string, line, column int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "site.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for door, errs := range map[string]func(*testing.T, ...string) []string{"config check": checkErrors, "serve": serveErrors, "doctor": doctorErrors, "reload": reloadErrors} {
		said := errs(t, "--data", filepath.Join(dir, "data"), "--config", file)
		found := false
		for _, e := range said {
			found = found || strings.HasPrefix(e, fmt.Sprintf("%s:%d:%d: ", file, line, column)) || strings.HasPrefix(e, fmt.Sprintf("%s:%d:%d: ", file, line, column+1))
		}
		if !found {
			t.Errorf("%s of\n%sgot %q, want %d:%d", door, text, said, line, column)
		}
	}
}

// checkErrors returns the errors of 'nomen config check'.
func checkErrors(t *testing.T, args ...string) (all []string) {
	var out bytes.Buffer
	run(t.Context(), append([]string{"config", "check", "--json"}, args...), streams{out: &out, err: &out})
	for d := json.NewDecoder(&out); d.More(); {
		var f configFinding
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		if f.Severity == "error" {
			all = append(all, fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message))
		}
	}
	return all
}

// serveErrors returns the error with which a server does not start.
func serveErrors(t *testing.T, args ...string) []string {
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // if it starts
	defer cancel()
	if status := run(ctx, append([]string{"serve"}, args...), streams{out: &out, err: &out}); status != exitUsage {
		t.Errorf("serve: status %d: %s", status, out.String())
	}
	if _, err := os.Stat(args[1]); err == nil {
		t.Errorf("serve has made the data directory before the check")
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(out.String(), "nomen: "), "\n")
	return strings.Split(strings.ReplaceAll(first, "; "+args[3], "\n"+args[3]), "\n")
}

// doctorErrors returns the problems that doctor finds in the configuration.
func doctorErrors(t *testing.T, args ...string) (all []string) {
	var out bytes.Buffer
	run(t.Context(), append([]string{"doctor", "--json"}, args...), streams{out: &out, err: &out})
	for line := range strings.Lines(out.String()) {
		var f diagnosis
		if json.Unmarshal([]byte(line), &f) == nil && f.Check == "configuration" && f.State == stateProblem {
			all = append(all, f.Text)
		}
	}
	return all
}

// reloadErrors returns the errors of a reload.
func reloadErrors(t *testing.T, args ...string) []string {
	c := &cli{arguments: append([]string{"serve"}, args...)}
	next, errs := c.readAgain()
	var rejected *adminapi.ReloadError
	if next == nil || !errors.As(next.cli.rejected(errs), &rejected) {
		t.Fatalf("reload: %v", errs)
	}
	return rejected.Errors
}
