package links

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"
)

// A Status is the progress of the checks.
type Status struct {
	Counts  map[string]int64 // locations by verdict
	Checks  uint64           // number of checks since the start of the process
	Reading bool             // the locations of the store are being read
	Round   time.Time        // time at which each location had been checked at least once; zero before
	Paused  time.Time        // end of the pause because of a network failure; zero if there is no pause
	Other   bool             // another server with the same store reads the log of changes
	Failing []FailingHost    // failing hosts, at most maxStatus
	Large   []Large          // hosts with too many locations, at most maxStatus
	Err     error            // error of reading the store, or nil
}

// A FailingHost is a host that fails as a whole.
type FailingHost struct {
	Host    string    `json:"host"`
	Links   int       `json:"links"`
	Outcome Outcome   `json:"outcome"`
	Since   time.Time `json:"since"`
}

// A Large is a host with more locations than can be checked in 30 days.
type Large struct {
	Host    string `json:"host"`
	Links   int    `json:"links"`
	Checked int64  `json:"checked"` // approximate number of locations that can be checked in 30 days
}

const maxStatus = 200

// Status returns the status.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Status{Counts: map[string]int64{}, Checks: w.checks, Reading: w.meta.Version == 0 || w.meta.Building, Round: w.meta.Round, Other: w.stopped, Err: w.failure}
	counts, err := w.counts()
	for v, n := range counts {
		s.Counts[Verdict(v).String()] = n
	}
	if w.paused.After(w.o.Now()) {
		s.Paused = w.paused
	}
	var hosts []string
	err = errors.Join(err, w.table.scan([]byte{spaceFailing}, []byte{spaceFailing + 1}, func(key, _ []byte) bool {
		hosts = append(hosts, string(key[1:]))
		return len(hosts) < maxStatus
	}))
	for _, name := range hosts {
		h, err := readHost(w.table, name)
		if err == nil && h.Failing != None {
			s.Failing = append(s.Failing, FailingHost{name, h.Links, h.Failing, h.Failed})
		}
	}
	err = errors.Join(err, w.table.scan([]byte{spaceLarge}, []byte{spaceLarge + 1}, func(_, value []byte) bool {
		var l Large
		if json.Unmarshal(value, &l) == nil {
			s.Large = append(s.Large, l)
		}
		return len(s.Large) < maxStatus
	}))
	if s.Err == nil {
		s.Err = err
	}
	return s
}

// A Link is a location with its state.
type Link struct {
	URL string
	State
	HostFails Outcome // outcome for the host, if it fails as a whole; otherwise None
}

// List returns the locations with a verdict, sorted by URL. It returns at most n locations, whose
// URLs are after afterURL. The verdict must be blocked, suspect, failing, dead or ignored.
func (w *Watcher) List(v Verdict, afterURL string, n int) ([]Link, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var urls []string
	from := verdictKey(v, afterURL)
	if afterURL != "" {
		from = append(from, 0)
	}
	err := w.table.scan(from, verdictKey(v+1, ""), func(key, _ []byte) bool {
		if len(urls) == n {
			return false
		}
		urls = append(urls, string(key[2:]))
		return true
	})
	var all []Link
	for _, u := range urls {
		l, ok, err2 := w.link(u)
		if err = errors.Join(err, err2); ok {
			all = append(all, l)
		}
	}
	return all, err
}

// Of returns the state of a location, and whether the location is known.
func (w *Watcher) Of(url string) (Link, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.link(url)
}

func (w *Watcher) link(url string) (Link, bool, error) {
	s, ok, err := readState(w.table, url)
	if err != nil || !ok {
		return Link{}, false, err
	}
	h, err := readHost(w.table, webHost(url))
	return Link{url, s, h.Failing}, true, err
}

// ErrUnknown means that a location is not checked.
var ErrUnknown = errors.New("links: the location is not checked: it must be http or https, and belong to an active name")

// Ignore turns off the checks of a location until a time, or turns them on again if the time is zero.
func (w *Watcher) Ignore(url string, until time.Time) (Link, error) {
	host := webHost(url)
	if host == "" {
		return Link{}, ErrUnknown
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var link Link
	err := w.update(host, func(c *hostChange) error {
		s, ok, err := readState(c, url)
		if err != nil {
			return err
		} else if !ok {
			return ErrUnknown
		}
		next, now := s, w.o.Now()
		if next.endRun(); until.IsZero() {
			next.Verdict, next.Until, next.Due = Unknown, time.Time{}, minute(now)
		} else {
			next.Verdict, next.Until, next.Due = Ignored, minute(until), minute(until)
		}
		c.set(url, &s, &next)
		if !c.isTaken(now) && until.IsZero() {
			c.queue(maxTime(now, w.nextAllowed(host)))
			w.poke()
		}
		link = Link{url, next, c.h.Failing}
		return nil
	})
	return link, err
}

// Check immediately checks a location by GET, and returns its new state. It first waits until a
// request to the host is permitted.
func (w *Watcher) Check(ctx context.Context, url string) (Link, Observation, error) {
	host := webHost(url)
	link, ok, err := w.Of(url)
	if err != nil {
		return Link{}, Observation{}, err
	} else if !ok {
		return Link{}, Observation{}, ErrUnknown
	}
	t := &target{url: url, state: link.State, get: true}
	if t.names, t.titles, err = w.namesOf(ctx, url); err != nil {
		return Link{}, Observation{}, err
	}
	w.mu.Lock()
	t.host, err = readHost(w.table, host)
	w.mu.Unlock()
	if err != nil {
		return Link{}, Observation{}, err
	}
	r := w.checkTwice(ctx, t)
	if err := ctx.Err(); err != nil {
		return Link{}, Observation{}, err
	}
	if err := w.record(ctx, host, url, &r); err != nil {
		return Link{}, Observation{}, err
	}
	link, _, err = w.Of(url)
	return link, r.Observation, err
}

// A Happening is an event with its time and subject.
type Happening struct {
	Time  time.Time `json:"time"`
	Event Event     `json:"event"`
	URL   string    `json:"url,omitempty"`
	Host  string    `json:"host"`
}

// Events calls yield for each event at or after the given minute, in chronological order, until
// yield returns false.
func (w *Watcher) Events(since time.Time, yield func(Happening) bool) error {
	var all []Happening
	w.mu.Lock()
	err := w.table.scan(keyOf(spaceEvent, uint32Text(minutesOf(since))), []byte{spaceEvent + 1}, func(key, _ []byte) bool {
		e := Event(key[5])
		h := Happening{Time: time.Unix(int64(binary.BigEndian.Uint32(key[1:]))*60, 0).UTC(), Event: e, Host: string(key[6:])}
		if e == Died || e == Recovered {
			h.URL, h.Host = h.Host, webHost(h.Host)
		}
		if e < events {
			all = append(all, h)
		}
		return true
	})
	w.mu.Unlock()
	for _, h := range all {
		if !yield(h) {
			break
		}
	}
	return err
}
