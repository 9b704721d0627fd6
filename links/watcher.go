package links

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
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
	"github.com/nomen-project/nomen/store/pgstore"
)

// A Source is the store whose locations are checked.
type Source interface {
	store.Reader
	store.Feed
}

// Options configure a [Watcher]. Dir, Store and Agent are required.
type Options struct {
	Dir   string // directory of the states; created if it does not exist
	FS    vfs.FS // file system; if nil, the file system of the operating system
	Store Source
	Agent string // value of User-Agent, which begins with "nomen"
	From  string // mail address of a person who is responsible for the server; "" for none

	// Probes are URLs of hosts that always answer. If many hosts fail at the same time and no probe
	// answers, the watcher assumes a failure of the network of this machine. Without probes, the
	// failing hosts alone are sufficient.
	Probes []string

	// Own are the hosts of the operator, in lower case, with the gap between two requests to each.
	// The watcher does not obey robots.txt at these hosts.
	Own map[string]time.Duration

	// Proxy is the URL of a forward proxy in another network. Before a location becomes dead, the
	// watcher also requests it through the proxy. If the location answers there, it does not become
	// dead. Proxy may be "".
	Proxy string

	Gap    time.Duration // minimum time between two requests to a host; 1 s if 0
	Visits int           // number of hosts visited concurrently; 64 if 0
	Every  time.Duration // interval at which the log of changes is read; 1 s if 0
	Pacer  *pacer.Pacer  // pauses [Watcher.Run] while requests are answered; may be nil

	// Shared stores the states if several servers share the store. If it is set, Dir is not used.
	// The servers divide the work by host: each server takes due hosts from a common queue. If a
	// server crashes, another server visits its hosts half an hour later.
	Shared *pgstore.Octets

	// Lease reports whether this process may read the log of changes on behalf of all servers that
	// share the states. If Lease is nil, the process always may.
	Lease func(context.Context) bool

	// Dead receives the dead locations. It may be nil.
	Dead *DeadSet

	DNS   discover.DNS                                                         // nil means [net.DefaultResolver]
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // nil means a [net.Dialer]
	Allow func(netip.Addr) error                                               // nil permits only public addresses
	TLS   *tls.Config                                                          // nil means the default

	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // discarded if nil

	timeout   time.Duration     // timeout of a request; requestTime if 0
	idle      time.Duration     // maximum interval between two reads of the queue; the constant idle if 0
	table     table             // for tests; if nil, a table in Dir
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
	o.idle = cmp.Or(o.idle, idle)
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

	mu       sync.Mutex // protects the fields below, and writes to the table
	table    table
	meta     meta
	failure  error // error of the last step
	network  network
	paused   time.Time // end of the pause because of a network failure
	doubting bool      // no host has responded since the network failure
	checks   uint64    // number of checks since the start
	latest   []undo    // the latest failures, oldest first
	stopped  bool      // another server has the lease
	visiting map[string]bool
	clock    time.Time      // time of the last call of [Watcher.watchClock]
	recorded time.Time      // when the time was last recorded
	known    [shards]uint64 // for each shard, the number of changes of its dead URLs that Dead has received
}

const metaVersion = 2

// meta is the position in the log of changes. It is stored as JSON.
type meta struct {
	Version  int      `json:"version"`
	Seq      uint64   `json:"seq"`    // number of changes in the log that were read
	Digest   [32]byte `json:"digest"` // digest of the last of these changes
	Building bool     `json:"building,omitempty"`
	After    string   `json:"after,omitempty"` // last name that was read, while Building

	Began time.Time `json:"began,omitzero"` // begin of the first round of checks
	Round time.Time `json:"round,omitzero"` // end of the first round
}

// ErrClosed is the error of methods after Close.
var ErrClosed = errors.New("links: closed")

// Open opens the directory with the states, or creates it. If the states have another version or
// cannot be read, Open deletes them, and [Watcher.Run] reads all locations again. The error wraps
// [pebblestore.ErrLocked] if another process has opened the directory.
func Open(o Options) (*Watcher, error) {
	o.setDefaults()
	w := &Watcher{o: o, table: o.table, wake: make(chan struct{}, 1), visiting: map[string]bool{}, network: network{least: 0.5}}
	if len(o.Probes) > 0 {
		w.network.least = 0.2
	}
	w.checker = checker{o: &w.o, transport: o.transport, robots: w, gates: gates{now: time.Now, least: o.Gap, own: o.Own, hosts: map[string]*gate{}}}
	if o.Proxy != "" {
		second, err := w.o.newProxyTransport()
		if err != nil {
			return nil, err
		}
		w.checker.second = second
	}
	if err := w.open(); err != nil {
		return nil, fmt.Errorf("links: %s: %w", o.Dir, err)
	}
	return w, nil
}

// open opens the table and reads meta.
func (w *Watcher) open() error {
	switch {
	case w.table != nil:
	case w.o.Shared != nil:
		life, end := context.WithCancel(context.Background())
		w.table = &shared{w.o.Shared, life, end}
		w.checker.gates.shared = w.o.Shared
	default:
		db, err := w.openSide()
		if err != nil {
			return err
		}
		w.table = &side{db, w.openSide, func() error { return w.o.FS.RemoveAll(w.o.Dir) }}
	}
	err := w.readJSON(keyOf(spaceMeta), &w.meta)
	if err == nil && (w.meta.Version == metaVersion || w.meta.Version == 0) {
		return w.learn()
	}
	if w.o.Shared != nil && err != nil {
		return err
	}
	w.o.Log.Warn("the states of links cannot be read and are deleted", "dir", w.o.Dir, "err", err, "version", w.meta.Version)
	return w.renew()
}

func (w *Watcher) openSide() (*pebblestore.Side, error) {
	return pebblestore.OpenSide(pebblestore.SideOptions{Dir: w.o.Dir, FS: w.o.FS, CacheSize: cacheSize, Log: w.o.Log, Pacer: w.o.Pacer, Sought: []byte{spaceDue}})
}

// renew removes all states. The caller must hold mu or have exclusive access.
func (w *Watcher) renew() error {
	w.meta = meta{}
	if err := w.table.clear(); err != nil {
		return err
	}
	return w.learn()
}

// learn updates Dead if the dead locations have changed. The caller must hold mu or have exclusive
// access.
func (w *Watcher) learn() error {
	if w.o.Dead == nil {
		return nil
	}
	now := [shards]uint64{}
	err := w.table.scan([]byte{spaceChanges}, []byte{spaceChanges + 1}, func(key, value []byte) bool {
		if len(key) == 2 && key[1] < shards && len(value) == 8 {
			now[key[1]] = binary.BigEndian.Uint64(value)
		}
		return true
	})
	if err != nil {
		return err
	}
	for i := range byte(shards) {
		if now[i] == w.known[i] {
			continue
		}
		all := map[string]deadEntry{}
		prefix := keyOf(spaceDead, string([]byte{i}))
		err := w.table.scan(prefix, after(prefix), func(key, value []byte) bool {
			if len(value) == 8 {
				all[string(key[2:])] = deadEntry{binary.BigEndian.Uint32(value), binary.BigEndian.Uint32(value[4:])}
			}
			return true
		})
		if err != nil {
			return err
		}
		w.o.Dead.replace(i, all, minutesOf(w.o.Now()))
		w.known[i] = now[i]
	}
	return nil
}

// Close closes the directory. [Watcher.Run] must have ended.
func (w *Watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.table
	w.table = closedTable{}
	return t.close()
}

type closedTable struct{}

func (closedTable) scan(_, _ []byte, _ func(key, value []byte) bool) error { return ErrClosed }
func (closedTable) get(...[]byte) ([][]byte, error)                        { return nil, ErrClosed }
func (closedTable) update(byte, func(reader) ([]write, error)) error       { return ErrClosed }
func (closedTable) clear() error                                           { return ErrClosed }
func (closedTable) close() error                                           { return nil }

// apply writes changes that do not concern a host. The caller must hold mu.
func (w *Watcher) apply(all ...write) error {
	return w.table.update(0, func(reader) ([]write, error) { return all, nil })
}

func (w *Watcher) readJSON(key []byte, to any) error {
	b, err := w.table.get(key)
	if err != nil || b[0] == nil {
		return err
	}
	return json.Unmarshal(b[0], to)
}

func jsonWrite(key []byte, value any) write {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // cannot happen: all values of these types can be encoded
	}
	return write{key, b}
}

func readState(r reader, url string) (State, bool, error) {
	b, err := r.get(keyOf(spaceLink, url))
	if err != nil || b[0] == nil {
		return State{}, false, err
	}
	s, err := decodeState(b[0])
	return s, err == nil, nil
}

func readHost(r reader, name string) (h host, err error) {
	b, err := r.get(keyOf(spaceHost, name))
	if err != nil || b[0] == nil || json.Unmarshal(b[0], &h) != nil {
		return host{}, err
	}
	return h, nil
}

// load implements the field robots of a checker.
func (w *Watcher) load(origin string) (r keptRobots, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, err := w.table.get(keyOf(spaceRobots, origin))
	if err != nil || b[0] == nil || json.Unmarshal(b[0], &r) != nil {
		return keptRobots{}, false
	}
	return r, true
}

// save implements the field robots of a checker.
func (w *Watcher) save(origin string, r keptRobots) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.apply(jsonWrite(keyOf(spaceRobots, origin), r)) // if this fails, the file is requested again
}

// A change collects the writes to a shard.
type change struct {
	reader
	w      *Watcher
	shard  byte
	writes []write
	hosts  map[string]*hostChange
	delta  [verdicts]int64      // changes of the numbers of locations, by verdict
	dead   map[string]deadEntry // locations that have become dead, or with the zero entry, that are no longer dead
}

type hostChange struct {
	*change
	host string
	h    host
}

// updateShard calls do, and writes the collected changes. It may call do twice. The caller must
// hold mu.
func (w *Watcher) updateShard(shard byte, do func(c *change) error) error {
	var done *change
	err := w.table.update(shard, func(r reader) ([]write, error) {
		c := &change{reader: r, w: w, shard: shard, hosts: map[string]*hostChange{}}
		if err := do(c); err != nil {
			return nil, err
		}
		done = c
		return c.end()
	})
	if err == nil && done != nil {
		for url, e := range done.dead {
			w.o.Dead.put(shard, url, e, minutesOf(w.o.Now()))
		}
	}
	return err
}

// update is like updateShard for a single host.
func (w *Watcher) update(host string, do func(c *hostChange) error) error {
	return w.updateShard(shardOf(host), func(c *change) error {
		h, err := c.of(host)
		if err != nil {
			return err
		}
		return do(h)
	})
}

// of returns the change of a host. The host must belong to the shard.
func (c *change) of(name string) (*hostChange, error) {
	if h := c.hosts[name]; h != nil {
		return h, nil
	}
	read, err := readHost(c, name)
	h := &hostChange{c, name, read}
	c.hosts[name] = h
	return h, err
}

func (c *change) add(key, value []byte) { c.writes = append(c.writes, write{key, value}) }

// set replaces the state of a URL. If the old state is nil, the URL is new. If the new state is
// nil, the URL is removed.
func (c *hostChange) set(url string, was, now *State) {
	if was != nil {
		c.add(dueKey(c.host, classOf(was.Verdict), was.Due, url), nil)
		if isListed(was.Verdict) {
			c.add(verdictKey(was.Verdict, url), nil)
		}
		c.delta[was.Verdict]--
		c.h.Links--
	}
	c.setDead(url, was != nil && was.Verdict == Dead, now)
	if now == nil {
		c.add(keyOf(spaceLink, url), nil)
		return
	}
	c.add(dueKey(c.host, classOf(now.Verdict), now.Due, url), []byte{})
	if isListed(now.Verdict) {
		c.add(verdictKey(now.Verdict, url), []byte{})
	}
	c.add(keyOf(spaceLink, url), appendState(nil, now))
	c.delta[now.Verdict]++
	c.h.Links++
}

func (c *hostChange) setDead(url string, was bool, now *State) {
	is := now != nil && now.Verdict == Dead
	if is == was {
		return
	}
	if c.dead == nil {
		c.dead = map[string]deadEntry{}
	}
	key := keyOf(spaceDead, string([]byte{c.shard}), url)
	if !is {
		c.dead[url] = deadEntry{}
		c.add(key, nil)
		return
	}
	e := deadEntry{minutesOf(now.Since), minutesOf(c.w.o.Now())}
	c.dead[url] = e
	c.add(key, []byte(uint32Text(e.since)+uint32Text(e.changed)))
}

func (c *hostChange) event(e Event, what string, now time.Time) {
	if e == NoEvent {
		return
	}
	c.add(keyOf(spaceEvent, uint32Text(minutesOf(now)), string([]byte{byte(e)}), what), []byte{})
	n := 0
	_ = c.scan([]byte{spaceEvent}, keyOf(spaceEvent, uint32Text(minutesOf(now.Add(-keepEvents)))), func(key, _ []byte) bool {
		c.add(append([]byte{}, key...), nil)
		n++
		return n < 100
	}) // after an error, some old events remain
}

func (c *hostChange) isTaken(now time.Time) bool {
	return c.w.visiting[c.host] || now.Before(c.h.Taken)
}

// queue sets the time of the next visit to the host. The zero time removes the host from the queue.
func (c *hostChange) queue(at time.Time) {
	if c.h.Queued != 0 {
		c.add(queueKey(c.h.Queued, c.host), nil)
	}
	if c.h.Queued = 0; !at.IsZero() {
		c.h.Queued = secondsOf(at)
		c.add(queueKey(c.h.Queued, c.host), []byte{})
	}
}

func (c *change) end() ([]write, error) {
	for _, h := range c.hosts {
		if h.h.Links <= 0 && h.h.Queued == 0 {
			c.add(keyOf(spaceHost, h.host), nil)
			c.add(keyOf(spaceFailing, h.host), nil)
			c.add(keyOf(spaceLarge, h.host), nil)
		} else {
			c.writes = append(c.writes, jsonWrite(keyOf(spaceHost, h.host), h.h))
		}
	}
	counts, changes := keyOf(spaceCounts, string([]byte{c.shard})), keyOf(spaceChanges, string([]byte{c.shard}))
	b, err := c.get(counts, changes)
	if err != nil {
		return nil, err
	}
	if c.delta != [verdicts]int64{} {
		var n [verdicts]int64
		_ = json.Unmarshal(b[0], &n) // if the entry is missing or damaged, the counts start at 0
		for i, d := range c.delta {
			n[i] += d
		}
		c.writes = append(c.writes, jsonWrite(counts, n))
	}
	if len(c.dead) > 0 {
		n := uint64(0)
		if len(b[1]) == 8 {
			n = binary.BigEndian.Uint64(b[1])
		}
		c.add(changes, binary.BigEndian.AppendUint64(nil, n+1))
	}
	return c.writes, nil
}

func (w *Watcher) counts() (all [verdicts]int64, err error) {
	err = w.table.scan([]byte{spaceCounts}, []byte{spaceCounts + 1}, func(_, value []byte) bool {
		var n [verdicts]int64
		if json.Unmarshal(value, &n) == nil {
			for i := range n {
				all[i] += n[i]
			}
		}
		return true
	})
	return all, err
}

// spreadOf returns a number from -1 to 1 that depends on a URL and a time. With it, locations that
// were checked at the same time become due at different times.
func spreadOf(url string, now time.Time) float64 {
	return float64(int64(hashOf(url+now.Format(time.DateOnly))%2001)-1000) / 1000
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s)
	return mix(h.Sum64())
}
