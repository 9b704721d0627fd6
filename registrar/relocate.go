package registrar

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Relocation replaces the prefix From of locations by To.
//
// It applies to all locations that begin with the bytes of From. But if From ends inside a host or
// directly after one, it applies only to locations with exactly this host: "https://a.example" does
// not match "https://a.example.org/". A relocation cannot turn a part of a path into a part of a
// host, or split a percent-encoded byte. If To begins with From, locations that begin with To count
// as already moved. An interrupted relocation can therefore be repeated.
type Relocation struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Retired bool   `json:"retired,omitempty"` // also change retired names
	DryRun  bool   `json:"dry_run,omitempty"` // only report what would change
	Why     string `json:"why,omitempty"`     // reason for the history

	// Only reports whether to change a record that has matching locations. If Only is nil, all such
	// records are changed. Relocate may call Only concurrently, and again for a record that another
	// client has changed.
	Only func(*store.Record) bool `json:"-"`

	// Relocate calls these functions if they are not nil.
	Begun    func(id string)                    `json:"-"` // before the first change, with the batch ID
	Moved    func(n name.Name, from, to string) `json:"-"` // for each location that is (or would be) replaced
	Refused  func(n name.Name, err error)       `json:"-"` // for each name that cannot be changed
	Progress func(Relocated)                    `json:"-"` // after each batch of names
}

// A Relocated is the progress of a relocation so far.
type Relocated struct {
	Batch     string `json:"batch,omitempty"` // batch ID by which the changes can be undone; "" if nothing was changed
	Names     int64  `json:"names"`           // names that were (or would be) changed
	Locations int64  `json:"locations"`       // locations that were (or would be) replaced
	Retired   int64  `json:"retired"`         // names that were skipped because they are retired
	Refused   int64  `json:"refused"`         // names that could not be changed
}

const (
	relocateBatch   = 5000 // names changed in one batch, as many as in an import
	relocateAhead   = 2    // number of batches that may be read before they are written
	relocateReaders = 4    // goroutines that read the records of a batch
	relocateWriters = 4    // goroutines that write batches
)

// Relocate replaces locations as rel describes, with the same checks as all changes. It skips names
// that the actor may not change. If another client changes a name at the same time, Relocate reads
// its record again. A name whose first matching location is added during the relocation may be
// missed. If rel is invalid, the error is a [*RefusalError]; any other error is a failure. Changes
// made before an error are not undone.
func (r *Registrar) Relocate(ctx context.Context, a Actor, rel Relocation) (Relocated, error) {
	ctx = store.Fresh(ctx)
	if err := r.checkRelocation(rel); err != nil {
		return Relocated{}, err
	}
	ctx = store.WithPatience(ctx, store.LongPatience)
	load, err := r.NewLoad(a, rel.Why)
	if err != nil {
		return Relocated{}, err
	}
	load.new = false
	m := &mover{Registrar: r, Relocation: rel, load: load, start: r.now().Truncate(time.Millisecond)}
	if err := load.begin(ctx, rel.DryRun, rel.Begun); err != nil {
		return Relocated{}, err
	}
	err = m.run(ctx)
	return m.sum, err
}

func (r *Registrar) checkRelocation(rel Relocation) error {
	switch {
	case rel.From == "":
		return refuse("", "from", faultf(0, "prefix", "FROM must not be empty"))
	case rel.From == rel.To:
		return refuse("", "to", faultf(0, "prefix", "TO must differ from FROM"))
	}
	if i := cutEscape(rel.From); i >= 0 {
		return refuse("", "from", faultf(i, "pct-encoded", "FROM ends within an escape: the rest of the escape would follow TO in the new location"))
	}
	if f := checkPlace(rel.To); f.bad() {
		return refuse("", "to", f)
	}
	switch ends := endsInHost(rel.To); {
	case ends && !endsInHost(rel.From):
		return refuse("", "to", faultf(len(rel.To), "host",
			"TO ends with a host, and the rest of each location would be appended to the host: end TO with a slash"))
	case !ends && endsInHost(rel.From) && strings.HasSuffix(rel.To, "/"):
		return refuse("", "to", faultf(len(rel.To)-1, "slash",
			"in each location, a slash follows FROM (%s), so TO must not end with a slash: remove its last slash, or end both FROM and TO with a slash", rel.From))
	}
	if f := checkText(rel.Why, true); f.bad() {
		return refuse("", "why", f)
	}
	return nil
}

func cutEscape(s string) int {
	for i := max(0, len(s)-2); i < len(s); i++ {
		if s[i] == '%' {
			return i
		}
	}
	return -1
}

// endsInHost reports whether s ends in a host or a port. Text that follows could then become part
// of the host.
func endsInHost(s string) bool {
	_, authority, slashes := strings.Cut(s, "://")
	return slashes && !strings.ContainsAny(authority, "/?#")
}

// A mover is the state of one call of Relocate.
type mover struct {
	*Registrar
	Relocation
	load  *Load
	start time.Time
	late  map[name.Name]struct{} // names that other clients have changed since the start; used only by the goroutine that reads
	sum   Relocated
}

type moveBatch struct {
	records []*store.Record
	retired int64  // names that were skipped because they are retired
	checked *Batch // the requests for these records
	err     error  // why reading ended
}

type moveWrite struct {
	batch *moveBatch
	outs  []Outcome
	err   error
	done  chan struct{} // closed when outs and err are final
}

// run reads batches while earlier batches are being written, and counts the results in order. After
// a failure, it still waits for the batches that are being written and counts their results.
func (m *mover) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	batches, writes := make(chan *moveBatch, relocateAhead), make(chan *moveWrite, relocateWriters-2)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { m.readAll(ctx, batches) })
	group.Go(func() { m.writeAll(ctx, batches, writes) })
	var failed error
	for w := range writes {
		<-w.done
		m.sum.Retired += w.batch.retired
		switch {
		case w.err == nil && failed == nil:
			failed = m.finish(ctx, w)
		case w.err == nil:
			m.countDone(w)
		default:
			failed = cmp.Or(failed, w.err)
		}
		if failed != nil {
			cancel()
		}
	}
	return cmp.Or(failed, ctx.Err())
}

func (m *mover) readAll(ctx context.Context, batches chan<- *moveBatch) {
	defer close(batches)
	for after, more := (store.Place{}), true; more; {
		b := &moveBatch{}
		if after, more, b.err = m.read(ctx, b, after); b.err != nil {
			more = false
		}
		select {
		case batches <- b:
		case <-ctx.Done():
			return
		}
	}
}

// writeAll writes batches concurrently. Their order does not matter, because each name is in only
// one batch.
func (m *mover) writeAll(ctx context.Context, batches <-chan *moveBatch, writes chan<- *moveWrite) {
	defer close(writes)
	var loads [relocateWriters]Load // a Load writes only one batch at a time
	for i := range loads {
		loads[i] = *m.load
	}
	for i := 0; ; i++ {
		b, more := <-batches
		if !more || ctx.Err() != nil {
			return
		}
		w := &moveWrite{batch: b, err: b.err, done: make(chan struct{})}
		go func() {
			defer close(w.done)
			if w.err == nil && len(b.records) > 0 {
				w.outs, w.err = m.change(ctx, &loads[i%len(loads)], b.checked)
			}
		}()
		writes <- w
	}
}

// read fills the batch b with the next places of the listing, which follow a given place. It
// returns the last place that it has read, and whether more places may follow. The listing is
// closed between batches.
func (m *mover) read(ctx context.Context, b *moveBatch, after store.Place) (last store.Place, more bool, err error) {
	var places []store.Place
	for p, err := range store.Find(ctx, m.store, m.From, after) {
		if err != nil {
			return p, false, err
		}
		after = p
		if m.matches(p.URL) && m.load.actor.MayName(p.Name, Editor) {
			places = append(places, p)
		}
		if more = len(places) == m.relocates; more {
			break
		}
	}
	slices.SortFunc(places, func(p, q store.Place) int {
		return cmp.Or(strings.Compare(p.Name.Key(), q.Name.Key()), strings.Compare(p.URL, q.URL))
	})
	records, err := m.records(ctx, places)
	if err != nil {
		return after, false, err
	}
	for i, rec := range records {
		if rec == nil {
			continue
		}
		first, err := m.first(ctx, rec, places[i].URL)
		switch {
		case err != nil:
			return after, false, err
		case !first:
		case rec.Status == nomen.Retired && !m.Retired:
			b.retired++
		case m.Only != nil && !m.Only(rec):
		default:
			b.records = append(b.records, rec)
		}
	}
	b.checked, err = m.check(ctx, b.records)
	return after, more, err
}

// records reads the records at the places. The record of a name that has been deleted is nil.
func (m *mover) records(ctx context.Context, places []store.Place) ([]*store.Record, error) {
	names := make([]name.Name, len(places))
	for i, p := range places {
		names[i] = p.Name
	}
	parts, errs := make([][]*store.Record, relocateReaders), make([]error, relocateReaders)
	size := len(names)/relocateReaders + 1
	var group sync.WaitGroup
	for k := range parts {
		part := names[min(k*size, len(names)):min((k+1)*size, len(names))]
		group.Go(func() { parts[k], errs[k] = store.Records(ctx, m.store, part, !m.DryRun) })
	}
	group.Wait()
	return slices.Concat(parts...), errors.Join(errs...)
}

// first reports whether to process a record at this URL. The listing returns a record once for each
// matching location, but the record must be processed only once. This is at the smallest of the
// URLs, unless other clients have changed the record since the start: the listing may then be past
// the smallest URL, and the record is processed where it is found first.
func (m *mover) first(ctx context.Context, rec *store.Record, url string) (bool, error) {
	least := ""
	for _, l := range rec.Locations {
		if m.matches(l.URL) && (least == "" || l.URL < least) {
			least = l.URL
		}
	}
	if least == "" || rec.Modified.Before(m.start) {
		return least == url, nil
	}
	if _, seen := m.late[rec.Name]; seen {
		return false, nil
	}
	if ours, err := m.ours(ctx, rec.Name); ours || err != nil {
		return false, err
	}
	if m.late == nil {
		m.late = map[name.Name]struct{}{}
	}
	m.late[rec.Name] = struct{}{}
	return true, nil
}

// ours reports whether this relocation made the last change of the name n. If To begins with From,
// a moved location matches again, but must not move twice.
func (m *mover) ours(ctx context.Context, n name.Name) (bool, error) {
	if m.DryRun {
		return false, nil
	}
	for c, err := range store.History(ctx, m.store, n) {
		if err != nil {
			return false, err
		}
		return c.Batch == m.load.id, nil
	}
	return false, nil
}

func (m *mover) matches(url string) bool {
	rest, ok := strings.CutPrefix(url, m.From)
	if !ok || strings.HasPrefix(m.To, m.From) && strings.HasPrefix(url, m.To) {
		return false
	}
	if endsInHost(m.From) {
		return rest == "" || strings.IndexByte("/?#", rest[0]) >= 0
	}
	return true
}

// replaced returns the locations of rec after the move, without duplicates.
func (m *mover) replaced(rec *store.Record) []nomen.Location {
	all := make([]nomen.Location, 0, len(rec.Locations))
	for _, l := range rec.Locations {
		if m.matches(l.URL) {
			l.URL = m.replace(l.URL)
			if slices.Contains(rec.Locations, l) && !m.matches(l.URL) {
				continue
			}
		}
		all = append(all, l)
	}
	return all
}

func (m *mover) replace(url string) string { return m.To + strings.TrimPrefix(url, m.From) }

func (m *mover) check(ctx context.Context, recs []*store.Record) (*Batch, error) {
	reqs := make([]Request, len(recs))
	for i, rec := range recs {
		reqs[i] = Request{
			Record: &store.Record{Name: rec.Name, Locations: m.replaced(rec)},
			Fields: FieldLocations, Expected: rec.Revision,
		}
	}
	b, err := m.load.Check(ctx, reqs)
	if err == nil {
		b.there = recs
	}
	return b, err
}

// finish counts the results of a batch. It tries again the names that other clients have changed.
func (m *mover) finish(ctx context.Context, w *moveWrite) error {
	recs, err := m.count(ctx, w.batch.records, w.outs, false)
	for attempts := 2; err == nil && len(recs) > 0; attempts++ {
		var checked *Batch
		if checked, err = m.check(ctx, recs); err != nil {
			break
		}
		var outs []Outcome
		if outs, err = m.change(ctx, m.load, checked); err == nil {
			recs, err = m.count(ctx, recs, outs, attempts == maxAttempts)
		}
	}
	if m.Progress != nil {
		m.Progress(m.sum)
	}
	return err
}

func (m *mover) countDone(w *moveWrite) {
	for i, out := range w.outs {
		if out.Err == nil && out.Result.Changed {
			m.moved(w.batch.records[i])
		}
	}
	if m.Progress != nil {
		m.Progress(m.sum)
	}
}

func (m *mover) change(ctx context.Context, l *Load, b *Batch) ([]Outcome, error) {
	if m.DryRun {
		return l.Preview(ctx, b)
	}
	return l.Write(ctx, b)
}

// count counts the results. It returns the current records of the names that are to be tried again.
func (m *mover) count(ctx context.Context, recs []*store.Record, outs []Outcome, last bool) ([]*store.Record, error) {
	var again []*store.Record
	for i, out := range outs {
		rec := recs[i]
		busy := errors.As(out.Err, new(*store.ConflictError))
		switch {
		case out.Err == nil && out.Result.Changed:
			m.moved(rec)
		case out.Err == nil: // already processed for another location, or changed by another client
		case busy && !last:
			now, err := m.store.Get(ctx, rec.Name, time.Time{})
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if m.concerns(now) {
				again = append(again, now)
			}
		default:
			m.sum.Refused++
			if m.Refused != nil {
				m.Refused(rec.Name, out.Err)
			}
		}
	}
	return again, nil
}

// concerns reports whether a record still has locations to move.
func (m *mover) concerns(rec *store.Record) bool {
	if !slices.ContainsFunc(rec.Locations, func(l nomen.Location) bool { return m.matches(l.URL) }) {
		return false
	}
	if rec.Status == nomen.Retired && !m.Relocation.Retired {
		m.sum.Retired++
		return false
	}
	return m.Only == nil || m.Only(rec)
}

func (m *mover) moved(rec *store.Record) {
	m.sum.Names++
	m.sum.Batch = m.load.id
	for i := range rec.Locations {
		url := rec.Locations[i].URL
		if !m.matches(url) {
			continue
		}
		m.sum.Locations++
		if m.Moved != nil {
			m.Moved(rec.Name, url, m.replace(url))
		}
	}
}
