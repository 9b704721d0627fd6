package links

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/store/memstore"
)

// The hosts of the year, by behaviour: how many of a hundred have it.
var yearHosts = []struct {
	kind string
	part int
	want []Verdict // what their locations may be at the end
}{
	{"plain", 56, []Verdict{Good, Confirmed}},
	{"head-405", 2, []Verdict{Good, Confirmed}},
	{"head-403", 2, []Verdict{Good, Confirmed}},
	{"head-501", 2, []Verdict{Good, Confirmed}},
	{"head-404", 2, []Verdict{Good, Confirmed}},
	{"head-hangs", 2, []Verdict{Good, Confirmed}},
	{"odd-days", 2, nil},
	{"three-days", 2, nil},
	{"forbidden", 2, []Verdict{Blocked}},
	{"unauthorized", 2, []Verdict{Blocked}},
	{"busy", 2, []Verdict{Blocked, Unknown}},
	{"captcha", 2, []Verdict{Blocked}},
	{"loop", 1, []Verdict{Unknown, Failing, Dead}},
	{"home", 2, []Verdict{Suspect}},
	{"to-private", 2, []Verdict{Blocked}},
	{"to-scheme", 2, []Verdict{Suspect}},
	{"cookie", 2, []Verdict{Good, Confirmed}},
	{"moved", 2, []Verdict{Good, Confirmed}},
	{"elsewhere", 2, []Verdict{Good, Confirmed}},
	{"soft-404", 3, []Verdict{Suspect}},
	{"etag", 2, []Verdict{Good, Confirmed}},
	{"robots-forbids", 2, []Verdict{Blocked}},
	{"robots-broken", 1, nil},
	{"slow-crawl", 2, []Verdict{Good, Confirmed}},
}

const (
	yearItems = 25 // locations of a host
	year      = 365 * 24 * time.Hour
	outage    = 10 * 24 * time.Hour
)

// TestYear checks the locations of a fault server during a simulated year. NOMEN_LINKS is the number
// of locations, NOMEN_FAULTS the percentage of requests with a passing fault, and NOMEN_SEED the seed
// of the random numbers that choose these requests.
//
// It asserts that no living location is ever dead, that a location with status 404 is dead within 21
// days after the first check that finds this, that a host that is away for ten days is reported
// once if this is noticed soon, and that no connection to a private address is made. The server asserts the manners: one
// request at a time to each host, and the gaps.
func TestYear(t *testing.T) {
	n := int(number(t, "NOMEN_LINKS", float64(testrun.Repeats(3_000, 1_000))))
	faults, seed := number(t, "NOMEN_FAULTS", 2), uint64(number(t, "NOMEN_SEED", 3))
	begun := time.Now()
	synctest.Test(t, func(t *testing.T) { simulateYear(t, n/yearItems, faults/100, seed) })
	t.Logf("%v", time.Since(begun).Round(time.Millisecond))
}

func number(t *testing.T, variable string, otherwise float64) float64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func simulateYear(t *testing.T, hosts int, faults float64, seed uint64) {
	f := newFaultServer(t, time.Now, faults)
	f.random = rand.New(rand.NewPCG(seed, 4))
	begin := f.begun
	for i := 0; len(f.hosts) < hosts; i++ {
		for _, k := range yearHosts {
			for j := range max(k.part*min(hosts, 1000)/100/10, 1) {
				if len(f.hosts) < hosts {
					f.behaving(k.kind, i*1000+j)
				}
			}
		}
	}
	f.host("plain-0.example", nil)
	all := f.sorted()
	away := map[string]time.Time{} // until when
	i := -1
	for _, h := range all {
		if h.behave != nil || h.robots != "" {
			continue
		}
		i++
		switch kind := []string{"dead", "dns", "", "dead", "404", "", "503", "reset", "dead", ""}[i%10]; kind {
		case "dead": // some of the locations, each from another day on
			for j := range yearItems / 10 {
				_, url := item(h.name, j)
				h.dead[url[len("http://"+h.name):]] = begin.Add(time.Duration((i*37+j*61)%330) * 24 * time.Hour)
			}
		case "dns", "404", "503", "reset":
			from := begin.Add(time.Duration(40+i*7%200) * 24 * time.Hour)
			away[h.name] = from.Add(outage)
			h.gone = func(now time.Time) string {
				if !now.Before(from) && now.Before(from.Add(outage)) {
					return kind
				}
				return ""
			}
		}
	}
	f.down = func(now time.Time) bool { // two days without a network
		d := now.Sub(begin)
		return d > 100*24*time.Hour && d < 102*24*time.Hour
	}
	s := memstore.New()
	defer s.Close()
	fill(t, s, all, func(*faultHost) int { return yearItems })
	end := f.serve()
	w := f.watch(s, Options{Every: 6 * time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	var heard []Happening
	for last := begin; last.Before(begin.Add(year)); last = last.Add(7 * 24 * time.Hour) {
		time.Sleep(7 * 24 * time.Hour)
		if err := w.Events(last.Add(-time.Hour), func(h Happening) bool {
			if !h.Time.Before(last.Add(-time.Hour)) && h.Time.Before(last.Add(7*24*time.Hour-time.Hour)) { // later events may not be complete
				heard = append(heard, h)
			}
			return true
		}); err != nil {
			t.Error(err)
		}
	}
	cancel()
	running.Wait()
	end()
	judgeYear(t, f, w, heard, away)
}

// judgeYear compares what the watcher has found with what the server did.
func judgeYear(t *testing.T, f *faultServer, w *Watcher, heard []Happening, away map[string]time.Time) {
	now := f.now()
	died, reports, when := map[string]time.Time{}, map[string]int{}, map[string][]time.Time{}
	for _, h := range heard {
		switch h.Event {
		case Died:
			died[h.URL] = h.Time
		case HostFails:
			reports[h.Host]++
			when[h.Host] = append(when[h.Host], h.Time)
		}
	}
	truly, found, slowest := 0, 0, time.Duration(0)
	verdicts := map[string]map[Verdict]int{}
	for _, h := range f.sorted() {
		kind, _, _ := cut(h.name)
		for i := range yearItems {
			_, url := item(h.name, i)
			path := url[len("http://"+h.name):]
			l, ok, err := w.Of(url)
			if err != nil || !ok {
				t.Errorf("%s: %v, %v", url, ok, err)
				continue
			}
			if verdicts[kind] == nil {
				verdicts[kind] = map[Verdict]int{}
			}
			verdicts[kind][l.Verdict]++
			at, isDead := died[url]
			first := h.first[path]
			switch {
			case kind == "loop": // not alive
			case h.dead[path].IsZero() || first.IsZero():
				if isDead || l.Verdict == Dead {
					t.Errorf("%s is dead, want alive: %.300s", url, fmt.Sprintf("%+v", l.State))
				}
			case now.Sub(first) > 22*24*time.Hour:
				truly++
				if !isDead {
					t.Errorf("%s: status 404 since %v, not dead: %+v", url, first, l.State)
					continue
				}
				found++
				took := at.Sub(first)
				if slowest = max(slowest, took); took > 21*24*time.Hour {
					t.Errorf("%s: dead after %v, want 21 days", url, took)
				}
				if took < 14*24*time.Hour-time.Minute && at.Sub(h.dead[path]) < 14*24*time.Hour {
					t.Errorf("%s: dead after %v, want at least 14 days", url, took)
				}
			}
		}
	}
	reported := 0
	for host, until := range away {
		h := f.hosts[host]
		soon := !h.noticed.IsZero() && until.Sub(h.noticed) > outage/2 && h.gone(until.Add(-time.Minute)) != "404"
		if n := reports[host]; n > 1 || n == 0 && soon {
			t.Errorf("%s was away for ten days, noticed on %v, until %v: %d reports, want 1: %v", host, h.noticed, until, n, when[host])
		}
		reported += reports[host]
	}
	for host, n := range reports {
		if kind, _, _ := cut(host); away[host].IsZero() && kind == "plain" {
			t.Errorf("%s: %d reports, want none: %v", host, n, when[host])
		}
	}
	if f.private != 0 {
		t.Errorf("%d connections to private addresses", f.private)
	}
	for _, k := range yearHosts {
		wrong := 0
		for v, n := range verdicts[k.kind] {
			isWanted := k.want == nil
			for _, want := range k.want {
				isWanted = isWanted || v == want
			}
			if !isWanted && !(k.kind == "plain" && v == Dead) {
				wrong += n
			}
		}
		all := 0
		for _, n := range verdicts[k.kind] {
			all += n
		}
		if wrong*2 > all && f.faults <= 0.02 {
			t.Errorf("%s: got %v, want mostly %v", k.kind, verdicts[k.kind], k.want)
		}
	}
	if truly < 3 || len(away) < 1 && len(f.hosts) > 50 {
		t.Errorf("only %d dead locations, %d hosts away", truly, len(away))
	}
	t.Logf("%d requests; %d of %d locations with status 404 dead, the slowest after %.1f days; %d hosts away, of which %d were reported; %v", f.requests, found, truly, slowest.Hours()/24, len(away), reported, verdicts)
}

// cut returns the behaviour of a host.
func cut(host string) (kind, rest string, found bool) {
	for i := len(host) - 1; i >= 0; i-- {
		if host[i] == '-' {
			return host[:i], host[i:], true
		}
	}
	return "", fmt.Sprint(host), false
}
