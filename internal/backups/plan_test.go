package backups

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestPlanErrors(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]Plan{
		"to \"backup\": must be an absolute path": {To: "backup"},
		"at cannot be combined with every":        {To: "/b", Every: time.Hour, At: "03:00"},
		"every 1s: must be at least 1m0s":         {To: "/b", Every: time.Second},
		"at \"3 am\": must be a time of day":      {To: "/b", At: "3 am"},
		"at \"24:00\": must be a time of day":     {To: "/b", At: "24:00"},
		"keep -1: must be positive":               {To: "/b", Keep: -1},
		"keep-weekly -1: must not be negative":    {To: "/b", KeepWeekly: -1},
		"hook must begin with a program":          {To: "/b", Hook: []string{""}},
	} {
		if err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", p, err, want)
		}
	}
	p := Plan{To: "/b//c/"}
	if err := p.Complete(); err != nil || p.To != "/b/c" || p.Every != 24*time.Hour || p.Keep != 14 || p.HookTimeout != 6*time.Hour {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPlanNext(t *testing.T) {
	t.Parallel()
	now := "2026-11-23T12:00:00Z"
	for _, c := range []struct {
		what, at, last, want string
		every                time.Duration
	}{
		{"the first", "", "", now, time.Hour},
		{"the first at a time of day", "03:00", "", now, 0},
		{"not due yet", "", "2026-11-23T11:30:00Z", "2026-11-23T12:30:00Z", time.Hour},
		{"overdue", "", "2026-11-20T11:30:00Z", "2026-11-20T12:30:00Z", time.Hour},
		{"the clock was set back", "", "2027-11-20T11:30:00Z", "2026-11-23T13:00:00Z", time.Hour},
		{"tomorrow", "03:00", "2026-11-23T03:00:00Z", "2026-11-24T03:00:00Z", 0},
		{"today", "13:00", "2026-11-22T13:00:02Z", "2026-11-23T13:00:00Z", 0},
		{"missed", "03:00", "2026-11-22T03:00:02Z", "2026-11-23T03:00:00Z", 0},
		{"the clock was set back, at a time of day", "13:00", "2027-11-22T13:00:02Z", "2026-11-23T13:00:00Z", 0},
	} {
		p := Plan{To: "/b", Every: c.every, At: c.at}
		last := time.Time{}
		if c.last != "" {
			last = at(c.last)
		}
		if got := p.next(last, at(now)); !got.Equal(at(c.want)) {
			t.Errorf("%s: next at %v, want %s", c.what, got, c.want)
		}
	}
}

// TestExpired checks which backups are deleted. Each letter is a backup, oldest first: g is good
// and was rehearsed, u was not rehearsed, and b failed its rehearsal.
func TestExpired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, all, old string
		keep, weekly   int
	}{
		{"few", "ggg", "...", 3, 0},
		{"the oldest go", "ggggg", "xx...", 3, 0},
		{"keep one", "gg", "x.", 1, 0},
		{"a bad one deletes nothing", "gggggb", "......", 3, 0},
		{"nor do two, but the older bad one goes", "gggggbb", ".....x.", 3, 0},
		{"nor does a bad one before some that were not rehearsed", "gggggbuuuu", "..........", 3, 0},
		{"good ones after a bad one", "gggbgg", "x.....", 4, 0},
		{"a bad one goes in its turn", "ggbgg", "xxx..", 2, 0},
		{"the last one that was rehearsed stays", "guuuu", ".xx..", 2, 0},
		{"nothing was ever rehearsed", "uuuu", "xx..", 2, 0},
		{"weeks", "gggggggggggggggggggggggggggggg", "xxxxxxxxxxxxxx.xxxxxx.xxxxx...", 3, 2},
	} {
		var all []*Backup
		for i, kind := range c.all {
			b := &Backup{Dir: filepath.Join("/b", strings.Repeat("x", i+1)), Made: at("2026-11-01T03:00:00Z").AddDate(0, 0, i)}
			switch kind {
			case 'g':
				b.Rehearsed = b.Made
			case 'b':
				b.Problem = "damaged"
			}
			all = append(all, b)
		}
		p := Plan{To: "/b", Keep: c.keep, KeepWeekly: c.weekly}
		old := p.expired(append([]*Backup{{Dir: "/other/a"}}, all...))
		got := ""
		for _, b := range all {
			if slices.Contains(old, b) {
				got += "x"
			} else {
				got += "."
			}
		}
		if got != c.old {
			t.Errorf("%s: of %s are deleted\n%s, want\n%s", c.what, c.all, got, c.old)
		}
	}
}
