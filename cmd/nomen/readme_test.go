package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// TestReadme runs the commands of the README's console examples one after the
// other, with the server on a free port.
func TestReadme(t *testing.T) {
	var script strings.Builder
	for _, line := range readmeConsole(t) {
		switch {
		case strings.HasPrefix(line, "nomen serve"):
			script.WriteString(strings.TrimPrefix(line, "nomen ") + "\n")
		default:
			line = strings.ReplaceAll(line, "127.0.0.1:4500", "$PUBLIC")
			fmt.Fprintf(&script, "exec sh -c '%s'\n", strings.ReplaceAll(line, "'", "''"))
		}
	}
	script.WriteString("exec nomen get --data ./names urn:dns:example.org:alb002\nstdout 'Second album'\n")
	script.WriteString("grep alb003 all.jsonl\n! exists elsewhere\n")
	file := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{file},
		Setup: func(e *testscript.Env) error {
			e.Setenv("NOMEN_DATA", e.WorkDir+"/elsewhere") // what a command without --data uses
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"serve": serve},
	})
}

// readmeConsole returns the command lines of the console blocks.
func readmeConsole(t *testing.T) []string {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			commands = append(commands, strings.TrimPrefix(line, "$ "))
		}
	}
	if len(commands) < 5 {
		t.Fatalf("only %d commands found in the README", len(commands))
	}
	return commands
}

// TestReadmeLibrary holds the README's Go lines to what they say.
func TestReadmeLibrary(t *testing.T) {
	u, err := uri.Parse("https://example.org/a%2Fb?q#f")
	if q, ok := u.Query(); err != nil || !ok || q != "q" {
		t.Errorf("got %q, %v", q, err)
	}
	n, err := name.Parse("URN:DNS:Example.ORG:alb%2D002")
	if want := "urn:dns:example.org:alb-002"; err != nil || n.Key() != want {
		t.Errorf("got %q, %v; want %q", n, err, want)
	}
}
