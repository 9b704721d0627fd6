package links

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// A Source is the store whose locations are checked.
type Source interface {
	store.Reader
	store.Feed
}

// Options configure a [Watcher]. Dir, Store and Agent are required.
type Options struct {
	Dir   string // directory of the states; created if it does not exist
	FS    vfs.FS // file system; if nil, that of the operating system
	Store Source
	Agent string // value of User-Agent, which begins with "nomen"
	From  string // mail address of a person who is responsible for the server; "" for none

	// Probes are URLs of hosts that always answer. If many hosts fail at once and no probe answers,
	// the network of this machine fails. Without probes, the watcher decides by the hosts alone.
	Probes []string

	Gap    time.Duration // least time between two requests to a host; 1 s if 0
	Visits int           // checks at a time; 64 if 0
	Every  time.Duration // how often the log of changes is read; 1 s if 0
	Pacer  *pacer.Pacer  // makes [Watcher.Run] rest while requests are answered; it does not rest if nil

	// Lease reports whether this process may check locations now. If several servers have the same
	// store, only one of them may. If nil, this process always may.
	Lease func(context.Context) bool

	DNS   discover.DNS                                                         // nil means [net.DefaultResolver]
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // nil means a [net.Dialer]
	Allow func(netip.Addr) error                                               // nil means that only public addresses are allowed
	TLS   *tls.Config                                                          // nil means the default

	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // discarded if nil

	timeout   time.Duration     // of a request; requestTime if 0
	table     table             // for tests; in Dir if nil
	transport http.RoundTripper // for tests
}

const (
	usualGap    = time.Second
	usualVisits = 64
	cacheSize   = 16 << 20
)

func (o *Options) setDefaults() {
	o.Gap = cmp.Or(o.Gap, usualGap)
	o.Visits = cmp.Or(o.Visits, usualVisits)
	o.Every = cmp.Or(o.Every, time.Second)
	o.timeout = cmp.Or(o.timeout, requestTime)
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.DNS == nil {
		o.DNS = net.DefaultResolver
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.Allow == nil {
		o.Allow = guard.Check
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.transport == nil {
		o.transport = o.newTransport()
	}
}

// A Watcher checks the locations of a store. It is safe for concurrent use.
type Watcher struct {
	o       Options
	checker checker
	wake    chan struct{} // something was put into the queue

	mu       sync.Mutex // protects all that follows, and writes of the table
	table    table
	meta     meta
	failure  error // of the last step
	network  network
	paused   time.Time // until then nothing is checked, because the network fails
	checks   uint64    // since the start
	latest   []undo    // the latest failures, oldest first
	stopped  bool      // another server has the lease
	visiting map[string]bool
}

// metaVersion is the version of the format of the directory.
const metaVersion = 1

// meta is what is kept about all links. It is stored as JSON.
type meta struct {
	Version  int             `json:"version"`
	Seq      uint64          `json:"seq"`    // number of changes in the log that were read
	Digest   [32]byte        `json:"digest"` // of the last of them
	Building bool            `json:"building,omitempty"`
	After    string          `json:"after,omitempty"` // last name that was read, while Building
	Counts   [verdicts]int64 `json:"counts"`          // locations by verdict
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("links: closed")

// Open opens the states in a directory, or creates an empty directory. States that have another
// version or cannot be read are deleted: [Watcher.Run] then begins again. The error wraps
// [pebblestore.ErrLocked] if another process has the directory open.
func Open(o Options) (*Watcher, error) {
	o.setDefaults()
	w := &Watcher{o: o, table: o.table, wake: make(chan struct{}, 1), visiting: map[string]bool{}, network: network{least: 0.5}}
	if len(o.Probes) > 0 {
		w.network.least = 0.2
	}
	w.checker = checker{o: &w.o, transport: o.transport, robots: w, gates: gates{now: o.Now, least: o.Gap, hosts: map[string]*gate{}}}
	if err := w.open(); err != nil {
		return nil, fmt.Errorf("links: %s: %w", o.Dir, err)
	}
	return w, nil
}

// open opens the table and reads meta.
func (w *Watcher) open() error {
	if w.table == nil {
		db, err := w.openSide()
		if err != nil {
			return err
		}
		w.table = side{db}
	}
	err := w.readJSON(keyOf(spaceMeta), &w.meta)
	if err == nil && (w.meta.Version == metaVersion || w.meta.Version == 0) {
		return nil
	}
	w.o.Log.Warn("the states of links cannot be read and are deleted", "dir", w.o.Dir, "err", err, "version", w.meta.Version)
	return w.renew()
}

func (w *Watcher) openSide() (*pebblestore.Side, error) {
	return pebblestore.OpenSide(pebblestore.SideOptions{Dir: w.o.Dir, FS: w.o.FS, CacheSize: cacheSize, Log: w.o.Log, Pacer: w.o.Pacer})
}

// renew removes all states. The caller must hold mu, or be alone.
func (w *Watcher) renew() error {
	w.meta = meta{}
	db, ok := w.table.(side)
	if !ok {
		var all []write
		err := w.table.scan([]byte{0}, []byte{0xff}, func(key, _ []byte) bool {
			all = append(all, write{key: append([]byte{}, key...)})
			return true
		})
		return cmp.Or(err, w.table.apply(all))
	}
	_ = db.Close() // an error does not matter: the content is not needed any more
	if err := w.o.FS.RemoveAll(w.o.Dir); err != nil {
		return err
	}
	again, err := w.openSide()
	if err == nil {
		w.table = side{again}
	}
	return err
}

// Close closes the directory. [Watcher.Run] must have ended.
func (w *Watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.table
	w.table = closedTable{}
	if db, ok := t.(side); ok {
		return db.Close()
	}
	return nil
}

// closedTable is the table of a closed watcher.
type closedTable struct{}

func (closedTable) scan(_, _ []byte, _ func(key, value []byte) bool) error { return ErrClosed }
func (closedTable) apply([]write) error                                    { return ErrClosed }

// get returns the value of a key, or nil. The caller must hold mu.
func (w *Watcher) get(key []byte) (value []byte, err error) {
	err = w.table.scan(key, append(key[:len(key):len(key)], 0), func(_, v []byte) bool {
		value = append([]byte{}, v...)
		return false
	})
	return value, err
}

func (w *Watcher) readJSON(key []byte, to any) error {
	b, err := w.get(key)
	if err != nil || b == nil {
		return err
	}
	return json.Unmarshal(b, to)
}

func jsonWrite(key []byte, value any) write {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // the types in this package have no values that cannot be encoded
	}
	return write{key, b}
}

// readState returns the state of a URL. The caller must hold mu. A state that is damaged counts as
// missing.
func (w *Watcher) readState(url string) (State, bool, error) {
	b, err := w.get(keyOf(spaceLink, url))
	if err != nil || b == nil {
		return State{}, false, err
	}
	s, err := decodeState(b)
	return s, err == nil, nil
}

// readHost returns what is kept about a host. The caller must hold mu.
func (w *Watcher) readHost(name string) (h host, err error) {
	b, err := w.get(keyOf(spaceHost, name))
	if err != nil || b == nil || json.Unmarshal(b, &h) != nil {
		return host{}, err
	}
	return h, nil
}

// load implements the field robots of a checker.
func (w *Watcher) load(origin string) (r keptRobots, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, err := w.get(keyOf(spaceRobots, origin))
	if err != nil || b == nil || json.Unmarshal(b, &r) != nil {
		return keptRobots{}, false
	}
	return r, true
}

// save implements the field robots of a checker.
func (w *Watcher) save(origin string, r keptRobots) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.table.apply([]write{jsonWrite(keyOf(spaceRobots, origin), r)}) // without it, the file is read again
}

// A change collects writes about one host.
type change struct {
	w      *Watcher
	host   string
	h      host
	writes []write
}

// begin begins a change. The caller must hold mu until end was called.
func (w *Watcher) begin(host string) (*change, error) {
	h, err := w.readHost(host)
	return &change{w: w, host: host, h: h}, err
}

func (c *change) add(key, value []byte) { c.writes = append(c.writes, write{key, value}) }

// set replaces the state of a URL. If was is nil, the URL is new; if now is nil, it is removed.
func (c *change) set(url string, was, now *State) {
	if was != nil {
		c.add(dueKey(c.host, classOf(was.Verdict), was.Due, url), nil)
		if isListed(was.Verdict) {
			c.add(verdictKey(was.Verdict, url), nil)
		}
		c.w.meta.Counts[was.Verdict]--
		c.h.Links--
	}
	if now == nil {
		c.add(keyOf(spaceLink, url), nil)
		return
	}
	c.add(dueKey(c.host, classOf(now.Verdict), now.Due, url), []byte{})
	if isListed(now.Verdict) {
		c.add(verdictKey(now.Verdict, url), []byte{})
	}
	c.add(keyOf(spaceLink, url), appendState(nil, now))
	c.w.meta.Counts[now.Verdict]++
	c.h.Links++
}

// event records an event, and removes old events.
func (c *change) event(e Event, what string, now time.Time) {
	if e == NoEvent {
		return
	}
	c.add(keyOf(spaceEvent, uint32Text(minutesOf(now)), string([]byte{byte(e)}), what), []byte{})
	n := 0
	_ = c.w.table.scan([]byte{spaceEvent}, keyOf(spaceEvent, uint32Text(minutesOf(now.Add(-keepEvents)))), func(key, _ []byte) bool {
		c.add(append([]byte{}, key...), nil)
		n++
		return n < 100
	}) // after an error, old events remain
}

// queue sets when the host is visited next. A zero time removes it from the queue.
func (c *change) queue(at time.Time) {
	if c.h.Queued != 0 {
		c.add(queueKey(c.h.Queued, c.host), nil)
	}
	if c.h.Queued = 0; !at.IsZero() {
		c.h.Queued = secondsOf(at)
		c.add(queueKey(c.h.Queued, c.host), []byte{})
	}
}

// end writes the change.
func (c *change) end() error {
	if c.h.Links <= 0 && c.h.Queued == 0 {
		c.add(keyOf(spaceHost, c.host), nil)
		c.add(keyOf(spaceFailing, c.host), nil)
		c.add(keyOf(spaceLarge, c.host), nil)
	} else {
		c.writes = append(c.writes, jsonWrite(keyOf(spaceHost, c.host), c.h))
	}
	c.writes = append(c.writes, jsonWrite(keyOf(spaceMeta), c.w.meta))
	return c.w.table.apply(c.writes)
}

// spreadOf returns a number from -1 to 1 that depends on a URL and a time. So locations that were
// checked together are not all due together again.
func spreadOf(url string, now time.Time) float64 {
	return float64(int64(hashOf(url+now.Format(time.DateOnly))%2001)-1000) / 1000
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s)
	return mix(h.Sum64())
}
