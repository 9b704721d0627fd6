package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/tlog"
)

// A Log provides the files of a log.
type Log interface {
	tlog.TileReader
	Checkpoint(ctx context.Context) ([]byte, error)
}

// Options are the settings of a [Watcher].
type Options struct {
	Log       Log
	Key       note.Verifier   // key of the log; its name is the origin
	Witnesses []note.Verifier // witnesses whose cosignatures count
	Need      int             // number of cosignatures that a checkpoint must have
	Prefixes  []name.Prefix   // names whose changes are reported
	Seen      [][]byte        // signed checkpoints from other clients; the log must be consistent with all of them
	All       bool            // check the whole log: an audit
	MaxAge    time.Duration   // maximum time without new entries; 0 means no maximum
	Tolerance time.Duration   // amount by which the times of entries may be out of order; 0 means DefaultTolerance
	State     string          // file for the state of the watcher; "" for none
	Served    Served          // compares the content on the server with the log; nil for no comparison
	Now       func() time.Time
	Alert     func(*Alert)                // is called for each alert
	Progress  func(checked, total uint64) // is called from time to time; nil for none
}

// Check returns an error if the options are invalid.
func (o *Options) Check() error {
	if o.Need < 0 || o.Need > len(o.Witnesses) {
		return fmt.Errorf("%d cosignatures are needed, but %d witnesses are known", o.Need, len(o.Witnesses))
	}
	for _, w := range o.Witnesses {
		if !tlog.IsWitnessKey(w) {
			return fmt.Errorf("the key %q is not that of a witness", w.Name())
		}
	}
	if o.MaxAge < 0 {
		return errors.New("the maximum age must not be negative")
	}
	if tlog.IsWitnessKey(o.Key) {
		return fmt.Errorf("the key %q is that of a witness, not of a log", o.Key.Name())
	}
	return nil
}

// A Report is the result of a check.
type Report struct {
	Origin     string    `json:"origin"`
	Size       uint64    `json:"size"`       // number of entries in the log
	Root       string    `json:"root"`       // in hexadecimal
	Checked    uint64    `json:"checked"`    // total number of entries checked so far
	Entries    bool      `json:"entries"`    // the log publishes its entries
	Hidden     uint64    `json:"hidden"`     // number of entries that the log does not disclose, because of names that are not public
	Served     int       `json:"served"`     // number of names compared with the server
	Unanswered int       `json:"unanswered"` // number of names that could not be compared, because the server did not answer properly
	Cosigns    int       `json:"cosignatures"`
	Alerts     int       `json:"alerts"`
	Notices    int       `json:"notices"` // number of these alerts that do not mean that the log is wrong
	Time       time.Time `json:"time"`
}

// A Watcher follows a log, or audits it. It is not safe for concurrent use.
type Watcher struct {
	o     Options
	state *state
	seen  []*tlog.Signed

	unreadSince time.Time // time of the first of the checks in a row that could not read the log; zero if the last check could
	told        bool      // the alert that the log cannot be read was given
	staleSize   uint64    // size of the log at the last alert that it does not grow
}

// UnreadableAfter is the time after which a [Watcher] gives an alert if the log cannot be read.
// Otherwise, a server could hide a forked history from a client by not serving its tiles.
const UnreadableAfter = time.Hour

// New returns a watcher, which continues with the state in the file of the options.
func New(o Options) (*Watcher, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.Tolerance = cmp.Or(o.Tolerance, DefaultTolerance)
	w := &Watcher{o: o}
	for _, msg := range o.Seen {
		s, err := tlog.Open(msg, o.Key)
		if err != nil {
			return nil, fmt.Errorf("a checkpoint that others have got: %w", err)
		}
		w.seen = append(w.seen, s)
	}
	var err error
	w.state, err = readState(o.State, o.Key)
	return w, err
}

// Check reads the newest checkpoint of the log, and verifies that the log continues all heads that
// the watcher knows. The first check of a watcher stores the head. Each later check verifies the
// entries since the previous check. An audit ([Options.All]) checks all tiles and entries. If an
// audit is interrupted, the next call continues it.
//
// If the log cannot be trusted, Check calls the Alert function of the options. It then stores the
// checkpoint as evidence instead of storing a new head. Check returns an error if the log could not
// be read, or if the state could not be stored. If the log could not be read for [UnreadableAfter],
// Check gives an alert, once.
func (w *Watcher) Check(ctx context.Context) (Report, error) {
	c := &checking{Options: &w.o, state: w.state, seen: w.seen, report: Report{Origin: w.o.Key.Name(), Time: w.o.Now()}}
	err := c.run(ctx)
	if err == nil {
		w.stale(c)
	}
	a := alertOf(err)
	switch {
	case a != nil:
		c.alert(a)
		err = c.keepEvidence()
	case err != nil && ctx.Err() == nil:
		w.unreadable(c, err)
		return c.report, err
	}
	w.unreadSince, w.told = time.Time{}, false
	return c.report, err
}

// unreadable gives an alert if the log could not be read for UnreadableAfter. It gives the alert
// only once.
func (w *Watcher) unreadable(c *checking, err error) {
	if w.unreadSince.IsZero() {
		w.unreadSince = c.report.Time
	}
	if !w.told && c.report.Time.Sub(w.unreadSince) >= UnreadableAfter {
		w.told = true
		c.alert(alertf(Unreadable, "the log could not be checked since %s: %v; the server may hide something", w.unreadSince.UTC().Format(time.RFC3339), err))
	}
}

// stale gives an alert if the log has not grown for [Options.MaxAge]. It gives only one alert for
// each size. A checkpoint has no time, so without this check, a server could serve an old
// checkpoint forever.
func (w *Watcher) stale(c *checking) {
	n := len(c.state.Heads)
	if c.MaxAge == 0 || n == 0 || w.staleSize == c.report.Size {
		return
	}
	if since := c.state.Heads[n-1].since(); c.report.Time.Sub(since) >= c.MaxAge {
		w.staleSize = c.report.Size
		c.alert(alertf(Stale, "the log has %d entries since %s or longer: it no longer grows, or the server shows an old state", c.report.Size, since.UTC().Format(time.RFC3339)))
	}
}

type checking struct {
	*Options
	state  *state
	seen   []*tlog.Signed
	report Report
	signed []byte // the new checkpoint
}

func (c *checking) alert(a *Alert) {
	a.Origin, a.Size, a.Time = c.report.Origin, c.report.Size, c.report.Time
	c.report.Alerts++
	if a.Kind.IsNotice() {
		c.report.Notices++
	}
	c.Alert(a)
}

func (c *checking) run(ctx context.Context) error {
	tree, err := c.open(ctx)
	if err != nil {
		return err
	}
	if err := c.continues(ctx, tree); err != nil {
		return err
	}
	first := len(c.state.Heads) == 0
	c.report.Alerts += c.state.Found
	r := &reading{
		tiles: c.Log, tree: tree, prefixes: c.Prefixes, tolerance: c.Tolerance, now: c.report.Time, alert: c.alert,
		next: c.state.Checked, notBefore: c.state.Newest, heads: c.state.Heads,
	}
	if first && !c.All {
		r.quiet = true // these changes were made before the first check of the watcher
		if len(c.Prefixes) == 0 {
			r.next = c.report.Size
		}
	}
	if c.Served != nil {
		if r.served = c.note; c.All {
			r.served = c.compare
		}
	}
	for r.next < c.report.Size {
		if err := c.step(ctx, r); err != nil {
			return err
		}
	}
	if c.Served != nil && !c.All {
		c.compareNames(ctx)
	}
	c.report.Entries, c.report.Checked, c.report.Hidden = c.state.Entries, r.next, r.hidden
	c.state.Checked, c.state.Newest, c.state.Found = r.next, r.notBefore, 0
	if c.All {
		c.state.Checked, c.state.Newest = 0, time.Time{} // the next audit checks all entries again
	}
	c.state.add(c.signed, c.report.Size, c.report.Time)
	return c.state.write(c.State)
}

// step checks the entries of one bundle. If the log does not publish its entries, an audit checks
// only the tiles, and a watcher skips the rest.
func (c *checking) step(ctx context.Context, r *reading) error {
	err := r.step(ctx)
	switch {
	case errors.Is(err, errNoEntries) && c.state.Entries:
		n := r.next / tlog.TileWidth
		return bundleAlert(tlog.Tile{Level: tlog.EntriesLevel, N: n, Width: tlog.WidthOf(0, n, c.report.Size)},
			errors.New("the bundle is missing, although the log has published its entries"))
	case errors.Is(err, errNoEntries) && c.All:
		r.hashesOnly = true
		return nil
	case errors.Is(err, errNoEntries):
		r.next = c.report.Size
		return nil
	case err != nil:
		return err
	}
	c.state.Entries = !r.hashesOnly
	return c.progress(r)
}

// open reads and verifies the newest checkpoint.
func (c *checking) open(ctx context.Context) (*tlog.Tree, error) {
	msg, err := c.Log.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	c.signed = msg
	s, err := tlog.Open(msg, c.Key, c.Witnesses...)
	if err != nil {
		return nil, err
	}
	c.report.Size, c.report.Root, c.report.Cosigns = s.Size, fmt.Sprintf("%x", s.Root), len(s.Cosignatures)
	if len(s.Cosignatures) < c.Need {
		return nil, alertf(Unwitnessed, "the checkpoint with %d entries has %d of %d cosignatures: the log may show it to you alone", s.Size, len(s.Cosignatures), c.Need)
	}
	return tlog.NewTree(c.Log, s.Checkpoint), nil
}

// continues verifies that the log continues all known heads.
func (c *checking) continues(ctx context.Context, tree *tlog.Tree) error {
	now := tree.Checkpoint()
	if n := len(c.state.Heads); n > 0 {
		last := c.state.Heads[n-1]
		if last.Size > now.Size {
			return alertf(Rollback, "the log has %d entries, but it had %d at %s: an older backup was restored, or entries were removed",
				now.Size, last.Size, last.Time.UTC().Format(time.RFC3339))
		}
		same, err := has(ctx, tree, last.checkpoint())
		if err != nil {
			return err
		}
		if !same {
			return c.fork(ctx, tree, last)
		}
	}
	for _, s := range c.seen {
		if s.Size > now.Size {
			return alertf(Rollback, "the log has %d entries, but others have got a checkpoint with %d", now.Size, s.Size)
		}
		same, err := has(ctx, tree, s.Checkpoint)
		if err != nil {
			return err
		}
		if !same {
			return alertf(Fork, "the log has signed a checkpoint with %d entries for others, whose entries differ from those here: it shows different histories", s.Size)
		}
	}
	return nil
}

// fork returns the alert that the log does not continue the head last. The alert includes the
// newest of the earlier heads that the log does continue.
func (c *checking) fork(ctx context.Context, tree *tlog.Tree, last head) error {
	agreed := uint64(0)
	for _, h := range slices.Backward(c.state.Heads) {
		same, err := has(ctx, tree, h.checkpoint())
		if err != nil {
			return err
		}
		if same {
			agreed = h.Size
			break
		}
	}
	return alertf(Fork, "the first %d entries differ from those that the log had at %s: entries after number %d were rewritten",
		last.Size, last.Time.UTC().Format(time.RFC3339), agreed)
}

func has(ctx context.Context, tree *tlog.Tree, older tlog.Checkpoint) (bool, error) {
	if c := tree.Checkpoint(); c.Size == older.Size {
		return c.Root == older.Root, nil
	}
	root, err := tree.RootAt(ctx, older.Size)
	return root == older.Root, err
}

// saveEvery is the number of entries after which the progress is stored.
const saveEvery = 64 * tlog.TileWidth

// progress reports and stores how many entries have been checked.
func (c *checking) progress(r *reading) error {
	if c.Progress != nil {
		c.Progress(r.next, c.report.Size)
	}
	if r.next%saveEvery != 0 {
		return nil
	}
	s := *c.state
	s.Heads = slices.Clone(s.Heads)
	s.add(c.signed, c.report.Size, c.report.Time)
	s.Checked, s.Newest, s.Found = r.next, r.notBefore, c.report.Alerts
	return s.write(c.State)
}

// keepEvidence stores the checkpoint of an alert in a file beside the state. The owner of the names
// can show this evidence to third parties.
func (c *checking) keepEvidence() error {
	if c.State == "" || len(c.signed) == 0 {
		return nil
	}
	return durable.WriteFile(filepath.Clean(c.State)+".evidence", string(c.signed))
}
