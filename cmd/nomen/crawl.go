package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/crawl"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
)

const crawlLong = `Crawl follows the links between naming authorities, starting from AUTHORITY. It asks the
resolver of each authority for parents and children, and continues with these:

  parents (urn+p)   the authorities that authorised this authority
  children (urn+c)  the authorities that this authority authorised

AUTHORITY is a domain name, or urn:dns: and a domain name. Each authority is asked once,
and several authorities are asked at the same time; requests to the same address are
--delay apart. The resolver of an authority is at the authority's own host, or where
--table says. With --via one resolver is asked about all authorities. Only the first
authority may be in a private network, unless --allow-private is given.

Crawl prints a line for each link: the authority, the word parent or child, and the name of
the parent or child as the resolver gave it. At the end, --format dot prints a graph for
Graphviz, and --format svg a drawing of a tree.

With --state FILE the progress is saved in FILE. If you run the command again, even after a
crash, it continues from FILE. With --retry it asks failed authorities again.

The exit status is 3 if the first authority could not be asked. It is 1 if another
authority could not be asked, or if a limit ended the crawl. Standard error has the reason.`

const (
	crawlText = "text"
	crawlJSON = "json"
	crawlDOT  = "dot"
	crawlSVG  = "svg"
)

func crawlFormats() []string { return []string{crawlText, crawlJSON, crawlDOT, crawlSVG} }

func crawlRelations() []string { return []string{crawl.Parent, crawl.Child, "both"} }

type crawling struct {
	*cli
	client       client.Options
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
		Short: "list the parents and children of naming authorities",
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
	f.StringVar(&r.format, "format", crawlText, "output format: text, json (same as --json), dot or svg")
	f.StringVar(&r.relation, "relation", "both", "links to follow: parent, child or both")
	f.StringVar(&r.client.Via, "via", "", "HOST:PORT or URL of the resolver to ask about all authorities (default each authority's own)")
	portOption(f, &r.client.Port)
	timeoutOption(f, &r.client.Timeout)
	f.DurationVar(&r.options.Delay, "delay", crawl.DefaultDelay, "pause between two requests to an address; 0 for none")
	f.IntVar(&r.options.Parallel, "parallel", crawl.DefaultParallel, "number of authorities to ask concurrently")
	f.IntVar(&r.options.MaxDepth, "depth", crawl.DefaultMaxDepth, "maximum number of links between the first authority and another; 0 for only the first")
	f.IntVar(&r.options.MaxNodes, "max-authorities", crawl.DefaultMaxNodes, "maximum number of authorities to ask")
	notNegative(f, "delay", "parallel", "depth", "max-authorities")
	f.StringVar(&r.bytes, "max-bytes", "", "maximum size of all responses, such as 500M (default 64M)")
	f.StringVar(&r.state, "state", "", "file in which to save the progress")
	f.BoolVar(&r.options.Retry, "retry", false, "with --state: ask failed authorities again")
	f.BoolVar(&r.allowPrivate, "allow-private", false, "allow authorities in private networks")
	r.find.register(f)
	complete(cmd, "format", crawlFormats())
	complete(cmd, "relation", crawlRelations())
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
	ask, end, err := r.queriers(first)
	if err != nil {
		return err
	}
	defer end()
	if r.state != "" {
		if r.options.State, err = crawl.OpenState(r.state); err != nil {
			return usageError{err}
		}
		if n := r.options.State.Known(); n > 0 {
			fmt.Fprintf(r.err, "nomen: continuing after %d authorities in %s\n", n, r.state)
		}
	}
	err = r.walk(ctx, crawl.New(ask, r.options), first)
	if r.options.State != nil {
		err = errors.Join(err, r.options.State.Close())
	}
	return err
}

// prepare checks the command line options, and sets the options of the crawler and the client.
func (r *crawling) prepare() (err error) {
	r.options.NoParents, r.options.NoChildren = r.relation == crawl.Child, r.relation == crawl.Parent
	switch {
	case !slices.Contains(crawlRelations(), r.relation):
		return usagef("--relation %q: must be parent, child or both", r.relation)
	case !slices.Contains(crawlFormats(), r.format):
		return usagef("--format %q: must be text, json, dot or svg", r.format)
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
		return usagef("--retry needs --state")
	}
	if r.bytes != "" {
		if r.options.MaxBytes, err = parseSize(r.bytes); err != nil {
			return usagef("--max-bytes: %w", err)
		}
	}
	r.client.Trace = r.trace()
	if err := r.find.complete(&r.client); err != nil {
		return err
	}
	if r.options.Hosts = r.addresses; r.client.Via != "" {
		r.options.Hosts = func(context.Context, string) []string { return []string{r.client.Via} }
	}
	return nil
}

func (r *crawling) addresses(ctx context.Context, authority string) []string {
	at := authority
	port := strconv.Itoa(int(cmp.Or(r.client.Port, discover.Port)))
	if n, err := name.Parse("urn:dns:" + authority + ":" + crawl.AskParents); err == nil && r.client.Finder != nil {
		for w, err := range r.client.Finder.Find(ctx, n) {
			if u, bad := url.Parse(w.URL); err == nil && bad == nil {
				at = cmp.Or(w.Host, u.Hostname(), at)
				port = cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme], strconv.Itoa(int(w.Port)))
				break
			}
		}
	}
	dns := r.client.DNS
	if dns == nil {
		dns = net.DefaultResolver
	}
	addresses, err := discover.HostAddresses(ctx, dns, at)
	if err != nil || len(addresses) == 0 {
		return []string{net.JoinHostPort(at, port)} // use the name itself; the request then fails with the error of the lookup
	}
	all := make([]string, len(addresses))
	for i, a := range addresses {
		all[i] = net.JoinHostPort(a.String(), port)
	}
	return all
}

// queriers returns a querier and a function that closes it. The user has specified the first
// authority, so its server may have any address. All other authorities come from responses of
// servers. Without --allow-private, the querier connects to these only at public addresses.
func (r *crawling) queriers(first string) (crawl.Querier, func(), error) {
	open, guarded, end, err := openAndGuarded(r.client)
	if err != nil {
		return nil, nil, err
	}
	if r.allowPrivate {
		return crawl.QuerierOf(open), end, nil
	}
	return &firstTrusted{first, crawl.QuerierOf(open), crawl.QuerierOf(guarded)}, end, nil
}

// A firstTrusted is a querier that connects to private addresses only for the first authority.
type firstTrusted struct {
	first         string
	open, guarded crawl.Querier
}

func (t *firstTrusted) Query(ctx context.Context, authority, request string) ([]string, error) {
	if authority == t.first {
		return t.open.Query(ctx, authority, request)
	}
	return t.guarded.Query(ctx, authority, request)
}

// walk crawls the authorities. It prints each authority immediately, except if the format is a
// drawing, for which all authorities must be known.
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

// show prints the relations of an authority to standard output, and its errors to standard error.
func (r *crawling) show(n *crawl.Node) error {
	for _, e := range n.Errors {
		fmt.Fprintf(r.err, "nomen: %s: %s\n", n.Authority, printable(e))
	}
	if n.Skipped > 0 {
		fmt.Fprintf(r.err, "nomen: %s: ignored %d names beyond the limit\n", n.Authority, n.Skipped)
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

func (r *crawling) draw() error {
	draw := map[string]func(io.Writer, []*crawl.Node) error{crawlDOT: crawl.WriteDOT, crawlSVG: crawl.WriteSVG}[r.format]
	if draw == nil || len(r.nodes) == 0 {
		return nil
	}
	return draw(r.out, r.nodes)
}

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
