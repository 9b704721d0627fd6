package misses

import (
	"cmp"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits on what is kept about a name.
const (
	maxName        = 2048 // maximum length of a name or a suggestion in bytes; longer texts are not kept
	maxSuggestions = 5    // maximum number of suggestions
)

// Options configure a [Counter]. With the zero Options, it counts in memory.
type Options struct {
	File   string           // file for the counts; "" means none
	Every  time.Duration    // how often changes are saved; 0 means a minute
	Names  int              // maximum number of names; 0 means 10,000
	Bytes  int              // maximum memory; 0 means 8 MiB
	Now    func() time.Time // returns the current time; nil means time.Now
	Random rand.Source      // decides which names are removed; nil means a new source
	Log    *slog.Logger     // nil means no log
}

// A Counter counts failed lookups by name. It is safe for concurrent use. A nil Counter counts
// nothing.
type Counter struct {
	o      Options
	random *rand.Rand
	stop   func() // stops the periodic saving; can be called twice

	saving sync.Mutex // held while the file is written; locked before mu
	mu     sync.Mutex
	byName map[string]*entry
	all    []*entry // unordered
	bytes  int      // memory of all entries
	totals Totals
	fresh  bool // there are unsaved changes
}

// An entry is a Miss with its strength, which the package comment explains.
type entry struct {
	Miss
	strength uint64
	index    int // index in Counter.all
}

// overhead is the approximate memory of an entry without its texts, in bytes.
const overhead = 256

func (e *entry) size() int {
	n := overhead + len(e.Name)
	for _, s := range e.Suggestions {
		n += len(s)
	}
	return n
}

// Open returns a Counter that continues with the counts in its file. Damaged statistics must not
// prevent the start of a resolver. If the file cannot be parsed, Open logs this, renames the file
// and starts with zero counts. The new name of the file ends in ".unread", or in ".unread" and a
// number. Open returns an error only if a file operation fails.
func Open(o Options) (*Counter, error) {
	o.Every = cmp.Or(max(o.Every, 0), time.Minute)
	o.Names = cmp.Or(max(o.Names, 0), 10_000)
	o.Bytes = cmp.Or(max(o.Bytes, 0), 8<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.NewPCG(rand.Uint64(), rand.Uint64())
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Counter{o: o, random: rand.New(o.Random), stop: func() {}}
	c.reset()
	if o.File == "" {
		return c, nil
	}
	if err := errors.Join(c.load(), sweep(o.File)); err != nil {
		return nil, err
	}
	c.saveFromTimeToTime()
	return c, nil
}

// Of returns a Counter without a file that continues with the given counts.
func Of(list []Miss, totals Totals) (*Counter, error) {
	c, err := Open(Options{})
	if err == nil {
		c.fill(list, totals)
	}
	return c, err
}

// reset removes all entries.
func (c *Counter) reset() {
	c.byName, c.all, c.bytes = map[string]*entry{}, nil, 0
	c.totals = Totals{Since: c.hour()}
}

func (c *Counter) hour() time.Time { return c.o.Now().UTC().Truncate(time.Hour) }

// Add counts a request for an unknown name, and keeps the suggestions. The name should be in
// canonical form. The duration of a call does not depend on the number of names.
func (c *Counter) Add(name string, suggestions []string) { c.AddFrom(name, suggestions, false) }

// AddFrom is like Add. If bot is true, the request came from a robot. Robots request many invented
// names, so their requests neither add names to the list nor remove names.
func (c *Counter) AddFrom(name string, suggestions []string, bot bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh = true
	c.totals.Asked++
	e := c.byName[name]
	if e == nil && !bot {
		e = c.admit(name)
	}
	if e == nil {
		c.totals.Other++
		return
	}
	e.Count++
	if bot {
		e.Bots++
	} else {
		e.strength++
	}
	e.see(c.hour())
	c.suggest(e, suggestions[:min(len(suggestions), maxSuggestions)])
}

func (c *Counter) admit(name string) *entry {
	if !isText(name) {
		return nil
	}
	now := c.hour()
	e := &entry{Miss: Miss{Name: strings.Clone(name), First: now, Last: now}}
	if !c.makeRoom(e.size()) {
		return nil
	}
	c.insert(e)
	return e
}

func isText(s string) bool { return s != "" && len(s) <= maxName && utf8.ValidString(s) }

func (c *Counter) insert(e *entry) {
	e.index = len(c.all)
	c.all = append(c.all, e)
	c.byName[e.Name] = e
	c.bytes += e.size()
}

func (c *Counter) remove(e *entry) {
	last := len(c.all) - 1
	c.all[e.index] = c.all[last]
	c.all[e.index].index = e.index
	c.all[last] = nil
	c.all = c.all[:last]
	delete(c.byName, e.Name)
	c.bytes -= e.size()
	c.totals.Other += e.Count
}

// makeRoom removes weak entries until a new entry of the given size fits. It chooses a weak entry,
// which loses one unit of strength with a probability that is lower for stronger entries. An entry
// without strength is removed. If the chosen entry is not removed, makeRoom returns false.
func (c *Counter) makeRoom(size int) bool {
	for len(c.all) >= c.o.Names || c.bytes+size > c.o.Bytes {
		if len(c.all) == 0 {
			return false
		}
		e := c.weakest()
		if c.random.Float64() >= math.Pow(firmness, -float64(e.strength)) {
			return false
		}
		if e.strength--; e.strength > 0 {
			return false
		}
		c.remove(e)
	}
	return true
}

const (
	samples  = 8    // number of random entries, of which the weakest may be removed
	firmness = 1.08 // factor by which each unit of strength reduces the probability of a loss
)

func (c *Counter) weakest() *entry {
	var weakest *entry
	for range samples {
		if e := c.all[c.random.IntN(len(c.all))]; weakest == nil || e.strength < weakest.strength {
			weakest = e
		}
	}
	return weakest
}

// suggest sets the suggestions of an entry, within the limits.
func (c *Counter) suggest(e *entry, suggestions []string) {
	if len(suggestions) == 0 || slices.Equal(e.Suggestions, suggestions) {
		return
	}
	before := e.size()
	e.Suggestions = nil
	room := c.o.Bytes - c.bytes + before - e.size()
	for _, s := range suggestions {
		if isText(s) && len(s) <= room {
			room -= len(s)
			e.Suggestions = append(e.Suggestions, strings.Clone(s))
		}
	}
	c.bytes += e.size() - before
}

// List returns the n most frequent misses, or all if n is not positive, beginning with the most
// frequent. The caller may modify the list.
func (c *Counter) List(n int) []Miss {
	if c == nil {
		return nil
	}
	list, _ := c.snapshot()
	if n > 0 && n < len(list) {
		list = slices.Clip(list[:n])
	}
	return list
}

// Hide sets [Miss].Hidden of a name, and reports whether the name is in the list. Requests for a
// hidden name are still counted. If the Counter removes the name to make room, it forgets that the
// name was hidden.
func (c *Counter) Hide(name string, hidden bool) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byName[name]
	if e == nil {
		return false
	}
	c.fresh = c.fresh || e.Hidden != hidden
	e.Hidden = hidden
	return true
}

// Totals returns the totals of all requests for unknown names.
func (c *Counter) Totals() Totals {
	if c == nil {
		return Totals{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals
}

// snapshot returns all misses, sorted, and the totals at the same moment.
func (c *Counter) snapshot() ([]Miss, Totals) {
	c.mu.Lock()
	list := make([]Miss, len(c.all))
	for i, e := range c.all {
		list[i] = e.Miss // the slice of suggestions can be shared, because it is never modified
	}
	totals := c.totals
	c.mu.Unlock()
	slices.SortFunc(list, byCount)
	return list, totals
}

// Clear removes all counts from memory and from the file, and returns the previous totals.
func (c *Counter) Clear() (Totals, error) {
	if c == nil {
		return Totals{}, nil
	}
	c.mu.Lock()
	was := c.totals
	c.reset()
	c.fresh = true
	c.mu.Unlock()
	return was, c.flush()
}

// Close saves the counts. A closed Counter still counts in memory.
func (c *Counter) Close() error {
	if c == nil {
		return nil
	}
	c.stop()
	return c.flush()
}

func (c *Counter) flush() error {
	if c == nil || c.o.File == "" {
		return nil
	}
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	fresh := c.fresh
	c.fresh = false
	c.mu.Unlock()
	if !fresh {
		return nil
	}
	list, totals := c.snapshot()
	err := Save(c.o.File, list, totals)
	if err != nil {
		c.mu.Lock()
		c.fresh = true
		c.mu.Unlock()
	}
	return err
}

// saveFromTimeToTime saves the counts periodically until stop is called. The stop function waits
// for a write in progress.
func (c *Counter) saveFromTimeToTime() {
	done, ended := make(chan struct{}), make(chan struct{})
	c.stop = sync.OnceFunc(func() {
		close(done)
		<-ended
	})
	go func() {
		defer close(ended)
		tick := time.NewTicker(c.o.Every)
		defer tick.Stop()
		failed := false
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			err := c.flush()
			switch {
			case err != nil && !failed:
				c.o.Log.Warn("cannot save failed lookups", "file", c.o.File, "err", err)
			case err == nil && failed:
				c.o.Log.Info("failed lookups are saved again", "file", c.o.File)
			}
			failed = err != nil
		}
	}()
}

// load reads the file, within the limits of the Counter.
func (c *Counter) load() error {
	list, totals, err := Load(c.o.File)
	var bad *fileError
	switch {
	case errors.As(err, &bad):
		aside, moved := putAside(c.o.File)
		c.o.Log.Warn("cannot read the file of failed lookups; starting from zero", "file", c.o.File, "kept_as", aside, "err", err)
		return moved
	case err != nil:
		return err
	case totals.Since.IsZero():
		return nil
	}
	c.fill(list, totals)
	return nil
}

// fill adds misses to an empty Counter, within its limits.
func (c *Counter) fill(list []Miss, totals Totals) {
	c.totals = totals
	for _, m := range list {
		e := &entry{Miss: m, strength: m.Count - m.Bots}
		if len(c.all) == c.o.Names || c.bytes+e.size() > c.o.Bytes {
			c.totals.Other += m.Count
			continue
		}
		c.insert(e)
	}
}
