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
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/urn"
)

const discoverLong = `Discover shows step by step how the resolver of a name is found. It does not contact the
resolvers themselves.

It tries, in this order:

  1. the entries of the table (--table) for the longest prefix of the name
  2. for urn:dns names, all addresses of the host; for other names, the rules in the
     Domain Name System (DDDS, RFC 3404)
  3. the known public resolvers (--public-table)
  4. the default resolver (--default-resolver)

A table has one entry per line: a prefix of names, and the resolver for these names.

  urn:nbn:fi     https://urn.fi/{name}            a URL with the name in it
  urn:example    https://names.example.org/       names are paths below it
  urn:nir        https://h.example/uri-res/       RFC 2169
  urn:dns:a.org  names.example.org:4500           the protocol of 1995
  doi            https://doi.example/{element}    only what follows the prefix
  urn:secret     -                                no resolver: such names are not looked up

--dialect selects the version of the URN syntax by which a name is read, as for
'nomen resolve'. Components and directives after the name do not matter here.

The exit status is 0 if a resolver was found, and 1 if none was found. It is 3 if DNS
failed, even if a resolver was found, because DNS may name other resolvers.

` + streamHelp

type finderFlags struct {
	table, public string
	dns           []string
	fallback      string
}

const noTable = "none"

func (o *finderFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.table, "table", "", "file of prefixes and their resolvers, tried first (default none)")
	f.StringVar(&o.public, "public-table", "", `file to use instead of the built-in table of public resolvers; "none" for no table`)
	dnsOption(f, &o.dns)
	f.StringVar(&o.fallback, "default-resolver", "", "HOST:PORT or URL of the resolver for names without any other resolver (default none)")
}

// finder returns a finder of resolvers, and the DNS resolver that the finder uses. If trace is not
// nil, the finder calls it for each step.
func (o *finderFlags) finder(port uint16, trace func(discover.Step)) (*discover.Finder, *discover.Resolver, error) {
	dns, err := newDNS(o.dns)
	if err != nil {
		return nil, nil, err
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
	if err := checkDefault(o.fallback); err != nil {
		return nil, nil, err
	}
	f, err := discover.New(options)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return f, dns, nil
}

func checkDefault(resolver string) error {
	if _, err := discover.New(discover.Options{Default: resolver}); err != nil {
		return usagef("--default-resolver: %w", err)
	}
	return nil
}

// complete sets the finder and the DNS resolver in the options of a client. If Via is set, the
// client does not need a finder, and complete sets only the DNS resolver.
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

// hosts returns the DNS resolver for host names. The result is nil if the resolver of the system is
// to be used.
func (o *finderFlags) hosts() (discover.DNS, error) {
	if len(o.dns) == 0 {
		return nil, nil
	}
	return newDNS(o.dns)
}

func newDNS(servers []string) (*discover.Resolver, error) {
	dns, err := discover.NewResolver(discover.ResolverOptions{Servers: servers})
	if err != nil {
		return nil, usagef("--dns: %w", err)
	}
	return dns, nil
}

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
	portOption(cmd.Flags(), &port)
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

type discovery struct {
	finder  *discover.Finder
	dns     *discover.Resolver
	dialect urn.Dialect // of the URNs given

	name  string
	steps []discoveryStep // of the current name
}

type discoveryStep struct {
	Name     string        `json:"name"`
	Step     int           `json:"step"`
	How      string        `json:"how"`
	Target   string        `json:"target"`
	Kind     discover.Kind `json:"kind,omitempty"` // only if a resolver was found
	Services []string      `json:"services,omitempty"`
}

func (d *discovery) add(how, target string) {
	d.steps = append(d.steps, discoveryStep{Name: d.name, Step: len(d.steps) + 1, How: how, Target: target})
}

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

type noWayError struct{ name string }

func (e noWayError) Error() string { return e.name + ": no resolver found" }

func (e noWayError) Is(target error) bool { return target == errNo }

func explainWay(err error) *resolveError {
	e := explainAnswer(err)
	if errors.Is(err, errNo) {
		e.Code = "no-way"
	}
	return e
}

// find finds the resolvers of a name and records them. If the name has no resolver, the error is a
// [noWayError]. If a lookup fails, find returns the last such error. A host that does not exist in
// DNS is not an error.
func (d *discovery) find(ctx context.Context, n name.Name) error {
	found := false
	var failed error
	for w, err := range d.finder.Find(ctx, n) {
		if err == nil {
			err = d.way(ctx, w)
			found = found || err == nil
		}
		var dns *net.DNSError
		if err != nil && !(errors.As(err, &dns) && dns.IsNotFound) {
			failed = err
		}
	}
	if failed == nil && !found {
		return noWayError{n.Key()}
	}
	return failed
}

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
		d.add("cannot look up the addresses: "+shown.Error(err), w.Host)
		return err
	}
	for i, a := range addrs {
		d.add(fmt.Sprintf("address %d of %d", i+1, len(addrs)), a.String())
	}
	return nil
}

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
	_ = w.Flush() // answers keep the first error
}
