package tlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/tlog"
)

// maxCachedTiles is the number of verified tiles that a [Tree] keeps. A tile has fewer than 16
// parents and tiles at the right edge of the tree.
const maxCachedTiles = 64

// A TileReader reads the tiles of a log, for example over HTTP.
type TileReader interface {
	// ReadTile returns the tile at a path as returned by [Tile.Path], relative to the URL of the
	// log. If the tile does not exist, the error is [fs.ErrNotExist].
	ReadTile(ctx context.Context, path string) ([]byte, error)
}

// A TileError reports an invalid tile of a log.
type TileError struct {
	Path string // path of the tile; empty if it is unknown which of several tiles is invalid
	Err  error
}

func (e *TileError) Error() string {
	if e.Path == "" {
		return "tiles: " + e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *TileError) Unwrap() error { return e.Err }

// A Tree reads the hashes of a log from its tiles. It verifies all tiles against the root in the
// checkpoint, and caches some of them. A Tree is not safe for concurrent use.
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

// ProveInclusion returns the proof that the entry at position index is in the log.
func (t *Tree) ProveInclusion(ctx context.Context, index uint64) ([]Hash, error) {
	if index >= t.c.Size {
		return nil, fmt.Errorf("entry %d is not in a log of %d", index, t.c.Size)
	}
	p, err := tlog.ProveRecord(int64(t.c.Size), int64(index), t.reader(ctx))
	return ours(p), inconsistent(err)
}

// ProveConsistency returns the proof that the log is an extension of its earlier state, whose size
// is the parameter older.
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

// RootAt returns the root of the log when it had the given number of entries.
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

// EntryHashes returns the hashes of count entries, beginning with the entry at position first. All
// of them must be in the same tile, so count is at most [TileWidth].
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

// inconsistent converts an error about tiles that do not match to a [*TileError].
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

// ReadTile reads a tile or a bundle. A log that has grown may no longer have a partial tile.
// ReadTile then reads the full tile and returns its first part. The error is a [*TileError].
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
