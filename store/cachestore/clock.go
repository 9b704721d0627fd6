package cachestore

import (
	"context"
	"time"

	"github.com/nomen-project/nomen/store"
)

var _ store.Clocked = (*Store)(nil)

// Clock implements [store.Clocked].
func (s *Store) Clock(ctx context.Context) (time.Time, error) { return store.ClockOf(ctx, s.Backing) }
