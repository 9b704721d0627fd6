package wire

import (
	"net"
	"sync"
	"time"
)

// A deadline combines the deadline of net/http for reading with the deadline for a head. The
// earlier deadline applies.
type deadline struct {
	mu     sync.Mutex
	server time.Time
	head   time.Time // zero unless a head is being read
}

// set sets the deadline of net/http. net/http also uses it to interrupt a read, so set may be
// called during a read. The other methods must not be called during a read.
func (d *deadline) set(c net.Conn, t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.server = t
	return c.SetReadDeadline(earlier(t, d.head))
}

// limit starts the timeout of a head, unless it is already running.
func (d *deadline) limit(c net.Conn, timeout time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.head.IsZero() {
		d.head = time.Now().Add(timeout)
		c.SetReadDeadline(earlier(d.server, d.head))
	}
}

// lift stops the timeout of a head.
func (d *deadline) lift(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.head.IsZero() {
		d.head = time.Time{}
		c.SetReadDeadline(d.server)
	}
}

// spent reports whether the timeout of a head has passed.
func (d *deadline) spent() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.head.IsZero() && !time.Now().Before(d.head)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
