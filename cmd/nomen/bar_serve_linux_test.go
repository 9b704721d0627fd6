package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk/bulktest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// What `make bar-serve` requires, and how it asks.
const (
	maxP99        = 10 * time.Millisecond
	barClients    = 32 // connections
	barChanging   = 16 // names that are changed meanwhile
	barEvery      = 8  // one in this many requests of a client is for one of these names
	barMeasure    = 5 * time.Second
	barHot        = 5000 // other names that are requested
	barChangeRest = 20 * time.Millisecond
	barNap        = 50 * time.Microsecond // pause of clients without a processor of their own if nothing is to do
	barAway       = time.Millisecond      // a pause of the clients that is longer than this is logged
)

// A barSize is how much TestBarServe does.
type barSize struct {
	long     bool
	names    uint64 // in the store
	imported int
	measure  time.Duration // of the greatest rate
	duration time.Duration
}

func barSizeOf(t *testing.T) barSize {
	s := barSize{names: 2000, imported: 2000, measure: 200 * time.Millisecond, duration: time.Second}
	if text := os.Getenv("NOMEN_DURATION"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		s = barSize{long: true, names: 1_000_000, imported: 1_000_000, measure: barMeasure, duration: d}
	}
	return s
}

// TestBarServe serves names, on one processor and on two, while the server builds its search index,
// imports names, and changes others. After a change has been acknowledged, no response may have the
// earlier state. With NOMEN_DURATION, as `make bar-serve` sets it, the test uses a million names,
// and sends half as many requests per second as the server can answer. The server must answer 99 %
// of them in less than maxP99.
func TestBarServe(t *testing.T) {
	size := barSizeOf(t)
	exe, err := os.Executable()
	if size.long { // build the program, so that nothing else is measured
		exe = filepath.Join(t.TempDir(), "nomen")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		if out, err = build.CombinedOutput(); err != nil {
			t.Log(string(out))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, processors := range []int{1, 2} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) { serveAtBar(t, exe, processors, size) })
	}
}

func serveAtBar(t *testing.T, exe string, processors int, size barSize) {
	data := filepath.Join(t.TempDir(), "data")
	load := exec.CommandContext(t.Context(), exe, "import", "-", "--data", data)
	load.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	load.Stdin = bulktest.NewReader(size.names, bulktest.Options{})
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("import: %v: %s", err, out)
	}
	file := writeNames(t, size.imported)
	t.Setenv("GOMAXPROCS", strconv.Itoa(processors))
	var prefix []string
	switch {
	case !size.long:
	case processors == 1: // the clients have the other processor
		prefix = []string{"taskset", "-c", "0"}
		pin(t, "1")
		defer pin(t, "0-1")
	default: // the clients have no processor of their own, but they come first
		prefix = []string{"nice", "-n", "5"}
	}
	p, err := startPrefixed(prefix, exe, "serve", "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--no-access-log", "--connections-per-address", "1000")
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	b := &bar{T: t, prefix: prefix, alone: size.long && processors == 1, public: p.public, api: adminClient(t, data), hot: barTargets(t, size.names)}
	for i := range b.acknowledged {
		b.change(i)
	}
	building := b.run(0, size.measure)
	t.Logf("after the start: %v; is the search index still being built: %v", building, !b.built())
	done := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { b.importNames(exe, data, file) })
	others.Go(func() { b.changeNames(done) })
	half := b.run(building.rate()/2, size.duration)
	close(done)
	others.Wait()
	t.Logf("half of that, during an import and %d changes: %v", b.changes.Load(), half)
	t.Logf("then: %v; is the search index still being built: %v", b.run(0, size.measure), !b.built())
	if p99 := half.percentile(0.99); size.long && p99 > maxP99 {
		t.Errorf("99 %% of the requests were answered in %v, want %v", p99, maxP99)
	}
	if half.requests == 0 || b.changes.Load() == 0 {
		t.Error("no requests, or no changes")
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// startPrefixed is startCommand with another command that starts the program.
func startPrefixed(prefix []string, args ...string) (*process, error) {
	args = append(slices.Clone(prefix), args...)
	return startCommand(args[0], args[1:]...)
}

// pin makes this process, and the processes that it starts, run on the given processors only.
func pin(t *testing.T, processors string) {
	if out, err := exec.Command("taskset", "--all-tasks", "--cpu-list", "--pid", processors, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		t.Errorf("taskset: %v: %s", err, out)
	}
}

// barTargets returns some of the names of [bulktest.NewReader].
func barTargets(t *testing.T, names uint64) (all []string) {
	lines := bufio.NewScanner(bulktest.NewReader(names, bulktest.Options{}))
	step := max(1, int(names)/barHot)
	for i := 0; lines.Scan(); i++ {
		if i%step != 0 {
			continue
		}
		_, rest, _ := strings.Cut(lines.Text(), `{"name":"`)
		target, _, _ := strings.Cut(rest, `"`)
		if !strings.ContainsAny(target, `\%`) {
			all = append(all, target)
		}
	}
	if len(all) < 100 {
		t.Fatalf("%d names", len(all))
	}
	return all
}

// A bar is a server under load. The location of each changing name ends with the number of its last
// change.
type bar struct {
	*testing.T
	prefix       []string // command that starts the server
	alone        bool     // the clients have a processor of their own
	public       string
	api          *adminapi.Client
	hot          []string
	acknowledged [barChanging]atomic.Int64
	changes      atomic.Int64
}

func barName(i int) string { return fmt.Sprintf("urn:example:changing-%d", i) }

const barLocation = "https://a.example/"

// change changes a name, and records that the change is acknowledged.
func (b *bar) change(i int) {
	n := b.acknowledged[i].Load() + 1
	rec := &store.Record{Name: name.MustParse(barName(i)), Status: nomen.Active, Locations: []nomen.Location{{URL: barLocation + strconv.FormatInt(n, 10)}}}
	if _, err := b.api.Put(b.Context(), registrar.Request{Record: rec, Expected: store.AnyRevision, OrCreate: true}, ""); err != nil {
		b.Error(err)
		return
	}
	b.acknowledged[i].Store(n)
	b.changes.Add(1)
}

// changeNames changes names until done is closed. It requests each name once before the change, and
// twice after it.
func (b *bar) changeNames(done <-chan struct{}) {
	c := &barClient{bar: b}
	defer c.close()
	for i := 0; ; i = (i + 1) % barChanging {
		select {
		case <-done:
			return
		case <-time.After(barChangeRest):
		}
		c.askChanging(i)
		b.change(i)
		c.askChanging(i)
		c.askChanging(i)
	}
}

// importNames imports names with another process, because the clients measure their own process too.
func (b *bar) importNames(exe, data, file string) {
	args := []string{exe, "import", file, "--data", data}
	if !b.alone {
		args = append(slices.Clone(b.prefix), args...)
	}
	load := exec.CommandContext(b.Context(), args[0], args[1:]...)
	load.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	out, err := load.CombinedOutput()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	b.Logf("import: %s", lines[len(lines)-1])
	if err != nil {
		b.Errorf("import: %v: %s", err, out)
	}
}

// writeNames writes names for an import to a file, and returns its path.
func writeNames(t *testing.T, n int) string {
	f, err := os.Create(filepath.Join(t.TempDir(), "names.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintf(w, `{"name":"urn:example:imported-%08d","locations":[{"url":"https://a.example/imported/%d"}],"metadata":{"title":["Title %d of many"]}}`+"\n", i, i, i)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func (b *bar) built() bool {
	found, err := b.api.SearchNames(b.Context(), adminapi.Search{Text: "changing", Limit: 1})
	return err == nil && !found.Index.Building
}

// run sends requests for a time: so many a second, or as many as the server answers if the rate is 0.
//
// One goroutine polls all connections. It does not use sleeps of Go, which take a millisecond or
// longer, and it does not sleep at all if the clients have a processor of their own. Each connection has a schedule. If a response is late, the next request counts from the
// time at which it should have been sent.
func (b *bar) run(rate float64, duration time.Duration) (all measured) {
	var parts [10]measured // in the tenths of the time
	nap := syscall.NsecToTimespec(barNap.Nanoseconds())
	clients := make([]barClient, barClients)
	begun := time.Now()
	for i := range clients {
		c := &clients[i]
		c.bar, c.next = b, i*len(b.hot)/barClients
		defer c.close()
		if rate > 0 {
			c.every = time.Duration(barClients / rate * float64(time.Second))
			c.due = begun.Add(c.every * time.Duration(i) / barClients)
		}
	}
	for last := begun; last.Sub(begun) < duration && !b.Failed(); {
		now := time.Now()
		part := &parts[min(int(now.Sub(begun)*10/duration), 9)]
		if away := now.Sub(last); away > barAway {
			part.away += away
		}
		last = now
		idle := !b.alone
		for i := range clients {
			idle = !clients[i].poll(part) && idle
		}
		if idle {
			_ = syscall.Nanosleep(&nap, nil)
		}
	}
	for i := range parts {
		parts[i].took = duration / 10
		all.add(&parts[i])
		b.Logf("%d/10: %v", i+1, parts[i])
	}
	return all
}

// measured are the durations of requests, in steps of a tenth of a millisecond.
type measured struct {
	requests int
	took     time.Duration
	away     time.Duration // when the clients did not run
	counts   [10_000]int   // the last one is for all longer ones
}

const barStep = 100 * time.Microsecond

func (m *measured) note(d time.Duration) {
	m.requests++
	m.counts[min(int(d/barStep), len(m.counts)-1)]++
}

func (m *measured) add(o *measured) {
	m.requests, m.took, m.away = m.requests+o.requests, m.took+o.took, m.away+o.away
	for i, n := range o.counts {
		m.counts[i] += n
	}
}

func (m *measured) rate() float64 { return float64(m.requests) / m.took.Seconds() }

func (m *measured) percentile(part float64) time.Duration {
	left := int(part * float64(m.requests))
	for i, n := range m.counts {
		if left -= n; left < 0 {
			return time.Duration(i+1) * barStep
		}
	}
	return time.Duration(len(m.counts)) * barStep
}

func (m measured) String() string {
	return fmt.Sprintf("%.0f requests a second, p50 %v, p99 %v, p99.9 %v (the clients did not run for %v of %v)", m.rate(), m.percentile(0.5), m.percentile(0.99), m.percentile(0.999), m.away.Round(time.Millisecond), m.took)
}

// A barClient sends requests on one connection.
type barClient struct {
	*bar
	next, sent int
	every      time.Duration // between two requests; 0 for as soon as possible
	due, from  time.Time     // when the next request is due, and from when the last one counts
	target     string        // of the request that is not answered yet; "" for none
	least      int64         // change that the response must have at least
	changing   int           // number of the requested name, or -1

	conn net.Conn
	raw  syscall.RawConn
	out  []byte
	in   [4096]byte
	have int // bytes in the buffer in
}

func (c *barClient) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// poll reads what has arrived, and sends the next request if it is due. It returns false if there
// was nothing to do.
func (c *barClient) poll(m *measured) bool {
	if c.target != "" {
		location, err := c.receive(false)
		if location == "" && err == nil {
			return false
		}
		c.check(location, err)
		m.note(time.Since(c.from))
	}
	now := time.Now()
	if now.Before(c.due) {
		return false
	}
	c.from = now
	if c.every > 0 {
		c.from = c.due
	}
	c.due = c.due.Add(c.every)
	if c.sent++; c.sent%barEvery == 0 {
		c.send(c.sent / barEvery % barChanging)
	} else {
		c.send(-1)
	}
	return true
}

// askChanging requests a name that is changed meanwhile, and waits for the response.
func (c *barClient) askChanging(i int) {
	c.send(i)
	c.check(c.receive(true))
}

// send requests a changing name, or the next of the others if i is -1.
func (c *barClient) send(i int) {
	if c.changing = i; i >= 0 {
		c.target, c.least = barName(i), c.acknowledged[i].Load()
	} else {
		c.next = (c.next + 1) % len(c.hot)
		c.target = c.hot[c.next]
	}
	if err := c.write(); err != nil {
		c.Errorf("%s: %v", c.target, err)
	}
}

func (c *barClient) write() (err error) {
	if c.conn == nil {
		if c.conn, err = net.Dial("tcp", c.public); err != nil {
			return err
		}
		if c.raw, err = c.conn.(syscall.Conn).SyscallConn(); err != nil {
			return err
		}
	}
	c.out = append(append(append(c.out[:0], "GET /"...), c.target...), " HTTP/1.1\r\nHost: localhost\r\n\r\n"...)
	_, err = c.conn.Write(c.out)
	return err
}

// check reports an error, or a response that has not at least the change that was acknowledged
// before the request.
func (c *barClient) check(location string, err error) {
	n := int64(0)
	if err == nil && c.changing >= 0 {
		n, err = strconv.ParseInt(strings.TrimPrefix(location, barLocation), 10, 64)
	}
	if err != nil || c.changing >= 0 && n < c.least {
		c.Errorf("%s: got location %q after change %d was acknowledged: %v", c.target, location, c.least, err)
	}
	c.target = ""
}

// receive returns the location of the redirect, or "" if the response has not arrived completely. It
// waits for the response if wait is set.
func (c *barClient) receive(wait bool) (location string, err error) {
	for location == "" && err == nil {
		n := 0
		var failed error
		err = c.raw.Read(func(fd uintptr) bool {
			n, failed = syscall.Read(int(fd), c.in[c.have:])
			return !wait || failed != syscall.EAGAIN
		})
		switch {
		case failed == syscall.EAGAIN || failed == syscall.EINTR:
			n = 0
		case failed != nil:
			err = failed
		case n == 0:
			err = io.ErrUnexpectedEOF
		}
		if c.have += max(n, 0); err == nil {
			location, err = c.parse()
		}
		if !wait {
			break
		}
	}
	return location, err
}

// parse returns the location of the response in the buffer, or "" if the response is not complete.
func (c *barClient) parse() (location string, err error) {
	head, _, whole := bytes.Cut(c.in[:c.have], []byte("\r\n\r\n"))
	if !whole {
		return "", nil
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 303 ")) {
		return "", fmt.Errorf("the response begins with %.20q", head)
	}
	length, err := strconv.Atoi(field(head, "\r\nContent-Length: "))
	if err != nil || c.have < len(head)+4+length {
		return "", err
	}
	location, c.have = field(head, "\r\nLocation: "), 0
	if location == "" {
		err = errors.New("the response has no location")
	}
	return location, err
}

func field(head []byte, name string) string {
	_, rest, _ := bytes.Cut(head, []byte(name))
	value, _, _ := bytes.Cut(rest, []byte("\r\n"))
	return string(value)
}

// TestMeasured checks how durations are counted.
func TestMeasured(t *testing.T) {
	m := measured{took: time.Second}
	for i := range 100 {
		m.note(time.Duration(i) * time.Millisecond)
	}
	if m.rate() != 100 || m.percentile(0.5) != 50*time.Millisecond+barStep || m.percentile(0.99) != 99*time.Millisecond+barStep || m.percentile(0) != barStep {
		t.Errorf("%v", m)
	}
}
