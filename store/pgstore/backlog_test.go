package pgstore

import (
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
)

// The age of the backlog increases as long as no node seals. A higher fence shows that a node has
// sealed changes.
func TestBacklog(t *testing.T) {
	var b backlog
	begun := time.Unix(1_000_000, 0)
	at := func(seconds int) time.Time { return begun.Add(time.Duration(seconds) * time.Second) }
	for i, tt := range []struct {
		fence   int64
		waiting bool
		want    int // age in seconds, one second after the head was read
	}{
		{5, false, 0}, {5, true, 1}, {5, true, 2}, {5, true, 3}, {6, true, 1}, {6, true, 2}, {6, false, 0}, {6, true, 1},
	} {
		b.saw(tt.fence, tt.waiting, at(i))
		if got := b.age(at(i + 1)); got != time.Duration(tt.want)*time.Second {
			t.Errorf("look %d: %v, want %d s", i, got, tt.want)
		}
	}
	b.forget()
	if got := b.age(at(100)); got != 0 {
		t.Errorf("forgotten: %v", got)
	}
}

// A store reports that changes wait while the head of the log is locked. It also reports the roles
// of its servers.
func TestUsage(t *testing.T) {
	url := newURL(t, shared)
	s := open(t, url)
	c := connect(t, url)
	if _, err := c.Exec(t.Context(), "begin; select id from nomen_head for update"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "changes wait for half a second", func() bool { return store.UsageOf(s).Unsealed > 500*time.Millisecond })
	if _, err := c.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no changes wait", func() bool { return store.UsageOf(s).Unsealed == 0 })
	u := store.UsageOf(s)
	if u.Servers["primary"] != 1 || u.Servers["down"] != 0 || len(u.Servers) != int(roles) || u.Failures != 0 || u.Disk != nil {
		t.Errorf("usage: %+v", u)
	}
}
