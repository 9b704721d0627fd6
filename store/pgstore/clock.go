package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const readClock = "select clock_timestamp()"

// Clock implements [store.Clocked]. It returns the time of the primary server.
func (s *Store) Clock(ctx context.Context) (now time.Time, err error) {
	if err := s.gate.Enter(); err != nil {
		return now, err
	}
	defer s.gate.Leave()
	server, err := s.cluster.forWriting()
	if err != nil {
		return now, failed("read the clock", err)
	}
	err = server.short.with(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, readClock).Scan(&now) })
	if err != nil {
		return now, failed("read the clock", err)
	}
	return now, nil
}
