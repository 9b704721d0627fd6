package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command that finds no store where it looks by default says that it looked there by
// default, and where a store is.
func TestDefaultData(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("NOMEN_DATA", "") // so that it is restored
	os.Unsetenv("NOMEN_DATA")
	said := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := run(t.Context(), args, streams{out: &out, err: &errs}); status == exitYes {
			t.Fatalf("%q: succeeded: %s", args, out.String())
		}
		if strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%q: more than a line: %s", args, errs.String())
		}
		return errs.String()
	}
	if defaultData() == systemData {
		if _, err := os.Stat(systemData); err == nil {
			t.Logf("%s exists here: what is said without it is not tested", systemData)
			return
		}
	}
	const hint = " is the default data directory of user "
	for _, args := range [][]string{{"get", "urn:example:a"}, {"jobs"}, {"backup", "status"}, {"verify"}} {
		if s := said(args...); !strings.Contains(s, defaultData()+hint) || strings.Contains(s, "has a store") {
			t.Errorf("%q: %s", args, s)
		}
		if s := said(append(args, "--data", home)...); strings.Contains(s, hint) {
			t.Errorf("%q with --data: %s", args, s)
		}
	}
	t.Setenv("NOMEN_DATA", filepath.Join(home, "x"))
	if s := said("verify"); strings.Contains(s, hint) {
		t.Errorf("with NOMEN_DATA: %s", s)
	}
}

func TestStoreElsewhere(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	if status := run(t.Context(), []string{"put", "--data", other, "urn:example:a", "https://example.org/a"}, streams{out: new(bytes.Buffer), err: new(bytes.Buffer)}); status != exitYes {
		t.Fatal(status)
	}
	none := filepath.Join(t.TempDir(), "none")
	if got := storeIn(none, []string{none, none + "2", other}); got != "; "+other+" has a store" {
		t.Errorf("%q", got)
	}
	if got := storeIn(other, []string{none, other}); got != "" {
		t.Errorf("only the directory itself has a store: %q", got)
	}
}
