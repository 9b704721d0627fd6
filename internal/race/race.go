// Package race tries several addresses of a host, each a short time after the address before it
// (RFC 8305, 5). So an address that does not answer costs little time.
package race

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Stagger is the usual delay between the start of one attempt and the next (RFC 8305, 5).
const Stagger = 250 * time.Millisecond

// A Runner makes one of several attempts. It must return soon after ctx ends.
type Runner[T any] func(ctx context.Context) (T, error)

// Dial connects to several addresses and returns the first connection. Connections that are made
// later are closed. If no address accepts, Dial returns the errors of the attempts, in the order of
// the addresses; if ctx ended, some addresses were not tried. If stagger is negative, an attempt
// begins only after the attempt before it has failed.
func Dial(ctx context.Context, stagger time.Duration, addrs []netip.AddrPort, dial func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, []error) {
	runners := make([]Runner[net.Conn], len(addrs))
	for i, ap := range addrs {
		runners[i] = func(ctx context.Context) (net.Conn, error) { return dial(ctx, ap) }
	}
	return Run(ctx, stagger, runners, func(error) bool { return false }, func(c net.Conn) { c.Close() })
}

// Run runs the attempts of a race and returns the result of the first that succeeds. There must be
// at least one runner. The first begins at once; each other begins when the time stagger has passed
// since the runner before it began, or as soon as any attempt fails. Results of later successes are
// passed to discard. If all attempts fail, Run returns their errors, in the order of the runners.
// If the function final returns true for an error, the race ends at once.
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
	// The other attempts return soon, so abandon does not wait for them.
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
