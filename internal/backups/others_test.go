package backups

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// Two servers of different stores share a directory, and begin a backup in the same second. The
// first server is killed before the directory of its backup exists, and the second server completes
// its backup under this name. The first server must never delete this backup, neither when it
// starts nor when it deletes its own old backups.
func TestNameOfAnother(t *testing.T) {
	t.Parallel()
	first, second := newScheduled(t), newScheduled(t)
	second.to = first.to
	second.put("urn:example:other")
	first.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	second.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	second.step(t.Context())
	theirs := second.there()[0]
	first.update(func(s *State) { s.Running = filepath.Join(first.to, theirs) })
	first.Scheduler = first.restarted(first.live)
	first.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	for i := range 3 {
		first.put(fmt.Sprint("urn:example:b", i))
		first.step(t.Context())
		if s, _ := first.State(); first.problem() != "" || len(s.Backups) != 1 || s.Backups[0].Dir == filepath.Join(first.to, theirs) || s.Others != 1 {
			t.Errorf("step %d: %q, state %+v", i, first.problem(), s)
		}
		first.now = first.now.Add(time.Hour)
	}
	first.check(theirs, "nomen-20261123T050000Z")
	if n := strings.Count(first.log.String(), "another server has made a backup under the name of an interrupted one; this server will not delete it"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, first.log.String())
	}
	if n := strings.Count(first.log.String(), "this server never deletes them"); n != 1 {
		t.Errorf("%d notes:\n%s", n, first.log.String())
	}
}

// A server that is killed before it has recorded a complete backup records it at its next start,
// even if the store has changed since.
func TestOwnBackupContinues(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	k.step(t.Context())
	k.update(func(s *State) { s.Running, s.Backups = s.Backups[0].Dir, nil })
	k.put("urn:example:later")
	k.Scheduler = k.restarted(k.live)
	k.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
	k.step(t.Context())
	if s, _ := k.State(); len(s.Backups) != 1 || !s.Backups[0].Finished || s.Others != 0 || s.Running != "" {
		t.Errorf("state %+v; log:\n%s", s, k.log.String())
	}
	k.check("nomen-20261123T030000Z")
}

// If an older backup was restored, the backups with the changes that are now missing stay, even
// when the same number of other changes was made.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Keep: 2, Rehearse: 1})
	k.step(t.Context())
	older := k.there()[0]
	k.put("urn:example:lost", "urn:example:lost2")
	k.now = k.now.Add(time.Hour)
	k.step(t.Context())
	newer := k.there()[1]

	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := pebblestore.Restore(t.Context(), pebblestore.RestoreOptions{From: filepath.Join(k.to, older), To: dir}); err != nil {
		t.Fatal(err)
	}
	restored, err := pebblestore.Open(pebblestore.Options{Dir: dir, CacheSize: 1 << 20, Now: func() time.Time { return k.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = restored.Close() })
	k.live = restored
	k.Scheduler = k.restarted(k.live)
	k.set(Plan{Every: time.Hour, Keep: 2, Rehearse: 1})
	k.now = k.now.Add(time.Minute) // if the newer backup still counted, no backup would be due
	for i := range 4 {
		if i > 0 {
			k.now = k.now.Add(time.Hour)
		}
		k.put(fmt.Sprint("urn:example:b", i))
		k.step(t.Context())
		if got := k.there(); k.problem() != "" || !slices.Contains(got, newer) {
			t.Fatalf("step %d: %q, %q; log:\n%s", i, k.problem(), got, k.log.String())
		}
	}
	k.check(newer, "nomen-20261123T060100Z", "nomen-20261123T070100Z")
	if n := strings.Count(k.log.String(), "a backup does not belong to the history of the store"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, k.log.String())
	}
	if s, _ := k.State(); s.Others != 1 {
		t.Errorf("state %+v", s)
	}
}

// While the store is unavailable, no backup is removed from the state.
func TestDisownUnavailable(t *testing.T) {
	t.Parallel()
	k := newScheduled(t)
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	k.step(t.Context())
	k.Scheduler = k.restarted(k.live)
	k.Source = unavailable{k.live}
	k.set(Plan{Every: time.Hour, Rehearse: 1})
	k.update(func(s *State) { s.Running = s.Backups[0].Dir })
	for range 2 {
		k.now = k.now.Add(time.Hour)
		k.step(t.Context())
		if s, _ := k.State(); len(s.Backups) != 1 || s.Running == "" || s.Problem == "" {
			t.Errorf("state %+v; log:\n%s", s, k.log.String())
		}
	}
}

// An unavailable store cannot read its log.
type unavailable struct{ *pebblestore.Store }

func (unavailable) Head(context.Context) (store.Head, error) {
	return store.Head{}, &store.AwayError{Cause: "input/output error"}
}
