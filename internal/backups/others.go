package backups

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// An otherLogError means that the log of the live store does not begin with the log of a backup.
// The backup may be from another store, or contain changes that the live store lost when an older
// backup was restored.
type otherLogError struct{ problem string }

func (e *otherLogError) Error() string { return e.problem }

// adopt adds a backup to the state that was completed just before the server was interrupted. If
// the log of the live store does not begin with the log of the backup, adopt logs a warning
// instead, because another server has made the backup.
func (k *Scheduler) adopt(ctx context.Context, dir string, m *pebblestore.Manifest) error {
	err := k.continues(ctx, m.Head)
	if other := (*otherLogError)(nil); errors.As(err, &other) {
		k.Log.Warn("another server has made a backup under the name of an interrupted one; this server will not delete it", "dir", dir, "err", err)
		return nil
	}
	if err == nil {
		k.add(dir, m, m.Made, 0)
	}
	return err
}

// disown removes the backups from the state whose logs the log of the live store does not continue.
// Only the first call for a Scheduler has an effect, because a store can lose changes only while no
// server runs. The files of the backups remain, because they may be the only copies of lost
// changes.
func (k *Scheduler) disown(ctx context.Context) {
	if k.compared {
		return
	}
	s, _ := k.State()
	for _, b := range s.Backups {
		head, err := store.ParseHead(b.Head)
		if err == nil {
			err = k.continues(ctx, head)
		} else {
			err = &otherLogError{err.Error()}
		}
		if other := (*otherLogError)(nil); errors.As(err, &other) {
			k.Log.Warn("a backup does not belong to the history of the store; this server will not delete it", "dir", b.Dir, "err", err)
			k.forget(b)
		} else if err != nil { // the store is unavailable, and the next call tries again
			return
		}
	}
	k.compared = true
}

func (k *Scheduler) countOthers(p *Plan) {
	entries, err := os.ReadDir(p.To)
	if err != nil { // keep the previous number
		return
	}
	s, _ := k.State()
	n := 0
	for _, e := range entries {
		dir := filepath.Join(p.To, e.Name())
		if slices.ContainsFunc(s.Backups, func(b *Backup) bool { return b.Dir == dir }) {
			continue
		}
		if _, err := pebblestore.ReadManifest(dir); err == nil {
			n++
		}
	}
	if n > s.Others {
		k.Log.Info("the directory has backups of other servers or of another history; this server never deletes them", "to", p.To, "backups", n)
	}
	k.update(func(s *State) { s.Others = n })
}
