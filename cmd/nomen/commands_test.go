package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const commandsDocument = "../../docs/reference/commands.md"

// TestCommandsDocument checks that the reference of all commands is up to date;
// -update-docs writes it.
func TestCommandsDocument(t *testing.T) {
	want := commandsReference((&cli{}).root())
	got, err := os.ReadFile(commandsDocument)
	if string(got) == want {
		return
	}
	if !*updateDocs {
		t.Fatalf("%s is not up to date (%v): go test ./cmd/nomen -run TestCommandsDocument -update-docs", commandsDocument, err)
	}
	if err := os.WriteFile(commandsDocument, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commandsReference returns the help of all commands as Markdown.
func commandsReference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the help texts: go test ./cmd/nomen -run TestCommandsDocument -update-docs -->\n\n# Commands\n\n")
	b.WriteString("All commands of nomen with their options, defaults and examples, as `nomen COMMAND --help` shows them. Options can also be given in the environment or in a [configuration file](configuration.md).\n\n")
	writeHelp(&b, root.Long)
	b.WriteString("## Options of all commands\n\n")
	writeOptions(&b, root.PersistentFlags())
	for _, g := range groups() {
		fmt.Fprintf(&b, "## %s\n\n", strings.TrimSuffix(g.title, ":"))
		for _, name := range strings.Fields(g.commands) {
			cmd, _, err := root.Find([]string{name})
			if err != nil {
				continue
			}
			eachCommand(cmd, func(cmd *cobra.Command) {
				if cmd.Parent().Name() == "completion" {
					return // of cobra, one for each shell
				}
				fmt.Fprintf(&b, "### %s\n\n%s.\n\n", cmd.CommandPath(), upperFirst(cmd.Short))
				fmt.Fprintf(&b, "```text\n%s\n```\n\n", cmd.UseLine())
				writeHelp(&b, cmd.Long)
				writeOptions(&b, cmd.LocalNonPersistentFlags())
				if cmd.Example != "" {
					fmt.Fprintf(&b, "Examples:\n\n```text\n%s\n```\n\n", cmd.Example)
				}
			})
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

const optionsDocument = "../../docs/reference/options.md"

// TestOptionsDocument checks that the reference of the keys of a configuration is up to date, and
// that configuration.md has every option of serve; -update-docs writes the reference.
func TestOptionsDocument(t *testing.T) {
	want := optionsReference()
	got, err := os.ReadFile(optionsDocument)
	if string(got) != want {
		if !*updateDocs {
			t.Fatalf("%s is not up to date (%v): go test ./cmd/nomen -run TestOptionsDocument -update-docs", optionsDocument, err)
		}
		if err := os.WriteFile(optionsDocument, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range configKeys() {
		_, key, _ := strings.Cut(k.Key, ".")
		if !strings.HasPrefix(k.Key, "authority.") && !strings.Contains(string(text), "`"+k.Option) && !strings.Contains(string(text), "`"+k.Key+"`") && !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/reference/configuration.md does not describe %s", k.Key)
		}
	}
}

// optionsReference returns the keys of a configuration as Markdown.
func optionsReference() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the help texts: go test ./cmd/nomen -run TestOptionsDocument -update-docs -->\n\n# Keys of the configuration\n\n")
	b.WriteString("All keys of a [configuration file](configuration.md), as `nomen config explain KEY` shows them. A key without a table is also an option of `nomen serve`. Changed by: a [reload](configuration.md#reload), or only a restart.\n\n")
	b.WriteString("| key | type | default | changed by | meaning |\n| --- | --- | --- | --- | --- |\n")
	cells := strings.NewReplacer("|", `\|`, "<", "&lt;")
	for _, k := range configKeys() {
		by := "restart"
		if k.Reload {
			by = "reload"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Key, k.Type, cells.Replace(k.Default), by, cells.Replace(k.Meaning))
	}
	return b.String()
}

// writeHelp writes a help text as it is laid out.
func writeHelp(b *strings.Builder, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", text)
	}
}

// writeOptions writes a table of options, but for --help.
func writeOptions(b *strings.Builder, flags *pflag.FlagSet) {
	rows := ""
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		spelled := "--" + f.Name
		if f.Shorthand != "" {
			spelled = "-" + f.Shorthand + ", " + spelled
		}
		byDefault := strings.TrimSuffix(strings.TrimPrefix(defaultOf(f), " (default "), ")")
		if i := strings.LastIndex(usage, " (default "); i >= 0 && strings.HasSuffix(usage, ")") {
			usage, byDefault = usage[:i], usage[i+len(" (default "):len(usage)-1]
		}
		cells := strings.NewReplacer("|", `\|`, "<", "&lt;")
		rows += fmt.Sprintf("| `%s` | %s | %s |\n", strings.TrimSpace(spelled+" "+kind), cells.Replace(byDefault), cells.Replace(usage))
	})
	if rows != "" {
		fmt.Fprintf(b, "| option | default | meaning |\n| --- | --- | --- |\n%s\n", rows)
	}
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// TestConfigurationBlocks checks that the program accepts every block of TOML in the
// documents as a configuration file.
func TestConfigurationBlocks(t *testing.T) {
	blocks := 0
	for _, document := range markdown(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range tomlBlock.FindAllStringSubmatch(string(text), -1) {
			blocks++
			c := &cli{sources: map[string]optionSource{}}
			root := c.root()
			c.config = filepath.Join(t.TempDir(), "nomen.toml")
			if err := os.WriteFile(c.config, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			serve, _, err := root.Find([]string{"serve"})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.readFile(serve); err != nil {
				t.Errorf("%s: %v in\n%s", document, err, m[1])
			}
		}
	}
	if blocks < 2 {
		t.Errorf("only %d blocks of TOML", blocks)
	}
}

var tomlBlock = regexp.MustCompile("(?ms)^```toml\n(.*?)^```")
