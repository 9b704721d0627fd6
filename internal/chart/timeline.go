package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"
)

// A Timeline shows which states a record was in, and when it changed.
type Timeline struct {
	Words
	When, State, What string // headings of the table
	States            []string
	Events            []Event // in any order
	Until             time.Time
	Time              func(time.Time) string // formats a time; nil means YYYY-MM-DD in UTC
}

// An Event is a change of a record.
type Event struct {
	Time  time.Time
	State int    // state after the event, as an index of Timeline.States
	What  string // what happened
}

// Draw draws a band from the first event to the time Until. The band shows the state at each time,
// and has a mark for each event.
func (l Timeline) Draw() (template.HTML, error) {
	if err := l.check(); err != nil {
		return "", err
	}
	l.Events = slices.SortedStableFunc(slices.Values(l.Events), func(a, b Event) int { return cmp.Compare(a.Time.UnixMilli(), b.Time.UnixMilli()) })
	p := newDrawing(l.ID)
	if len(l.Events) > 0 {
		p.usePatterns(len(l.States))
		p.legend(l.States, false)
		l.band(p)
		l.timeAxis(p)
	}
	return render(l.Words, p, l.table())
}

func (l *Timeline) check() error {
	if l.Time == nil {
		l.Time = func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	}
	if slices.ContainsFunc(l.Events, func(e Event) bool { return e.State < 0 || e.State >= len(l.States) }) {
		return fmt.Errorf("chart %s: an event has an unknown state", l.ID)
	}
	return l.Words.check(len(l.Events), len(l.States))
}

// ends returns the times at which the axis begins and ends.
func (l *Timeline) ends() (from, to time.Time) {
	from, to = l.Events[0].Time, l.Events[len(l.Events)-1].Time
	if to.Before(l.Until) {
		to = l.Until
	}
	return from, to
}

// x returns the position of a time, or the left end if the axis has no length.
func (l *Timeline) x(t time.Time) int {
	from, to := l.ends()
	elapsed := func(t time.Time) uint64 { return uint64(t.UnixMilli() - from.UnixMilli()) }
	if elapsed(to) == 0 {
		return 0
	}
	return scale(elapsed(t), elapsed(to), width-gap)
}

// band draws the states, and a mark at each position that has an event.
func (l *Timeline) band(p *drawing) {
	const height = 2 * barHeight
	last := -1
	for i, e := range l.Events {
		x, end := l.x(e.Time), width-gap
		if i+1 < len(l.Events) {
			end = l.x(l.Events[i+1].Time)
		}
		if end > x || i+1 == len(l.Events) {
			p.Areas = append(p.Areas, area{x, p.Height, max(end-x-space, least), height, e.State})
		}
		if x > last {
			p.Rules = append(p.Rules, fmt.Sprintf("M%d %dv%d", x+1, p.Height, height+gap))
		}
		last = x
	}
	p.Height += height + gap + lineHeight
}

// timeAxis writes the times at both ends and in the middle. Equal times are written only once.
func (l *Timeline) timeAxis(p *drawing) {
	const most = 16 // columns of a label
	from, to := l.ends()
	middle := time.UnixMilli(from.UnixMilli() + (to.UnixMilli()-from.UnixMilli())/2)
	before := ""
	for i, t := range []time.Time{from, middle, to} {
		if text := l.Time(t); text != before {
			p.text(i*(width-gap)/2, p.Height, anchor(i, 3), text, most)
			before = text
		}
	}
	p.Height += gap
}

func (l *Timeline) table() table {
	t := table{Headings: []string{l.When, l.State, l.What}}
	for _, e := range l.Events {
		t.Rows = append(t.Rows, row{Label: l.Time(e.Time), Machine: e.Time.UTC().Format(time.RFC3339), Cells: []string{l.States[e.State], e.What}})
	}
	return t
}
