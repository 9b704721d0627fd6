package registrar

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A Relocation replaces the beginning of locations, wherever it is found.
//
// From stands for all locations that begin with it, byte by byte. If it ends
// inside or right behind a host it stands for that host alone: "https://a.example"
// is not the beginning of "https://a.example.org/". No relocation makes a host of a
// path, or cuts an escape in two. Where To begins with From,
// locations that begin with To have been moved already: so the same relocation
// again goes on where it was cut off.
type Relocation struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Retired bool   `json:"retired,omitempty"` // also of retired names
	DryRun  bool   `json:"dry_run,omitempty"` // only tell
	Why     string `json:"why,omitempty"`     // for the history

	// Moved, if not nil, is called for each location that is (or would be)
	// replaced, Refused for each name that cannot be changed, Progress after each
	// batch of names.
	Moved    func(n name.Name, from, to string) `json:"-"`
	Refused  func(n name.Name, err error)       `json:"-"`
	Progress func(Relocated)                    `json:"-"`
}

// A Relocated tells how far a relocation has come.
type Relocated struct {
	Batch     string `json:"batch,omitempty"` // ID of the changes, by which they can be undone; "" if there were none
	Names     int64  `json:"names"`           // that were (or would be) changed
	Locations int64  `json:"locations"`       // that were (or would be) replaced
	Retired   int64  `json:"retired"`         // names that stay as they are, being retired
	Refused   int64  `json:"refused"`         // names that could not be changed
}

// relocateBatch is how many names are changed at once.
const relocateBatch = 1000

// Relocate makes the changes that a says, name by name, through the checks that
// all changes have. Names that the actor may not change are passed over. What
// others change meanwhile is read again. An error is a failure, or a
// [*RefusalError] if the relocation makes no sense; what was changed before stays.
func (r *Registrar) Relocate(ctx context.Context, a Actor, rel Relocation) (Relocated, error) {
	if err := r.checkRelocation(rel); err != nil {
		return Relocated{}, err
	}
	m := &mover{Registrar: r, Relocation: rel, actor: a}
	if !rel.DryRun {
		var err error
		if m.id, err = r.newBatch(ctx); err != nil {
			return Relocated{}, err
		}
	}
	batch := make([]*store.Record, 0, relocateBatch)
	for p, err := range store.Find(ctx, r.store, rel.From, store.Place{}) {
		if err != nil {
			return m.sum, err
		}
		rec, err := m.moves(ctx, p)
		if err != nil {
			return m.sum, err
		}
		if rec == nil {
			continue
		}
		if batch = append(batch, rec); len(batch) == relocateBatch {
			if err := m.apply(ctx, batch); err != nil {
				return m.sum, err
			}
			batch = batch[:0]
		}
	}
	err := m.apply(ctx, batch)
	return m.sum, err
}

func (r *Registrar) checkRelocation(rel Relocation) error {
	switch {
	case rel.From == "":
		return refuse("", "from", faultf(0, "prefix", "is empty"))
	case rel.From == rel.To:
		return refuse("", "to", faultf(0, "prefix", "is what the locations begin with already"))
	}
	if i := cutEscape(rel.From); i >= 0 {
		return refuse("", "from", faultf(i, "pct-encoded", "ends within an escape: what is left of it would stand behind another text"))
	}
	if f := r.checkPlace(rel.To); f.bad() {
		return refuse("", "to", f)
	}
	switch ends := endsInHost(rel.To); {
	case ends && !endsInHost(rel.From):
		return refuse("", "to", faultf(len(rel.To), "host",
			"ends with a host, and what follows the old beginning would become part of that: end it with a slash"))
	case !ends && endsInHost(rel.From) && strings.HasSuffix(rel.To, "/"):
		return refuse("", "to", faultf(len(rel.To)-1, "slash",
			"what follows the host %s begins with a slash: leave this one out, or end both with one", rel.From))
	}
	if f := checkText(rel.Why, true); f.bad() {
		return refuse("", "why", f)
	}
	return nil
}

// cutEscape returns the offset of an escape within which s ends, or -1.
func cutEscape(s string) int {
	for i := max(0, len(s)-2); i < len(s); i++ {
		if s[i] == '%' {
			return i
		}
	}
	return -1
}

// endsInHost reports whether s ends inside or right behind a host and its port, so
// that what follows may be part of them.
func endsInHost(s string) bool {
	_, authority, slashes := strings.Cut(s, "://")
	return slashes && !strings.ContainsAny(authority, "/?#")
}

// A mover is a relocation under way.
type mover struct {
	*Registrar
	Relocation
	actor Actor
	id    string // of its changes
	sum   Relocated
}

// matches reports whether a location is one of those that move.
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

// moves returns the record of a place if it is to be changed on account of it: a
// record with several such locations is met once, at the least of them.
func (m *mover) moves(ctx context.Context, p store.Place) (*store.Record, error) {
	if !m.matches(p.URL) || !m.actor.mayName(p.Name, Editor) {
		return nil, nil
	}
	rec, err := m.store.Get(ctx, p.Name, time.Time{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil // it was deleted meanwhile
	case err != nil:
		return nil, err
	}
	least := ""
	for _, l := range rec.Locations {
		if m.matches(l.URL) && (least == "" || l.URL < least) {
			least = l.URL
		}
	}
	switch {
	case least != p.URL:
		return nil, nil
	case rec.Status == nomen.Retired && !m.Retired:
		m.sum.Retired++
		return nil, nil
	}
	return rec, nil
}

// replaced returns the locations of rec as they are to be, and which were which. A
// location that becomes one that is there already goes.
func (m *mover) replaced(rec *store.Record) (all []nomen.Location, from, to []string) {
	for _, l := range rec.Locations {
		if !m.matches(l.URL) {
			all = append(all, l)
		}
	}
	stay := all
	all = nil
	for _, l := range rec.Locations {
		if !m.matches(l.URL) {
			all = append(all, l)
			continue
		}
		moved := l
		moved.URL = m.To + strings.TrimPrefix(l.URL, m.From)
		from, to = append(from, l.URL), append(to, moved.URL)
		if !slices.Contains(stay, moved) {
			all = append(all, moved)
		}
	}
	return all, from, to
}

// apply moves the locations of records. Those that somebody changes at the same
// time are read again.
func (m *mover) apply(ctx context.Context, recs []*store.Record) error {
	for attempts := 1; len(recs) > 0; attempts++ {
		reqs := make([]Request, len(recs))
		for i, rec := range recs {
			locations, _, _ := m.replaced(rec)
			reqs[i] = Request{
				Record: &store.Record{Name: rec.Name, Locations: locations},
				Fields: FieldLocations, Expected: rec.Revision,
			}
		}
		outs, err := m.change(ctx, reqs)
		if err != nil {
			return err
		}
		if recs, err = m.count(ctx, recs, outs, attempts == maxAttempts); err != nil {
			return err
		}
	}
	if m.Progress != nil {
		m.Progress(m.sum)
	}
	return nil
}

func (m *mover) change(ctx context.Context, reqs []Request) ([]Outcome, error) {
	if m.DryRun {
		return m.Registrar.Preview(ctx, m.actor, reqs)
	}
	return m.batch(ctx, m.actor, reqs, m.Why, m.id, (*Load).Apply)
}

// count tells what became of records, and returns those that are to be tried
// again as they are now.
func (m *mover) count(ctx context.Context, recs []*store.Record, outs []Outcome, last bool) ([]*store.Record, error) {
	var again []*store.Record
	for i, out := range outs {
		rec := recs[i]
		_, busy := errors.AsType[*store.ConflictError](out.Err)
		switch {
		case out.Err == nil:
			m.moved(rec)
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

// concerns reports whether there is something left to do for a record that was
// read again.
func (m *mover) concerns(rec *store.Record) bool {
	if !slices.ContainsFunc(rec.Locations, func(l nomen.Location) bool { return m.matches(l.URL) }) {
		return false
	}
	if rec.Status == nomen.Retired && !m.Relocation.Retired {
		m.sum.Retired++
		return false
	}
	return true
}

func (m *mover) moved(rec *store.Record) {
	_, from, to := m.replaced(rec)
	m.sum.Names++
	m.sum.Batch = m.id
	m.sum.Locations += int64(len(from))
	if m.Moved == nil {
		return
	}
	for i := range from {
		m.Moved(rec.Name, from[i], to[i])
	}
}
