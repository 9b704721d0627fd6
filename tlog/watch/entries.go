package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
)

// DefaultTolerance is the default for the amount by which the times of entries may be out of order.
// The clocks of several servers differ, and an entry is published some time after the change.
const DefaultTolerance = 10 * time.Minute

// errNoEntries means that a log does not publish its entries.
var errNoEntries = errors.New("the log does not publish its entries")

// A reading reads the entries of a log in order and checks them.
type reading struct {
	tiles     tlog.TileReader
	tree      *tlog.Tree
	prefixes  []name.Prefix
	tolerance time.Duration
	now       time.Time

	hashesOnly bool // the log does not publish its entries
	alert      func(*Alert)

	hidden    uint64    // number of entries that the log does not disclose, because some of them are about names that are not public
	next      uint64    // position of the next entry
	notBefore time.Time // minimum time of the entry at next and of later entries, except for the tolerance
	heads     []head    // verified heads, oldest first; an entry added after such a head cannot be older than the head
	quiet     bool      // do not report changes of names
	served    func(ctx context.Context, index uint64, leaf *codec.Leaf)
}

// step reads and checks the entries of one bundle, up to the end of the log. The error is an
// [*Alert] or errNoEntries. Any other error means that the log could not be read.
func (r *reading) step(ctx context.Context) error {
	size := r.tree.Checkpoint().Size
	n := r.next / tlog.TileWidth
	width := tlog.WidthOf(0, n, size)
	tile := tlog.Tile{Level: tlog.EntriesLevel, N: n, Width: width}
	hashes, err := r.tree.EntryHashes(ctx, n*tlog.TileWidth, width)
	if err != nil {
		return err
	}
	if r.hashesOnly {
		r.next = n*tlog.TileWidth + uint64(width)
		return nil
	}
	data, err := tlog.ReadTile(ctx, r.tiles, tile)
	gaps := false
	if isAbsent(err) {
		if shown, shownErr := r.tiles.ReadTile(ctx, shownPath(tile)); !isAbsent(shownErr) {
			data, err, gaps = shown, shownErr, true
		}
	}
	var unavailable *unavailableError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNoEntries
	case errors.Is(err, fs.ErrPermission):
		r.hidden += n*tlog.TileWidth + uint64(width) - r.next
		r.next = n*tlog.TileWidth + uint64(width)
		return nil
	case errors.As(err, &unavailable):
		return err
	case err != nil:
		return bundleAlert(tile, err)
	}
	entries, err := tlog.ParseBundle(data, width)
	if err != nil {
		return bundleAlert(tile, err)
	}
	for i, entry := range entries {
		index := n*tlog.TileWidth + uint64(i)
		if gaps && len(entry) == 0 { // the name is not public
			if index >= r.next {
				r.hidden++
			}
			continue
		}
		if tlog.EntryHash(entry) != hashes[i] {
			a := bundleAlert(tile, fmt.Errorf("entry %d does not match the hash in the tree", index+1))
			a.Entry = index + 1
			return a
		}
		if index < r.next {
			continue
		}
		if err := r.entry(ctx, index, entry); err != nil {
			return err
		}
	}
	r.next = n*tlog.TileWidth + uint64(width)
	return nil
}

// The directories of bundles. In the second, entries that are not public have the length 0.
const (
	entriesDir = "tile/entries/"
	shownDir   = "shown/"
)

func shownPath(t tlog.Tile) string { return shownDir + strings.TrimPrefix(t.Path(), entriesDir) }

// isAbsent reports whether the log does not have or does not disclose a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

func bundleAlert(tile tlog.Tile, err error) *Alert {
	a := alertf(BadBundle, "%s: %v", tile.Path(), err)
	a.Path = tile.Path()
	return a
}

func (r *reading) entry(ctx context.Context, index uint64, entry []byte) error {
	leaf, err := codec.ParseLeaf(entry)
	if err != nil {
		a := alertf(BadEntry, "entry %d is not an entry of a log of nomen: %v", index+1, err)
		a.Entry = index + 1
		return a
	}
	for len(r.heads) > 0 && r.heads[0].Size <= index {
		if r.heads[0].Time.After(r.notBefore) {
			r.notBefore = r.heads[0].Time
		}
		r.heads = r.heads[1:]
	}
	shownKey := shown.Short(leaf.Subject.Key, 200)
	report := func(kind Kind, format string, args ...any) {
		a := alertf(kind, format, args...)
		a.Entry, a.Name = index+1, leaf.Subject.Key
		r.alert(a)
	}
	switch {
	case leaf.Time.Before(r.notBefore.Add(-r.tolerance)):
		report(BackDated, "entry %d (%s) is dated %s, but the log was already past %s when it was added",
			index+1, shownKey, leaf.Time.UTC().Format(time.RFC3339), r.notBefore.UTC().Format(time.RFC3339))
	case leaf.Time.After(r.now.Add(r.tolerance)):
		report(FutureTime, "entry %d (%s) is dated %s, which is in the future", index+1, shownKey, leaf.Time.UTC().Format(time.RFC3339))
	case leaf.Time.After(r.notBefore):
		r.notBefore = leaf.Time
	}
	if !r.watched(leaf) {
		return nil
	}
	if !r.quiet {
		change(leaf, report)
	}
	if r.served != nil {
		r.served(ctx, index, leaf)
	}
	return nil
}

// watched reports whether the entry is about a name or authority below one of the prefixes.
func (r *reading) watched(leaf *codec.Leaf) bool {
	switch leaf.Subject.Kind {
	case store.KindName:
		n := name.FromKey(leaf.Subject.Key)
		for _, p := range r.prefixes {
			if p.Covers(n) || leaf.Subject.Key == p.String() {
				return true
			}
		}
	case store.KindAuthority:
		for _, p := range r.prefixes {
			if leaf.Subject.Key == p.String() || strings.HasPrefix(leaf.Subject.Key, p.String()) {
				return true
			}
		}
	}
	return false
}

// change reports the effect of an entry on a name or an authority.
func change(leaf *codec.Leaf, report func(kind Kind, format string, args ...any)) {
	key := shown.Short(leaf.Subject.Key, 200)
	at := leaf.Time.UTC().Format(time.RFC3339)
	if len(leaf.Redacts) > 0 {
		report(Redacted, "%s: content of %d earlier revisions was removed at %s", key, len(leaf.Redacts), at)
	}
	switch {
	case leaf.Subject.Kind == store.KindName && leaf.Status == "":
		report(Deleted, "%s: the reserved name was deleted at %s", key, at)
	case leaf.Status == nomen.Retired:
		report(Retired, "%s was retired at %s (revision %d)", key, at, leaf.Revision)
	case leaf.Revision > 1 && len(leaf.Redacts) == 0:
		report(Changed, "%s was changed at %s (revision %d)", key, at, leaf.Revision)
	}
}
