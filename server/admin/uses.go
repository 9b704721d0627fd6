package admin

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits of recording when tokens were used.
const (
	useTimeout = 10 * time.Second // for recording a use
	useRetry   = 10 * time.Minute // after a failure to record a use
	maxUses    = 10_000           // tokens remembered; beyond that all are forgotten, and their uses recorded again
)

// A tokenUses records the days on which tokens were used, with one write per day and token.
// The writes do not delay or fail a request. If a write fails, a later use of the token causes
// another write. It is safe for concurrent use.
type tokenUses struct {
	registrar *registrar.Registrar
	log       *slog.Logger

	mu    sync.Mutex
	until map[string]time.Time // by token ID: earliest time of the next write
}

// note records the use of a token, unless it is recorded already.
func (u *tokenUses) note(t *store.Token, now time.Time) {
	today := now.UTC().Truncate(24 * time.Hour)
	if !t.Used.Before(today) || !u.due(t.ID, now, today.AddDate(0, 0, 1)) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), useTimeout)
		defer cancel()
		if err := u.registrar.UseToken(ctx, t.ID); err != nil {
			u.log.Debug("cannot record the use of a token", "token", t.ID, "err", err)
			u.again(t.ID, now.Add(useRetry))
		}
	}()
}

// due reports whether the use of a token must be recorded now. If so, it
// records next as the time of the next write.
func (u *tokenUses) due(id string, now, next time.Time) bool {
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

// again makes the use of a token due at a time.
func (u *tokenUses) again(id string, from time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until[id] = from
}
