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

// AskTimeout is how long this server may ask other servers for one request. A deadline of the
// client takes precedence.
const AskTimeout = 20 * time.Second

// LeaveGrace is how long this server still waits for other servers after a client has closed its
// side of the connection. Such a client may still read the response, as netcat does.
const LeaveGrace = 5 * time.Second

// Asking returns a context for asking other servers. The context ends at the deadline of the client
// in ctx. It also ends when the client has disconnected and its grace period is over.
func Asking(ctx context.Context) (context.Context, context.CancelFunc) {
	a := ClientOf(ctx)
	ctx, cancel := context.WithDeadline(ctx, a.until())
	left := a.whenGone(cancel)
	return ctx, func() {
		left()
		cancel()
	}
}

// Beginning is like Asking, but for answers whose bodies may take longer to read. When the answer
// begins, the caller must call the function lift: after that, neither the deadline nor a disconnected
// client ends the context. If the deadline passes before, the cause of the context is
// [context.DeadlineExceeded].
func Beginning(ctx context.Context) (_ context.Context, lift func(), cancel context.CancelFunc) {
	a := ClientOf(ctx)
	ctx, end := context.WithCancelCause(ctx)
	late := time.AfterFunc(time.Until(a.until()), func() { end(context.DeadlineExceeded) })
	left := a.whenGone(func() { end(context.Canceled) })
	lift = func() {
		late.Stop()
		left()
	}
	return ctx, lift, func() {
		lift()
		end(context.Canceled)
	}
}

// until returns the time until which this server may ask other servers for the client.
func (a *Client) until() time.Time {
	if a == nil || a.Until.IsZero() {
		return time.Now().Add(AskTimeout)
	}
	return a.Until
}

// whenGone calls f when the client has disconnected and its grace period is over. It does not call
// f if stop is called before.
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

// Asks limits the number of concurrent requests to other resolvers. There is a limit for all requests,
// one for the requests of one client, and one for the requests to one resolver. The last is half of
// the first, so a slow resolver does not block requests to other resolvers. A request that exceeds a
// limit waits. Asks is safe for concurrent use.
type Asks struct{ turns *Turns }

// NewAsks returns Asks with the given limit for all requests. The limit for the requests of one
// client is an eighth of this limit.
func NewAsks(all int) *Asks { return &Asks{NewTurns(all, max(all/8, 1))} }

// Resize changes the limits that NewAsks has set.
func (a *Asks) Resize(all int) { a.turns.Resize(all, max(all/8, 1)) }

// Load returns how many requests are running, and how many are waiting.
func (a *Asks) Load() (running, waiting int) { return a.turns.load() }

// Bound returns a resolver that asks r within these limits and within the deadline of the request.
// The target identifies r.
func (a *Asks) Bound(target string, r nomen.Resolver) nomen.Resolver {
	return &boundResolver{a.turns, target, r}
}

type boundResolver struct {
	turns *Turns
	to    string
	inner nomen.Resolver
}

// Resolve implements [nomen.Resolver]. The error may contain a [*LimitError]. If the answer has
// resources, the request counts as running until all of them are closed.
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

// Late returns an error that the deadline was exceeded, if the context of [Beginning] ended for
// that reason. Otherwise it returns err.
func Late(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Errorf("gateway: %w: %w", nomen.ErrUpstream, cause)
	}
	return err
}

// whenClosed makes the answer call end when its last resource is closed. It returns false if the
// answer has no resources.
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

// A closer is a body that calls a function when it is closed.
type closer struct {
	io.ReadCloser
	closed func()
}

// Close closes the body.
func (c *closer) Close() error {
	defer c.closed()
	return c.ReadCloser.Close()
}
