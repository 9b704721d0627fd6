package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIdentifierExamples checks that the scripts run the examples of the help.
func TestIdentifierExamples(t *testing.T) {
	scripts := ""
	files, err := filepath.Glob("testdata/script/ident_*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts += string(text)
	}
	for _, cmd := range new(cli).identifierCommands() {
		if !strings.Contains(cmd.Long, "standard input") || cmd.Short == "" {
			t.Errorf("%s: the help does not say enough", cmd.Name())
		}
		for line := range strings.Lines(cmd.Example) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), " < ")
			if !strings.Contains(scripts, " "+command+"\n") {
				t.Errorf("no script runs %q", command)
			}
		}
	}
}

// TestColour: only terminals get colours, and these do not move columns.
func TestColour(t *testing.T) {
	plain, colour := answers{}, answers{colour: true}
	if got, want := plain.paint(colourRed, "no", 4), "no  "; got != want {
		t.Errorf("paint = %q, want %q", got, want)
	}
	if got, want := colour.paint(colourRed, "no", 4), "\x1b[31mno\x1b[m  "; got != want {
		t.Errorf("paint = %q, want %q", got, want)
	}
	if got, want := colour.paint("", "no", 4), "no  "; got != want {
		t.Errorf("paint = %q, want %q", got, want)
	}
}
