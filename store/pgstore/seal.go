package pgstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/ledger"
)

// Every node of a store regularly looks for changes to seal, but only the node with the lease seals
// them. Sealing extends the lease. When the lease has expired, another node can acquire it.
const (
	sealEvery  = 200 * time.Millisecond // time between two checks, unless the node has written
	sealSoon   = 20 * time.Millisecond  // time until the next check after the node has written
	sealLease  = 500 * time.Millisecond
	sealEnd    = 2 * time.Second // maximum time for sealing while a node is closed
	sealPause  = 5 * time.Second // after which the server aborts a sealing transaction that is idle
	sealUnits  = 512             // number of rows of nomen_pending that are read at a time
	sealMargin = 128             // number of these rows that are left for the next sealing, if all sealUnits were read, because rows that must precede them may be missing
)

const (
	lookHead = `select fence, size, hash, until > clock_timestamp() and holder <> $1, exists(select 1 from nomen_pending)
	from nomen_head where id = 1`
	lookPending = "select id, part, names, entries from nomen_pending order by stamp, id, part limit $1"
	raiseHead   = `update nomen_head set fence = fence + 1, size = $3, names = names + $4, hash = $5, holder = $6,
	until = clock_timestamp() + $7::bigint * interval '1 millisecond' where id = 1 and fence = $1 and size = $2`
	// After the end of the lease, another node or the next command can seal at once.
	endLease      = "update nomen_head set until = clock_timestamp() where id = 1 and holder = $1"
	deletePending = `delete from nomen_pending where (id, part) in (
	select u.id, u.part from unnest($1::bytea[], $2::integer[]) as u(id, part))`
	putLog = `insert into nomen_log (chunk, entries, hashes) values ($1, $2, $3)
	on conflict (chunk) do update set entries = excluded.entries, hashes = excluded.hashes`
)

// A sealer numbers committed changes and appends them to the log. The changes of a transaction are
// numbered only after the commit, and get higher numbers than all changes in the log. A reader that
// follows the log therefore misses no change.
//
// Concurrent sealers do no harm. Each sealing transaction increments the fence in the head of the
// log, on the condition that the fence has the value that the sealer has read. If two sealers
// conflict, one succeeds, and the other begins again. The lease only avoids this extra work.
type sealer struct {
	cluster *cluster
	node    []byte // random bytes that identify the node
	nudge   chan struct{}
	cancel  context.CancelFunc
	ended   chan struct{}
	pause   time.Duration
	hook    func(stage string) // called between the steps of a sealing, in tests

	backlog backlog

	told  string // last error logged; used only by run
	edge  *edge  // edge of the log with this fence; nil if unknown
	fence int64
}

func newSealer(cl *cluster) *sealer {
	s := &sealer{cluster: cl, node: make([]byte, 16), nudge: make(chan struct{}, 1), ended: make(chan struct{}), pause: sealPause, hook: func(string) {}}
	_, _ = rand.Read(s.node) // Read never fails
	return s
}

func (s *sealer) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.run(ctx)
}

// stop ends the sealer after it has sealed the changes of this node.
func (s *sealer) stop() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	<-s.ended
}

func (s *sealer) wake() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

func (s *sealer) run(ctx context.Context) {
	defer close(s.ended)
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			// Seal the changes of this node, because no other node may be running.
			end, cancel := context.WithTimeout(context.Background(), sealEnd)
			defer cancel()
			s.sealAll(end)
			s.release(end)
			return
		case <-tick.C:
		case <-s.nudge:
			time.Sleep(sealSoon) // to seal further changes together with this one
		}
		s.sealAll(ctx)
	}
}

// release ends the lease if this node has it.
func (s *sealer) release(ctx context.Context) {
	server, err := s.cluster.forWriting()
	if err != nil {
		return // if this fails, the lease expires later
	}
	err = server.short.with(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, endLease, s.node)
		return err
	})
	if err != nil {
		s.cluster.log.Debug("cannot release the lease of the sealer", "err", err)
	}
}

// sealAll seals all committed changes, unless another node has the lease.
func (s *sealer) sealAll(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		var err error
		more, err = s.seal(ctx)
		s.tell(ctx, err)
	}
}

// tell logs an error of sealing, unless the previous sealing had the same error.
func (s *sealer) tell(ctx context.Context, err error) {
	switch {
	case err == nil:
		s.told = ""
	case !transient(err) && ctx.Err() == nil && err.Error() != s.told:
		s.told = err.Error()
		s.cluster.log.Error("changes cannot be sealed", "err", err)
	}
}

func (s *sealer) seal(ctx context.Context) (more bool, err error) {
	server, err := s.cluster.forWriting()
	if err != nil {
		s.backlog.forget()
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	ctx, release := server.while(ctx)
	defer release()
	err = server.short.with(ctx, func(c *pgx.Conn) error {
		more, err = s.sealOn(ctx, c)
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.cluster.fail(server, err)
	}
	return more, err
}

func (s *sealer) sealOn(ctx context.Context, c *pgx.Conn) (more bool, err error) {
	var fence, size int64
	var hash []byte
	var taken, waiting bool
	if err := c.QueryRow(ctx, lookHead, s.node).Scan(&fence, &size, &hash, &taken, &waiting); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			err = fmt.Errorf("%w: nomen_head has no row", errBroken)
		}
		return false, err
	}
	s.backlog.saw(fence, waiting, time.Now())
	if taken || !waiting {
		return false, nil
	}
	if !s.knows(fence, hash) {
		if s.edge, err = readEdge(ctx, c, uint64(size)); err != nil {
			return false, err
		}
		s.fence = fence
	}
	units, more, err := readUnits(ctx, c)
	if err != nil || len(units) == 0 {
		return false, err
	}
	s.hook("read")
	g := s.grow(units)
	if done, err := s.commit(ctx, c, g); err != nil || !done {
		s.edge = nil
		return false, err
	}
	s.edge, s.fence = g.edge, s.fence+1
	return more, nil
}

// knows reports whether s.edge is the edge of the log with the given fence and hash. The fence
// alone is not sufficient: after a failover that lost changes, a different log can have the same
// fence.
func (s *sealer) knows(fence int64, hash []byte) bool {
	if s.edge == nil || s.fence != fence {
		return false
	}
	head := s.edge.log.Head()
	return head.Size == 0 || bytes.Equal(head.Hash[:], hash)
}

func readUnits(ctx context.Context, c *pgx.Conn) (units []unit, more bool, err error) {
	units, err = collect(ctx, c, func(r pgx.CollectableRow) (u unit, err error) {
		var entries []byte
		if err := r.Scan(&u.id, &u.part, &u.names, &entries); err != nil {
			return u, err
		}
		u.entries, err = readEntries(entries, len(ledger.Hash{}))
		return u, err
	}, lookPending, sealUnits)
	if err != nil {
		return nil, false, err
	}
	limit := len(units)
	if more = len(units) == sealUnits; more {
		limit -= sealMargin
	}
	units, err = inOrderOf(units, limit)
	return units, more, err
}

// A growth contains the changes that one sealing adds to the log.
type growth struct {
	edge  *edge
	rows  []logRow
	names int
	ids   [][]byte // with parts, the keys of rows of nomen_pending
	parts []int
}

// grow appends the units to a copy of the log's edge.
func (s *sealer) grow(units []unit) growth {
	g := growth{edge: s.edge.clone()}
	for _, u := range units {
		g.names += u.names
		g.ids, g.parts = append(g.ids, u.id), append(g.parts, u.part)
		for i := range u.entries {
			g.rows = g.edge.add(g.rows, &u.entries[i])
		}
	}
	g.rows = g.edge.open(g.rows)
	return g
}

// commit writes a growth in one transaction. It returns false if another node has sealed changes
// since s.edge was read.
func (s *sealer) commit(ctx context.Context, c *pgx.Conn, g growth) (done bool, err error) {
	defer rollback(c)
	first := &pgx.Batch{}
	first.Queue(begin)
	first.Queue(fmt.Sprintf("set local idle_in_transaction_session_timeout = %d", s.pause.Milliseconds()))
	head := g.edge.log.Head()
	var raised int64
	first.Queue(raiseHead, s.fence, s.edge.log.Size(), head.Size, g.names, head.Hash[:], s.node, sealLease.Milliseconds()).Exec(affected(&raised))
	if err := c.SendBatch(ctx, first).Close(); err != nil || raised != 1 {
		return false, err
	}
	s.hook("raised")
	batch := &pgx.Batch{}
	for _, row := range g.rows {
		batch.Queue(putLog, row.chunk, row.entries, row.hashes)
	}
	var deleted int64
	batch.Queue(deletePending, g.ids, g.parts).Exec(affected(&deleted))
	if err := c.SendBatch(ctx, batch).Close(); err != nil {
		return false, err
	}
	if deleted != int64(len(g.ids)) {
		return false, fmt.Errorf("%w: %d rows of nomen_pending were sealed, but %d deleted", errBroken, len(g.ids), deleted)
	}
	err = commit(ctx, c)
	return err == nil, err
}
