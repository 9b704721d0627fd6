package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/urn"
)

const discoverLong = `Discover shows by which steps the resolver of a name is found, and why. Nothing is
asked of the resolvers themselves.

The ways are tried in this order: the entries of the table for the longest prefix
of the name; for urn:dns names, all addresses of the host; for all others, rules
in the domain name system (DDDS, RFC 3404); the public resolvers that are known;
the default resolver.

A table has an entry a line: a prefix of names, and where they are asked for.

  urn:nbn:fi     https://urn.fi/{name}            a URL with the name in it
  urn:example    https://names.example.org/       names are paths below it
  urn:nir        https://h.example/uri-res/       by RFC 2169
  urn:dns:a.org  names.example.org:4500           by the protocol of 1995
  doi            https://doi.example/{element}    what follows the prefix
  urn:secret     -                                nobody is asked

--dialect takes the generation of the URN syntax by which to read a name, as for
'nomen resolve'. Components and directives after the name do not change the way.

The exit status is 0 if there is a way, 1 if there is none, 3 if DNS could not be
asked: then there may be others.`

// finderFlags are the options by which resolvers are found.
type finderFlags struct {
	table, public string
	dns           []string
	fallback      string
}

// noTable is the name of no table of public resolvers.
const noTable = "none"

func (o *finderFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.table, "table", "", "file of prefixes and their resolvers, which come first (default none)")
	f.StringVar(&o.public, "public-table", "", `file in place of the known public resolvers, "none" for none (default those of discover/public.txt)`)
	f.StringSliceVar(&o.dns, "dns", nil, "IP or IP:PORT of the DNS server (default those of the system)")
	f.StringVar(&o.fallback, "default-resolver", "", "HOST:PORT or URL of the resolver for names that nothing else leads to (default none)")
}

// finder returns a finder, and the resolver by which it asks DNS. trace, if not
// nil, is told of each step.
func (o *finderFlags) finder(port uint16, trace func(discover.Step)) (*discover.Finder, *discover.Resolver, error) {
	dns, err := discover.NewResolver(discover.ResolverOptions{Servers: o.dns})
	if err != nil {
		return nil, nil, usagef("--dns: %w", err)
	}
	options := discover.Options{Port: port, Rules: dns, Public: discover.Public(), Default: o.fallback, Trace: trace}
	if options.Table, err = readTable(o.table); err != nil {
		return nil, nil, err
	}
	switch o.public {
	case "":
	case noTable:
		options.Public = nil
	default:
		if options.Public, err = readTable(o.public); err != nil {
			return nil, nil, err
		}
	}
	f, err := discover.New(options)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return f, dns, nil
}

// complete makes a client find resolvers, unless one is named that is asked about
// all: that may have to be looked up.
func (o *finderFlags) complete(c *client.Options) error {
	if c.Via == "" {
		finder, dns, err := o.finder(c.Port, nil)
		if err != nil {
			return err
		}
		c.Finder, c.DNS = finder, dns
		return nil
	}
	var err error
	c.DNS, err = o.hosts()
	return err
}

// hosts returns by which DNS hosts are looked up; nil for that of the system.
func (o *finderFlags) hosts() (discover.DNS, error) {
	if len(o.dns) == 0 {
		return nil, nil
	}
	dns, err := discover.NewResolver(discover.ResolverOptions{Servers: o.dns})
	if err != nil {
		return nil, usagef("--dns: %w", err)
	}
	return dns, nil
}

// readTable reads a table; "" is none.
func readTable(file string) ([]discover.Entry, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError{err}
	}
	entries, err := discover.ParseTable(string(text))
	if err != nil {
		return nil, usagef("%s: %w", file, err)
	}
	return entries, nil
}

func (c *cli) discoverCommand() *cobra.Command {
	var flags finderFlags
	var port uint16
	cmd := &cobra.Command{
		Use:   "discover NAME...",
		Short: "show how the resolver of a name is found",
		Long:  discoverLong,
		Example: `  nomen discover urn:dns:example.org:alb002
  nomen discover --dns 192.0.2.53 --json urn:nbn:fi-fe2019
  nomen discover --dialect 2012 'urn:nbn:fi-fe2019?s=I2L'
  nomen discover --table resolvers.txt --public-table none - < names.txt`,
		Args: arguments(1, -1),
	}
	flags.register(cmd.Flags())
	cmd.Flags().Uint16Var(&port, "port", 0, "of resolvers of urn:dns names (default 4500)")
	dialect := addURNDialect(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d := &discovery{dialect: dialect.d}
		var err error
		d.finder, d.dns, err = flags.finder(port, func(s discover.Step) { d.add(s.How, s.Target) })
		if err != nil {
			return err
		}
		return c.answerNames(cmd.Context(), args, func(a *answers, arg string) error { return d.show(cmd.Context(), a, arg) })
	}
	return cmd
}

// A discovery shows the steps to the resolvers of names.
type discovery struct {
	finder  *discover.Finder
	dns     *discover.Resolver
	dialect urn.Dialect // of the URNs that are given

	name  string
	steps []discoveryStep // of the name
}

// A discoveryStep is a step in JSON.
type discoveryStep struct {
	Name     string        `json:"name"`
	Step     int           `json:"step"`
	How      string        `json:"how"`
	Target   string        `json:"target"`
	Kind     discover.Kind `json:"kind,omitempty"` // of a way
	Services []string      `json:"services,omitempty"`
}

func (d *discovery) add(how, target string) {
	d.steps = append(d.steps, discoveryStep{Name: d.name, Step: len(d.steps) + 1, How: how, Target: target})
}

// show answers with the steps for one name, and says what failed.
func (d *discovery) show(ctx context.Context, a *answers, arg string) error {
	d.name, d.steps = arg, nil
	q, err := client.ParseDialect(d.dialect, arg)
	if err == nil && q.Name.IsZero() {
		q.Name, err = name.Parse(arg)
	}
	if err != nil {
		a.refuse(err, badName{arg, explainAnswer(err)})
		return err
	}
	d.name = q.Name.Key()
	err = d.find(ctx, q.Name)
	d.print(a)
	if err != nil {
		a.refuse(err, badName{d.name, explainWay(err)})
	}
	return err
}

// A noWayError says that nothing leads to a resolver.
type noWayError struct{ name string }

func (e noWayError) Error() string { return e.name + ": nothing leads to a resolver" }

func (e noWayError) Is(target error) bool { return target == errNo }

func explainWay(err error) *resolveError {
	e := explainAnswer(err)
	if errors.Is(err, errNo) {
		e.Code = "no-way"
	}
	return e
}

// find notes the steps. A failure of DNS is the last that happened; a host that
// does not exist is none.
func (d *discovery) find(ctx context.Context, n name.Name) error {
	some := false
	var failed error
	for w, err := range d.finder.Find(ctx, n) {
		if err == nil {
			err = d.way(ctx, w)
			some = some || err == nil
		}
		var dns *net.DNSError
		if err != nil && !(errors.As(err, &dns) && dns.IsNotFound) {
			failed = err
		}
	}
	if failed == nil && !some {
		return noWayError{n.Key()}
	}
	return failed
}

// way adds the step to a way, and those to the addresses of its host.
func (d *discovery) way(ctx context.Context, w discover.Way) error {
	target := w.URL
	if target == "" {
		target = net.JoinHostPort(w.Host, strconv.Itoa(int(w.Port)))
	}
	d.add(w.How, target)
	last := &d.steps[len(d.steps)-1]
	last.Kind, last.Services = w.Kind, w.Services
	if w.Host == "" {
		return nil
	}
	addrs, err := discover.Addresses(ctx, d.dns, w.Host)
	if err != nil {
		d.add("look up its addresses: "+err.Error(), w.Host)
		return err
	}
	for i, a := range addrs {
		d.add(fmt.Sprintf("address %d of %d", i+1, len(addrs)), a.String())
	}
	return nil
}

// print writes the steps, aligned for people.
func (d *discovery) print(a *answers) {
	if a.json != nil {
		for _, s := range d.steps {
			a.object(s)
		}
		return
	}
	a.text(printable(d.name))
	w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
	for _, s := range d.steps {
		fmt.Fprintf(w, "%3d  %s\t%s\t%s\n", s.Step, s.Kind, printable(s.Target), printable(s.How))
	}
	_ = w.Flush() // answers keep their own errors
}
