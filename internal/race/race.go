// Package race tries several addresses of a host, each a while after the one before
// (RFC 8305, 5), so that one that does not answer costs little time.
package race

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Stagger is after how long without an answer the next address is usually tried
// (RFC 8305, 5).
const Stagger = 250 * time.Millisecond

// A Runner is one of several attempts at the same thing. It ends soon after its
// context.
type Runner[T any] func(ctx context.Context) (T, error)

// Dial connects to the first of some addresses that lets it, and closes connections
// that come too late. If none does, the errors are those of the addresses, in order:
// of fewer if ctx ended before all were tried. A negative stagger has no two under
// way.
func Dial(ctx context.Context, stagger time.Duration, addrs []netip.AddrPort, dial func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, []error) {
	runners := make([]Runner[net.Conn], len(addrs))
	for i, ap := range addrs {
		runners[i] = func(ctx context.Context) (net.Conn, error) { return dial(ctx, ap) }
	}
	return Run(ctx, stagger, runners, func(error) bool { return false }, func(c net.Conn) { c.Close() })
}

// Run starts the runners, of which there is one at least, one after the other: the
// first at once, each of the others when stagger has passed since the one before
// started, or as soon as one has failed. It returns what the first to succeed came
// back with, and gives that of others to discard. If none succeeds it returns their
// errors in order; an error that is final ends the race for all.
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
	// The others give up soon; nobody waits for them.
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
