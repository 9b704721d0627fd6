package pgstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	maxAge   = time.Hour        // old connections use much memory, and stay at servers that have moved
	maxIdle  = 5 * time.Minute  // maximum idle time of a connection
	maxWaits = 10 * time.Second // maximum wait for a connection if all are in use
	readWait = time.Second      // shorter for a read, which the client can repeat
)

// noScans prevents query plans that scan whole tables. Every statement can use an index. The
// statistics of a new table say that the table is empty, so the server may choose a scan, and keep
// this plan after the table has grown. Other databases may not have this setting, and do not need
// it.
const noScans = "set enable_seqscan = off"

var errBusy = errors.New("all connections were in use for too long; to allow more, set pool= in the connection string")

// A pool is a limited number of connections to one server. It opens connections when they are
// needed, and prefers the connection that was used last.
type pool struct {
	config *pgx.ConnConfig
	slots  chan struct{} // contains one element for each connection in use
	keep   int           // maximum number of idle connections

	mu     sync.Mutex
	idle   []*pooled
	closed bool
}

type pooled struct {
	*pgx.Conn
	made, used time.Time
}

func newPool(config *pgx.ConnConfig, size int) *pool {
	return &pool{config: config, slots: make(chan struct{}, size), keep: size}
}

// with calls f with a connection that no other call uses meanwhile. Afterwards, with closes the
// connection if it is broken or still in a transaction.
func (p *pool) with(ctx context.Context, f func(*pgx.Conn) error) error {
	return p.within(ctx, maxWaits, f)
}

// within is like [pool.with], but waits at most the given time for a free connection.
func (p *pool) within(ctx context.Context, wait time.Duration, f func(*pgx.Conn) error) error {
	c, err := p.take(ctx, wait)
	if err != nil {
		return err
	}
	defer p.give(c)
	err = f(c.Conn)
	switch {
	case err != nil && ctx.Err() != nil:
		return &lostError{err}
	case err != nil && c.IsClosed():
		p.drop() // the other connections are probably broken too
		return &lostError{err}
	}
	return err
}

func (p *pool) take(ctx context.Context, wait time.Duration) (*pooled, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		busy := time.NewTimer(wait)
		defer busy.Stop()
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, &lostError{ctx.Err()}
		case <-busy.C:
			return nil, errBusy
		}
	}
	if c := p.pop(); c != nil {
		return c, nil
	}
	conn, err := pgx.ConnectConfig(ctx, p.config)
	if err != nil {
		<-p.slots
		return nil, &lostError{err}
	}
	if _, err := conn.Exec(ctx, noScans); err != nil && conn.IsClosed() {
		<-p.slots
		return nil, &lostError{err}
	}
	return &pooled{Conn: conn, made: time.Now()}, nil
}

func (p *pool) pop() *pooled {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		last := len(p.idle) - 1
		c := p.idle[last]
		p.idle = p.idle[:last]
		if !c.IsClosed() && time.Since(c.used) < maxIdle {
			return c
		}
		discard(c)
	}
	return nil
}

func (p *pool) give(c *pooled) {
	defer func() { <-p.slots }()
	c.used = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.IsClosed() || c.PgConn().TxStatus() != 'I' || time.Since(c.made) > maxAge || len(p.idle) >= p.keep {
		discard(c)
		return
	}
	p.idle = append(p.idle, c)
}

func (p *pool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		discard(c)
	}
	p.idle = nil
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.drop()
}

// discard closes a connection without waiting for its server.
func discard(c *pooled) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	go func() {
		defer cancel()
		_ = c.Close(ctx) // ignored
	}()
}
