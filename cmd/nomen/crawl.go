package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/crawl"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
)

const crawlLong = `Crawl walks the web of naming authorities from one on. It asks the resolver of
each, by the reserved requests urn+p and urn+c, which authorities have authorised
it and which it has authorised, and goes on to those.

AUTHORITY is a domain name, or urn:dns: with one. Each authority is asked once,
breadth first, a few at a time; an address is left alone for --delay between two
requests, however many authorities are there. The resolver of each is at its own host, or where --table says. Only the
first may be in a private network, unless --allow-private says so. With --via one
resolver is asked about all of them.

It prints a line for each thing that is said: the authority, what the other is
to it (parent or child), and the other's name as it is spelled there. --format
dot prints a graph for Graphviz when the walk has ended, and svg a drawn tree.

With --state the walk is kept in a file as it goes. The same command goes on
from there, also after it was killed; --retry asks those again that failed.

The exit status is 1 if an authority could not be asked or a limit ended the
walk, which standard error says, and 3 if the first could not be asked.`

// The formats of the command.
const (
	crawlText = "text"
	crawlJSON = "json"
	crawlDOT  = "dot"
	crawlSVG  = "svg"
)

// A crawling is one run of the command.
type crawling struct {
	*cli
	asker        client.Options
	find         finderFlags
	options      crawl.Options
	format       string
	relation     string
	state        string
	bytes        string
	allowPrivate bool

	nodes  []*crawl.Node
	failed int
}

func (c *cli) crawlCommand() *cobra.Command {
	r := &crawling{cli: c}
	cmd := &cobra.Command{
		Use:   "crawl AUTHORITY",
		Short: "walk parents and children of a naming authority",
		Long:  crawlLong,
		Example: `  nomen crawl example.org
  nomen crawl --relation child --depth 3 --json example.org
  nomen crawl --state example.crawl --delay 5s example.org
  nomen crawl --format svg example.org > authorities.svg
  nomen crawl --via localhost:4500 --format dot urn:dns:example.org | dot -Tpdf > authorities.pdf`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&r.format, "format", crawlText, "text, json (as with --json), dot or svg")
	f.StringVar(&r.relation, "relation", "both", "parent, child or both")
	f.StringVar(&r.asker.Via, "via", "", "HOST:PORT or URL of the resolver to ask about all (default that of each)")
	f.Uint16Var(&r.asker.Port, "port", 0, "of resolvers (default 4500)")
	f.DurationVar(&r.asker.Timeout, "timeout", client.DefaultTimeout, "of one attempt at one address")
	f.DurationVar(&r.options.Delay, "delay", crawl.DefaultDelay, "between two requests to an address; negative for none")
	f.IntVar(&r.options.Parallel, "parallel", crawl.DefaultParallel, "authorities asked at a time")
	f.IntVar(&r.options.MaxDepth, "depth", crawl.DefaultMaxDepth, "steps from the first; negative for the first alone")
	f.IntVar(&r.options.MaxNodes, "max-authorities", crawl.DefaultMaxNodes, "how many to ask")
	f.StringVar(&r.bytes, "max-bytes", "", "of all answers, as 500M (default 64M)")
	f.StringVar(&r.state, "state", "", "file that keeps the walk")
	f.BoolVar(&r.options.Retry, "retry", false, "with --state: ask those again that failed")
	f.BoolVar(&r.allowPrivate, "allow-private", false, "let authorities lead to private addresses")
	r.find.register(f)
	complete(cmd, "format", []string{crawlText, crawlJSON, crawlDOT, crawlSVG})
	complete(cmd, "relation", []string{crawl.Parent, crawl.Child, "both"})
	return cmd
}

func (r *crawling) run(ctx context.Context, arg string) error {
	first, ok := crawl.Authority(arg)
	if !ok {
		return usagef("%q: %w", arg, crawl.ErrAuthority)
	}
	if err := r.prepare(); err != nil {
		return err
	}
	ask, end, err := r.askers(first)
	if err != nil {
		return err
	}
	defer end()
	if r.state != "" {
		if r.options.State, err = crawl.OpenState(r.state); err != nil {
			return usageError{err}
		}
		if n := r.options.State.Known(); n > 0 {
			fmt.Fprintf(r.err, "nomen: going on from %d authorities in %s\n", n, r.state)
		}
	}
	err = r.walk(ctx, crawl.New(ask, r.options), first)
	if r.options.State != nil {
		err = errors.Join(err, r.options.State.Close())
	}
	return err
}

// prepare reads the options that have a syntax of their own.
func (r *crawling) prepare() (err error) {
	switch r.relation {
	case "both":
	case crawl.Parent:
		r.options.NoChildren = true
	case crawl.Child:
		r.options.NoParents = true
	default:
		return usagef("--relation %q: want parent, child or both", r.relation)
	}
	switch r.format {
	case crawlText, crawlJSON, crawlDOT, crawlSVG:
	default:
		return usagef("--format %q: want text, json, dot or svg", r.format)
	}
	if r.json {
		r.format = crawlJSON
	}
	if r.options.Delay == 0 {
		r.options.Delay = -1
	}
	if r.options.MaxDepth == 0 {
		r.options.MaxDepth = -1
	}
	if r.options.Retry && r.state == "" {
		return usagef("--retry is for --state")
	}
	if r.bytes != "" {
		if r.options.MaxBytes, err = parseSize(r.bytes); err != nil {
			return usagef("--max-bytes: %w", err)
		}
	}
	if r.verbose {
		r.asker.Trace = func(step string) { fmt.Fprintln(r.err, "nomen: "+printable(step)) }
	}
	if err := r.find.complete(&r.asker); err != nil {
		return err
	}
	if r.options.Hosts = r.addresses; r.asker.Via != "" {
		r.options.Hosts = func(context.Context, string) []string { return []string{r.asker.Via} }
	}
	return nil
}

// addresses returns where an authority is asked: many may be at one host.
func (r *crawling) addresses(ctx context.Context, authority string) []string {
	at := authority
	port := strconv.Itoa(int(cmp.Or(r.asker.Port, discover.Port)))
	if n, err := name.Parse("urn:dns:" + authority + ":" + crawl.AskParents); err == nil && r.asker.Finder != nil {
		for w, err := range r.asker.Finder.Find(ctx, n) {
			if u, bad := url.Parse(w.URL); err == nil && bad == nil {
				at = cmp.Or(w.Host, u.Hostname(), at)
				port = cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme], strconv.Itoa(int(w.Port)))
				break
			}
		}
	}
	dns := r.asker.DNS
	if dns == nil {
		dns = net.DefaultResolver
	}
	addresses, err := discover.HostAddresses(ctx, dns, at)
	if err != nil || len(addresses) == 0 {
		return []string{net.JoinHostPort(at, port)} // where it cannot be asked either
	}
	all := make([]string, len(addresses))
	for i, a := range addresses {
		all[i] = net.JoinHostPort(a.String(), port)
	}
	return all
}

// askers returns who asks the first authority, which the user has named, and the
// others, which strangers have.
func (r *crawling) askers(first string) (crawl.Querier, func(), error) {
	open, guarded, end, err := openAndGuarded(r.asker)
	if err != nil {
		return nil, nil, err
	}
	if r.allowPrivate {
		return crawl.QuerierOf(open), end, nil
	}
	return &trustingOne{first, crawl.QuerierOf(open), crawl.QuerierOf(guarded)}, end, nil
}

// A trustingOne asks one authority wherever it is, and others in public.
type trustingOne struct {
	first         string
	open, guarded crawl.Querier
}

func (t *trustingOne) Query(ctx context.Context, authority, request string) ([]string, error) {
	if authority == t.first {
		return t.open.Query(ctx, authority, request)
	}
	return t.guarded.Query(ctx, authority, request)
}

// walk prints what is found, as it is found or at the end.
func (r *crawling) walk(ctx context.Context, w *crawl.Walker, first string) error {
	start := clock()
	var ended error
	for n, err := range w.Walk(ctx, first) {
		if err != nil {
			ended = err
			break
		}
		r.nodes = append(r.nodes, n)
		if err := r.show(n); err != nil {
			return err
		}
		if isTerminal(r.err) && !isTerminal(r.out) {
			fmt.Fprintf(r.err, "\r%d authorities, %s ", len(r.nodes), clock().Sub(start).Round(time.Second))
		}
	}
	if err := r.draw(); err != nil {
		return err
	}
	return r.judge(ended)
}

// show prints what an authority says, and on standard error what it does not.
func (r *crawling) show(n *crawl.Node) error {
	for _, e := range n.Errors {
		fmt.Fprintf(r.err, "nomen: %s: %s\n", n.Authority, printable(e))
	}
	if n.Skipped > 0 {
		fmt.Fprintf(r.err, "nomen: %s: %d names more than are kept\n", n.Authority, n.Skipped)
	}
	if len(n.Errors) > 0 {
		r.failed++
	}
	switch r.format {
	case crawlJSON:
		return crawl.WriteJSON(r.out, n)
	case crawlText:
		for _, e := range n.Edges() {
			if _, err := fmt.Fprintf(r.out, "%s\t%s\t%s\n", e.Authority, e.Relation, printable(e.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw prints the formats that need the whole.
func (r *crawling) draw() error {
	draw := map[string]func(io.Writer, []*crawl.Node) error{crawlDOT: crawl.WriteDOT, crawlSVG: crawl.WriteSVG}[r.format]
	if draw == nil || len(r.nodes) == 0 {
		return nil
	}
	return draw(r.out, r.nodes)
}

// judge says how the walk ended.
func (r *crawling) judge(ended error) error {
	var limit *crawl.LimitError
	var state *crawl.StateError
	switch {
	case errors.As(ended, &limit):
		fmt.Fprintln(r.err, "nomen: "+words(ended))
		return errNo
	case errors.As(ended, &state):
		return usageError{ended}
	case ended != nil:
		return ended
	case len(r.nodes) > 0 && len(r.nodes[0].Errors) > 0:
		return errFailed
	case r.failed > 0:
		return errNo
	}
	return nil
}
