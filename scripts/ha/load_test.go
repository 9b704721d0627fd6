//go:build ha

package ha

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const (
	readsPerSecond  = 500
	writesPerSecond = 50
	writers         = 25
	loaded          = 5000             // number of names that never change
	settled         = 10 * time.Second // after this time, every node knows a change, or marks its answers as stale
	readTimeout     = 15 * time.Second
	writeTimeout    = 20 * time.Second
)

// A load has clients of the cluster, which check the responses.
type load struct {
	front string // URL of HAProxy, for readers
	api   *adminapi.Client
	http  *http.Client
	stop  context.CancelFunc
	done  sync.WaitGroup
	bound context.Context

	mu       sync.Mutex
	counts   counts
	failures []string // the first failures
	names    []*written
	acks     []time.Time
	entries  []string // what the follower has seen, in order: "key revision"
	digests  [][32]byte
	wrong    []string // errors that must never happen
}

// counts has the results of a period.
type counts struct {
	reads, failed, stale int
	writes, refused      int
	latencies            []time.Duration // latencies of reads
	writeLatencies       []time.Duration
}

// A written name is changed by one writer.
type written struct {
	key   string
	acked []ack // element i is for revision i+1
	tried int   // the last revision that was tried, which may exist
}

// An ack is the time at which a revision was acknowledged.
type ack time.Time

func target(key string, revision int) string {
	return fmt.Sprintf("https://h.example/%s/%d", strings.ReplaceAll(key, ":", "/"), revision)
}

func request(key string, revision int) registrar.Request {
	return registrar.Request{Expected: uint64(revision - 1), Record: &store.Record{
		Name: name.MustParse(key), Spelling: key, Status: nomen.Active, Locations: []nomen.Location{{URL: target(key, revision)}},
	}}
}

func newLoad(front, admin, token string) *load {
	transport := &http.Transport{
		MaxIdleConnsPerHost: 256, IdleConnTimeout: 5 * time.Second,
		DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
	}
	direct := func(timeout time.Duration) *http.Client {
		return &http.Client{Transport: transport, Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &load{front: front, http: direct(readTimeout), api: &adminapi.Client{URL: admin, Token: token, HTTP: direct(writeTimeout)}}
}

func loadedKey(i int) string { return fmt.Sprintf("urn:example:loaded:%d", i) }

// fill creates the names that never change.
func (l *load) fill(ctx context.Context) error {
	for from := 0; from < loaded; from += 500 {
		var batch []registrar.Request
		for i := range 500 {
			batch = append(batch, request(loadedKey(from+i), 1))
		}
		outs, err := l.api.Apply(ctx, batch, "load")
		for _, out := range outs {
			err = errors.Join(err, out.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin starts all clients.
func (l *load) begin(ctx context.Context) {
	l.bound, l.stop = context.WithCancel(ctx)
	l.done.Go(l.readers)
	for w := range writers {
		l.done.Go(func() { l.write(w) })
	}
	l.done.Go(l.follow)
}

// end stops the clients, and waits for them.
func (l *load) end() {
	l.stop()
	l.done.Wait()
}

// take returns the counts since the last call.
func (l *load) take() counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts
	l.counts = counts{}
	return c
}

func (c *counts) add(more counts) {
	c.reads += more.reads
	c.failed += more.failed
	c.stale += more.stale
	c.writes += more.writes
	c.refused += more.refused
	c.latencies = append(c.latencies, more.latencies...)
	c.writeLatencies = append(c.writeLatencies, more.writeLatencies...)
}

func (c *counts) String() string {
	return fmt.Sprintf("%d reads, %d failed, %d stale (p50 %v, p99 %v, max %v); %d writes, %d refused (p50 %v, p99 %v, max %v)",
		c.reads, c.failed, c.stale, quantile(c.latencies, .5), quantile(c.latencies, .99), quantile(c.latencies, 1),
		c.writes, c.refused, quantile(c.writeLatencies, .5), quantile(c.writeLatencies, .99), quantile(c.writeLatencies, 1))
}

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[int(q*float64(len(d)-1))].Round(100 * time.Microsecond)
}

// readers requests a name every two milliseconds, even if earlier requests have not been answered
// yet.
func (l *load) readers() {
	tick := time.NewTicker(time.Second / readsPerSecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.done.Go(l.read)
		case <-l.bound.Done():
			return
		}
	}
}

// read requests one name and checks the response.
func (l *load) read() {
	key, least, most := l.pick()
	begun := time.Now()
	revision, stale, err := l.ask(key)
	took := time.Since(begun)
	if l.bound.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.reads++
	l.counts.latencies = append(l.counts.latencies, took)
	if stale {
		l.counts.stale++
	}
	if most == nil {
		most = &written{tried: 1}
	}
	switch {
	case err != nil:
		l.counts.failed++
		if len(l.failures) < 20 {
			l.failures = append(l.failures, fmt.Sprintf("%s read %s after %v: %v", begun.Format(time.TimeOnly), key, took.Round(time.Millisecond), err))
		}
	case revision > most.tried, revision < least && !stale:
		l.wrong = append(l.wrong, fmt.Sprintf("%s %s leads to revision %d; %d was acknowledged %v before, %d tried, stale %v", begun.Format(time.TimeOnly), key, revision, least, settled, most.tried, stale))
	}
}

// pick chooses a name: in three of four cases one that never changes, otherwise one that was
// written. The revision in the response must be at least least.
func (l *load) pick() (key string, least int, w *written) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.names); n > 0 && rand.N(4) == 0 {
		w = l.names[rand.N(n)]
		for i, a := range w.acked {
			if time.Since(time.Time(a)) > settled {
				least = i + 1
			}
		}
		if least > 0 {
			return w.key, least, w
		}
	}
	return loadedKey(rand.N(loaded)), 1, nil
}

// ask requests a name, and returns the revision that is in the location of the response.
func (l *load) ask(key string) (revision int, stale bool, err error) {
	req, err := http.NewRequestWithContext(l.bound, http.MethodGet, l.front+"/"+key, nil)
	if err != nil {
		return 0, false, err
	}
	resp, err := l.http.Do(req)
	if err != nil {
		return 0, false, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, false, err
	}
	to, found := strings.CutPrefix(resp.Header.Get("Location"), strings.TrimSuffix(target(key, 0), "0"))
	if resp.StatusCode/100 != 3 || !found {
		return 0, false, fmt.Errorf("%s, Location %q: %.200s", resp.Status, resp.Header.Get("Location"), body)
	}
	revision, err = strconv.Atoi(to)
	return revision, isStale(resp.Header), err
}

// isStale reports whether an answer is marked as stale because the storage is unavailable: its
// remaining lifetime is negative (RFC 9211).
func isStale(h http.Header) bool { return strings.Contains(h.Get("Cache-Status"), "ttl=-") }

// write creates a name, changes it three times, and continues with the next name.
func (l *load) write(writer int) {
	tick := time.NewTicker(writers * time.Second / writesPerSecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		w := &written{key: fmt.Sprintf("urn:example:written:%d:%d", writer, n)}
		for revision := 1; revision <= 4; revision++ {
			select {
			case <-tick.C:
			case <-l.bound.Done():
				return
			}
			l.mu.Lock()
			w.tried = revision
			if revision == 1 {
				l.names = append(l.names, w)
			}
			l.mu.Unlock()
			if !l.change(w, revision) {
				return
			}
		}
	}
}

// change makes one change, and repeats it until it exists. If an attempt failed but was written
// nevertheless, the next attempt gets a conflict with the revision that it would make.
func (l *load) change(w *written, revision int) bool {
	for doubt := false; ; doubt = true {
		begun := time.Now()
		outs, err := l.api.Apply(l.bound, []registrar.Request{request(w.key, revision)}, "load")
		var conflict *store.ConflictError
		if err == nil {
			err = outs[0].Err
		}
		switch {
		case l.bound.Err() != nil:
			return false
		case err == nil && outs[0].Revision == uint64(revision):
			l.acknowledged(w, time.Since(begun))
			return true
		case errors.As(err, &conflict) && doubt && conflict.Current == uint64(revision):
			l.acknowledged(w, time.Since(begun))
			return true
		case err == nil, errors.As(err, &conflict):
			l.mu.Lock()
			l.wrong = append(l.wrong, fmt.Sprintf("%s: revision %d: %v, %+v", w.key, revision, err, outs))
			l.mu.Unlock()
			return false
		}
		l.mu.Lock()
		l.counts.refused++
		if len(l.failures) < 20 && l.counts.refused < 4 {
			l.failures = append(l.failures, fmt.Sprintf("%s write %s after %v: %v", begun.Format(time.TimeOnly), w.key, time.Since(begun).Round(time.Millisecond), err))
		}
		l.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
	}
}

func (l *load) acknowledged(w *written, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	w.acked = append(w.acked, ack(now))
	l.acks = append(l.acks, now)
	l.counts.writes++
	l.counts.writeLatencies = append(l.counts.writeLatencies, took)
}

// firstAck returns when the first write was acknowledged after a time; zero if none
// was.
func (l *load) firstAck(after time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := slices.BinarySearchFunc(l.acks, after, time.Time.Compare)
	if i == len(l.acks) {
		return time.Time{}
	}
	return l.acks[i]
}

// lastAck returns when the last write was acknowledged. At least one write must have been
// acknowledged.
func (l *load) lastAck() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acks[len(l.acks)-1]
}

// longestGap returns the longest time between two acknowledgements after a given time.
func (l *load) longestGap(since time.Time) (gap time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := slices.BinarySearchFunc(l.acks, since, time.Time.Compare)
	for i = max(i, 1); i < len(l.acks); i++ {
		gap = max(gap, l.acks[i].Sub(l.acks[i-1]))
	}
	return gap
}

// follow reads the feed of changes as a replica at another site would, and checks that the numbers
// have no gaps.
func (l *load) follow() {
	for l.bound.Err() == nil {
		l.mu.Lock()
		after := uint64(len(l.entries))
		l.mu.Unlock()
		for e, err := range l.api.Changes(l.bound, after) {
			if err != nil {
				break // the feed is read again from this change on
			}
			l.mu.Lock()
			if e.Seq != uint64(len(l.entries))+1 {
				l.wrong = append(l.wrong, fmt.Sprintf("the feed has change %d after %d", e.Seq, len(l.entries)))
			}
			l.entries = append(l.entries, entryText(e))
			l.digests = append(l.digests, e.Digest)
			l.mu.Unlock()
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-l.bound.Done():
		}
	}
}

func entryText(e *store.Entry) string {
	to := ""
	if r := e.Change.Record; r != nil && len(r.Locations) > 0 {
		to = r.Locations[0].URL
	}
	return fmt.Sprintf("%s %d %s", e.Change.Subject().Key, e.Change.Revision(), to)
}

// check compares the responses to clients with all changes in the log, and returns the differences.
func (l *load) check(entries []string, digests [][32]byte) (acked int, wrong []string) {
	wrong = l.wrong
	have := map[string]bool{}
	for _, e := range entries {
		if have[e] {
			wrong = append(wrong, "twice in the feed: "+e)
		}
		have[e] = true
	}
	for i := range l.entries {
		if i >= len(entries) || l.entries[i] != entries[i] || l.digests[i] != digests[i] {
			wrong = append(wrong, fmt.Sprintf("change %d was %q when it was followed and is another one now", i+1, l.entries[i]))
			break
		}
	}
	for _, w := range l.names {
		for i := range w.acked {
			acked++
			if !have[fmt.Sprintf("%s %d %s", w.key, i+1, target(w.key, i+1))] {
				wrong = append(wrong, fmt.Sprintf("lost: revision %d of %s", i+1, w.key))
			}
		}
	}
	return acked, wrong
}
