// Package race connects to a host with several addresses. It tries each address a short time after
// the previous address (RFC 8305, 5), so that an address that does not answer causes little delay.
package race

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Stagger is the usual delay between two attempts (RFC 8305, 5).
const Stagger = 250 * time.Millisecond

// A Runner makes an attempt. It must return soon after ctx ends.
type Runner[T any] func(ctx context.Context) (T, error)

// Dial connects to several addresses, and returns the first connection. It closes any further
// connections. If all attempts fail, Dial returns their errors in the order of the addresses. If
// ctx ends, some errors may be missing. If stagger is negative, an attempt begins only when the
// previous one has failed.
func Dial(ctx context.Context, stagger time.Duration, addrs []netip.AddrPort, dial func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, []error) {
	runners := make([]Runner[net.Conn], len(addrs))
	for i, ap := range addrs {
		runners[i] = func(ctx context.Context) (net.Conn, error) { return dial(ctx, ap) }
	}
	return Run(ctx, stagger, runners, func(error) bool { return false }, func(c net.Conn) { c.Close() })
}

// Run makes the attempts in runners, which must not be empty, and returns the result of the first
// attempt that succeeds. The next attempt begins when the time stagger has passed since the
// previous attempt began, or when an attempt fails. Later results are passed to discard. If all
// attempts fail, Run returns their errors in order. An error for which final returns true ends the
// race.
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
	// The other attempts return soon, so nothing waits for them.
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
