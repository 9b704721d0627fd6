package admin

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/pacer"
)

// The contexts of jobs and counts make them rest while requests are answered.
func TestPace(t *testing.T) {
	p := pacer.New()
	f := newFigures(time.Now, slog.New(slog.DiscardHandler), p)
	defer f.close()
	if _, _, err := f.get(t.Context(), "k", time.Hour, func(ctx context.Context, _ func() error) (any, error) {
		if pacer.Begin(ctx) == nil {
			t.Error("a count does not rest")
		}
		return 1, nil
	}); err != nil {
		t.Fatal(err)
	}
	s, _ := newTestAPI(t, func(o *Options) { o.Pacer = p })
	if pacer.Begin(s.figures.ctx) == nil {
		t.Error("the counts of the API do not rest")
	}
	s.jobs.mu.Lock()
	j := &job{Job: adminapi.Job{Kind: adminapi.JobVerify}, ended: make(chan struct{}), cancel: func(error) {}}
	s.jobs.all = append(s.jobs.all, j)
	s.jobs.running.Add(1)
	s.jobs.mu.Unlock()
	if err := s.jobs.run(t.Context(), j, func(ctx context.Context) error {
		if pacer.Begin(ctx) == nil {
			t.Error("a job does not rest")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
