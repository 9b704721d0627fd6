package pebblestore

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/store"
)

// A store reports its cache, the space on its disk, and how often the disk was full.
func TestUsage(t *testing.T) {
	mem := vfs.NewCrashableMem()
	mem.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: 1 << 29})
	s := openMem(t, mem)
	if _, err := s.Apply(t.Context(), round(1, 1)); err != nil {
		t.Fatal(err)
	}
	u := store.UsageOf(s)
	if len(u.Caches) != 1 || u.Caches[0].Name != "blocks" || u.Caches[0].Capacity == 0 || u.Caches[0].Bytes > u.Caches[0].Capacity || u.Servers != nil || u.Failures != 0 {
		t.Errorf("usage: %+v", u)
	}
	if d := u.Disk; d == nil || d.Free != 1<<29 || d.Size != 1<<30 || d.Required == 0 || d.Required > 1<<27 {
		t.Errorf("disk: %+v", u.Disk)
	}
	mem.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: 1 << 20})
	refusedAsFull(t, s, 1, false)
	for end := time.Now().Add(time.Minute); store.UsageOf(s).Failures == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if u := store.UsageOf(s); u.Failures != 1 || u.Disk.Free != 1<<20 || !s.Condition().Full {
		t.Errorf("on a full disk: %+v, %+v", u, u.Disk)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if u := store.UsageOf(s); u.Caches != nil {
		t.Errorf("closed: %+v", u)
	}
}
