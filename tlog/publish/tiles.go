package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
)

// maxTiles is the number of full tiles that are kept in memory: 8 MiB of hashes.
const maxTiles = 1024

// Errors of the methods that read the published log. If there is no such tile, the error is
// [fs.ErrNotExist].
var (
	// ErrNotShown says that a bundle has entries that are not public.
	ErrNotShown = errors.New("this bundle has entries about names that are not public")

	// ErrSuspended says that the store does not have the published log, so that its tiles and proofs
	// would contradict the checkpoint.
	ErrSuspended = errors.New("the log is not published at present: the store does not continue the last checkpoint")
)

// A tileCache has full tiles, which never change. The zero tileCache is empty.
type tileCache struct {
	mu    sync.Mutex
	tiles map[tlog.Tile][]byte
	order []tlog.Tile // oldest first
}

func (c *tileCache) get(t tlog.Tile) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.tiles[t]
	return data, ok
}

func (c *tileCache) put(t tlog.Tile, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.tiles[t]; ok {
		return
	}
	if c.tiles == nil {
		c.tiles = map[tlog.Tile][]byte{}
	}
	if len(c.order) == maxTiles {
		delete(c.tiles, c.order[0])
		c.order = c.order[1:]
	}
	c.tiles[t] = data
	c.order = append(c.order, t)
}

// Cached reports whether a tile is in memory, so that [Log.Tile] need not read the store.
func (l *Log) Cached(t tlog.Tile) bool {
	_, ok := l.cache.get(t)
	return ok
}

// Checkpoint returns the published checkpoint. Until a checkpoint is published, the error is
// [fs.ErrNotExist]. The checkpoint stays available while nothing more is published.
func (l *Log) Checkpoint() ([]byte, error) {
	p := l.shown.Load()
	if p == nil {
		return nil, fs.ErrNotExist
	}
	return p.text, nil
}

func (l *Log) current() (*published, error) {
	p := l.shown.Load()
	switch {
	case p == nil:
		return nil, fs.ErrNotExist
	case !p.verified:
		return nil, ErrSuspended
	}
	return p, nil
}

// Tile returns a tile of hashes or a bundle of entries. Of a tile that is full or wider, it returns
// any narrower one too.
func (l *Log) Tile(ctx context.Context, t tlog.Tile) ([]byte, error) {
	p, err := l.current()
	if err != nil {
		return nil, err
	}
	if !t.In(p.size) || t.Level == tlog.EntriesLevel && !l.o.Entries {
		return nil, fs.ErrNotExist
	}
	if t.Level == tlog.EntriesLevel {
		return l.bundle(ctx, t, p.size)
	}
	if data, ok := l.cache.get(t); ok {
		return data, nil
	}
	data, err := readTile(ctx, l.o.Store, t)
	if err == nil && t.Width == tlog.TileWidth {
		l.cache.put(t, data)
	}
	return data, err
}

func readTile(ctx context.Context, s store.TreeReader, t tlog.Tile) ([]byte, error) {
	first := t.N * tlog.TileWidth
	end := first + uint64(t.Width)
	data := make([]byte, 0, t.Width*sha256.Size)
	if t.Level == 0 {
		for leaf, err := range s.Leaves(ctx, first, end) {
			if err != nil {
				return nil, err
			}
			h := tlog.EntryHash(leaf)
			data = append(data, h[:]...)
		}
		return data, nil
	}
	hashes, err := s.Nodes(ctx, 8*t.Level, first, end)
	for _, h := range hashes {
		data = append(data, h[:]...)
	}
	return data, err
}

// bundle returns a bundle of entries, if all entries of the bundle in the published log are public,
// including entries after the width of t. Otherwise clients could find the hidden entries by asking
// for each width. Whether entries are public can change, so bundles are not cached.
func (l *Log) bundle(ctx context.Context, t tlog.Tile, size uint64) ([]byte, error) {
	first := t.N * tlog.TileWidth
	shown, at := first+uint64(t.Width), first
	var data []byte
	set, err := l.o.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for leaf, err := range l.o.Store.Leaves(ctx, first, first+uint64(tlog.WidthOf(t.Level, t.N, size))) {
		if err != nil {
			return nil, err
		}
		parsed, err := codec.ParseLeaf(leaf)
		if err != nil {
			return nil, err
		}
		if subject := parsed.Subject; subject.Kind == store.KindName && !seen[subject.Key] {
			seen[subject.Key] = true
			if ok, err := isListed(ctx, l.o.Store, set, subject.Key); err != nil || !ok {
				return nil, errors.Join(err, ErrNotShown)
			}
		}
		if at++; at > shown {
			continue
		}
		if data, err = tlog.AppendEntry(data, leaf); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// isListed reports whether everyone may know that a name exists: it is active or retired, and its
// authority lists its names to everyone.
func isListed(ctx context.Context, s store.Reader, set *store.AuthoritySet, key string) (bool, error) {
	n := name.FromKey(key)
	a := set.Of(n)
	if a == nil || !a.List || a.Refuses(key) != nil {
		return false, nil
	}
	rec, err := s.Get(ctx, n, time.Time{})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && rec.Status != nomen.Reserved, err
}
