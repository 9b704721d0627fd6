//go:build soak

package attacks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The load of TestSoak.
const (
	readsPerSecond  = 1000
	writesPerSecond = 20
	soakClients     = 32 // for reads
	soakWriters     = 4
	soakNames       = 2000 // names that are written repeatedly
)

// A reading has the resources that a server uses.
type reading struct{ rss, descriptors, goroutines int }

// A wish is a request of a reader, with the expected status.
type wish struct {
	method, target, body string
	status               int
}

// TestSoak puts ordinary load on a server for the number of minutes in MINUTES. No request may
// fail. In the last minute, the server must not use more memory, descriptors and goroutines than in
// the third minute plus a tenth.
func TestSoak(t *testing.T) {
	minutes, err := strconv.Atoi(os.Getenv("MINUTES"))
	if err != nil || minutes < 4 {
		t.Fatal("MINUTES must be a number from 4: the first two warm the server up")
	}
	s := start(t, "--demo")
	s.nomen(t, "authority", "put", "urn:x-soak", "--owner", "archive", "--owner", "library")
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(minutes)*time.Minute)
	defer cancel()

	l := &load{server: s, token: s.token(t)}
	wishes := make(chan wish)
	var all sync.WaitGroup
	for range soakClients {
		all.Go(func() { l.read(wishes) })
	}
	all.Go(func() {
		defer close(wishes)
		paced(ctx, readsPerSecond, func(n int) { wishes <- l.wish(n) })
	})
	numbers := make(chan int)
	for range soakWriters {
		all.Go(func() { l.write(numbers) })
	}
	all.Go(func() {
		defer close(numbers)
		paced(ctx, writesPerSecond, func(n int) { numbers <- n })
	})

	var readings []reading
	for minute := range minutes {
		for range 6 { // the reading of a minute is the greatest of six readings
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
			now := s.reading(t)
			if len(readings) == minute {
				readings = append(readings, reading{})
			}
			r := &readings[minute]
			r.rss, r.descriptors, r.goroutines = max(r.rss, now.rss), max(r.descriptors, now.descriptors), max(r.goroutines, now.goroutines)
		}
		t.Logf("minute %d: %d MiB, %d descriptors, %d goroutines; %d reads, %d writes, %d failed", minute+1,
			readings[minute].rss>>10, readings[minute].descriptors, readings[minute].goroutines, l.reads.Load(), l.writes.Load(), l.failed.Load())
	}
	cancel()
	all.Wait()

	third, last := readings[2], readings[minutes-1]
	for _, r := range []struct {
		what        string
		third, last int
	}{{"KiB of memory", third.rss, last.rss}, {"descriptors", third.descriptors, last.descriptors}, {"goroutines", third.goroutines, last.goroutines}} {
		if r.last*10 > r.third*11 {
			t.Errorf("%s: %d in the third minute, %d in the last", r.what, r.third, r.last)
		}
	}
	if n := l.failed.Load(); n > 0 {
		t.Errorf("%d requests failed; the first: %s", n, *l.first.Load())
	}
	wanted := int64(minutes) * 60 * readsPerSecond
	if got := l.reads.Load(); got < wanted*9/10 {
		t.Errorf("%d reads, not %d: the machine is too busy for this test", got, wanted)
	}
}

// paced calls f perSecond times a second, with numbers from 0, until ctx ends.
func paced(ctx context.Context, perSecond int, f func(n int)) {
	began := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		if early := time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(perSecond))); early > 0 {
			time.Sleep(early)
		}
		f(n)
	}
}

// A load counts the requests to a server.
type load struct {
	server                *server
	token                 string
	reads, writes, failed atomic.Int64
	written               atomic.Int64 // names that have been written at least once
	first                 atomic.Pointer[string]
}

// wish returns request number n of the readers: mostly for a redirect, and sometimes of another
// kind.
func (l *load) wish(n int) wish {
	name := fmt.Sprintf("urn:ietf:rfc:%d", 2000+n*7919%1000)
	switch n % 20 {
	case 0:
		return wish{http.MethodGet, "/" + name + "?s=I2C", "", http.StatusOK}
	case 1:
		return wish{http.MethodHead, "/" + name, "", http.StatusSeeOther}
	case 2:
		return wish{http.MethodGet, fmt.Sprintf("/urn:ietf:rfc:%d", 100000+n%1000), "", http.StatusNotFound}
	case 3:
		return wish{http.MethodGet, "/uri-res/N2C?" + name, "", http.StatusOK}
	case 4:
		return wish{http.MethodGet, "/urn:ietf:rfc:urn+m", "", http.StatusOK}
	case 5:
		if n%1000 == 5 {
			return wish{http.MethodPost, "/-/resolve", name + "\r\nurn:ietf:rfc:2648\r\n", http.StatusOK}
		}
	case 6:
		if k := l.written.Load(); k > 0 {
			return wish{http.MethodGet, fmt.Sprintf("/urn:x-soak:%d", int64(n)%k), "", http.StatusSeeOther}
		}
	case 7:
		if n%1000 != 7 {
			break
		}
		return wish{http.MethodGet, "/-/timemap/" + name, "", http.StatusOK}
	}
	return wish{http.MethodGet, "/" + name, "", http.StatusSeeOther}
}

// read sends the requests in wishes, over connections that it uses for a while.
func (l *load) read(wishes <-chan wish) {
	c := clientFrom("")
	for n := 0; ; n++ {
		w, ok := <-wishes
		if !ok {
			c.CloseIdleConnections()
			return
		}
		if n%100 == 99 {
			c.CloseIdleConnections()
		}
		kind := ""
		if w.body != "" {
			kind = "text/uri-list"
		}
		status, err := send(c, w.method, "http://"+l.server.public+w.target, kind, "", w.body)
		l.reads.Add(1)
		l.check(w.method+" "+w.target, status, w.status, err)
	}
}

// write puts names, each with another location than before.
func (l *load) write(numbers <-chan int) {
	c := clientFrom("")
	defer c.CloseIdleConnections()
	for n := range numbers {
		key := n % soakNames
		body := fmt.Sprintf(`{"status":"active","locations":[{"url":"https://soak.example/%d/%d"}],"metadata":{"title":["Number %d"]}}`, key, n, n)
		status, err := send(c, http.MethodPut, fmt.Sprintf("http://%s/api/v1/names/urn:x-soak:%d?why=soak", l.server.admin, key), "application/json", l.token, body)
		l.writes.Add(1)
		want := http.StatusOK
		if n < soakNames {
			want = http.StatusCreated
		}
		l.check("PUT", status, want, err)
		if n < soakNames-soakWriters {
			l.written.Store(int64(max(n-soakWriters, 0)))
		}
	}
}

func send(c *http.Client, method, url, kind, token, body string) (int, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// check counts a wrong response.
func (l *load) check(what string, got, want int, err error) {
	if err == nil && got == want {
		return
	}
	l.failed.Add(1)
	text := fmt.Sprintf("%s: %d, want %d, %v", what, got, want, err)
	l.first.CompareAndSwap(nil, &text)
}

// token returns the administrator's token.
func (s *server) token(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b))
}

var (
	residentLine   = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
	goroutinesLine = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)
)

// reading returns the resources that the server uses now.
func (s *server) reading(t *testing.T) reading {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	c := clientFrom("127.0.0.3")
	defer c.CloseIdleConnections()
	resp, err := c.Get("http://" + s.admin + "/-/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	number := func(re *regexp.Regexp, b []byte) int {
		m := re.FindSubmatch(b)
		if m == nil {
			t.Fatalf("no %s in %q", re, b)
		}
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	return reading{rss: number(residentLine, status), descriptors: s.descriptors(t), goroutines: number(goroutinesLine, metrics)}
}
