package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/note"
	xtlog "golang.org/x/mod/sumdb/tlog"

	"github.com/nomen-project/nomen/tlog"
)

// A Remote is a published log on a server.
type Remote interface {
	tlog.TileReader
	Checkpoint(ctx context.Context) ([]byte, error)
}

// Mirror writes the published log of a server to a directory, in the same way as [Export] for a
// store. It verifies the checkpoint with the key of the log, and all tiles and entries against the
// checkpoint. It leaves out entries that the server does not disclose. If progress is not nil,
// Mirror calls it regularly with the number of entries read and the total.
func Mirror(ctx context.Context, log Remote, key note.Verifier, dir string, entries bool, progress func(done, total uint64)) (Exported, error) {
	text, err := log.Checkpoint(ctx)
	if err != nil {
		return Exported{}, err
	}
	signed, err := tlog.Open(text, key)
	if err != nil {
		return Exported{}, err
	}
	x := &exporter{dir: dir, c: signed.Checkpoint, entries: entries, sum: Exported{Origin: signed.Origin, Entries: signed.Size}, made: map[string]bool{}}
	if err := x.checkOwner(); err != nil {
		return x.sum, err
	}
	tree := tlog.NewTree(log, x.c)
	var roots []tlog.Hash // roots of the full tiles of the level below
	for first := uint64(0); first < x.c.Size; first += tlog.TileWidth {
		n := first / tlog.TileWidth
		hashes, err := tree.EntryHashes(ctx, first, tlog.WidthOf(0, n, x.c.Size))
		if err == nil {
			err = x.writeHashes(tlog.Tile{N: n, Width: len(hashes)}, hashes)
		}
		if err == nil && entries {
			err = x.mirrorBundle(ctx, log, n, hashes)
		}
		if err != nil {
			return x.sum, err
		}
		if len(hashes) == tlog.TileWidth {
			roots = append(roots, rootOf(hashes))
		}
		if progress != nil {
			progress(first+uint64(len(hashes)), x.c.Size)
		}
	}
	for level := 1; len(roots) > 0; level++ {
		var above []tlog.Hash
		for first := 0; first < len(roots); first += tlog.TileWidth {
			hashes := roots[first:min(first+tlog.TileWidth, len(roots))]
			if err := x.writeHashes(tlog.Tile{Level: level, N: uint64(first / tlog.TileWidth), Width: len(hashes)}, hashes); err != nil {
				return x.sum, err
			}
			if len(hashes) == tlog.TileWidth {
				above = append(above, rootOf(hashes))
			}
		}
		roots = above
	}
	return x.sum, x.end(text)
}

// rootOf returns the root of a subtree. The number of leaves must be that of a full tile.
func rootOf(leaves []tlog.Hash) tlog.Hash {
	if len(leaves) == 1 {
		return leaves[0]
	}
	return xtlog.NodeHash(rootOf(leaves[:len(leaves)/2]), rootOf(leaves[len(leaves)/2:]))
}

func (x *exporter) writeHashes(t tlog.Tile, hashes []tlog.Hash) error {
	data := make([]byte, 0, len(hashes)*sha256.Size)
	for _, h := range hashes {
		data = append(data, h[:]...)
	}
	return x.write(t, data)
}

// mirrorBundle writes the bundle of the entries with the given hashes. It leaves out entries that
// the server does not disclose.
func (x *exporter) mirrorBundle(ctx context.Context, log Remote, n uint64, hashes []tlog.Hash) error {
	t := tlog.Tile{Level: tlog.EntriesLevel, N: n, Width: len(hashes)}
	data, err := tlog.ReadTile(ctx, log, t)
	hidden := isAbsent(err)
	if hidden {
		if data, err = log.ReadTile(ctx, ShownPath(t)); isAbsent(err) {
			x.sum.Hidden++
			return nil
		}
	}
	if err != nil {
		return err
	}
	all, err := tlog.ParseBundle(data, t.Width)
	if err != nil {
		return &tlog.TileError{Path: t.Path(), Err: err}
	}
	for i, entry := range all {
		if (len(entry) > 0 || !hidden) && tlog.EntryHash(entry) != hashes[i] {
			return &tlog.TileError{Path: t.Path(), Err: fmt.Errorf("entry %d does not match the checkpoint", n*tlog.TileWidth+uint64(i)+1)}
		}
	}
	return x.writeBundle(t, data, hidden)
}

// isAbsent reports whether the server does not have or does not disclose a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)
}
