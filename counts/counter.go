package counts

import (
	"cmp"
	"context"
	"crypto/rand"
	"hash/maphash"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/pacer"
)

// Options configure a [Counter]. Store is required.
type Options struct {
	Store Store

	// Authority returns the prefix of the authority for a name, or "" if no authority covers the
	// name. If Authority is nil, no name has an authority.
	Authority func(name string) string

	// Recorded reports whether a record has the name as its name or as an alias. A rule can answer
	// for any number of other names, which clients can invent. Such names count only for their
	// authorities, so that clients cannot fill the store with rows. Recorded is called when counts
	// are written. If it is nil, all names are assumed to be in records.
	Recorded func(ctx context.Context, name string) bool

	Every  time.Duration    // interval at which counts are added to Store; 0 means a minute
	Names  int              // maximum number of names with own counts between two writes; 0 means 200,000
	Clicks int              // number of clicks kept to recognise double clicks; 0 means 1,048,576
	Keep   int              // number of whole months before the current month with counts of days; 0 means 3
	Now    func() time.Time // the clock; nil means time.Now
	Log    *slog.Logger     // logs failures to write; nil means no log
	Pacer  *pacer.Pacer     // pauses the periodic writes while requests are answered; may be nil
}

// A Counter counts resolutions. It is safe for concurrent use. A nil Counter counts nothing.
//
// The counts of authorities are exact. Between two writes, the Counter keeps the counts of at most
// Options.Names names. Resolutions of further names count only for their authorities.
type Counter struct {
	o      Options
	node   string
	robots *robots
	clicks *clicks
	seed   maphash.Seed
	shards [shards]shard
	names  atomic.Int64 // number of tallies in the shards
	hints  []hint
	dayEnd atomic.Int64 // Unix time at which the current day ends

	taking  sync.Mutex // held while counts are taken from the shards; protects the fields below
	day     time.Time  // the current day
	pending map[place]uint64

	writing sync.Mutex // held while counts are written; locked before taking
	batch   *Batch     // the batch that may not be in the store yet
	seq     uint64
	saved   atomic.Int64 // Unix time of the last successful write
	rolled  Month        // months before this one have been rolled up

	stop func()
}

const (
	shards = 16
	hints  = 1 << 16 // a power of two
)

// A shard has the tallies of some of the names that were resolved since the last write.
type shard struct {
	mu      sync.Mutex
	tallies map[subject]*tally
}

// A subject identifies a count: a name or an authority, and the kind of answer that clients got.
type subject struct {
	text string
	kind Kind
	what What
}

// A tally counts the resolutions of a subject until the next write, which closes it. A goroutine
// that finds a tally closed must look up the new tally of the subject.
type tally struct {
	subject
	hash   uint64
	counts [Classes]atomic.Uint32
}

const closed = 1 << 31

// add adds one resolution. It returns false if the tally is closed.
func (t *tally) add(c Class) bool { return t.counts[c].Add(1) < closed }

// Open returns a Counter that writes periodically.
func Open(o Options) (*Counter, error) {
	o.Every = cmp.Or(max(o.Every, 0), time.Minute)
	o.Names = cmp.Or(max(o.Names, 0), 200_000)
	o.Clicks = cmp.Or(max(o.Clicks, 0), 1<<20)
	o.Keep = cmp.Or(max(o.Keep, 0), 3)
	if o.Authority == nil {
		o.Authority = func(string) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r, err := readRobots(robotsText)
	if err != nil {
		return nil, err
	}
	c := &Counter{o: o, node: rand.Text(), robots: r, clicks: newClicks(o.Clicks), seed: maphash.MakeSeed(), pending: map[place]uint64{}, hints: make([]hint, hints)}
	for i := range c.shards {
		c.shards[i].tallies = map[subject]*tally{}
	}
	c.setDay(o.Now())
	c.writeFromTimeToTime()
	return c, nil
}

func (c *Counter) setDay(now time.Time) {
	c.day = now.UTC().Truncate(24 * time.Hour)
	c.dayEnd.Store(c.day.Add(24 * time.Hour).Unix())
}

// Resolved counts a resolution of a name, unless it is a double click. The name must be in canonical
// form.
func (c *Counter) Resolved(by *Client, name string, what What, now time.Time) {
	if c == nil {
		return
	}
	c.prepare(by, now)
	t, hash := c.tallyOf(name, what)
	if !c.clicks.again(by, hash, now) && !t.add(by.class) {
		c.addAgain(by, name, what)
	}
}

// A Last is stored with an answer that may be sent many times. It records the client that got the
// answer last, and the second. Further requests by this client in the same second are double
// clicks, so the Counter can ignore them without a lookup. The zero Last is ready for use.
type Last struct{ clientAndSecond atomic.Uint64 }

// Repeated is like Resolved for an answer that was sent before. The parameter request is a hash of
// the request, by which the Counter finds the tally quickly. The parameter last is stored with the
// answer.
func (c *Counter) Repeated(request uint64, last *Last, by *Client, name []byte, what What, now time.Time) {
	if c == nil {
		return
	}
	client := c.clicks.client(by, now)
	clientAndSecond := client&^math.MaxUint32 | uint64(now.Unix())&math.MaxUint32
	if last.clientAndSecond.Load() == clientAndSecond {
		return
	}
	c.prepare(by, now)
	hash := maphash.Bytes(c.seed, name) + uint64(what) // as in tallyOf
	if !by.generation.again(c.clicks, by, hash, now) {
		c.addRepeated(request, by, name, what, hash)
	}
	last.clientAndSecond.Store(clientAndSecond)
}

func (c *Counter) addRepeated(request uint64, by *Client, name []byte, what What, hash uint64) {
	key := request ^ uint64(what)<<56 | written<<1
	h := &c.hints[key>>2&(hints-1)]
	t := h.read(key)
	if t == nil || t.hash != hash {
		t, _ = c.tallyOf(string(name), what)
		h.write(key, t)
	}
	if !t.add(by.class) {
		h.write(key, c.addAgain(by, string(name), what))
	}
}

// A hint caches the tally for a request.
type hint struct {
	key   atomic.Uint64 // key of the request; 0 if there is no hint
	tally atomic.Pointer[tally]
}

// written is the key of a hint that is being written.
const written = 1

// read returns the tally for a key, or nil. While the hint is being written, read may return the
// tally of another key.
func (h *hint) read(key uint64) *tally {
	if h.key.Load() != key {
		return nil
	}
	return h.tally.Load()
}

// write changes a hint. It does nothing if another goroutine is writing the hint, or if the tally
// is not that of a name.
func (h *hint) write(key uint64, t *tally) {
	if old := h.key.Load(); t.kind != OfName || old == written || !h.key.CompareAndSwap(old, written) {
		return
	}
	h.tally.Store(t)
	h.key.Store(key)
}

// prepare starts the next day if necessary, and sets the class of the client.
func (c *Counter) prepare(by *Client, now time.Time) {
	if now.Unix() >= c.dayEnd.Load() {
		c.nextDay(now)
	}
	if !by.known {
		by.class, by.known = c.robots.classOf(by.agent), true
	}
}

// addAgain counts a resolution whose tally has been closed. It returns the new tally.
func (c *Counter) addAgain(by *Client, name string, what What) *tally {
	for {
		if t, _ := c.tallyOf(name, what); t.add(by.class) {
			return t
		}
	}
}

// ClassOf returns the class of a client by its User-Agent field. A nil Counter returns Unknown.
func (c *Counter) ClassOf(agent string) Class {
	if c == nil {
		return Unknown
	}
	return c.robots.classOf(agent)
}

// Failed counts a failed lookup of a name.
func (c *Counter) Failed(by *Client, name string, now time.Time) {
	if c != nil {
		c.Resolved(by, name, Failed, now)
	}
}

// tallyOf finds or makes the tally for a name. Failed lookups count only for the authority, because
// clients can invent any number of names.
func (c *Counter) tallyOf(name string, what What) (*tally, uint64) {
	hash := maphash.String(c.seed, name) + uint64(what)
	if what != Failed && keepable(name) {
		if t := c.find(subject{name, OfName, what}, hash, int64(c.o.Names)); t != nil {
			return t, hash
		}
	}
	prefix := c.o.Authority(name)
	return c.find(subject{prefix, OfAuthority, what}, maphash.String(c.seed, prefix), math.MaxInt64), hash
}

// find finds or makes the tally of a subject. It returns nil if the number of tallies has reached
// the limit.
func (c *Counter) find(key subject, hash uint64, most int64) *tally {
	s := &c.shards[hash%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tallies[key]
	if t == nil && c.names.Load() < most {
		t = &tally{subject: key, hash: hash}
		s.tallies[key] = t
		c.names.Add(1)
	}
	return t
}

func keepable(name string) bool {
	return name != "" && len(name) <= MaxText && utf8.ValidString(name)
}

func (c *Counter) nextDay(now time.Time) {
	c.taking.Lock()
	defer c.taking.Unlock()
	if now.Unix() >= c.dayEnd.Load() {
		c.take()
		c.setDay(now)
	}
}

// take moves the counts from the shards to pending. The caller must hold taking.
func (c *Counter) take() {
	month, day := MonthOf(c.day), uint8(c.day.Day())
	for i := range c.shards {
		s := &c.shards[i]
		for _, t := range s.takeAll(&c.names) {
			for class := range t.counts {
				n := uint64(t.counts[class].Swap(closed))
				if n == 0 {
					continue
				}
				code := Cell{Day: day, What: t.what, Class: Class(class)}.code()
				text := t.text
				if t.kind == OfName {
					if len(c.pending) < 4*c.o.Names {
						c.pending[place{Key{month, OfName, t.text}, code}] += n
					}
					text = c.o.Authority(t.text)
				}
				c.pending[place{Key{month, OfAuthority, text}, code}] += n
			}
		}
	}
}

// takeAll removes all tallies from a shard. Other goroutines can still add to these tallies until
// they are closed.
func (s *shard) takeAll(names *atomic.Int64) map[subject]*tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tallies) == 0 { // the empty map stays in use
		return nil
	}
	all := s.tallies
	s.tallies = map[subject]*tally{}
	names.Add(-int64(len(all)))
	return all
}

// Flush writes the counts to the store. If this fails, the counts are kept and written with the
// next call.
func (c *Counter) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.taking.Lock()
	c.take()
	c.setDay(c.o.Now())
	c.taking.Unlock()
	if err := c.write(ctx); err != nil { // a batch that could not be written before
		return err
	}
	c.taking.Lock()
	if len(c.pending) > 0 {
		c.seq++
		c.batch = &Batch{Node: c.node, Seq: c.seq, Rows: rowsOf(c.pending)}
		c.pending = map[place]uint64{}
	}
	c.taking.Unlock()
	c.dropUnrecorded(ctx)
	if err := c.write(ctx); err != nil {
		return err
	}
	c.saved.Store(c.o.Now().Unix())
	return nil
}

// Saved returns the time of the last successful write. It is zero before the first write.
func (c *Counter) Saved() time.Time {
	if c == nil || c.saved.Load() == 0 {
		return time.Time{}
	}
	return time.Unix(c.saved.Load(), 0)
}

// dropUnrecorded removes the names without records from a new batch. The caller must hold writing.
func (c *Counter) dropUnrecorded(ctx context.Context) {
	if c.batch == nil || c.o.Recorded == nil {
		return
	}
	turn, done := pacer.Begin(ctx), ctx.Done()
	ctx = context.WithoutCancel(ctx) // the batch must be complete before it is written
	c.batch.Rows = slices.DeleteFunc(c.batch.Rows, func(r Row) bool {
		turn.Rest(done)
		return r.Kind == OfName && !c.o.Recorded(ctx, r.Text)
	})
}

// write adds the batch to the store. The caller must hold writing.
func (c *Counter) write(ctx context.Context) error {
	if c.batch == nil {
		return nil
	}
	err := c.o.Store.Add(ctx, *c.batch)
	if err == nil {
		c.batch = nil
	}
	return err
}

// A place is the row and the code of the cell to which a count belongs.
type place struct {
	Key
	code uint64
}

func rowsOf(pending map[place]uint64) (rows []Row) {
	places := slices.SortedFunc(maps.Keys(pending), func(a, b place) int {
		if c := a.compare(b.Key); c != 0 {
			return c
		}
		return cmp.Compare(a.code, b.code)
	})
	cells := make([]Cell, len(places))
	first := 0
	for i, p := range places {
		cells[i] = cellOf(p.code, pending[p])
		if next := i + 1; next == len(places) || places[next].Key != p.Key {
			rows = append(rows, Row{Key: p.Key, Cells: cells[first:next:next]})
			first = next
		}
	}
	return rows
}

// roll rolls up the months whose counts of days are no longer kept. It does this once a month.
func (c *Counter) roll(ctx context.Context) error {
	before := MonthOf(c.o.Now()) - Month(c.o.Keep)
	if before <= c.rolled {
		return nil
	}
	err := c.o.Store.Roll(ctx, before)
	if err == nil {
		c.rolled = before
	}
	return err
}

// Close writes the counts to the store. A closed Counter still counts in memory.
func (c *Counter) Close() error {
	if c == nil {
		return nil
	}
	c.stop()
	return c.Flush(context.Background())
}

// Reader writes the counts in memory to the store and returns the store.
func (c *Counter) Reader(ctx context.Context) (Store, error) {
	if c == nil {
		return &Memory{}, nil
	}
	return c.o.Store, c.Flush(ctx)
}

// Overflow returns the number of resolutions that were counted without a check for double clicks.
func (c *Counter) Overflow() uint64 {
	if c == nil {
		return 0
	}
	return c.clicks.overflow.Load()
}

// writeFromTimeToTime writes periodically until stop is called. The stop function waits for a write
// in progress.
func (c *Counter) writeFromTimeToTime() {
	ctx, cancel := context.WithCancel(pacer.With(context.Background(), c.o.Pacer))
	ended := make(chan struct{})
	c.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
	})
	go func() {
		defer close(ended)
		tick := time.NewTicker(c.o.Every)
		defer tick.Stop()
		failed := false
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			c.clicks.forget(c.o.Now())
			err := c.Flush(ctx)
			if err == nil {
				err = c.roll(ctx)
			}
			switch {
			case ctx.Err() != nil:
			case err != nil && !failed:
				c.o.Log.Warn("cannot save the counts of resolutions; they are kept in memory", "err", err)
			case err == nil && failed:
				c.o.Log.Info("the counts of resolutions are saved again")
			}
			failed = err != nil
		}
	}()
}
