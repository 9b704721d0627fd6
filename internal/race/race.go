// Package race tries several addresses of a host with staggered starts (RFC 8305, 5), so that
// an address that does not answer costs little time.
package race

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Stagger is the usual delay before the next address is tried (RFC 8305, 5).
const Stagger = 250 * time.Millisecond

// A Runner is one attempt of several. It must return soon after its context ends.
type Runner[T any] func(ctx context.Context) (T, error)

// Dial connects to the first address that accepts, and closes later connections. If no address
// accepts, it returns the errors of the addresses that were tried, in order; if ctx ended
// early, these are not all. With a negative stagger, attempts do not overlap.
func Dial(ctx context.Context, stagger time.Duration, addrs []netip.AddrPort, dial func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, []error) {
	runners := make([]Runner[net.Conn], len(addrs))
	for i, ap := range addrs {
		runners[i] = func(ctx context.Context) (net.Conn, error) { return dial(ctx, ap) }
	}
	return Run(ctx, stagger, runners, func(error) bool { return false }, func(c net.Conn) { c.Close() })
}

// Run starts the runners, of which there must be at least one: the first at once, and each
// further one when stagger has passed since the previous start, or as soon as an attempt has
// failed. It returns the result of the first success, and passes the results of others to
// discard. If all fail it returns their errors, in order. An error for which final returns
// true ends the race at once.
func Run[T any](ctx context.Context, stagger time.Duration, runners []Runner[T], final func(error) bool, discard func(T)) (T, []error) {
	ctx, cancel := context.WithCancel(ctx)
	type finish struct {
		lane int
		came T
		err  error
	}
	var (
		none     T
		errs     = make([]error, len(runners))
		finished = make(chan finish)
		started  int
		running  int
		next     <-chan time.Time
	)
	start := func() {
		lane, run := started, runners[started]
		started, running, next = started+1, running+1, nil
		if stagger >= 0 && started < len(runners) {
			next = time.After(stagger)
		}
		go func() {
			came, err := run(ctx)
			finished <- finish{lane, came, err}
		}()
	}
	// The others return soon; there is no need to wait for them.
	abandon := func() {
		cancel()
		go func() {
			for range running {
				if f := <-finished; f.err == nil {
					discard(f.came)
				}
			}
		}()
	}
	for start(); running > 0; {
		select {
		case <-next:
			start()
		case f := <-finished:
			running--
			if f.err == nil {
				abandon()
				return f.came, nil
			}
			errs[f.lane] = f.err
			if final(f.err) {
				abandon()
				return none, []error{f.err}
			}
			if started < len(runners) && ctx.Err() == nil {
				start()
			}
		}
	}
	cancel()
	return none, errs[:started]
}
