package admin

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/pacer"
)

// Limits of counts in the background.
const (
	maxFigures   = 64                    // number of results that are kept
	firstFigures = 80 * time.Millisecond // maximum time that a request waits for a first result
	countStep    = 1000                  // number of steps after which the progress is updated
)

// figures caches the results of slow counts. The counts run in the background, one at a time, and
// pause while requests are answered.
type figures struct {
	now func() time.Time
	log *slog.Logger

	ctx     context.Context // ends the counts
	cancel  context.CancelFunc
	running sync.WaitGroup
	turn    chan struct{} // holds one element, which a count receives before it runs

	mu     sync.Mutex
	closed bool
	known  map[string]*figure
}

// A figure is a cached result. The mutex of figures guards its fields.
type figure struct {
	value   any // nil if never counted
	counted time.Time
	asked   time.Time
	done    uint64
	ended   chan struct{} // closed when the running count ends; nil if none runs
	err     error         // error of the last count
}

func newFigures(now func() time.Time, log *slog.Logger, pace *pacer.Pacer) *figures {
	f := &figures{now: now, log: log, turn: make(chan struct{}, 1), known: map[string]*figure{}}
	f.ctx, f.cancel = context.WithCancel(pacer.With(context.Background(), pace))
	f.turn <- struct{}{}
	return f
}

func (f *figures) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.running.Wait()
}

// A counting is a function that counts. It must call step for each item that it reads. If step
// returns an error, the function must return this error.
type counting func(ctx context.Context, step func() error) (any, error)

// get returns the result for a key. If there is no result, or if the result is older than life, get
// starts a count. If there is no result, get first waits for a short time.
func (f *figures) get(ctx context.Context, key string, life time.Duration, count counting) (any, adminapi.Count, error) {
	fig, ended := f.ask(key, life, count)
	if ended != nil {
		wait := time.NewTimer(firstFigures)
		defer wait.Stop()
		select {
		case <-ended:
		case <-wait.C:
		case <-ctx.Done():
			return nil, adminapi.Count{}, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if fig.value == nil && fig.ended == nil {
		return nil, adminapi.Count{}, fig.err
	}
	return fig.value, adminapi.Count{Counted: fig.counted, Counting: fig.ended != nil, Done: fig.done}, nil
}

// ask returns the figure for a key, and starts a count if necessary. If the figure has no result
// yet, the channel ended is closed when the count ends; otherwise it is nil.
func (f *figures) ask(key string, life time.Duration, count counting) (fig *figure, ended chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fig = f.known[key]; fig == nil {
		f.makeRoom()
		fig = &figure{}
		f.known[key] = fig
	}
	fig.asked = f.now()
	if fig.ended == nil && !f.closed && (fig.value == nil || fig.asked.Sub(fig.counted) > life) {
		fig.ended = make(chan struct{})
		f.running.Go(func() { f.count(key, fig, count) })
	}
	if fig.value == nil {
		ended = fig.ended
	}
	return fig, ended
}

// makeRoom removes the least recently requested result. The caller must hold the mutex.
func (f *figures) makeRoom() {
	oldest := ""
	for key, fig := range f.known {
		if fig.ended == nil && (oldest == "" || fig.asked.Before(f.known[oldest].asked)) {
			oldest = key
		}
	}
	if len(f.known) >= maxFigures {
		delete(f.known, oldest)
	}
}

func (f *figures) count(key string, fig *figure, count counting) {
	var value any
	var err error
	begun := f.now()
	select {
	case <-f.turn:
		begun = f.now()
		value, err = count(f.ctx, f.stepOf(fig))
		f.turn <- struct{}{}
	case <-f.ctx.Done():
		err = f.ctx.Err()
	}
	if err != nil && f.ctx.Err() == nil {
		f.log.Warn("cannot count for the statistics", "key", key, "err", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if fig.err = err; err == nil {
		fig.value, fig.counted = value, begun
	}
	fig.done = 0
	close(fig.ended)
	fig.ended = nil
}

// stepOf returns the step function for a count.
func (f *figures) stepOf(fig *figure) func() error {
	done := uint64(0)
	return func() error {
		if done++; done%countStep != 0 {
			return nil
		}
		f.mu.Lock()
		fig.done = done
		f.mu.Unlock()
		return f.ctx.Err()
	}
}
