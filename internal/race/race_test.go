package race_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/internal/race"
)

// An address says after which time it accepts a connection, or fails.
type address struct {
	after time.Duration
	fails bool
}

const never = time.Hour

// dialed records the attempts of a race.
type dialed struct {
	mu      sync.Mutex
	started []time.Duration // by address; -1 for one that was not tried
	open    atomic.Int32    // connections
}

func (d *dialed) order() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.started)
}

// counted counts the connections that are open.
type counted struct {
	net.Conn
	d *dialed
}

func (c counted) Close() error {
	c.d.open.Add(-1)
	return c.Conn.Close()
}

func run(ctx context.Context, stagger time.Duration, all []address) (*dialed, net.Conn, []error) {
	d := &dialed{started: make([]time.Duration, len(all))}
	start := time.Now()
	aps := make([]netip.AddrPort, len(all))
	for i := range all {
		d.started[i] = -1
		aps[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 80)
	}
	conn, errs := race.Dial(ctx, stagger, aps, func(ctx context.Context, ap netip.AddrPort) (net.Conn, error) {
		i := ap.Addr().As4()[3]
		d.mu.Lock()
		d.started[i] = time.Since(start)
		d.mu.Unlock()
		select {
		case <-time.After(all[i].after):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if all[i].fails {
			return nil, fmt.Errorf("address %d", i)
		}
		d.open.Add(1)
		ours, theirs := net.Pipe()
		theirs.Close()
		return counted{ours, d}, nil
	})
	return d, conn, errs
}

func TestDial(t *testing.T) {
	const s = race.Stagger
	for _, tt := range []struct {
		what    string
		stagger time.Duration
		all     []address
		started []time.Duration // -1: not at all
		took    time.Duration
		errs    int // 0: there is a connection
	}{
		{"the first", s, []address{{0, false}, {0, false}}, []time.Duration{0, -1}, 0, 0},
		{"the first hangs", s, []address{{never, false}, {0, false}}, []time.Duration{0, s}, s, 0},
		{"the first fails", s, []address{{1, true}, {0, false}}, []time.Duration{0, 1}, 1, 0},
		{"the first is slow, and faster than the second", s, []address{{s + 1, false}, {2, false}}, []time.Duration{0, s}, s + 1, 0},
		{"two hang", s, []address{{never, false}, {never, false}, {1, false}}, []time.Duration{0, s, 2 * s}, 2*s + 1, 0},
		{"all fail", s, []address{{2 * s, true}, {0, true}, {0, true}}, []time.Duration{0, s, s}, 2 * s, 3},
		{"no two under way", -1, []address{{never, true}, {0, false}}, []time.Duration{0, never}, never, 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				d, conn, errs := run(t.Context(), tt.stagger, tt.all)
				if took := time.Since(start); took != tt.took || len(errs) != tt.errs || (conn != nil) != (tt.errs == 0) {
					t.Errorf("after %v: %v, %v, want %d errors after %v", took, conn, errs, tt.errs, tt.took)
				}
				if got := d.order(); !slices.Equal(got, tt.started) {
					t.Errorf("started at %v, want %v", got, tt.started)
				}
				time.Sleep(2 * never)
				if open := d.open.Load(); conn != nil && open != 1 || conn == nil && open != 0 {
					t.Errorf("%d connections are open", open)
				}
			})
		})
	}
}

// A connection that is established after another one succeeded is closed.
func TestTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan string, 1)
		runners := []race.Runner[string]{
			func(context.Context) (string, error) {
				time.Sleep(2 * race.Stagger) // even if its context has ended
				return "late", nil
			},
			func(context.Context) (string, error) { return "first", nil },
		}
		got, errs := race.Run(t.Context(), race.Stagger, runners, func(error) bool { return false }, func(s string) { late <- s })
		if got != "first" || errs != nil {
			t.Fatalf("got %q, %v", got, errs)
		}
		if s := <-late; s != "late" {
			t.Errorf("discarded %q", s)
		}
	})
}

// An error that is final ends the race for all, and so does the context.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		final := errors.New("final")
		wait := func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
		runners := []race.Runner[int]{wait, func(context.Context) (int, error) { return 0, final }, wait}
		_, errs := race.Run(t.Context(), race.Stagger, runners, func(err error) bool { return errors.Is(err, final) }, func(int) {})
		if len(errs) != 1 || errs[0] != final {
			t.Errorf("got %v, want the final one", errs)
		}
		ctx, cancel := context.WithTimeout(t.Context(), race.Stagger/2)
		defer cancel()
		d, conn, errs := run(ctx, race.Stagger, []address{{never, false}, {0, false}})
		if conn != nil || len(errs) != 1 || errs[0] != context.DeadlineExceeded || d.order()[1] != -1 {
			t.Errorf("got %v, %v, started %v, want the end of the context", conn, errs, d.order())
		}
	})
}
