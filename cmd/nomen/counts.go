package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/counts/countstore"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
)

// countsDir is the subdirectory of the data directory that contains the counts of resolutions. A
// server with a database keeps the counts in the database instead.
const countsDir = "counts"

type countKeeper interface{ Counts() counts.Store }

func countsIn(s store.Reader) (counts.Store, error) {
	if cache, ok := s.(*cachestore.Store); ok {
		s = cache.Backing
	}
	if k, ok := s.(countKeeper); ok {
		return k.Counts(), nil
	}
	return nil, fmt.Errorf("%T cannot keep counts: %w", s, errors.ErrUnsupported)
}

type resolutionCounts struct {
	*counts.Counter
	side io.Closer // nil if the counts are in a database
}

func (r *resolutionCounts) Close() error {
	if r == nil {
		return nil
	}
	err := r.Counter.Close()
	if r.side != nil {
		err = errors.Join(err, r.side.Close())
	}
	return err
}

func (r *resolutionCounts) counter() *counts.Counter {
	if r == nil {
		return nil
	}
	return r.Counter
}

func (c *cli) openCounts(f *serveFlags, s store.Reader, table *store.Table, log *slog.Logger) (*resolutionCounts, error) {
	if f.noCounts || f.readOnly {
		return nil, nil
	}
	r := &resolutionCounts{}
	var target counts.Store
	if c.inDatabase() {
		var err error
		if target, err = countsIn(s); err != nil {
			return nil, err
		}
	} else {
		side, err := countstore.OpenOrReplace(countstore.Options{Dir: filepath.Join(c.data, countsDir), Log: log, Pacer: c.pacer})
		if err != nil {
			return nil, err
		}
		target, r.side = side, side
	}
	var err error
	r.Counter, err = counts.Open(counts.Options{
		Store: target, Now: clock, Log: log, Pacer: c.pacer, Authority: func(key string) string { return authorityOf(table, key) },
		Recorded: func(ctx context.Context, key string) bool {
			return hasCounts(ctx, s, name.FromKey(key))
		},
	})
	if err != nil && r.side != nil {
		err = errors.Join(err, r.side.Close())
	}
	return r, err
}

// hasCounts reports whether resolutions of a name are counted for this name. This is so if the name
// has a record or is an alias in a record. If the store cannot be read, hasCounts returns true.
func hasCounts(ctx context.Context, s store.Reader, n name.Name) bool {
	ctx = store.WithStaleness(ctx)
	if _, err := s.Get(ctx, n, time.Time{}); !errors.Is(err, store.ErrNotFound) {
		return true
	}
	all, err := store.Aliased(ctx, s, n)
	return err != nil || len(all) > 0
}

// countGopher returns a function that counts the resolutions by Gopher clients. Their class is
// determined without a User-Agent field. If the server asks other resolvers, the function does not
// count names that no authority on this server covers.
func (p *serverParts) countGopher(asksOthers bool) func(netip.Addr, name.Name, error) {
	counter := p.counts.counter()
	return func(from netip.Addr, n name.Name, err error) {
		key := n.Key()
		if asksOthers && authorityOf(p.table, key) == "" {
			return
		}
		by := new(counts.Client)
		by.Set(from, "")
		var e *nomen.Error
		switch errors.As(err, &e); {
		case err == nil:
			counter.Resolved(by, key, counts.Of(nomen.I2C), clock())
		case e != nil && e.Kind == nomen.Gone:
			counter.Resolved(by, key, counts.Gone, clock())
		case e != nil && e.Kind == nomen.Unknown:
			counter.Failed(by, key, clock())
			p.misses.Add(key, e.Suggestions)
		}
	}
}

func authorityOf(table *store.Table, key string) string {
	set, err := table.Set(store.WithStaleness(context.Background()), time.Time{})
	if err != nil {
		return ""
	}
	if a := set.Of(name.FromKey(key)); a != nil {
		return a.Prefix.String()
	}
	return ""
}

// leftCounts opens the counts that servers have stored. Use it only while no server is running. The
// counter is nil if there are no counts. The caller must call closeAll.
func (c *cli) leftCounts(s store.Store) (k *counts.Counter, closeAll func() error, err error) {
	none := func() error { return nil }
	var target counts.Store
	var side io.Closer
	if c.inDatabase() {
		target, err = countsIn(s)
	} else {
		dir := filepath.Join(c.data, countsDir)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, none, nil
		}
		var opened *countstore.Store
		opened, err = countstore.Open(countstore.Options{Dir: dir, Log: c.logger()})
		target, side = opened, opened
	}
	if err != nil {
		return nil, none, err
	}
	k, err = counts.Open(counts.Options{Store: target, Now: clock})
	r := &resolutionCounts{k, side}
	if err != nil {
		return nil, none, err
	}
	return k, r.Close, nil
}

func (l *local) Resolutions(ctx context.Context, q adminapi.ResolutionQuery) (out adminapi.Resolutions, err error) {
	k, closeAll, err := l.counted(l.store)
	if err != nil {
		return out, err
	}
	found, err := withAPI(ctx, l, func(o *admin.Options) { o.Counts = k }, func(api *admin.API) (*adminapi.Resolutions, error) {
		return api.Resolutions(ctx, registrar.Operator(), q)
	})
	if err == nil {
		out = *found
	}
	return out, errors.Join(err, closeAll())
}

type resolutionFlags struct {
	from, to string
	top      int
	csv      bool
}

func (o *resolutionFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "first month, such as 2026-09 (default the second month before the last)")
	f.StringVar(&o.to, "to", "", "last month (default the present month)")
	f.IntVar(&o.top, "top", 20, "how many of the most resolved names to show, at most 100")
	f.BoolVar(&o.csv, "csv", false, "print CSV: a line for each day or month, then a line for each of the names")
}

func (c *cli) showResolutions(ctx context.Context, subject string, o resolutionFlags) error {
	for _, month := range []struct{ option, text string }{{"from", o.from}, {"to", o.to}} {
		if month.text == "" {
			continue
		}
		if _, err := counts.ParseMonth(month.text); err != nil {
			return usagef("--%s %q: must be a month, such as 2026-10", month.option, month.text)
		}
	}
	q := adminapi.ResolutionQuery{From: o.from, To: o.to, Top: max(o.top, 0)}
	return c.withStore(ctx, reads, func(b backend) error {
		if err := chooseSubject(ctx, b, subject, &q); err != nil {
			return err
		}
		r, err := b.Resolutions(ctx, q)
		switch {
		case err != nil:
			return err
		case c.json:
			return c.printJSON(r)
		case r.Disabled:
			fmt.Fprintln(c.err, "nomen: nothing was counted: no server has run on this data directory, or it runs with --no-counts")
		}
		if o.csv {
			return resolutionsCSV(c.out, &r)
		}
		w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		resolutionsTable(w, &r)
		return w.Flush()
	})
}

// chooseSubject sets the name or the prefix of a query. If the subject is a name, but not the
// prefix of an existing authority, it becomes the name of the query. Otherwise it becomes the
// prefix.
func chooseSubject(ctx context.Context, b backend, subject string, q *adminapi.ResolutionQuery) error {
	if n, err := name.Parse(subject); err == nil {
		if p, err := name.ParsePrefix(subject); err == nil {
			if _, err := b.Authority(ctx, p); err == nil {
				q.Prefix = subject
				return nil
			}
		}
		q.Name = n.Key()
		return nil
	}
	if _, err := name.ParsePrefix(subject); err != nil && subject != "" {
		return usagef("%q is neither a name nor a prefix of names", subject)
	}
	q.Prefix = subject
	return nil
}

func resolutionRow(first string, b adminapi.ByClass) []string {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return []string{first, number(b.Regular), number(b.Machine), number(b.Bot), number(b.Unknown)}
}

func resolutionLines(r *adminapi.Resolutions, shown func(string) string, line func([]string)) {
	line([]string{"resolutions", "regular", "machine", "bot", "unknown"})
	for _, p := range r.Periods {
		line(resolutionRow(p.Period, p.ByClass))
	}
	line(resolutionRow("total", r.Total))
	for _, s := range r.Services {
		line(resolutionRow("service "+s.Service, s.ByClass))
	}
	line(resolutionRow("retired names", r.Gone))
	if r.Name == "" {
		line(resolutionRow("failed lookups", r.Failed))
	}
	for _, n := range r.Aliases {
		line(resolutionRow("alias "+shown(n.Name), n.ByClass))
	}
	for _, n := range r.Names {
		line(resolutionRow(shown(n.Name), n.ByClass))
	}
}

func resolutionsTable(w io.Writer, r *adminapi.Resolutions) {
	resolutionLines(r, printable, func(cells []string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", cells[0], cells[1], cells[2], cells[3], cells[4])
	})
}

func resolutionsCSV(w io.Writer, r *adminapi.Resolutions) error {
	out := csv.NewWriter(w)
	var errs error
	same := func(s string) string { return s }
	resolutionLines(r, same, func(cells []string) {
		cells[0] = bulk.Mark(cells[0])
		errs = errors.Join(errs, out.Write(cells))
	})
	out.Flush()
	return errors.Join(errs, out.Error())
}
