package publish

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/receipt"
)

// ErrPending says that a change is not in the published log yet, but will be within seconds.
var ErrPending = errors.New("the change is not in the published log yet; try again in a few seconds")

// Receipt returns the receipt for a change of a name, for everyone. The caller must make sure that
// the revision is public. The content is left out if it has parts that are not public. It is also
// left out if the change says who made it or why and [Options.Content] is not set. If the change
// was redacted, the receipt also proves the redaction.
func (l *Log) Receipt(ctx context.Context, c *store.Change) ([]byte, error) {
	p, err := l.current()
	if err != nil {
		return nil, err
	}
	e, hashes, err := l.prove(ctx, p, c.Subject(), c.Revision())
	if err != nil {
		return nil, err
	}
	var by *receipt.Redaction
	if e.Change.Redacted {
		if by, err = l.redaction(ctx, p, e.Change); err != nil {
			return nil, err
		}
	}
	return receipt.New(e, l.isOpen(e.Change), hashes, p.text, by), nil
}

// Leaf returns the position of a change in the log, and the hash of its leaf.
func (l *Log) Leaf(ctx context.Context, c *store.Change) (origin string, seq uint64, hash tlog.Hash, err error) {
	p, err := l.current()
	if err != nil {
		return "", 0, hash, err
	}
	e, err := l.o.Store.EntryOf(ctx, c.Subject(), c.Revision())
	if errors.Is(err, store.ErrNotFound) || err == nil && e.Seq > p.size {
		return "", 0, hash, ErrPending
	}
	if err != nil {
		return "", 0, hash, err
	}
	return p.origin, e.Seq, tlog.EntryHash(receipt.NewPart(e, false).Leaf), nil
}

func (l *Log) prove(ctx context.Context, p *published, s store.Subject, revision uint64) (*store.Entry, []tlog.Hash, error) {
	e, err := l.o.Store.EntryOf(ctx, s, revision)
	if errors.Is(err, store.ErrNotFound) || err == nil && e.Seq > p.size {
		return nil, nil, ErrPending
	}
	if err != nil {
		return nil, nil, err
	}
	hashes, err := l.o.Store.ProveEntry(ctx, p.size, e.Seq)
	return e, hashes, err
}

// redaction returns the proof of the change that removed the content of the change c, or nil if it
// is not published yet.
func (l *Log) redaction(ctx context.Context, p *published, c *store.Change) (*receipt.Redaction, error) {
	for by, err := range l.history(ctx, c) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(by.Redacts, c.Revision()) {
			continue
		}
		e, hashes, err := l.prove(ctx, p, c.Subject(), by.Revision())
		if errors.Is(err, ErrPending) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		r := &receipt.Redaction{Part: receipt.NewPart(e, l.isOpen(e.Change)), Index: e.Seq - 1}
		for _, h := range hashes {
			r.Hashes = append(r.Hashes, h[:])
		}
		return r, nil
	}
	return nil, nil
}

func (l *Log) history(ctx context.Context, c *store.Change) iter.Seq2[*store.Change, error] {
	return store.History(ctx, l.o.Store, name.FromKey(c.Subject().Key))
}

// isOpen reports whether everyone may see the whole content of a change.
func (l *Log) isOpen(c *store.Change) bool {
	rec := c.Record
	if rec == nil || rec.Status == nomen.Reserved || rec.Status == nomen.Retired && !rec.ShowLocations && len(rec.Locations) > 0 {
		return false
	}
	for _, v := range rec.Values {
		if !v.Public() {
			return false
		}
	}
	return l.o.Content || c.Who == "" && c.Why == "" && c.Batch == ""
}
