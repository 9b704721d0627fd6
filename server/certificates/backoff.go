package certificates

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/store"
)

const (
	firstPause   = 5 * time.Minute // after a failed order; it doubles
	lastPause    = 6 * time.Hour
	limitPause   = time.Hour // minimum after a rate limit
	maxPause     = 8 * 24 * time.Hour
	clockPause   = 24 * time.Hour   // after an order whose certificate is already due for renewal
	firstRecheck = 30 * time.Second // after a failed check, which costs the authority nothing; it doubles
	lastRecheck  = 10 * time.Minute
)

// A backOff says when the Manager repeats a failed order. It is kept in the vault as JSON.
type backOff struct {
	Failures int       `json:"failures"`
	Error    string    `json:"error"`
	At       time.Time `json:"at"` // of the last failure
	After    time.Time `json:"after"`
	Limited  bool      `json:"limited,omitempty"` // the pause applies to all nodes, and outlasts a restart or reload
}

// waits reports whether an order must wait. A pause longer than maxPause comes from a wrong
// clock and is ignored.
func (b *backOff) waits(now time.Time) bool {
	return now.Before(b.After) && !b.After.After(now.Add(maxPause))
}

// pause returns first doubled for each failure after the first, at most last.
func pause(failures int, first, last time.Duration) time.Duration {
	if failures > 20 {
		return last
	}
	return min(first<<max(failures-1, 0), last)
}

// next returns the back-off after another failure.
func (b backOff) next(err error, now time.Time) backOff {
	n := backOff{Failures: b.Failures + 1, Error: oneLine(err), At: now}
	var unreachable *unreachableError
	var of *acme.Error
	var early *clockError
	d := pause(n.Failures, firstPause, lastPause)
	switch {
	case errors.As(err, &unreachable):
		d = pause(n.Failures, firstRecheck, lastRecheck)
	case errors.As(err, &early):
		n.Limited, d = true, clockPause
	case errors.As(err, &of):
		d = max(d, retryafter.Parse(of.Header.Get("Retry-After"), now))
		if _, n.Limited = acme.RateLimit(of); n.Limited || of.StatusCode == http.StatusTooManyRequests {
			n.Limited, d = true, max(d, limitPause)
		}
	}
	n.After = now.Add(min(d, maxPause))
	return n
}

// A clockError says that a certificate that was just issued is due for renewal. Without a pause,
// it would be ordered again and again.
type clockError struct{ begins time.Time }

func (e *clockError) Error() string {
	return "the new certificate is due for renewal already: it begins at " + e.begins.UTC().Format(time.RFC3339) + "; check the clock of this machine"
}

// stateKey returns the key of the back-off of a host. The "_" prevents confusion with the key
// of the host state-example.org: no host name contains one.
func (m *Manager) stateKey(name string) string { return m.prefix + "state_" + name }

// readBackOff returns the back-off of a host that the nodes share.
func (m *Manager) readBackOff(ctx context.Context, name string) (b backOff, err error) {
	text, err := m.o.Vault.Secret(ctx, m.stateKey(name))
	if errors.Is(err, store.ErrNotFound) {
		return b, nil
	}
	if err == nil && json.Unmarshal(text, &b) != nil {
		b = backOff{} // damaged: treated as absent
	}
	return b, err
}

// failed logs a failed order and keeps the back-off. A failed check is logged once and is kept
// only in memory, because it is about this node.
func (m *Manager) failed(ctx context.Context, name string, err error) error {
	now := m.o.Now()
	h := m.host(name)
	b := h.back.next(err, now)
	m.update(name, func(h *host) { h.back = b })
	var unreachable *unreachableError
	if errors.As(err, &unreachable) {
		m.update(name, func(h *host) { h.checked = b.Error })
		if h.checked != b.Error {
			m.o.Log.Error("no certificate is ordered, because the host does not lead to this server; the server will check again", "host", name, "err", err)
		}
		return nil
	}
	m.o.Log.Error("the certificate could not be ordered", "host", name, "err", err, "failures", b.Failures, "next", b.After.UTC().Format(time.RFC3339))
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return m.o.Vault.PutSecret(ctx, m.stateKey(name), text)
}

// isStoreError reports whether an order failed because of the store, not of the authority.
func isStoreError(err error) bool {
	return store.IsAway(err) || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrClosed)
}
