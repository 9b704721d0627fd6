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

// AskTimeout bounds how long other servers are asked for one request, unless its asker
// says until when.
const AskTimeout = 20 * time.Second

// LeaveGrace is for how long other servers are still asked when a client has closed its
// side of a connection: it may only have nothing more to say, as netcat.
const LeaveGrace = 5 * time.Second

// Asking returns a context for asking other servers. It ends when the time of the request
// of ctx is over, and when its client has gone.
func Asking(ctx context.Context) (context.Context, context.CancelFunc) {
	a := AskerOf(ctx)
	ctx, cancel := context.WithDeadline(ctx, a.until())
	left := a.whenGone(cancel)
	return ctx, func() {
		left()
		cancel()
	}
}

// Beginning is Asking for an answer that may take longer to read: once it has begun, the
// context goes on until it is cancelled, or ctx ends. The cause is
// [context.DeadlineExceeded] if the time was over before.
func Beginning(ctx context.Context) (_ context.Context, begun func(), cancel context.CancelFunc) {
	a := AskerOf(ctx)
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

// until returns when other servers are asked no more.
func (a *Asker) until() time.Time {
	if a == nil || a.Until.IsZero() {
		return time.Now().Add(AskTimeout)
	}
	return a.Until
}

// whenGone calls f a while after the client has gone, unless it is stopped before.
func (a *Asker) whenGone(f func()) (stop func()) {
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

// Asks bound how many questions are put to other resolvers at once, how many of them are
// of one client, and how many go to one resolver: half of all, so that a slow one leaves
// room for others. Who finds no room waits. It is safe for concurrent use.
type Asks struct{ turns *Turns }

// NewAsks returns bounds for so many questions, an eighth of them of one client.
func NewAsks(all int) *Asks { return &Asks{NewTurns(all, max(all/8, 1))} }

// Bound returns a resolver that asks another one within these bounds, for as long as the
// request of the context has time. The other one is known by to.
func (a *Asks) Bound(to string, r nomen.Resolver) nomen.Resolver {
	return &boundResolver{a.turns, to, r}
}

type boundResolver struct {
	turns *Turns
	to    string
	inner nomen.Resolver
}

// Resolve implements [nomen.Resolver]. The error may contain a [*LimitError]. Resources
// keep their place until they are closed.
func (b *boundResolver) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	ctx, begun, cancel := Beginning(ctx)
	back, err := b.turns.Wait(ctx, AskerOf(ctx), b.to)
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

// Late returns an error of what was asked with the context of [Beginning]: that the time
// was over, if it was.
func Late(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Errorf("gateway: %w: %w", nomen.ErrUpstream, cause)
	}
	return err
}

// whenClosed calls end when the last resource of an answer is closed. It reports whether
// there is any to be closed.
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

// A closer tells that it was closed.
type closer struct {
	io.ReadCloser
	closed func()
}

// Close closes the body.
func (c *closer) Close() error {
	defer c.closed()
	return c.ReadCloser.Close()
}
