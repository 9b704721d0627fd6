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

// maxTiles is the maximum number of full tiles in the cache. Their hashes take 8 MiB.
const maxTiles = 1024

// Errors of the methods that read the published log. If a tile does not exist, the error is
// [fs.ErrNotExist].
var (
	// ErrNotShown means that a bundle has entries that are not public.
	ErrNotShown = errors.New("this bundle has entries about names that are not public")

	// ErrSuspended means that the log of the store does not continue the published checkpoint, so
	// its tiles and proofs would contradict the checkpoint.
	ErrSuspended = errors.New("the log is not published at present: the store does not continue the last checkpoint")
)

// A tileCache caches full tiles, which never change. The zero tileCache is empty.
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

// Cached reports whether a tile is in the cache, in which case [Log.Tile] does not read the store.
func (l *Log) Cached(t tlog.Tile) bool {
	_, ok := l.cache.get(t)
	return ok
}

// Checkpoint returns the published checkpoint. Before the first checkpoint, the error is
// [fs.ErrNotExist]. The checkpoint remains available if publication stops.
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

// Tile returns a tile of hashes or a bundle of entries. A tile may be narrower than the tile that
// the log has.
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

// shownDir is the directory of bundles without the entries that are not public.
const shownDir = "shown/"

// ShownPath returns the path of a bundle without the entries that are not public. The file has the
// format of a bundle, in which each such entry has the length 0. This is an extension of
// tlog-tiles.
func ShownPath(t tlog.Tile) string {
	return shownDir + strings.TrimPrefix(t.Path(), entriesDir)
}

const entriesDir = "tile/entries/"

// File returns the file at a path relative to the URL of the log. If immutable is true, the file
// never changes.
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

// shownEntries returns a bundle in which entries that are not public have the length 0.
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

// bundle returns a bundle of entries. If gaps is true, entries that are not public have the length
// 0. If gaps is false and an entry of the full bundle is not public, the error is ErrNotShown.
// Bundles are not cached, because entries may become public or private.
func (l *Log) bundle(ctx context.Context, t tlog.Tile, size uint64, gaps bool) ([]byte, error) {
	first := t.N * tlog.TileWidth
	shown, at := first+uint64(t.Width), first
	var data []byte
	set, err := l.o.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{} // whether each name is listed
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

// isShown reports whether entries about a subject are public. The map seen caches the results for
// names.
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

// isListed reports whether the existence of a name is public. This is the case if the name is
// active or retired, and if its authority lists its names publicly.
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
