package server

import (
	"context"
	"time"

	"github.com/nomen-project/nomen/store"
)

// firstLoad is how long the first attempt to read the authorities may delay the start. After a
// failure, nextLoad is the time until the next attempt.
const (
	firstLoad = time.Second
	nextLoad  = 500 * time.Millisecond
)

// loadAuthorities reads the authorities into the cache, so that the first request need not wait.
// Until it succeeds, the server is not ready.
func (s *Server) loadAuthorities(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if store.ConditionOf(s.store).NoReads {
		return false
	}
	_, err := s.authorities.Set(store.WithStaleness(ctx), time.Time{})
	return err == nil
}

// keepLoading calls loadAuthorities until it succeeds or ctx ends.
func (s *Server) keepLoading(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(nextLoad):
		}
		if s.loadAuthorities(ctx, 10*time.Second) {
			return
		}
	}
}
