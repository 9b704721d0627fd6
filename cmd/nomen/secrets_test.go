package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store/pgstore"
)

// TestHideSecrets checks that no password is shown, and that the parts of a value that are
// certainly not secret are shown.
func TestHideSecrets(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"", ""},
		{":4500", ":4500"},
		{"[::1]:4500", "[::1]:4500"},
		{"pebble:/srv/a@b", "pebble:/srv/a@b"},
		{"mailto:a@b.example", "mailto:a@b.example"},
		{"unix:@name", "unix:@name"},
		{"postgres://u@h/d", "postgres://u@h/d"},
		{"postgres://a,b:5433,[::1]:5434/names?pool=7", "postgres://a,b:5433,[::1]:5434/names?pool=7"},
		{"https://h.example:8080/a?b=c#d", "https://h.example:8080/a?b=c#d"},
		{"https://h/a:b@c", "https://h/a:b@c"},

		{"postgres://u:secret@h/d", "postgres://u:xxxxx@h/d"},
		{"POSTGRES://u:secret@h/d", "POSTGRES://u:xxxxx@h/d"},
		{"postgres://u:se%cret@h/d", "postgres://u:xxxxx@h/d"},
		{"postgres://u:se@cr:et@h/d", "postgres://u:xxxxx@h/d"},
		{"postgres://u:12/se?cr#et@h/d", "postgres://u:xxxxx@h/d"},
		{"postgres://u:se cr\"et'@h/d", "postgres://u:xxxxx@h/d"},
		{"postgres://u:secret@", "postgres://u:xxxxx@"},
		{"postgres://u:secret", "postgres://u:xxxxx"},
		{"postgres://u:se/cret", "postgres://u:xxxxx"},
		{"postgres://a,u:123456", "postgres://a,u:xxxxx"},
		{"postgres//u:secret@h", "postgres//u:xxxxx@h"},
		{"u:secret@h:5432", "u:xxxxx@h:5432"},
		{"https://u:secret@h/backups", "https://u:xxxxx@h/backups"},
		{"https://u:80/secret@h/", "https://u:xxxxx@h/"},
		{"https://secret@h/", "https://xxxxx@h/"},

		{"postgres://h/d?password=secret&sslmode=require", "postgres://h/d?password=xxxxx&sslmode=require"},
		{"postgres://u:secret@h/d?sslpassword=other", "postgres://u:xxxxx@h/d?sslpassword=xxxxx"},
		{"postgres:///d?pass%77ord=se cret", "postgres:///d?pass%77ord=xxxxx"},
		{"host=h password=secret user=u", "host=h password=xxxxx user=u"},
		{"host=h password = secret", "host=h password = xxxxx"},
		{"host=h PASSWORD='se cr\\'et' user=u", "host=h PASSWORD=xxxxx user=u"},
		{"password='se''cr et' user=u", "password=xxxxx user=u"},
		{"password='secret x user=u", "password=xxxxx"},
		{"password=se cret user=u", "password=xxxxx user=u"},
		{"password=se&cret\\ x", "password=xxxxx"},

		{"--repo=rest:https://u:se/cret@h:8000/", "--repo=rest:https://u:xxxxx@h:8000/"},
		{"curl -T $0 'ftp://u:secret@h/' http://h:80/a https://h/a:b@c", "curl -T $0 'ftp://u:xxxxx@h/' http://h:80/a https://h/a:b@c"},
		{"--password=secret", "--password=xxxxx"},
	} {
		if got := hideSecrets(c.value); got != c.want {
			t.Errorf("%s: got %s, want %s", c.value, got, c.want)
		}
	}
	if got, want := strings.Join(hideListed([]string{"restic", "--password", "secret", "-v", "x"}), " "), "restic --password xxxxx -v x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := hideJSON([]byte(`{"a":"say \"x\"","b":["https://u:secret@h/",3]}`)), `{"a":"say \"x\"","b":["https://u:xxxxx@h/",3]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHideValues: a message that quotes a value, or a part of it, does not show the secret.
func TestHideValues(t *testing.T) {
	for _, c := range []struct{ value, text, want string }{
		{"postgres://u:sec/ret@h", `parse "postgres://u:sec/ret@h": invalid port ":sec" after host`, `parse "postgres://u:xxxxx@h": invalid port ":xxxxx" after host`},
		{"postgres://u:s\"\x01ecret@h", `invalid "postgres://u:s\"\x01ecret@h"`, `invalid "postgres://u:xxxxx@h"`},
		{"postgres://u:s%zzcret@h", `invalid URL escape "%zz"`, `invalid URL escape "xxxxx"`},
		{"postgres://u:s%65cret@h", "user secret of h", "user xxxxx of h"},
		{"postgres://u:one@Two@h", "lookup two@h: no such host", "lookup xxxxx: no such host"},
		{"postgres://u:one@two@h", "cannot parse `postgres://u:xxxxx@two@h`", "cannot parse `postgres://u:xxxxx@xxxxx@h`"},
		{"postgres://names:secret@db/names", "database names of db: unknown", "database names of db: unknown"},
		{"https://h/a", "https://h/a: not found", "https://h/a: not found"},
		{"--x=https://u:s3\x01cret@h", `"https://u:s3\x01cret@h"`, `"https://u:xxxxx@h"`},
	} {
		if got := hideValues(c.text, []string{c.value, strings.TrimPrefix(c.value, "--x=")}); got != c.want {
			t.Errorf("%s: got %s, want %s", c.value, got, c.want)
		}
	}
	// The place of an error in a file is not hidden, even if the name of the file contains the
	// password.
	c := &cli{file: &configFile{path: "nomen.toml", texts: []string{"postgres://nomen:nomen@h"}}}
	err := errors.Join(c.file.errorAt(filePlace{1, 9}, "store: nomen is invalid"), errors.New("nomen"))
	if got, want := c.words(err), "nomen.toml:1:9: store: xxxxx is invalid; xxxxx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// hostileValues have a password with the parts s3cr and 3tpw, both or one of them.
var hostileValues = []string{
	"postgres://u:s3cr3tpw@h:x/d", "postgres://u:s3cr/3tpw@h/d", "postgres://u:s3cr 3tpw@h/d", "postgres://u:s3cr%zz3tpw@h/d",
	"postgres://u:%733cr%333tpw@h:x/d", "postgres://u:s3cr@3tpw@h:x/d", "postgres://u:s3cr#3tpw@h/d", "postgres://u:s3cr?3tpw@h/d",
	"postgres://u:s3cr\"'3tpw@h:x/d", "postgres://u:s3cr3tpw@", "postgres://u:s3cr3tpw", "postgres://u:s3cr3tpw@h/d?sslmode=maybe",
	"postgres://h/d?password=s3cr3tpw&pool=x", "postgres://h/d?sslpassword=s3cr+3tpw&sslmode=maybe",
	"host=h password=s3cr3tpw", "host=h password='s3cr 3tpw'", "password='s3cr\\'3tpw' host=h", "password='s3cr''3tpw' host=h", "password=s3cr 3tpw",
	"https://u:s3cr3tpw@h/?x", "https://u:s3cr/3tpw@h/", "https://u:s3cr 3tpw@h", "https://u:s3cr3tpw@", "https://s3cr3tpw@h", "u:s3cr3tpw@h:99999", "https://u:s3cr\x013tpw@h",
	"ftp://u:s3cr3tpw@h", "postgress://u:s3cr3tpw@h", "//u:s3cr3tpw@h",
}

// hasSecret reports whether a part of the password of hostileValues is in a text.
func hasSecret(text string) bool {
	return strings.Contains(text, "s3cr") || strings.Contains(text, "3tpw") || strings.Contains(text, "733cr")
}

// hostileOptions are the options that get hostile values, in a file.
var hostileOptions = []string{"store", "public-url", "default-resolver", "acme-directory", "acme-email", "gopher-host", "trusted-proxy", "rate", "dns", "host", "table", "listen", "admin", "tls", "log-format", "backup.to", "backup.at", "backup.hook"}

// hostileFile returns a configuration file in which an option has a value. No server starts with
// it.
func hostileFile(option, value string) string {
	text := "drain = \"-1s\"\n"
	if option != "tls" && strings.HasPrefix(option, "acme") {
		text += "tls = \"acme\"\nacme-accept-terms = true\n"
	}
	return text + option + " = " + tomlQuoted(value) + "\n"
}

func tomlQuoted(s string) string { return strings.ReplaceAll(strconv.Quote(s), `\x`, `\u00`) }

// TestNoDoorShowsSecrets: whatever value is rejected, no command shows its password, from any
// source of the configuration. Each option meets each source and each command.
func TestNoDoorShowsSecrets(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "site.toml")
	doors := []string{"serve", "config check", "config check --json", "config show", "config show --json", "doctor"}
	for _, option := range hostileOptions {
		for i, value := range hostileValues {
			args := []string{"--data", data, "--drain=-1s"} // so that no server starts
			switch source := i % 4; source {
			case 0:
				if err := os.WriteFile(file, []byte(hostileFile(option, value)), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--config", file)
			case 1:
				args = append(args, "--"+option, value)
			case 2:
				args = append(args, "--"+option+"="+value)
			case 3:
				t.Setenv(variableOf(option), value)
			}
			for _, door := range []string{doors[0], doors[1+i/4%5]} {
				if door == "doctor" && option == "store" { // it would connect
					continue
				}
				var out bytes.Buffer
				status := run(t.Context(), append(strings.Fields(door), args...), streams{out: &out, err: &out})
				if hasSecret(out.String()) {
					t.Errorf("%s %q: %s", door, args, out.String())
				}
				if door == "serve" && status != exitUsage {
					t.Errorf("%s %q: status %d: %s", door, args, status, out.String())
				}
			}
			os.Unsetenv(variableOf(option))
		}
	}
}

// TestCommandsShowNoSecrets checks the same for the commands that use the store.
func TestCommandsShowNoSecrets(t *testing.T) {
	t.Parallel()
	for _, value := range hostileValues {
		if err := pgstore.CheckURL(value); err == nil {
			continue // the command would connect
		}
		for _, args := range [][]string{{"get", "urn:example:a", "--store", value}, {"doctor", "--store", value}, {"migrate", "--from", value, "--to", "pebble:x"}, {"get", "--store=" + value}, {"get", "--rate", value}} {
			var out bytes.Buffer
			status := run(t.Context(), append(args, "--data", t.TempDir()), streams{out: &out, err: &out})
			if hasSecret(out.String()) || status == exitYes {
				t.Errorf("%q: status %d: %s", args, status, out.String())
			}
		}
	}
}

// TestReloadShowsNoSecrets checks the same for a reload, the admin API and the log of the server.
func TestReloadShowsNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "site.toml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	p := start(t, data, "--config", file)
	api := adminClient(t, data)
	for j, option := range hostileOptions {
		for i, value := range hostileValues {
			if option != "store" && option != "public-url" && option != "default-resolver" && (i+j)%4 > 0 {
				continue
			}
			write(hostileFile(option, value))
			var rejected *adminapi.ReloadError
			if _, err := api.Reload(t.Context()); !errors.As(err, &rejected) || hasSecret(strings.Join(rejected.Errors, "\n")) {
				t.Errorf("%s = %q: %v", option, value, err)
			}
			if (i+j)%8 > 0 {
				continue
			}
			var out bytes.Buffer
			if status := run(t.Context(), []string{"reload", "--data", data}, streams{out: &out, err: &out}); status != exitNo || hasSecret(out.String()) {
				t.Errorf("%s = %q: status %d: %s", option, value, status, out.String())
			}
		}
	}
	if log := p.output(); hasSecret(log) || !strings.Contains(log, "configuration rejected") {
		t.Errorf("the log: %s", log)
	}
}
