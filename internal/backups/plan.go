package backups

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Defaults of a [Plan].
const (
	DefaultEvery       = 24 * time.Hour
	DefaultKeep        = 14
	DefaultHookTimeout = 6 * time.Hour
)

const minEvery = time.Minute

// A Plan says when and where to make backups, and how many to keep.
type Plan struct {
	To          string        // directory of the backups, as an absolute path
	Every       time.Duration // time from the start of a backup to the start of the next; 0 if At is set
	At          string        // local time of day, as HH:MM; "" if Every is set
	Keep        int           // how many of the newest backups to keep
	KeepWeekly  int           // for how many earlier weeks to keep the newest backup of the week
	Rehearse    int           // rehearse one of this many backups; 0 means none
	Hook        []string      // program to run after each backup, with its arguments; may be empty
	HookTimeout time.Duration // how long the hook may run
}

// A FieldError reports an invalid field of a [Plan].
type FieldError struct {
	Field   string // name of the field in configuration files, such as "keep-weekly"
	Problem string // what is wrong, with the value
}

func (e *FieldError) Error() string { return e.Field + " " + e.Problem }

// Complete sets zero fields other than Rehearse and KeepWeekly to their defaults. If the plan is
// invalid, the error is a [*FieldError].
func (p *Plan) Complete() error {
	if p.Every == 0 && p.At == "" {
		p.Every = DefaultEvery
	}
	if p.Keep == 0 {
		p.Keep = DefaultKeep
	}
	if p.HookTimeout == 0 {
		p.HookTimeout = DefaultHookTimeout
	}
	switch {
	case !filepath.IsAbs(p.To):
		return &FieldError{"to", fmt.Sprintf("%q: must be an absolute path of a directory", p.To)}
	case p.Every != 0 && p.At != "":
		return &FieldError{"at", "cannot be combined with every: every is a duration, at a time of day"}
	case p.At == "" && p.Every < minEvery:
		return &FieldError{"every", fmt.Sprintf("%v: must be at least %v", p.Every, minEvery)}
	case p.Keep < 1:
		return &FieldError{"keep", fmt.Sprintf("%d: must be positive", p.Keep)}
	case p.KeepWeekly < 0:
		return &FieldError{"keep-weekly", fmt.Sprintf("%d: must not be negative", p.KeepWeekly)}
	case p.Rehearse < 0:
		return &FieldError{"rehearse", fmt.Sprintf("%d: must not be negative", p.Rehearse)}
	case p.HookTimeout < 0:
		return &FieldError{"hook-timeout", fmt.Sprintf("%v: must not be negative", p.HookTimeout)}
	case len(p.Hook) > 0 && p.Hook[0] == "":
		return &FieldError{"hook", "must begin with a program"}
	}
	if p.At != "" {
		if _, err := time.Parse(clockTime, p.At); err != nil {
			return &FieldError{"at", fmt.Sprintf("%q: must be a time of day, such as \"03:00\"", p.At)}
		}
	}
	p.To = filepath.Clean(p.To)
	return nil
}

const clockTime = "15:04"

func (p *Plan) equal(other *Plan) bool {
	if p == nil || other == nil {
		return p == other
	}
	a, b := *p, *other
	a.Hook, b.Hook = nil, nil
	return slices.Equal(p.Hook, other.Hook) && fmt.Sprint(a) == fmt.Sprint(b)
}

// next returns when the next backup is due. The parameter last is the time of the last backup. If
// the clock was set back, so that last is in the future, next uses now instead.
func (p *Plan) next(last, now time.Time) time.Time {
	if last.IsZero() {
		return now
	}
	if last.After(now) {
		last = now
	}
	if p.At == "" {
		return last.Add(p.Every)
	}
	at, _ := time.Parse(clockTime, p.At) // Complete has parsed At successfully
	last = last.In(now.Location())
	next := time.Date(last.Year(), last.Month(), last.Day(), at.Hour(), at.Minute(), 0, 0, last.Location())
	if !next.After(last) {
		next = time.Date(last.Year(), last.Month(), last.Day()+1, at.Hour(), at.Minute(), 0, 0, last.Location())
	}
	return next
}

// Interval returns the time between the starts of two successive backups. It is p.Every, or a day
// if p.At is set.
func (p *Plan) Interval() time.Duration {
	if p.At != "" {
		return 24 * time.Hour
	}
	return p.Every
}

// expired returns the backups that can be deleted. The parameter list contains all known backups,
// oldest first. A backup is good unless its rehearsal failed. The plan keeps these backups:
//
//   - The p.Keep newest good backups.
//   - The newest good backup of each earlier week, for p.KeepWeekly weeks. Weeks with one of the
//     p.Keep newest good backups are not counted.
//   - The last backup whose rehearsal succeeded.
//   - If the last rehearsal failed, all good backups, and the newest backup that is not good.
//     Otherwise, backups that are not good as long as fewer than p.Keep good backups are newer.
func (p *Plan) expired(list []*Backup) (old []*Backup) {
	var own []*Backup // newest first
	for _, b := range slices.Backward(list) {
		if filepath.Dir(b.Dir) == p.To {
			own = append(own, b)
		}
	}
	last := slices.IndexFunc(own, func(b *Backup) bool { return b.Problem != "" || !b.Rehearsed.IsZero() })
	failed := last >= 0 && !own[last].good()
	rehearsed := slices.IndexFunc(own, func(b *Backup) bool { return b.good() && !b.Rehearsed.IsZero() })
	kept, weekly, weeks := 0, 0, map[[2]int]bool{}
	for i, b := range own {
		year, week := b.Made.UTC().ISOWeek()
		switch week := [2]int{year, week}; {
		case failed && (i == last || b.good()):
		case !b.good():
			if failed || kept >= p.Keep {
				old = append(old, b)
			}
		case kept < p.Keep:
			kept++
			weeks[week] = true
		case weekly < p.KeepWeekly && !weeks[week]:
			weekly++
			weeks[week] = true
		case i != rehearsed:
			old = append(old, b)
		}
	}
	return old
}

// String describes the plan on one line.
func (p *Plan) String() string {
	when := "every " + strings.TrimSuffix(strings.TrimSuffix(p.Every.String(), "0s"), "0m")
	if p.At != "" {
		when = "every day at " + p.At
	}
	return fmt.Sprintf("%s to %s", when, p.To)
}
