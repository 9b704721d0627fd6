package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen"
)

// AskTimeout bounds how long other servers are asked for one request, unless its client has
// a deadline.
const AskTimeout = 20 * time.Second

// LeaveGrace is how long other servers are still asked after a client has closed its side
// of the connection. It may still read, as netcat does.
const LeaveGrace = 5 * time.Second

// Asking returns a context for asking other servers. It ends at the deadline of the request of
// ctx, or when the client has disconnected and its grace period is over.
func Asking(ctx context.Context) (context.Context, context.CancelFunc) {
	a := ClientOf(ctx)
	ctx, cancel := context.WithDeadline(ctx, a.until())
	left := a.whenGone(cancel)
	return ctx, func() {
		left()
		cancel()
	}
}

// Beginning is like Asking, but for an answer whose body may take longer to read. After begun
// is called, the context ends only when it is cancelled or ctx ends. Its cause is
// [context.DeadlineExceeded] if the deadline passed before begun was called.
func Beginning(ctx context.Context) (_ context.Context, begun func(), cancel context.CancelFunc) {
	a := ClientOf(ctx)
	ctx, end := context.WithCancelCause(ctx)
	late := time.AfterFunc(time.Until(a.until()), func() { end(context.DeadlineExceeded) })
	left := a.whenGone(func() { end(context.Canceled) })
	begun = func() {
		late.Stop()
		left()
	}
	return ctx, begun, func() {
		begun()
		end(context.Canceled)
	}
}

// until returns the deadline for asking other servers.
func (a *Client) until() time.Time {
	if a == nil || a.Until.IsZero() {
		return time.Now().Add(AskTimeout)
	}
	return a.Until
}

// whenGone calls f after the client has disconnected and the grace period has passed, unless
// stop is called before.
func (a *Client) whenGone(f func()) (stop func()) {
	if a == nil || a.Gone == nil {
		return func() {}
	}
	over, end := context.WithCancel(context.Background())
	gone := context.AfterFunc(a.Gone, func() {
		wait := time.NewTimer(a.Grace)
		defer wait.Stop()
		select {
		case <-wait.C:
			f()
		case <-over.Done():
		}
	})
	return func() {
		gone()
		end()
	}
}

// Asks bounds the concurrent requests to other resolvers: of all clients, of one client, and
// to one resolver. One resolver gets at most half of all requests, so that a slow resolver
// does not block the others. Requests over the limits wait. It is safe for concurrent use.
type Asks struct{ turns *Turns }

// NewAsks returns limits of the given number of concurrent requests, and of an eighth of it
// for one client.
func NewAsks(all int) *Asks { return &Asks{NewTurns(all, max(all/8, 1))} }

// Resize changes the limits that NewAsks sets.
func (a *Asks) Resize(all int) { a.turns.Resize(all, max(all/8, 1)) }

// Load returns how many requests are running, and how many are waiting for their turn.
func (a *Asks) Load() (running, waiting int) { return a.turns.load() }

// Bound returns a resolver that asks r within these limits and the deadline of the request.
// to identifies r.
func (a *Asks) Bound(to string, r nomen.Resolver) nomen.Resolver {
	return &boundResolver{a.turns, to, r}
}

type boundResolver struct {
	turns *Turns
	to    string
	inner nomen.Resolver
}

// Resolve implements [nomen.Resolver]. The error may contain a [*LimitError]. Resources
// count until they are closed.
func (b *boundResolver) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	ctx, begun, cancel := Beginning(ctx)
	back, err := b.turns.Wait(ctx, ClientOf(ctx), b.to)
	if err != nil {
		cancel()
		return nil, err
	}
	end := func() {
		back()
		cancel()
	}
	a, err := b.inner.Resolve(ctx, q)
	if err != nil {
		defer end()
		return nil, Late(ctx, err)
	}
	if !whenClosed(a, end) {
		end()
	}
	begun()
	return a, nil
}

// Late returns err, or an error that the deadline was exceeded if the context of
// [Beginning] ended because of that.
func Late(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Errorf("gateway: %w: %w", nomen.ErrUpstream, cause)
	}
	return err
}

// whenClosed calls end when the last resource of an answer is closed. It reports whether
// there are any resources.
func whenClosed(a *nomen.Answer, end func()) bool {
	var open atomic.Int64
	closed := func() {
		if open.Add(-1) == 0 {
			end()
		}
	}
	for _, r := range append([]*nomen.Resource{a.Resource}, a.Resources...) {
		if r != nil && r.Body != nil {
			open.Add(1)
			r.Body = &closer{r.Body, sync.OnceFunc(closed)}
		}
	}
	return open.Load() > 0
}

// A closer calls a function when it is closed.
type closer struct {
	io.ReadCloser
	closed func()
}

// Close closes the body.
func (c *closer) Close() error {
	defer c.closed()
	return c.ReadCloser.Close()
}
