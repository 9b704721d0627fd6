package tlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/tlog"
)

// maxCachedTiles is the number of verified tiles that a [Tree] keeps. The tiles of the right edge
// and the parents of a tile are fewer than 16.
const maxCachedTiles = 64

// A TileReader reads the tiles of a log, for example over HTTP.
type TileReader interface {
	// ReadTile returns the tile at the path below the URL of the log, which is the path of
	// [Tile.Path]. If there is no such tile, the error is [fs.ErrNotExist].
	ReadTile(ctx context.Context, path string) ([]byte, error)
}

// A TileError says that a tile of a log is wrong.
type TileError struct {
	Path string // of the tile; empty if it is not known which of several tiles is wrong
	Err  error
}

func (e *TileError) Error() string {
	if e.Path == "" {
		return "tiles: " + e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *TileError) Unwrap() error { return e.Err }

// A Tree reads the hashes of a log from its tiles. It verifies all tiles against the root of the
// checkpoint. It keeps some verified tiles in memory, and must not be used concurrently.
type Tree struct {
	tiles TileReader
	c     Checkpoint
	cache map[tlog.Tile][]byte
	order []tlog.Tile // tiles in the cache, oldest first
}

// NewTree returns the tree of the log with the checkpoint c.
func NewTree(tiles TileReader, c Checkpoint) *Tree {
	return &Tree{tiles: tiles, c: c, cache: map[tlog.Tile][]byte{}}
}

// Checkpoint returns the checkpoint of the tree.
func (t *Tree) Checkpoint() Checkpoint { return t.c }

func (t *Tree) reader(ctx context.Context) tlog.HashReader {
	return tlog.TileHashReader(tlog.Tree{N: int64(t.c.Size), Hash: t.c.Root}, &tileReader{ctx: ctx, tree: t})
}

// ProveInclusion returns the proof that the log has an entry at the position index.
func (t *Tree) ProveInclusion(ctx context.Context, index uint64) ([]Hash, error) {
	if index >= t.c.Size {
		return nil, fmt.Errorf("entry %d is not in a log of %d", index, t.c.Size)
	}
	p, err := tlog.ProveRecord(int64(t.c.Size), int64(index), t.reader(ctx))
	return ours(p), inconsistent(err)
}

// ProveConsistency returns the proof that the log begins with an earlier state of itself, which had
// the given size.
func (t *Tree) ProveConsistency(ctx context.Context, older uint64) ([]Hash, error) {
	switch {
	case older > t.c.Size:
		return nil, fmt.Errorf("a log of %d entries cannot be the beginning of one of %d", older, t.c.Size)
	case older == 0 || older == t.c.Size:
		return nil, nil
	}
	p, err := tlog.ProveTree(int64(t.c.Size), int64(older), t.reader(ctx))
	return ours(p), inconsistent(err)
}

// RootAt returns the root that the log had when it had the given number of entries.
func (t *Tree) RootAt(ctx context.Context, size uint64) (Hash, error) {
	switch {
	case size > t.c.Size:
		return Hash{}, fmt.Errorf("the log has only %d entries", t.c.Size)
	case size == 0:
		return EmptyRoot(), nil
	}
	h, err := tlog.TreeHash(int64(size), t.reader(ctx))
	return h, inconsistent(err)
}

// EntryHashes returns the hashes of the entries from the position first on, as many as given: at
// most [TileWidth], all in one tile.
func (t *Tree) EntryHashes(ctx context.Context, first uint64, count int) ([]Hash, error) {
	if count < 0 || count > TileWidth || first+uint64(count) > t.c.Size {
		return nil, fmt.Errorf("the log has only %d entries", t.c.Size)
	}
	indexes := make([]int64, count)
	for i := range indexes {
		indexes[i] = tlog.StoredHashIndex(0, int64(first)+int64(i))
	}
	p, err := t.reader(ctx).ReadHashes(indexes)
	return ours(p), inconsistent(err)
}

// inconsistent returns err as a [*TileError] if package tlog says that tiles do not match.
func inconsistent(err error) error {
	var known *TileError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &TileError{Err: fmt.Errorf("the tiles do not match the root of the checkpoint: %w", err)}
}

type tileReader struct {
	ctx  context.Context
	tree *Tree
}

func (r *tileReader) Height() int { return tileHeight }

func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, tile := range tiles {
		if known, ok := r.tree.cache[tile]; ok {
			data[i] = known
			continue
		}
		t := Tile{Level: tile.L, N: uint64(tile.N), Width: tile.W}
		var err error
		if data[i], err = ReadTile(r.ctx, r.tree.tiles, t); err != nil {
			return nil, err
		}
		if want := t.Width * len(Hash{}); len(data[i]) != want {
			return nil, &TileError{Path: t.Path(), Err: fmt.Errorf("the tile has %d bytes, expected %d", len(data[i]), want)}
		}
	}
	return data, nil
}

func (r *tileReader) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	t := r.tree
	for i, tile := range tiles {
		if _, ok := t.cache[tile]; ok {
			continue
		}
		if len(t.order) == maxCachedTiles {
			delete(t.cache, t.order[0])
			t.order = t.order[1:]
		}
		t.cache[tile] = data[i]
		t.order = append(t.order, tile)
	}
}

// ReadTile reads a tile or a bundle. If the log no longer has a partial tile, because it has grown,
// ReadTile reads the full tile and returns its beginning. The error is a [*TileError].
func ReadTile(ctx context.Context, tiles TileReader, t Tile) ([]byte, error) {
	data, err := tiles.ReadTile(ctx, t.Path())
	if err == nil {
		return data, nil
	}
	if t.Width == TileWidth || !errors.Is(err, fs.ErrNotExist) {
		return nil, &TileError{Path: t.Path(), Err: err}
	}
	full := t
	full.Width = TileWidth
	data, fullErr := tiles.ReadTile(ctx, full.Path())
	if fullErr != nil {
		return nil, &TileError{Path: t.Path(), Err: err}
	}
	if t.Level != EntriesLevel {
		return data[:min(len(data), t.Width*len(Hash{}))], nil
	}
	entries, err := ParseBundle(data, TileWidth)
	if err != nil {
		return nil, &TileError{Path: full.Path(), Err: err}
	}
	end := 0
	for _, e := range entries[:t.Width] {
		end += 2 + len(e)
	}
	return data[:end], nil
}
