package links

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/store/memstore"
)

// TestClockJumps checks that a clock that is set makes no location dead, and that all locations are
// checked again soon after it is right. The first location has status 404 for some days.
func TestClockJumps(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name     string
		offset   func(days float64) time.Duration // of the clock, by the true time
		from, to float64                          // when the first location has status 404
		want     Verdict
	}{
		{"forward for good, during an outage", func(d float64) time.Duration { return ifAfter(d, 8, 400*day) }, 5, 11, Good},
		{"forward for two days", func(d float64) time.Duration { return ifAfter(d, 10, 400*day) - ifAfter(d, 12, 400*day) }, 0, 0, Good},
		{"forward for two days, during an outage", func(d float64) time.Duration { return ifAfter(d, 10, 400*day) - ifAfter(d, 12, 400*day) }, 5, 14, Good},
		{"forward for two days, and then dead", func(d float64) time.Duration { return ifAfter(d, 10, 400*day) - ifAfter(d, 12, 400*day) }, 15, 1000, Dead},
		{"back for good", func(d float64) time.Duration { return -ifAfter(d, 10, 400*day) }, 0, 0, Good},
		{"back during an outage", func(d float64) time.Duration { return -ifAfter(d, 10, 400*day) }, 8, 15, Good},
		{"back, and then dead", func(d float64) time.Duration { return -ifAfter(d, 10, 400*day) }, 12, 1000, Dead},
		{"back by an hour each day", func(d float64) time.Duration { return -time.Duration(d) * time.Hour }, 12, 1000, Dead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFaultServer(t, time.Now, 0)
				passed := func() float64 { return time.Since(f.begun).Hours() / 24 }
				f.host(site, only(func(_ *faultServer, w http.ResponseWriter, _ *http.Request) bool {
					return statusIf(w, passed() >= tt.from && passed() < tt.to, http.StatusNotFound)
				}))
				clock := func() time.Time { return time.Now().Add(tt.offset(passed())).Round(0) }
				c := newCourse(t, f, "", Options{Now: clock})
				died := false
				for range 120 {
					c.days(1)
					died = died || c.of(c.urls[0]).Verdict == Dead
				}
				c.end()
				for i, url := range c.urls {
					l, want := c.of(url), tt.want
					if i > 0 {
						want = Good
					}
					if l.Verdict != want && !(good(want) && good(l.Verdict)) {
						t.Errorf("location %d: got %v, want %v: %+v", i, l.Verdict, want, l)
					}
					if ago := clock().Sub(l.Checked); ago < -time.Minute || ago > 75*day {
						t.Errorf("location %d was last checked %v ago", i, ago)
					}
				}
				if died != (tt.want == Dead) {
					t.Errorf("dead at some time: got %v", died)
				}
			})
		})
	}
}

func ifAfter(d, from float64, jump time.Duration) time.Duration {
	if d >= from {
		return jump
	}
	return 0
}

// TestClockOfEarlierProcess checks that a process notices that the clock was set back before it began.
func TestClockOfEarlierProcess(t *testing.T) {
	table := &memTable{}
	now := time.Now()
	open := func(offset time.Duration) *Watcher {
		w, err := Open(Options{Store: memstore.New(), Agent: "nomen/test", table: table, Now: func() time.Time { return now.Add(offset) }})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	const url = "http://a.example/1"
	ahead := open(1000 * 24 * time.Hour)
	if err := ahead.update("a.example", func(c *hostChange) error {
		then := ahead.o.Now()
		c.set(url, nil, &State{Verdict: Failing, Outcome: Gone, Checked: minute(then), Since: minute(then), Failed: minute(then), Failures: 3, Due: minute(then.Add(day1))})
		c.h.Exempt, c.h.Report = then.Add(exemptTime), then
		c.queue(then.Add(day1))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := ahead.watchClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := open(0)
	if hosts, _ := w.take(1); len(hosts) > 0 {
		t.Fatalf("%q is due before the clock is noticed", hosts)
	}
	if err := w.watchClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, ok, err := w.Of(url)
	if err != nil || !ok || l.Verdict != Unknown || l.Failures != 0 || l.Due.After(now) {
		t.Errorf("got %+v, %v, %v, want an unknown location that is due", l, ok, err)
	}
	if h, err := readHost(table, "a.example"); err != nil || !h.Exempt.IsZero() || !h.Report.IsZero() || h.Links != 1 {
		t.Errorf("host: got %+v, %v", h, err)
	}
	if hosts, _ := w.take(1); len(hosts) != 1 {
		t.Errorf("due: %q, want the host", hosts)
	}
}

// TestSecondNetwork checks what the answer through a proxy does to a location that would be dead.
func TestSecondNetwork(t *testing.T) {
	dying, _ := observed(t, State{}, daily("gone", 0, 1, 2, 3, 4, 8, 14))
	for _, tt := range []struct {
		name  string
		proxy http.HandlerFunc // nil for a proxy that is away
		state State
		want  Outcome
		asks  bool // the proxy is asked
	}{
		{"404 there too", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, dying, Gone, true},
		{"410 there", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, dying, Gone, true},
		{"answers there", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }, dying, Refused, true},
		{"forbidden there", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, dying, Refused, true},
		{"other failure there", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, dying, None, true},
		{"the proxy needs a password", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(407) }, dying, None, true},
		{"no proxy", nil, dying, None, false},
		{"not dead yet", func(w http.ResponseWriter, _ *http.Request) { t.Error("the proxy was asked") }, State{}, Gone, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			origin := httptest.NewServer(http.NotFoundHandler())
			defer origin.Close()
			var asked atomic.Bool
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !r.URL.IsAbs() {
					t.Errorf("not a request to a proxy: %s", r.URL)
				}
				asked.Store(true)
				tt.proxy(w, r)
			}))
			defer proxy.Close()
			if tt.proxy == nil {
				proxy.Close()
			}
			w, err := Open(Options{
				Store: memstore.New(), Agent: "nomen/test", DNS: loopback{}, Gap: time.Millisecond, Proxy: proxy.URL,
				Allow: func(netip.Addr) error { return nil }, timeout: time.Minute, table: &memTable{}, Now: func() time.Time { return begin.AddDate(0, 0, 15) },
			})
			if err != nil {
				t.Fatal(err)
			}
			u, _ := url.Parse(origin.URL)
			r := w.checkTwice(t.Context(), &target{url: "http://a.example:" + u.Port() + "/page", state: tt.state})
			if r.Outcome != tt.want || asked.Load() != tt.asks {
				t.Errorf("got %v (%s), asked %v, want %v, %v", r.Outcome, r.Detail, asked.Load(), tt.want, tt.asks)
			}
		})
	}
}

// TestSecondNetworkPrivate checks that a proxy gets no request for a host with a private address.
func TestSecondNetworkPrivate(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	defer proxy.Close()
	w, err := Open(Options{Store: memstore.New(), Agent: "nomen/test", DNS: loopback{}, Gap: time.Millisecond, Proxy: proxy.URL, table: &memTable{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "[::1]", "2130706433", "a.example"} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/", http.NoBody)
		response, err := w.checker.second.RoundTrip(r)
		if err == nil {
			response.Body.Close()
			t.Errorf("%s: no error", host)
		}
	}
}

// TestOwnHost checks that a host of the operator gets more requests, in spite of its robots.txt, and
// other hosts do not. The requests still come one at a time.
func TestOwnHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaultServer(t, time.Now, 0)
		f.gap = 0 // checked below
		own, other := f.host("own.example", nil), f.host("other.example", nil)
		own.robots = "User-agent: *\nDisallow: /\nCrawl-delay: 30\n"
		own.behave = func(f *faultServer, _ http.ResponseWriter, _ *http.Request) bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			if gap := time.Since(own.last); gap < 50*time.Millisecond {
				t.Errorf("%v between two requests", gap)
			}
			return false
		}
		s := memstore.New()
		fill(t, s, []*faultHost{own, other}, func(*faultHost) int { return 200 })
		end := f.serve()
		w := f.watch(s, Options{Own: map[string]time.Duration{"own.example": 50 * time.Millisecond}})
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			for _, h := range []string{"own.example", "other.example"} {
				w.visit(t.Context(), h)
				time.Sleep(time.Second)
			}
		}
		end()
		count := func(h *faultHost) (n int) {
			for i := range 200 {
				_, url := item(h.name, i)
				if l, ok, err := w.Of(url); err == nil && ok && (l.Verdict == Good || l.Verdict == Confirmed) {
					n++
				}
			}
			return n
		}
		if n := count(own); n != 200 {
			t.Errorf("%d locations of the own host were checked, want 200", n)
		}
		if n := count(other); n > 5 {
			t.Errorf("%d locations of the other host were checked, want at most 5", n)
		}
	})
}

// TestGathered checks that several hosts that lead to the same page elsewhere are suspect.
func TestGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaultServer(t, time.Now, 0)
		f.host("seller.example", text("text/html", "<title>Domains</title>"+longText))
		var hosts []*faultHost
		for i := range 4 {
			hosts = append(hosts, f.host(fmt.Sprintf("sold-%d.example", i), redirect("http://seller.example/lander", http.StatusFound)))
		}
		s := memstore.New()
		fill(t, s, hosts, func(*faultHost) int { return 1 })
		end := f.serve()
		w := f.watch(s, Options{})
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hosts {
			w.visit(t.Context(), h.name)
			_, url := item(h.name, 0)
			l, _, err := w.Of(url)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, l.Verdict.String())
			time.Sleep(time.Minute)
		}
		end()
		if text := strings.Join(got[2:], " "); text != "suspect suspect" {
			t.Errorf("got %q, want the third and the fourth suspect", got)
		}
	})
}

// TestParking checks which hosts are those of companies that sell domains.
func TestParking(t *testing.T) {
	for text, want := range map[string]bool{
		"https://sedoparking.com/a": true, "http://ww1.ParkingCrew.net./": true, "https://notsedo.com/": false, "https://dan.com.example/": false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := isParking(u); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

var _ net.Listener = (*faultServer)(nil)
