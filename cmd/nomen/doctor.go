package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/adminapi"
)

const doctorLong = `Doctor checks the installation: the configuration, the running server, the clock, limits of
the system, free space, permissions, the store, backups, and how clients reach the server at
its public URL. It changes nothing. It prints a line for each check:

  ok       nothing to do
  warning  may become a problem, or doctor could not check it
  problem  something does not work, or is not safe; the line says what to do

The exit status is 1 if there is a problem.

Doctor works with and without a running server. Run it on the machine of the server, as its
user or as root, with the options of 'nomen serve': doctor accepts them all. Without --config
it reads /etc/nomen/nomen.toml, if that file exists.

If a public URL is set, doctor connects to it and finds out what a proxy in front of the
server changes: names with %2F, // or https:// in the path, queries, redirects, and the
version of HTTP.

With --bundle FILE, doctor also writes what helps others to find a fault: the results without
names and addresses, which options are set, the versions, and the metrics of the server.`

func (c *cli) doctorCommand() *cobra.Command {
	d := &doctor{cli: c, flags: new(serveFlags)}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "check the installation and say what to do",
		Long:    doctorLong,
		Example: "  nomen doctor\n  nomen doctor --config /etc/nomen/nomen.toml --json\n  nomen doctor --bundle support.tar.gz",
		Args:    noArguments,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			c.useSystemConfig(cmd, systemConfig)
			d.configuration = c.configure(cmd)
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.command = cmd.Root()
			return d.run(cmd.Context())
		},
	}
	c.serveOptions(cmd, d.flags)
	cmd.Flags().StringVar(&d.bundle, "bundle", "", "also write a support bundle to this file, which must not exist: a .tar.gz without names, addresses and secrets")
	d.options = cmd.Flags()
	return cmd
}

const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateProblem = "problem"
)

type diagnosis struct {
	State string `json:"state"`
	Check string `json:"check"`
	Text  string `json:"text"`
	Next  string `json:"next,omitempty"` // what the user should do

	bare string // the text in a support bundle
}

type doctor struct {
	*cli
	flags         *serveFlags
	options       *pflag.FlagSet // the options of serve; their values are in the field flags
	command       *cobra.Command // the command nomen
	configuration error

	server  string           // URL of the admin listener of the running server; "" if no server runs
	version adminapi.Version // version of the running server
	metrics map[string]float64
	bundle  string // file for the support bundle
	all     []diagnosis
}

func (d *doctor) ok(check, format string, args ...any) { d.add(stateOK, check, "", format, args...) }

func (d *doctor) warning(check, next, format string, args ...any) {
	d.add(stateWarning, check, next, format, args...)
}

func (d *doctor) problem(check, next, format string, args ...any) {
	d.add(stateProblem, check, next, format, args...)
}

func (d *doctor) add(state, check, next, format string, args ...any) {
	bare := slices.Clone(args)
	for i, arg := range args {
		bare[i] = hidden(arg)
		switch v := arg.(type) {
		case error:
			args[i] = d.words(v)
		case publicURL:
			args[i] = d.hide(v.String())
		case string:
			args[i] = d.hide(v)
		}
	}
	d.all = append(d.all, diagnosis{state, check, fmt.Sprintf(format, args...), next, fmt.Sprintf(format, bare...)})
}

func (d *doctor) option(name string) []string {
	switch f := d.options.Lookup(name); {
	case f == nil:
		return nil
	default:
		if list, ok := f.Value.(pflag.SliceValue); ok {
			return list.GetSlice()
		}
		return []string{f.Value.String()}
	}
}

// text returns the values of an option of serve, separated by commas.
func (d *doctor) text(name string) string { return strings.Join(d.option(name), ",") }

const doctorTimeout = 10 * time.Second

func (d *doctor) run(ctx context.Context) error {
	for _, check := range []func(context.Context){
		d.checkConfiguration, d.checkServer, d.checkClock, d.checkDescriptors, d.checkMemory,
		d.checkSpace, d.checkAccess, d.checkAdmin, d.checkSecondPerson, d.checkStore, d.checkScrub, d.checkPublished, d.checkBackups, d.checkPublic,
	} {
		limited, cancel := context.WithTimeout(ctx, doctorTimeout)
		check(limited)
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if d.bundle != "" {
		if err := d.writeBundle(); err != nil {
			return err
		}
	}
	return d.show()
}

func (d *doctor) show() error {
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	problems := 0
	for _, f := range d.all {
		if f.State == stateProblem {
			problems++
		}
		if d.json {
			if err := d.printJSON(f); err != nil {
				return err
			}
			continue
		}
		line := f.Text
		if f.Next != "" {
			line += "; " + f.Next
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.State, f.Check, printable(line))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if problems > 0 {
		fmt.Fprintf(d.err, "nomen: %s\n", count(int64(problems), "problem"))
		return errNo
	}
	return nil
}

func (d *doctor) checkConfiguration(context.Context) {
	const check = "configuration"
	failed := false
	for _, f := range d.findings(d.command, d.flags, d.configuration) {
		switch f.Severity {
		case "error":
			d.problem(check, "a server does not start with it", "%s", f.err)
			failed = true
		case "warning":
			d.warning(check, "", "%s", f.err)
		}
	}
	switch {
	case failed:
	case d.config == "":
		d.ok(check, "no configuration file")
	default:
		d.ok(check, "%s", d.config)
	}
}

func (d *doctor) checkServer(ctx context.Context) {
	const check = "server"
	api, err := d.cli.server(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.warning(check, "start it, or check --data", "no server runs on %s", d.data)
		return
	case err != nil:
		d.problem(check, "see its log; if no server runs, remove "+urlFile+" in the data directory", "the server of %s does not answer: %s", d.data, err)
		return
	}
	d.server = api.URL
	d.version, err = api.Version(ctx)
	if err != nil {
		d.problem(check, "see its log", "the server at %s does not answer: %s", api.URL, err)
		return
	}
	client, base, err := reach(d.server)
	status, healthy := "", false
	if err == nil {
		status, healthy = askHealth(ctx, client, base+readyPath)
		d.metrics = readMetrics(ctx, client, base)
	}
	if healthy {
		d.ok(check, "ready at %s", d.server)
	} else {
		d.problem(check, "see docs/reference/failures.md", "the server at %s is not ready: %s", d.server, status)
	}
	if d.version.Version != versionText() {
		d.warning(check, "restart the server after an upgrade", "the server has version %s, this program %s", safe(d.version.Version), safe(versionText()))
	}
}
