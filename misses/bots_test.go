package misses

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Robots that try many names do not fill the list. Their requests count for names that people
// requested too.
func TestBots(t *testing.T) {
	c := open(t, Options{Names: 10, Now: at(noon)})
	for i := range 5 {
		c.Add(fmt.Sprint("urn:x-y:", i), nil)
	}
	for i := range 10_000 {
		c.AddFrom(fmt.Sprint("urn:x-y:", i), nil, true)
	}
	list := c.List(0)
	if len(list) != 5 {
		t.Errorf("%d names, want 5", len(list))
	}
	for _, m := range list {
		if m.Count != 2 || m.Bots != 1 {
			t.Errorf("%+v, want 2 requests, one by a robot", m)
		}
	}
	if got := c.Totals(); got.Asked != 10_005 || got.Other != 9_995 {
		t.Errorf("totals %+v", got)
	}
	balanced(t, c)
}

// A name has the months in which it was requested.
func TestMonths(t *testing.T) {
	now := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	c := open(t, Options{Now: func() time.Time { return now }})
	for _, month := range []time.Month{1, 3, 3, 11, 2} { // the clock goes back
		now = time.Date(2026, month, 15, 10, 0, 0, 0, time.UTC)
		c.Add("urn:x-y:a", nil)
	}
	m := c.List(0)[0]
	for _, tt := range []struct {
		at   time.Time
		want int
	}{
		{time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), 4},
		{time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), 3}, // without January 2026
		{time.Date(2027, 10, 1, 0, 0, 0, 0, time.UTC), 1},
		{time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC), 0},
	} {
		if got := m.MonthsSeen(tt.at); got != tt.want {
			t.Errorf("at %v: %d months, want %d", tt.at, got, tt.want)
		}
	}
	other := Miss{Name: m.Name, Count: 3, Bots: 1, First: now, Last: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Months: 0b101}
	for _, lists := range [][2]Miss{{m, other}, {other, m}} {
		sum := Merge([]Miss{lists[0]}, []Miss{lists[1]})[0]
		if got := sum.MonthsSeen(other.Last); got != 6 || sum.Bots != 1 {
			t.Errorf("merged: %d months, %+v; want 6", got, sum)
		}
	}
}

// A file of version 1 is read.
func TestFirstVersion(t *testing.T) {
	const text = `{"format":"nomen-misses","version":1,"names":1,"since":"2026-11-20T12:00:00Z","asked":5,"other":2}
{"name":"urn:x-y:a","count":3,"first":"2026-11-20T12:00:00Z","last":"2026-11-21T09:00:00Z"}
`
	list, _, err := read(strings.NewReader(text))
	if err != nil || len(list) != 1 || list[0].MonthsSeen(list[0].Last) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	var b bytes.Buffer
	list[0].Bots, list[0].Months = 2, 5
	if err := write(&b, list, Totals{Since: noon, Asked: 3}); err != nil {
		t.Fatal(err)
	}
	again, _, err := read(&b)
	if d := cmp.Diff(again, list); d != "" || err != nil {
		t.Errorf("%v; got -, want +:\n%s", err, d)
	}
}
