package replay

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The defaults of Options.
const (
	DefaultRate     = 20
	DefaultParallel = 4
	DefaultTimeout  = 10 * time.Second
	DefaultExamples = 5
)

// Options say what to compare, and how.
type Options struct {
	Server   string    // base URL of the new server, from ParseBase
	Against  string    // base URL of the old server, from ParseBase; "" means to compare with Expected or the log
	Expected *Expected // nil means to compare with Against or the log

	Exact       bool // locations must have the same bytes
	AnyRedirect bool // all statuses of redirects are equal

	Rate     float64       // requests per second to each server; 0 means no limit
	Parallel int           // concurrent requests to each server; 0 means DefaultParallel
	Timeout  time.Duration // time limit for a request; 0 means DefaultTimeout
	Limit    int           // number of requests to send, the most frequent ones; 0 means all
	Examples int           // number of examples for each class in the report

	Progress   func(done, total int) // called after each request, by one goroutine at a time; may be nil
	Difference func(Difference)      // called for each request whose answers differ, by one goroutine at a time; may be nil
}

// A Difference is a request with different answers.
type Difference struct {
	Class Class `json:"class"`
	Request
	Count int64  `json:"count"` // how often the log has the request
	Old   Answer `json:"old,omitzero"`
	New   Answer `json:"new,omitzero"`
}

// A replayer sends the requests of a log.
type replayer struct {
	o           Options
	here, there *server // there is nil without an old server
	limiter     *rate.Limiter
	compare     comparison

	mu     sync.Mutex
	report *Report
	total  int
}

// Run sends the requests of a log, the most frequent first, and compares the answers. If Run
// returns an error, the report contains the requests that were answered before the error.
func Run(ctx context.Context, l *Log, o Options) (*Report, error) {
	o.Parallel, o.Timeout = cmp.Or(o.Parallel, DefaultParallel), cmp.Or(o.Timeout, DefaultTimeout)
	p := &replayer{o: o, limiter: newLimiter(o.Rate), report: newReport(l, o)}
	p.compare = comparison{o.Exact, o.AnyRedirect, o.Server, cmp.Or(o.Against, o.Server)}
	var err error
	if p.here, err = newServer(o.Server, o.Parallel, o.Timeout); err != nil {
		return p.report, err
	}
	defer p.here.transport.CloseIdleConnections()
	if o.Against != "" {
		if p.there, err = newServer(o.Against, o.Parallel, o.Timeout); err != nil {
			return p.report, err
		}
		defer p.there.transport.CloseIdleConnections()
	}
	return p.report, p.send(ctx, l.sorted())
}

func newLimiter(perSecond float64) *rate.Limiter {
	if perSecond <= 0 {
		return rate.NewLimiter(rate.Inf, 1)
	}
	return rate.NewLimiter(rate.Limit(perSecond), 1)
}

func (p *replayer) send(ctx context.Context, list []*seen) error {
	if p.o.Limit > 0 && p.o.Limit < len(list) {
		for _, s := range list[p.o.Limit:] {
			p.report.Left += s.count
		}
		list = list[:p.o.Limit]
	}
	p.total = len(list)
	return p.inParallel(ctx, list)
}

// inParallel sends the requests of a list concurrently, until a request fails.
func (p *replayer) inParallel(ctx context.Context, list []*seen) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan *seen)
	var workers sync.WaitGroup
	for range p.o.Parallel {
		workers.Go(func() {
			for s := range next {
				if err := p.one(ctx, s); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := 0; i < len(list) && ctx.Err() == nil; i++ {
		select {
		case next <- list[i]:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// one sends a request to the servers, and adds the comparison to the report.
func (p *replayer) one(ctx context.Context, s *seen) error {
	old, known := p.known(s)
	if !known {
		p.add(s, NotCompared, "", Difference{Class: NotCompared, Request: s.Request, Count: s.count})
		return nil
	}
	if err := p.limiter.Wait(ctx); err != nil {
		return err
	}
	if p.there != nil {
		var err error
		if old, err = p.there.ask(ctx, s.Request); err != nil {
			return err
		}
	}
	here, err := p.here.ask(ctx, s.Request)
	if err != nil {
		return err
	}
	class, rules := p.compare.class(s.Target, old, here)
	p.add(s, class, rules, Difference{class, s.Request, s.count, old, here})
	return nil
}

// known returns the old answer to a request, from the file of expected answers or from the log. If
// there is no old answer, it returns false. If the old server is still to be asked, it returns true
// and no answer.
func (p *replayer) known(s *seen) (Answer, bool) {
	switch {
	case p.there != nil:
		return Answer{}, true
	case p.o.Expected != nil:
		return p.o.Expected.of(s.Request)
	}
	return Answer{Status: s.Status, Location: s.Location}, s.Status != 0
}

func (p *replayer) add(s *seen, class Class, rules string, d Difference) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.add(d, rules, s.varied && p.there == nil && p.o.Expected == nil)
	if p.o.Progress != nil {
		p.o.Progress(p.report.done, p.total)
	}
	if class != Equal && p.o.Difference != nil {
		p.o.Difference(d)
	}
}
