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

// ErrPending means that a change is not yet in the published log. It will be published within
// seconds.
var ErrPending = errors.New("the change is not in the published log yet; try again in a few seconds")

// Receipt returns the public receipt for a change of a name. The caller must check that the
// revision is public. The receipt has the public content of the change, if this can be proved
// without the private content (see [Log.content]). If the change was redacted, the receipt also
// proves the redaction.
func (l *Log) Receipt(ctx context.Context, c *store.Change) ([]byte, error) {
	return l.currentReceipt(ctx, c, l.content)
}

// OwnReceipt returns the receipt for a change with its whole content. It is meant for clients that
// may read the history.
func (l *Log) OwnReceipt(ctx context.Context, c *store.Change) ([]byte, error) {
	return l.currentReceipt(ctx, c, allContent)
}

func allContent(*store.Change) receipt.Content { return receipt.All }

func (l *Log) currentReceipt(ctx context.Context, c *store.Change, content func(*store.Change) receipt.Content) ([]byte, error) {
	p, err := l.current()
	if err != nil {
		return nil, err
	}
	return l.receipt(ctx, p, c, content)
}

// receipt returns the receipt for a change. The function content determines how much content of
// this change, and of the change that redacts it, is in the receipt.
func (l *Log) receipt(ctx context.Context, p *published, c *store.Change, content func(*store.Change) receipt.Content) ([]byte, error) {
	e, hashes, err := l.prove(ctx, p, c.Subject(), c.Revision())
	if err != nil {
		return nil, err
	}
	var by *receipt.Redaction
	if e.Change.Redacted {
		if by, err = l.redaction(ctx, p, e.Change, content); err != nil {
			return nil, err
		}
	}
	return receipt.New(e, content(e.Change), hashes, p.text, by), nil
}

// Leaf returns the origin of the log, the position of a change, and the hash of the leaf of the
// change.
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
	return p.origin, e.Seq, tlog.EntryHash(receipt.NewPart(e, receipt.None).Leaf), nil
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

// redaction returns the proof of the change that removed the content of the change c. It returns
// nil if that change is not yet published.
func (l *Log) redaction(ctx context.Context, p *published, c *store.Change, content func(*store.Change) receipt.Content) (*receipt.Redaction, error) {
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
		r := &receipt.Redaction{Part: receipt.NewPart(e, content(e.Change)), Index: e.Seq - 1}
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

// content returns how much content of a change a public receipt has. This is the whole content if
// it has no private part. It is the public part if the digest of the change is split. Otherwise, it
// is nothing. If [Options.Content] is set, authors, reasons and batch IDs count as public.
func (l *Log) content(c *store.Change) receipt.Content {
	switch {
	case c.Record == nil || c.Record.Status == nomen.Reserved:
		return receipt.None
	case !c.HasPrivate() || l.o.Content && !(&store.Change{Record: c.Record}).HasPrivate():
		return receipt.All
	}
	return receipt.Public
}
