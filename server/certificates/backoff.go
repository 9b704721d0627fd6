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
	firstPause   = 5 * time.Minute // after the first failed order; each further failure doubles it
	lastPause    = 6 * time.Hour
	limitPause   = time.Hour // minimum pause after a rate limit
	maxPause     = 8 * 24 * time.Hour
	clockPause   = 24 * time.Hour   // after an order whose certificate is already due for renewal
	firstRecheck = 30 * time.Second // after the first failed check, which costs the certificate authority nothing; each further failure doubles it
	lastRecheck  = 10 * time.Minute
)

// A backOff says when the Manager may repeat a failed order. It is stored in the vault as JSON.
type backOff struct {
	Failures int       `json:"failures"`
	Error    string    `json:"error"`
	At       time.Time `json:"at"` // time of the last failure
	After    time.Time `json:"after"`
	Limited  bool      `json:"limited,omitempty"` // the pause applies to all nodes, also after a restart or reload
}

// waits reports whether an order must still wait. If the remaining pause exceeds maxPause, the
// clock must have been wrong at some time, and waits returns false.
func (b *backOff) waits(now time.Time) bool {
	return now.Before(b.After) && !b.After.After(now.Add(maxPause))
}

// pause returns how long to wait after a number of failures in a row. The first wait has the
// shortest length. Each later wait is twice as long as the previous wait, up to the longest length.
func pause(failures int, shortest, longest time.Duration) time.Duration {
	if failures > 20 {
		return longest
	}
	return min(shortest<<max(failures-1, 0), longest)
}

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

// A clockError reports that a certificate that was just issued is already due for renewal, because
// the clock is wrong. Without a pause, the Manager would order the certificate again and again.
type clockError struct{ begins time.Time }

func (e *clockError) Error() string {
	return "the new certificate is due for renewal already: it begins at " + e.begins.UTC().Format(time.RFC3339) + "; check the clock of this machine"
}

// stateKey returns the key in the vault for the back-off of a host. It differs from the key of
// every certificate, because host names contain no "_".
func (m *Manager) stateKey(name string) string { return m.prefix + "state_" + name }

func (m *Manager) readBackOff(ctx context.Context, name string) (b backOff, err error) {
	text, err := m.o.Vault.Secret(ctx, m.stateKey(name))
	if errors.Is(err, store.ErrNotFound) {
		return b, nil
	}
	if err == nil && json.Unmarshal(text, &b) != nil {
		b = backOff{} // damaged: treat it as absent
	}
	return b, err
}

// failed logs a failed order, and stores the back-off in the vault. If only the check of the host
// has failed, other nodes may succeed. In this case, failed keeps the back-off in memory, and logs
// the error only once.
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

// isStoreError reports whether an order failed because of the store, as opposed to the certificate
// authority.
func isStoreError(err error) bool {
	return store.IsAway(err) || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrClosed)
}
