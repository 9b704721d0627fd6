package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/systemd"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const (
	exitYes     = 0
	exitNo      = 1
	exitUsage   = 2
	exitFailure = 3
)

// A cli holds the state of one run of the program: the streams, the global flags, and the values
// that are derived from the flags.
type cli struct {
	streams
	data    string // directory
	store   string // pebble:DIR or postgres://..., "" for a directory in data
	config  string // file
	json    bool
	verbose bool
	clockOK bool // accept a clock that is far before the last change

	instance    string       // random ID of a server process
	pacer       *pacer.Pacer // of the background work of a server; nil for other commands
	dataDefault bool         // data is the built-in default, because no option, variable or file sets it

	lostLines atomic.Uint64 // lines of the log of a server that could not be written

	memory      int                     // MiB that the process may use; 0 means 512 more than the default cache
	memoryLimit int64                   // memory limit of the process in bytes, set by boundMemory
	cacheSize   int64                   // bytes of the cache of the embedded store; 0 means a share of the machine's memory
	file        *configFile             // of config; nil without one
	arguments   []string                // the command line
	command     *cobra.Command          // the command that runs
	serving     *serveFlags             // the options of serve; nil for other commands
	hangups     chan os.Signal          // receives SIGHUP; nil if nothing catches it
	flags       *pflag.FlagSet          // the options of the command
	sources     map[string]optionSource // of the options that the environment or the file sets
	systemd     *systemd.Notifier       // of serve; nil for other commands
}

// These errors determine the exit status of a command that has already printed the reason.
var (
	errNo     = errors.New("no")     // the answer was "no"
	errFailed = errors.New("failed") // something failed
)

// A usageError is an error in the command line, the environment or the configuration. The exit
// status for a usageError is 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

type rephrasedError struct {
	error
	text string
}

func (e rephrasedError) Error() string { return e.text }
func (e rephrasedError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes a command line and returns the exit status.
func run(ctx context.Context, args []string, s streams) int { return runWith(ctx, args, s, nil) }

func runWith(ctx context.Context, args []string, s streams, hangups chan os.Signal) int {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // a command may change it
	c := &cli{streams: s, arguments: args, sources: map[string]optionSource{}, hangups: hangups}
	root := c.root()
	if cmd, _, err := root.Find(args); err != nil || cmd.Name() != "serve" {
		c.endAtHangup()
	}
	c.completeValues(root)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	cmd, err := root.ExecuteContextC(ctx)
	status := exitStatus(err)
	if err != nil && !errors.Is(err, errNo) && !errors.Is(err, errFailed) {
		out := c.failures(s.err)
		fmt.Fprintln(out, "nomen: "+nameSignal(ctx, c.words(err))+c.caretOn(out, err))
		if status == exitUsage {
			fmt.Fprintf(out, "Run '%s' for usage.\n", helpFor(cmd))
		}
	}
	return status
}

// nameSignal replaces "context canceled" in a text by the cause of the cancellation, such as a
// signal.
func nameSignal(ctx context.Context, text string) string {
	cause := context.Cause(ctx)
	if cause == nil {
		return text
	}
	return strings.ReplaceAll(text, context.Canceled.Error(), words(cause))
}

func helpFor(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.CommandPath() + " --help"
	}
	return cmd.CommandPath() + " help"
}

func exitStatus(err error) int {
	switch f := failureOf(err); {
	case err == nil:
		return exitYes
	case f != nil && f.status == exitUsage:
		return exitUsage
	case errors.Is(err, errNo):
		return exitNo
	case f != nil:
		return f.status
	}
	return exitFailure
}

const rootLong = `nomen publishes persistent names and keeps them resolvable.

Results go to standard output, everything else to standard error. The exit status is 0
for success and "yes", 1 for the answer "no", 2 for wrong usage, and 3 for a failure of
disk, network or server.

Options can also be set in the environment or in a TOML file (--config). The variable of
an option is NOMEN_ and its long name in capitals: NOMEN_PUBLIC_URL for --public-url. If
the help shows no default for an option, it is off or empty by default.`

const rootExample = `  nomen serve --demo                                serve the 9,154 RFC names
  nomen put urn:dns:example.org:a https://example.org/a
  nomen import names.jsonl.gz
  nomen resolve --via localhost:4500 urn:ietf:rfc:2648`

func (c *cli) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:               "nomen",
		Short:             "publish and resolve persistent names",
		Long:              rootLong,
		Example:           rootExample,
		Args:              noArguments,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.configure(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return c.printVersion()
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version, as 'nomen version' does")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{optionError("", err)} })
	f := root.PersistentFlags()
	f.StringVar(&c.data, "data", defaultData(), "data directory: the store, the administrator's token and the server's address")
	f.StringVar(&c.store, "store", "", "store of the records: pebble:DIR or postgres://HOST/DATABASE (default pebble: in the data directory)")
	f.StringVar(&c.config, "config", "", "TOML file with options; unknown keys are an error")
	f.BoolVar(&c.json, "json", false, "print one JSON object per line instead of text")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "log details to standard error")
	f.BoolVar(&c.clockOK, "clock-ok", false, "allow changes although the clock is more than a day behind the last change (docs/howto/repair-wrong-times.md)")
	root.AddCommand(
		c.serveCommand(), c.resolveCommand(),
		c.discoverCommand(), c.zoneCommand(),
		c.importCommand(), c.exportCommand(),
		c.getCommand(), c.putCommand(), c.retireCommand(),
		c.historyCommand(), c.changesCommand(), c.undoCommand(), c.deleteCommand(), c.redactCommand(),
		c.findCommand(), c.relocateCommand(), c.missesCommand(), c.statsCommand(), c.linksCommand(), c.logCommand(), c.proofCommand(), c.auditCommand(), c.witnessCommand(),
		c.verifyCommand(), c.jobsCommand(), c.healthCommand(), c.doctorCommand(), c.backupCommand(), c.restoreCommand(), c.migrateCommand(), c.handoverCommand(),
		c.mintCommand(), c.rekeyCommand(),
		c.schemesCommand(), c.extractCommand(),
		c.fetchCommand(), c.crawlCommand(), c.conformCommand(), c.replayCommand(),
		c.authorityCommand(), c.configCommand(), c.reloadCommand(), c.tokenCommand(), c.userCommand(), c.signInLinkCommand(), c.versionCommand(), c.manCommand(),
	)
	root.AddCommand(c.identifierCommands()...)
	arrange(root)
	return root
}

// configure sets options from the environment and the configuration file, unless they are set on
// the command line.
func (c *cli) configure(cmd *cobra.Command) error {
	for _, w := range unknownVariables(os.Environ(), knownOptions(cmd.Root())) {
		fmt.Fprintf(c.err, "nomen: warning: %v\n", w) // contains no values, and so no secrets
	}
	return c.readSources(cmd)
}

// endAtHangup restores the default behaviour of SIGHUP, which terminates the process. Only a server
// handles SIGHUP. If the signal has already arrived, endAtHangup terminates the process.
func (c *cli) endAtHangup() {
	if c.hangups == nil {
		return
	}
	signal.Stop(c.hangups)
	select {
	case hangup := <-c.hangups:
		if own, err := os.FindProcess(os.Getpid()); err == nil {
			_ = own.Signal(hangup)
		}
	default:
	}
}

func (c *cli) readSources(cmd *cobra.Command) error {
	c.command, c.flags = cmd, cmd.Flags()
	err := errors.Join(c.readEnvironment(cmd), c.readFile(cmd))
	c.dataDefault = !cmd.Flags().Changed("data")
	return err
}

func (c *cli) newRegistrar(s store.Store, log *slog.Logger, table *store.Table) *registrar.Registrar {
	return registrar.New(s, registrar.Options{Now: clock, Log: log, Authorities: table, AnyTime: c.clockOK})
}

func (c *cli) logger() *slog.Logger {
	level := slog.LevelWarn
	if c.verbose {
		level = slog.LevelInfo
	}
	return newLog(c.err, level)
}

func (c *cli) trace() func(step string) {
	if !c.verbose {
		return nil
	}
	return func(step string) { fmt.Fprintln(c.err, "nomen: "+printable(step)) }
}

// arguments returns a function that checks the number of arguments. If limit is negative, there is
// no maximum.
func arguments(least, limit int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s: too few arguments: expected %s", cmd.Name(), argumentsOf(cmd))
		case limit >= 0 && len(args) > limit:
			return usagef("%s: too many arguments: unexpected %q", cmd.Name(), args[limit])
		}
		return nil
	}
}

// argumentsOf returns the usage line of a command without the name of the command.
func argumentsOf(cmd *cobra.Command) string {
	return strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())), " [flags]")
}

func clock() time.Time { return time.Now() }
