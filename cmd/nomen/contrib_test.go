package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The configuration that packages install is valid, as installed and with the tables that it
// shows in comments.
func TestInstalledConfiguration(t *testing.T) {
	installed, err := os.ReadFile("../../contrib/nomen.toml")
	if err != nil {
		t.Fatal(err)
	}
	head, tables, found := strings.Cut(string(installed), "# public-url")
	if !found {
		t.Fatal("the configuration shows no public-url")
	}
	shown := strings.ReplaceAll(head, "\nlisten = ", "\n# listen = ") + strings.ReplaceAll("public-url"+tables, "\n# ", "\n")
	for name, text := range map[string]string{"installed": string(installed), "shown": shown} {
		file := filepath.Join(t.TempDir(), "nomen.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		if status := run(t.Context(), []string{"config", "check", file}, streams{strings.NewReader(""), &out, &errs}); status != exitYes {
			t.Errorf("%s: status %d: %s%s\n%s", name, status, out.String(), errs.String(), text)
		}
	}
}
