package admin

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits of the recording of uses of tokens.
const (
	useTimeout = 10 * time.Second // maximum time for recording a use
	useRetry   = 10 * time.Minute // minimum time between a failed attempt to record a use and the next one
	maxUses    = 10_000           // maximum number of tokens in the table; a full table is cleared, so that later uses are recorded again
)

// A tokenUses records on which days each token was used, with one write for each day and token. The
// writes run in the background, so requests are not delayed and do not fail. If a write fails, a
// later request with the token causes another write. A tokenUses is safe for concurrent use.
type tokenUses struct {
	registrar *registrar.Registrar
	log       *slog.Logger

	mu    sync.Mutex
	until map[string]time.Time // earliest time of the next write, by ID of the token
}

// note records the use of a token, but only once a day.
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

// due reports whether the use of a token must be recorded. If so, further uses need not be recorded
// before the time next.
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

// again makes uses of a token due after a given time.
func (u *tokenUses) again(id string, from time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until[id] = from
}
