package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Bounds of noting when tokens were used.
const (
	useTimeout = 10 * time.Second // for writing one down
	useRetry   = 10 * time.Minute // after which a use that could not be written is tried again
	maxUses    = 10_000           // tokens that are remembered; more are written down anew
)

// uses notes the days on which tokens were used, beside the requests that use them: one
// write a day for each token, whose failure fails nothing. It is safe for concurrent use.
type uses struct {
	registrar *registrar.Registrar
	log       *slog.Logger

	mu    sync.Mutex
	until map[string]time.Time // by ID: nothing is to be written before
}

// note writes down that a token is used, unless that is known.
func (u *uses) note(t *store.Token, now time.Time) {
	today := now.UTC().Truncate(24 * time.Hour)
	if !t.Used.Before(today) || !u.due(t.ID, now, today.AddDate(0, 0, 1)) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), useTimeout)
		defer cancel()
		if err := u.registrar.UseToken(ctx, t.ID); err != nil {
			u.log.Debug("the use of a token was not written down", "token", t.ID, "err", err)
			u.again(t.ID, now.Add(useRetry))
		}
	}()
}

// due reports whether the use of a token is to be written now, and not again before next.
func (u *uses) due(id string, now, next time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Before(u.until[id]) {
		return false
	}
	if u.until == nil || len(u.until) >= maxUses {
		u.until = map[string]time.Time{}
	}
	u.until[id] = next
	return true
}

// again has the use of a token be written from then on.
func (u *uses) again(id string, from time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until[id] = from
}
