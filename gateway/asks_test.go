package gateway

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
)

// blocked is a resolver that never answers. It signals the beginning and the end of each question.
type blocked struct{ asked, left chan struct{} }

func newBlocked() *blocked { return &blocked{make(chan struct{}, 1000), make(chan struct{}, 1000)} }

func (b *blocked) Resolve(ctx context.Context, _ nomen.Question) (*nomen.Answer, error) {
	b.asked <- struct{}{}
	<-ctx.Done()
	b.left <- struct{}{}
	return nil, ctx.Err()
}

func askerAt(addr string) *Client { return &Client{Addr: netip.MustParseAddr(addr)} }

// limitOf returns the LimitError in err, or nil.
func limitOf(err error) *LimitError {
	var limit *LimitError
	errors.As(err, &limit)
	return limit
}

// An eighth of the concurrent questions can be of one client, and as many of its questions can
// wait. Half of the questions can be to one resolver. As many questions can wait as can be asked.
func TestAsksShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks, far := NewAsks(16), newBlocked()
		slow, other := asks.Bound("slow", far), asks.Bound("other", newBlocked())
		start := func(r nomen.Resolver, addr string) <-chan error {
			out := make(chan error, 1)
			go func() {
				_, err := r.Resolve(WithClient(t.Context(), askerAt(addr)), nomen.Question{})
				out <- err
			}()
			synctest.Wait()
			return out
		}
		var all []<-chan error
		for range 4 { // 2 are asked and 2 wait
			all = append(all, start(slow, "192.0.2.1"))
		}
		if len(far.asked) != 2 {
			t.Errorf("%d questions of one client are asked, want 2", len(far.asked))
		}
		if limit := limitOf(<-start(slow, "192.0.2.1")); limit == nil || limit.Full || limit.Status() != 429 {
			t.Errorf("a question beyond the share: %v", limit)
		}
		for _, addr := range []string{"192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"} {
			all = append(all, start(slow, addr), start(slow, addr))
		}
		if len(far.asked) != 8 {
			t.Errorf("one resolver is asked %d questions, want 8", len(far.asked))
		}
		if out := start(other, "192.0.2.6"); len(out) > 0 {
			t.Errorf("another resolver is not asked: %v", <-out)
		}
		for _, addr := range []string{"192.0.2.7", "192.0.2.8"} {
			all = append(all, start(slow, addr), start(slow, addr))
		}
		if limit := limitOf(<-start(slow, "192.0.2.9")); limit == nil || !limit.Full || limit.Status() != 503 {
			t.Errorf("a question where the queue is full: %v", limit)
		}
		begun := time.Now()
		for _, out := range all {
			err := <-out
			if !errors.Is(err, context.DeadlineExceeded) && limitOf(err) == nil {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(begun); took > AskTimeout {
			t.Errorf("the last one took %v", took)
		}
		time.Sleep(AskTimeout)
		synctest.Wait()
		if turns := asks.turns; turns.taken.n != 0 || turns.wait.n != 0 || len(turns.line) != 0 || len(turns.taken.of)+len(turns.taken.at)+len(turns.wait.of)+len(turns.wait.at) != 0 {
			t.Errorf("left: %+v", turns)
		}
	})
}

// When a client has disconnected, its questions end after the grace period, whether they are being
// asked or waiting.
func TestAsksGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks, far := NewAsks(8), newBlocked()
		gone, leave := context.WithCancel(t.Context())
		out := make(chan error, 2)
		for range 2 { // one of them waits
			go func() {
				a := askerAt("192.0.2.1")
				a.Gone, a.Grace = gone, 5*time.Second
				_, err := asks.Bound("x", far).Resolve(WithClient(context.Background(), a), nomen.Question{})
				out <- err
			}()
		}
		synctest.Wait()
		leave()
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		if len(out) != 0 {
			t.Error("the question was given up before the grace was over")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if len(out) != 2 || len(far.left) == 0 {
			t.Fatalf("%d of 2 questions were given up", len(out))
		}
		for range 2 {
			if err := <-out; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// A waiting question is asked as soon as the limits allow it.
func TestAsksQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := NewAsks(8)
		goOn := make(chan struct{})
		r := asks.Bound("x", resolverFunc(func(context.Context, nomen.Question) (*nomen.Answer, error) {
			<-goOn
			return &nomen.Answer{}, nil
		}))
		out := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := r.Resolve(WithClient(t.Context(), askerAt("192.0.2.1")), nomen.Question{})
				out <- err
			}()
		}
		for range 2 {
			goOn <- struct{}{}
			if err := <-out; err != nil {
				t.Error(err)
			}
		}
	})
}

// A resource can be read for longer than AskTimeout, and keeps its turn until it is closed.
func TestAsksResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := NewAsks(8)
		var asked context.Context
		r := asks.Bound("x", resolverFunc(func(ctx context.Context, _ nomen.Question) (*nomen.Answer, error) {
			asked = ctx
			return &nomen.Answer{Resource: &nomen.Resource{Body: io.NopCloser(strings.NewReader("x"))}}, nil
		}))
		a, err := r.Resolve(WithClient(t.Context(), askerAt("192.0.2.1")), nomen.Question{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * AskTimeout)
		if asked.Err() != nil || asks.turns.taken.n != 1 {
			t.Errorf("while it is read: %v, %d turns", asked.Err(), asks.turns.taken.n)
		}
		a.Resource.Body.Close()
		a.Resource.Body.Close()
		if asked.Err() == nil || asks.turns.taken.n != 0 {
			t.Errorf("after it was closed: %v, %d turns", asked.Err(), asks.turns.taken.n)
		}
	})
}
