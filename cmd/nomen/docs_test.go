package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command says at length what it does, and by examples.
func TestHelp(t *testing.T) {
	root := (&cli{}).root()
	eachCommand(root, func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if strings.HasPrefix(path, "nomen completion ") || strings.HasPrefix(path, "nomen help") {
			return // of cobra
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short help %q", path, cmd.Short)
		}
		if cmd.Long == "" {
			t.Errorf("%s: no long help", path)
		}
		if cmd.Example == "" && !cmd.HasSubCommands() {
			t.Errorf("%s: no examples", path)
		}
		if cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s is in no group of the help", path)
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			checkCommands(t, root, path+" --help", line)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.Contains(f.Usage, "(default ") && defaultOf(f) != "" {
				t.Errorf("%s --%s: help %q", path, f.Name, f.Usage)
			}
		})
	})
}

// The documents contain only commands and options that exist.
func TestDocuments(t *testing.T) {
	root := (&cli{}).root()
	files := []string{"../../README.md", "../../CHANGELOG.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/tutorial/*.md", "../../docs/howto/*.md", "../../docs/reference/*.md", "../../docs/explanation/*.md", "../../docs/decisions/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %v, %v", pattern, more, err)
		}
		files = append(files, more...)
	}
	known := knownOptions(root)
	known["config"], known["help"] = true, true
	known["proxy-pac-url"] = true // of Chromium
	known["all"] = true           // in a text that is read
	known["health-cmd"] = true    // of podman
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			found += checkCommands(t, root, file, line)
			for _, m := range quotedOption.FindAllStringSubmatch(line, -1) {
				if !known[m[1]] {
					t.Errorf("%s: no command has --%s", file, m[1])
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d commands in the documents", found)
	}
}

var (
	commandLine  = regexp.MustCompile("(?:^|[\\s`'(\"$|])nomen ((?:-v )?[a-z][a-z-]*(?: [a-z]+){0,2})([^|`]*)")
	option       = regexp.MustCompile(`(?:^|\s)--([a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)?)`)
	quotedOption = regexp.MustCompile("`--([a-z][a-z0-9-]*(?:[.][a-z][a-z0-9-]*)?)")
)

// checkCommands checks the command lines in a line of text. It checks that commands in quotation
// marks exist, and that existing commands have the given options. It returns the number of command
// lines.
func checkCommands(t *testing.T, root *cobra.Command, where, line string) int {
	found := 0
	for _, m := range commandLine.FindAllStringSubmatch(line, -1) {
		words := strings.Fields(strings.TrimPrefix(m[1], "-v "))
		cmd, _, err := root.Find(words)
		if err != nil || cmd == root {
			if strings.ContainsAny(m[0][:1], "`'$") {
				t.Errorf("%s: %q is not a command", where, strings.TrimSpace(m[0]))
			}
			continue // "nomen publishes names"
		}
		found++
		for _, o := range option.FindAllStringSubmatch(m[2], -1) {
			if o[1] != "help" && cmd.Flags().Lookup(o[1]) == nil && cmd.InheritedFlags().Lookup(o[1]) == nil && root.PersistentFlags().Lookup(o[1]) == nil {
				t.Errorf("%s: %s has no --%s", where, cmd.CommandPath(), o[1])
			}
		}
	}
	return found
}

// The manual does not depend on the user: packages contain it.
func TestManualOfAnyUser(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_DATA_HOME", "")
	one := manual((&cli{}).root())
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("NOMEN_DATA", t.TempDir())
	if manual((&cli{}).root()) != one {
		t.Error("the manual depends on the environment")
	}
	if want := roff("(default /var/lib/nomen for root, otherwise the user's data directory)"); !strings.Contains(one, want) {
		t.Errorf("the manual lacks %q", want)
	}
}

// The page of the manual has every command, every option that is not hidden, and no line that troff
// would take for a request.
func TestManual(t *testing.T) {
	root := (&cli{}).root()
	page := manual(root)
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd != root && !strings.Contains(page, "\n.SS "+roff(cmd.CommandPath())+"\n") {
			t.Errorf("the manual lacks %s", cmd.CommandPath())
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if cmd != root && !f.Hidden && !strings.Contains(page, roff("--"+f.Name)) {
				t.Errorf("the manual lacks --%s", f.Name)
			}
		})
	})
	macro := regexp.MustCompile(`^\.(TH|SH|SS|PP|TP|B|nf|fi)( |$)`)
	for line := range strings.Lines(page) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, ".") && !macro.MatchString(line) || strings.HasPrefix(line, "'") {
			t.Errorf("a request: %q", line)
		}
	}
	if got, want := roff(".a\n'b \\n -"), "\\&.a\n\\&'b \\en \\-"; got != want {
		t.Errorf("roff: got %q, want %q", got, want)
	}
}
