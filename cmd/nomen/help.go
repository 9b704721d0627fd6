package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func groups() []group {
	return []group{
		{"publish", "Publish names:", "serve put get retire delete import export mint authority token user sign-in-link find relocate history changes undo redact misses stats links log proof audit witness"},
		{"keep", "Maintain the store:", "config reload doctor health backup restore verify jobs migrate handover rekey"},
		{"ask", "Resolve and inspect names:", "resolve fetch discover crawl conform replay zone"},
		{"any", "Work with identifiers:", "parse check normalize compare join relativize extract schemes namespaces services"},
		{"about", "About nomen:", "help man completion version"},
	}
}

type group struct{ id, title, commands string }

// arrange assigns the commands to groups. It also changes the help texts of flags, and of the
// commands that cobra adds, to the style of nomen.
func arrange(root *cobra.Command) {
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	of := map[string]string{}
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range strings.Fields(g.commands) {
			of[name] = g.id
		}
	}
	for _, cmd := range root.Commands() {
		cmd.GroupID = of[cmd.Name()]
		if cmd.Name() == "completion" {
			cmd.Short = "print a completion script for your shell"
			cmd.Example = "  source <(nomen completion bash)\n  nomen completion zsh > \"${fpath[1]}/_nomen\""
			for _, shell := range cmd.Commands() {
				shell.Short = "print the completion script for " + shell.Name()
			}
		}
	}
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(sayRepeated)
		cmd.Flags().VisitAll(hideTable)
	})
}

func sayRepeated(f *pflag.Flag) {
	const repeated = "can be repeated"
	if _, many := f.Value.(pflag.SliceValue); many && !strings.Contains(f.Usage, repeated) {
		before, byDefault, _ := strings.Cut(f.Usage, " (default ")
		if f.Usage = before + "; " + repeated; byDefault != "" {
			f.Usage += " (default " + byDefault
		}
	}
}

func hideTable(f *pflag.Flag) {
	if strings.Contains(f.Name, ".") {
		f.Hidden = true
	}
}

func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, f)
	}
}

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "show help for a command, with examples",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, cmd := range root.Commands() {
				names = append(names, cmd.Name()+"\t"+cmd.Short)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noArguments(cmd, rest)
			}
			return cmd.Help()
		},
	}
}

func groupOf(use, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var examples []string // the first example of each subcommand
	for _, sub := range subs {
		first, _, _ := strings.Cut(sub.Example, "\n")
		examples = append(examples, first)
	}
	cmd.Example = strings.Join(examples, "\n")
	cmd.AddCommand(subs...)
	return cmd
}

// noArguments returns an error if there are arguments. If the command has subcommands with names
// similar to the first argument, the error suggests them.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasSubCommands():
		return usagef("%s takes no arguments: unexpected %q", cmd.CommandPath(), args[0])
	}
	meant := ""
	cmd.SuggestionsMinimumDistance = 2
	if all := cmd.SuggestionsFor(args[0]); len(all) > 0 {
		meant = "; did you mean " + strings.Join(all, " or ") + "?"
	}
	return usagef("unknown command %q for %s%s", args[0], cmd.CommandPath(), meant)
}

const manLong = `Man prints the manual page nomen(1). It has the same text as the help.`

func (c *cli) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "print the manual page of all commands",
		Long:    manLong,
		Example: "  nomen man | man -l -\n  nomen man > /usr/local/share/man/man1/nomen.1",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.out, manual(cmd.Root()))
			return err
		},
	}
}

func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH NOMEN 1 \"\" \"nomen %s\"\n.SH NAME\nnomen \\- %s\n", roff(versionText()), roff(root.Short))
	b.WriteString(".SH SYNOPSIS\n.B nomen\nCOMMAND [options] [arguments]\n.SH DESCRIPTION\n")
	paragraphs(&b, root.Long)
	b.WriteString(".SH OPTIONS OF ALL COMMANDS\n")
	options(&b, root.PersistentFlags())
	for _, g := range groups() {
		fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(strings.TrimSuffix(g.title, ":"))))
		for _, name := range strings.Fields(g.commands) {
			if cmd, _, err := root.Find([]string{name}); err == nil {
				eachCommand(cmd, func(cmd *cobra.Command) { section(&b, cmd) })
			}
		}
	}
	return b.String()
}

func section(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, ".SS %s\n%s.\n.PP\n.B %s\n.PP\n", roff(cmd.CommandPath()), roff(cmd.Short), roff(cmd.UseLine()))
	paragraphs(b, cmd.Long)
	options(b, cmd.LocalNonPersistentFlags())
	if cmd.Example != "" {
		fmt.Fprintf(b, ".PP\nExamples:\n.PP\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
}

// paragraphs formats text for troff. Empty lines separate paragraphs. A paragraph with indented
// lines keeps its line breaks.
func paragraphs(b *strings.Builder, text string) {
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p == "" {
			continue
		}
		if b.WriteString(".PP\n"); strings.Contains("\n"+p, "\n ") || strings.Contains("\n"+p, "\n\t") {
			p = ".nf\n" + roff(p) + "\n.fi"
		} else {
			p = roff(p)
		}
		b.WriteString(p + "\n")
	}
}

func options(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		spelled := "--" + f.Name
		if f.Shorthand != "" {
			spelled = "-" + f.Shorthand + ", " + spelled
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(spelled+" "+kind)), roff(usage+defaultOf(f)))
	})
}

func defaultOf(f *pflag.Flag) string {
	if f.Name == "data" { // depends on the user; documents are the same for all
		return " (default " + systemData + " for root, otherwise the user's data directory)"
	}
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
		return ""
	}
	if strings.Contains(f.Usage, "(default") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// roff escapes text for troff, so that troff does not interpret any part of the text as a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + s)
	return strings.TrimPrefix(s, "\n")
}
