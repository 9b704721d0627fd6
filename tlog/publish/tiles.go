package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"strings"
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
		return l.bundle(ctx, t, p.size, false)
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

// shownDir is where the log has bundles without the entries that are not public.
const shownDir = "shown/"

// ShownPath returns the path of a bundle without the entries that are not public. Its form is that
// of a bundle, and each such entry has the length 0. This is an extension of tlog-tiles.
func ShownPath(t tlog.Tile) string {
	return shownDir + strings.TrimPrefix(t.Path(), entriesDir)
}

const entriesDir = "tile/entries/"

// File returns the file at a path below the URL of the log. If immutable is true, it never changes.
func (l *Log) File(ctx context.Context, path string) (data []byte, immutable bool, err error) {
	if path == "checkpoint" {
		data, err = l.Checkpoint()
		return data, false, err
	}
	rest, shown := strings.CutPrefix(path, shownDir)
	if shown {
		path = entriesDir + rest
	}
	t, err := tlog.ParseTilePath(path)
	switch {
	case err != nil:
		return nil, false, fs.ErrNotExist
	case shown:
		data, err = l.shownEntries(ctx, t)
		return data, false, err
	}
	data, err = l.Tile(ctx, t)
	return data, t.Level != tlog.EntriesLevel, err
}

// shownEntries returns a bundle without the entries that are not public.
func (l *Log) shownEntries(ctx context.Context, t tlog.Tile) ([]byte, error) {
	p, err := l.current()
	if err != nil {
		return nil, err
	}
	if !t.In(p.size) || !l.o.Entries {
		return nil, fs.ErrNotExist
	}
	return l.bundle(ctx, t, p.size, true)
}

// bundle returns a bundle of entries. If some of them, up to the end of the full bundle, are not
// public, the error is ErrNotShown, or with gaps set, they have the length 0. Whether entries are
// public can change, so bundles are not cached.
func (l *Log) bundle(ctx context.Context, t tlog.Tile, size uint64, gaps bool) ([]byte, error) {
	first := t.N * tlog.TileWidth
	shown, at := first+uint64(t.Width), first
	var data []byte
	set, err := l.o.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{} // whether the names are listed
	for leaf, err := range l.o.Store.Leaves(ctx, first, first+uint64(tlog.WidthOf(t.Level, t.N, size))) {
		if err != nil {
			return nil, err
		}
		parsed, err := codec.ParseLeaf(leaf)
		if err != nil {
			return nil, err
		}
		ok, err := l.isShown(ctx, set, parsed.Subject, seen)
		switch {
		case err != nil:
			return nil, err
		case !ok && !gaps:
			return nil, ErrNotShown
		case !ok:
			leaf = nil
		}
		if at++; at > shown {
			if gaps {
				break
			}
			continue
		}
		if data, err = tlog.AppendEntry(data, leaf); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// isShown reports whether everyone may see entries about a subject. The map seen has the names whose
// entries were asked for before.
func (l *Log) isShown(ctx context.Context, set *store.AuthoritySet, s store.Subject, seen map[string]bool) (ok bool, err error) {
	if s.Kind != store.KindName {
		return true, nil
	}
	if ok, known := seen[s.Key]; known {
		return ok, nil
	}
	ok, err = isListed(ctx, l.o.Store, set, s.Key)
	seen[s.Key] = ok
	return ok, err
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
