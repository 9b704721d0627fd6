package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
)

// ErrNotPublished means that no checkpoint of the log was published.
var ErrNotPublished = errors.New("the log was never published: start a server with log.key")

const exportWindow = 1 << 17

// scanWindow is the number of entries whose hashes are in memory during a scan of the store. The
// hashes take 512 MiB.
const scanWindow = 1 << 24

// An Exported describes the files that [Export] or [Mirror] wrote.
type Exported struct {
	Origin   string `json:"origin"`
	Entries  uint64 `json:"entries"`
	Files    int    `json:"files"`            // number of files written
	Repaired int    `json:"repaired"`         // number of these files that had different content before
	Hidden   int    `json:"hidden,omitempty"` // number of bundles with entries that are not public
}

// last returns the last published checkpoint, if it is consistent with the log of the store. If the
// origin is not "", last returns the last checkpoint of this origin, which may have ended.
func last(ctx context.Context, o Options, origin string) ([]byte, tlog.Checkpoint, error) {
	state, _, filed, err := load(ctx, o.Store, o.File)
	if err != nil {
		return nil, tlog.Checkpoint{}, err
	}
	if filed != nil && (state == nil || state.Published == "") {
		state = filed
	}
	if state == nil {
		return nil, tlog.Checkpoint{}, ErrNotPublished
	}
	text, c, err := state.checkpoint(origin)
	if err != nil {
		return nil, c, err
	}
	head, err := o.Store.Head(ctx)
	if err != nil {
		return nil, c, err
	}
	if head.Size < c.Size {
		return nil, c, ErrSuspended
	}
	var hashes []tlog.Hash
	if c.Size > 0 && c.Size < head.Size {
		if hashes, err = o.Store.ProveHead(ctx, head.Size, c.Size); err != nil {
			return nil, c, err
		}
	}
	if tlog.CheckConsistency(hashes, c, checkpointOf(c.Origin, head)) != nil {
		return nil, c, ErrSuspended
	}
	return text, c, nil
}

// checkpoint returns the newest published checkpoint of an origin. If the origin is "", it uses the
// current origin. After a hand-over, an origin may end and later continue with another key.
func (s *State) checkpoint(origin string) (text []byte, c tlog.Checkpoint, err error) {
	if origin == "" {
		if s.Published == "" {
			return nil, c, ErrNotPublished
		}
		c, err = tlog.Peek([]byte(s.Published))
		return []byte(s.Published), c, err
	}
	for _, published := range slices.Backward(append(slices.Clone(s.Ended), s.Published)) {
		if published == "" {
			continue
		}
		if c, err = tlog.Peek([]byte(published)); err != nil || c.Origin == origin {
			return []byte(published), c, err
		}
	}
	return nil, c, fmt.Errorf("no checkpoint of the log %s is known: %w", origin, ErrNotPublished)
}

// Export writes the published log to a directory, from which any web server can serve it. If
// entries is true, Export also writes the bundles, without the entries that are not public
// ([ShownPath]). If progress is not nil, Export calls it regularly with the number of entries read
// and the total.
func Export(ctx context.Context, o Options, dir string, entries bool, progress func(done, total uint64)) (Exported, error) {
	text, c, err := last(ctx, o, "")
	if err != nil {
		return Exported{}, err
	}
	x := &exporter{o: o, dir: dir, c: c, entries: entries, sum: Exported{Origin: c.Origin, Entries: c.Size}, made: map[string]bool{}}
	if err := x.checkOwner(); err != nil {
		return x.sum, err
	}
	if err := x.lowest(ctx, progress); err != nil {
		return x.sum, err
	}
	for t := range tlog.Tiles(c.Size, false) {
		if t.Level == 0 {
			continue
		}
		data, err := readTile(ctx, o.Store, t)
		if err == nil {
			err = x.write(t, data)
		}
		if err != nil {
			return x.sum, err
		}
	}
	return x.sum, x.end(text)
}

// end writes the checkpoint. All other files must be on disk before.
func (x *exporter) end(checkpoint []byte) error {
	if err := x.sync(); err != nil {
		return err
	}
	x.sum.Files++
	return os.WriteFile(filepath.Join(x.dir, "checkpoint"), checkpoint, 0o644)
}

type exporter struct {
	o       Options
	dir     string
	c       tlog.Checkpoint
	entries bool
	sum     Exported
	made    map[string]bool // directories that exist
	log     ledger.Log      // computed from the hashes of the entries
}

// checkOwner returns an error if the directory contains an export of another log, or of a later
// state of this log.
func (x *exporter) checkOwner() error {
	b, err := os.ReadFile(filepath.Join(x.dir, "checkpoint"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c, err := tlog.Peek(b)
	if err == nil && c.Origin != x.c.Origin {
		err = fmt.Errorf("the directory has the log %s", c.Origin)
	}
	if err == nil && c.Size > x.c.Size {
		err = fmt.Errorf("the directory has a checkpoint with %d entries, but the log has only %d", c.Size, x.c.Size)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", x.dir, err)
	}
	return nil
}

// lowest writes the tiles of level 0 and the bundles. It verifies the hashes of the entries against
// the checkpoint.
func (x *exporter) lowest(ctx context.Context, progress func(done, total uint64)) error {
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	var err error
	if scanner, ok := x.o.Store.(store.LeafScanner); ok && !x.entries {
		err = x.scan(ctx, scanner, progress)
	} else {
		err = x.inOrder(ctx, progress)
	}
	if err == nil && checkpointOf(x.c.Origin, x.log.Head()).Root != x.c.Root {
		err = errors.New("the entries of the store do not match the checkpoint: verify the store")
	}
	return err
}

// scan writes the tiles of level 0. It reads the hashes in the order in which the store can read
// them fastest. It keeps the hashes of scanWindow entries in memory, and scans the store once for
// each scanWindow entries.
func (x *exporter) scan(ctx context.Context, s store.LeafScanner, progress func(done, total uint64)) error {
	for from := uint64(0); from < x.c.Size; from += scanWindow {
		n := min(scanWindow, x.c.Size-from)
		hashes := make([]byte, n*sha256.Size)
		found := uint64(0)
		err := s.ScanLeaves(ctx, x.c.Size, func(seq uint64, hash [32]byte) bool {
			if seq > from && seq <= from+n {
				copy(hashes[(seq-from-1)*sha256.Size:], hash[:])
				if found++; found%exportWindow == 0 {
					progress(from+found, x.c.Size)
				}
			}
			return true
		})
		if err != nil {
			return err
		}
		for at := uint64(0); at < n; at += tlog.TileWidth {
			tile := hashes[at*sha256.Size : min(at+tlog.TileWidth, n)*sha256.Size]
			for h := range slices.Chunk(tile, sha256.Size) {
				x.log.AppendHash(nil, ledger.Hash(h))
			}
			if err := x.write(tlog.Tile{N: (from + at) / tlog.TileWidth, Width: len(tile) / sha256.Size}, tile); err != nil {
				return err
			}
		}
		progress(from+n, x.c.Size)
	}
	return nil
}

// inOrder writes the tiles of level 0 and the bundles. It reads the entries in the order of the
// log.
func (x *exporter) inOrder(ctx context.Context, progress func(done, total uint64)) error {
	set, err := x.o.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return err
	}
	hashes := make([]byte, 0, tlog.MaxTile)
	b := &bundling{l: &Log{o: x.o}, set: set}
	for from := uint64(0); from < x.c.Size; from += exportWindow {
		at := from
		for leaf, err := range x.o.Store.Leaves(ctx, from, min(from+exportWindow, x.c.Size)) {
			if err != nil {
				return err
			}
			h := tlog.EntryHash(leaf)
			x.log.AppendHash(nil, h)
			hashes = append(hashes, h[:]...)
			if x.entries {
				if err := b.add(ctx, leaf); err != nil {
					return err
				}
			}
			at++
			if at%tlog.TileWidth != 0 && at != x.c.Size {
				continue
			}
			t := tlog.Tile{N: (at - 1) / tlog.TileWidth, Width: len(hashes) / sha256.Size}
			if err := x.write(t, hashes); err != nil {
				return err
			}
			if x.entries {
				t.Level = tlog.EntriesLevel
				if err := x.writeBundle(t, b.data, b.hidden); err != nil {
					return err
				}
			}
			hashes = hashes[:0]
			b.reset()
		}
		progress(at, x.c.Size)
	}
	return nil
}

// A bundling builds a bundle from entries. In the bundle, entries that are not public have the
// length 0.
type bundling struct {
	l      *Log
	set    *store.AuthoritySet
	data   []byte
	hidden bool // some entries are not public
	seen   map[string]bool
}

func (b *bundling) add(ctx context.Context, leaf []byte) error {
	parsed, err := codec.ParseLeaf(leaf)
	if err != nil {
		return err
	}
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	ok, err := b.l.isShown(ctx, b.set, parsed.Subject, b.seen)
	if err != nil {
		return err
	}
	if !ok {
		leaf, b.hidden = nil, true
	}
	b.data, err = tlog.AppendEntry(b.data, leaf)
	return err
}

func (b *bundling) reset() {
	b.data, b.hidden = b.data[:0], false
	clear(b.seen)
}

// writeBundle writes a bundle. It removes the other form of the bundle, which exists if an entry
// has become public or private.
func (x *exporter) writeBundle(t tlog.Tile, data []byte, hidden bool) error {
	path, other := t.Path(), ShownPath(t)
	if hidden {
		path, other = other, path
		x.sum.Hidden++
	}
	if err := os.Remove(filepath.Join(x.dir, filepath.FromSlash(other))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return x.writeFile(path, data)
}

func (x *exporter) write(t tlog.Tile, data []byte) error { return x.writeFile(t.Path(), data) }

// writeFile writes a file unless it exists with the same content. Tiles never change, so an
// existing tile with different content is damaged, or was left incomplete by a crash.
func (x *exporter) writeFile(path string, data []byte) error {
	path = filepath.Join(x.dir, filepath.FromSlash(path))
	switch is, err := readFileUpTo(path, len(data)+1); {
	case err == nil && bytes.Equal(is, data):
		return nil
	case err == nil:
		x.sum.Repaired++
	}
	if dir := filepath.Dir(path); !x.made[dir] {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		x.made[dir] = true
	}
	x.sum.Files++
	return os.WriteFile(path, data, 0o644)
}

// readFileUpTo reads at most limit bytes of a file.
func readFileUpTo(path string, limit int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

// sync flushes the directories to disk. It must be called before the checkpoint is written.
func (x *exporter) sync() error {
	for dir := range x.made {
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
	}
	return os.MkdirAll(x.dir, 0o755)
}

// OwnReceipt returns a receipt with the whole content of a change, made from the store. If the
// origin has ended, for example at a hand-over, the receipt has the last checkpoint of this origin.
func OwnReceipt(ctx context.Context, o Options, origin string, c *store.Change) ([]byte, error) {
	text, is, err := last(ctx, o, origin)
	if err != nil {
		return nil, err
	}
	p := &published{text: text, origin: is.Origin, size: is.Size, verified: true}
	return (&Log{o: o}).receipt(ctx, p, c, allContent)
}

// An Absence is the result of [Absent].
type Absence struct {
	Origin string
	Size   uint64 // number of entries read
	Seq    uint64 // log number of the first entry about the subject, or 0
}

// Absent reads all entries of the published log to find entries about a subject. It verifies the
// entries against the checkpoint.
func Absent(ctx context.Context, o Options, s store.Subject, progress func(done, total uint64)) (Absence, error) {
	_, c, err := last(ctx, o, "")
	if err != nil {
		return Absence{}, err
	}
	a := Absence{Origin: c.Origin, Size: c.Size}
	var log ledger.Log
	for from := uint64(0); from < c.Size; from += exportWindow {
		at := from
		for leaf, err := range o.Store.Leaves(ctx, from, min(from+exportWindow, c.Size)) {
			if err != nil {
				return a, err
			}
			at++
			log.Append(nil, leaf)
			if a.Seq == 0 && bytes.Contains(leaf, []byte(s.Key)) {
				parsed, err := codec.ParseLeaf(leaf)
				if err != nil {
					return a, err
				}
				if parsed.Subject == s {
					a.Seq = at
				}
			}
		}
		if progress != nil {
			progress(at, c.Size)
		}
	}
	if checkpointOf(c.Origin, log.Head()).Root != c.Root {
		return a, ErrSuspended
	}
	return a, nil
}
