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

// AskTimeout is how long this server may ask other servers for one request. If the [Client] has a
// deadline, that applies instead.
const AskTimeout = 20 * time.Second

// LeaveGrace is how long this server still waits for other servers after a client has closed its
// side of the connection. A client such as netcat may still read the response.
const LeaveGrace = 5 * time.Second

// Asking returns a context for asking other servers on behalf of the client in ctx. It ends at the
// client's deadline, or when the client has disconnected and its grace period is over.
func Asking(ctx context.Context) (context.Context, context.CancelFunc) {
	a := ClientOf(ctx)
	ctx, cancel := context.WithDeadline(ctx, a.until())
	left := a.whenGone(cancel)
	return ctx, func() {
		left()
		cancel()
	}
}

// Beginning is like Asking, for answers whose bodies may take longer to read. When the answer
// begins, the caller must call lift. After that, neither the deadline nor a disconnected client
// ends the context. If the deadline passes before, the cause of the context is
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

// until returns how long other servers may be asked for the client.
func (a *Client) until() time.Time {
	if a == nil || a.Until.IsZero() {
		return time.Now().Add(AskTimeout)
	}
	return a.Until
}

// whenGone calls f when the client has disconnected and its grace period is over, unless stop is
// called before.
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

// Asks limits the concurrent requests to other resolvers: in total, for one client, and to one
// resolver. The last limit is half of the total, so that a slow resolver does not block requests to
// other resolvers. A request beyond a limit waits. Asks is safe for concurrent use.
type Asks struct{ turns *Turns }

// NewAsks returns Asks with the given limit in total, and an eighth of it for one client.
func NewAsks(all int) *Asks { return &Asks{NewTurns(all, max(all/8, 1))} }

// Resize changes the limits that NewAsks has set.
func (a *Asks) Resize(all int) { a.turns.Resize(all, max(all/8, 1)) }

// Load returns how many requests are running, and how many are waiting.
func (a *Asks) Load() (running, waiting int) { return a.turns.load() }

// Bound returns a resolver that asks r within these limits, and within the deadline of the request.
// The target identifies r.
func (a *Asks) Bound(target string, r nomen.Resolver) nomen.Resolver {
	return &boundResolver{a.turns, target, r}
}

type boundResolver struct {
	turns *Turns
	to    string
	inner nomen.Resolver
}

// Resolve implements [nomen.Resolver]. Its error may contain a [*LimitError]. A request whose
// answer has resources counts as running until all of them are closed.
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

// Late returns an error about the deadline if the context of [Beginning] ended because of it, and
// otherwise err.
func Late(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Errorf("gateway: %w: %w", nomen.ErrUpstream, cause)
	}
	return err
}

// whenClosed makes sure that end is called when the last resource of an answer is closed. It
// returns false for an answer without resources.
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

func (c *closer) Close() error {
	defer c.closed()
	return c.ReadCloser.Close()
}
