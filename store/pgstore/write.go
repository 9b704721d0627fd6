package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

const (
	writers        = 4    // maximum number of concurrent transactions
	maxGroup       = 1000 // number of changes from which on no further request joins a transaction
	attemptTimeout = 2 * time.Minute
)

// A request is one call of Apply.
type request struct {
	ctx     context.Context
	changes []store.Change
	results []store.Result
	err     error
	done    chan struct{} // closed when results and err are final
}

// Apply implements [store.Store]. Cancelling ctx does not stop a batch that is being written. If no
// database server can be reached within the time that the connection string allows, Apply returns a
// [*store.AwayError], and nothing was written. If Apply cannot find out whether the batch was
// written, for example because the connection broke during the commit, it returns a
// [*store.UnknownError].
func (s *Store) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	if s.readOnly {
		return nil, store.ErrReadOnly
	}
	if err := store.CheckBatch(changes); err != nil {
		return nil, err
	}
	for p := newPatience(store.PatienceOf(ctx)); ; {
		results, err := s.apply(ctx, changes)
		if !store.IsAway(err) || !p.pause(ctx, false) { // after an AwayError nothing was written
			return results, err
		}
	}
}

// apply is like Apply, but does not retry after an AwayError.
func (s *Store) apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.cluster.wait == 0 && s.cluster.condition().NoWrites {
		return nil, failed("write", s.cluster.unable())
	}
	r := &request{ctx: ctx, changes: changes, done: make(chan struct{})}
	select {
	case s.requests <- r:
		<-r.done
		return r.results, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// write answers requests until the channel is closed. The requests that arrive during a transaction
// form the next transaction.
func (s *Store) write() {
	for r := range s.requests {
		s.answer(s.gather(r))
	}
}

func (s *Store) gather(r *request) []*request {
	group, size := []*request{r}, len(r.changes)
	for size < maxGroup {
		select {
		case r, ok := <-s.requests:
			if !ok {
				return group
			}
			group, size = append(group, r), size+len(r.changes)
		default:
			return group
		}
	}
	return group
}

// answer writes a group of requests. If the database rejects the group, answer writes each request
// separately, so that no request fails because of another request.
func (s *Store) answer(group []*request) {
	p, err := s.persist(group)
	var unknown *store.UnknownError
	if err != nil && len(group) > 1 && state(err) != "" && !errors.As(err, &unknown) && !transient(err) {
		for _, r := range group {
			s.answer([]*request{r})
		}
		return
	}
	if err == nil && len(p.steps) > 0 {
		s.recent.wrote(p.steps)
		s.sealer.wake()
	}
	for i, r := range group {
		if r.err = full(err); err == nil {
			r.results, r.err = p.results[i], p.errs[i]
		}
		close(r.done)
	}
}

func transient(err error) bool {
	return gone(err) || again(err) || errors.Is(err, errNoPrimary) || errors.Is(err, errUnreplicated) || state(err) == readOnlyTransaction
}

// persist writes a group of requests. It retries for as long as a call may wait.
func (s *Store) persist(group []*request) (*plan, error) {
	w := &writing{group: group}
	for p := newPatience(s.cluster.wait); ; {
		result, err := s.attempt(w)
		if len(w.doubts) > 0 { // wait longer, to find out whether an earlier attempt was committed
			p.deadline = p.begun.Add(max(s.cluster.wait, defaultWait, patienceOf(group)))
		}
		switch {
		case err == nil:
			return result, nil
		case !transient(err), !p.pause(context.Background(), !s.cluster.condition().NoWrites):
			if len(w.doubts) > 0 {
				return nil, &store.UnknownError{Err: err}
			}
			return nil, failed("write", err)
		}
	}
}

// patienceOf returns the greatest patience of the requests whose contexts have not ended.
func patienceOf(group []*request) (d time.Duration) {
	for _, r := range group {
		if r.ctx.Err() == nil {
			d = max(d, store.PatienceOf(r.ctx))
		}
	}
	return d
}

func (s *Store) attempt(w *writing) (p *plan, err error) {
	server, err := s.cluster.forWriting()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), attemptTimeout)
	defer cancel()
	ctx, release := server.while(ctx)
	defer release()
	err = server.short.with(ctx, func(c *pgx.Conn) error {
		if w.split, err = s.splits(ctx, c); err == nil {
			p, err = w.attempt(ctx, c)
		}
		return err
	})
	if err != nil {
		s.cluster.fail(server, err)
	}
	return p, err
}

// A plan is the result of planning a group of requests.
type plan struct {
	results [][]store.Result // of each request
	errs    []error
	steps   []store.Step // of all requests without an error
}

// makePlan plans requests in order. Each request applies to the result of the previous requests. If
// users is not nil, makePlan rejects a request that gives a subject to a second user.
func makePlan(group []*request, last map[store.Subject]*store.Change, users owners) *plan {
	p := &plan{results: make([][]store.Result, len(group)), errs: make([]error, len(group))}
	planned := map[store.Subject]*store.Change{}
	for i, r := range group {
		var steps []store.Step
		steps, p.results[i], p.errs[i] = store.Plan(r.changes, func(s store.Subject) (*store.Change, error) {
			if c, ok := planned[s]; ok {
				return c, nil
			}
			return last[s], nil
		})
		if p.errs[i] == nil && users != nil {
			p.errs[i] = store.CheckSubjects(r.changes, steps, users.after(planned))
		}
		if p.errs[i] != nil {
			p.results[i] = nil
			continue
		}
		for _, step := range steps {
			planned[step.Subject] = step.Next
		}
		p.steps = append(p.steps, steps...)
	}
	return p
}

type writing struct {
	group  []*request
	doubts []doubt
	split  bool // digests are split
}

// A doubt is an attempt with an unknown outcome. It was committed if the store has a change with
// the salt of the doubt.
type doubt struct {
	plan     *plan
	subject  store.Subject
	revision int64
	salt     []byte
}

const (
	findDoubt = `select count(*) from (
	select 1 from nomen_present where kind = $1 and key = $2 and revision = $3 and salt = $4
	union all
	select 1 from nomen_past where kind = $1 and key = $2 and revision = $3 and salt = $4
) as found`
	loadPresent = "select key, value from nomen_present where kind = $1 and key = any($2)"
	loadTokens  = "select id, value from nomen_token where id = any($1)"
	inOrder     = " order by key for update" // a fixed order prevents deadlocks
	begin       = "begin isolation level read committed"
)

// attempt writes the group in one transaction. It locks existing names before it plans the changes.
// New names need no lock, because creating a name twice violates the primary key. Changes of users
// are serialized by lockUsers.
//
// Writing takes two round trips for new names, and three for existing names. If nothing must be
// written, the second round trip is a barrier. Without the barrier, a former primary could return a
// result that lacks changes of the new primary.
func (w *writing) attempt(ctx context.Context, c *pgx.Conn) (*plan, error) {
	subjects := subjectsOf(w.group)
	last, err := load(ctx, c, subjects, "")
	if err != nil {
		return nil, err
	}
	if p, err := w.resolve(ctx, c); p != nil || err != nil {
		return p, err
	}
	p := makePlan(w.group, last, nil)
	if len(p.steps) == 0 {
		return p, barrier(ctx, c)
	}
	defer rollback(c)
	if changesUsers := subjects[store.KindUser] != nil; len(last) > 0 || changesUsers {
		if last, err = load(ctx, c, subjects, inOrder); err != nil {
			return nil, err
		}
		if p, err := w.resolve(ctx, c); p != nil || err != nil {
			return p, err
		}
		var users owners
		if changesUsers {
			if users, err = readOwners(ctx, c, w.group); err != nil {
				return nil, err
			}
		}
		if p = makePlan(w.group, last, users); len(p.steps) == 0 {
			return p, barrier(ctx, c)
		}
	}
	if w.split {
		store.SplitDigests(p.steps)
	}
	return p, w.commit(ctx, c, p)
}

func rollback(c *pgx.Conn) {
	if c.IsClosed() || c.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = c.Exec(ctx, "rollback")
}

// commit writes the plan and commits the transaction. If the outcome is unknown, commit records a
// doubt.
func (w *writing) commit(ctx context.Context, c *pgx.Conn, p *plan) error {
	batch := &pgx.Batch{}
	if c.PgConn().TxStatus() == 'I' {
		batch.Queue(begin)
	}
	d, err := queueStatements(ctx, c, batch, p)
	if err != nil {
		return err
	}
	batch.Queue("commit")
	if err = c.SendBatch(ctx, batch).Close(); err == nil {
		err = replicated(c)
	}
	if err != nil && d.salt != nil && doubtful(err) {
		w.doubts = append(w.doubts, d)
	}
	return err
}

const statementCompletionUnknown = "40003"

// doubtful reports whether a commit may have succeeded in spite of err.
func doubtful(err error) bool {
	if errors.Is(err, errUnreplicated) {
		return true
	}
	switch state(err) {
	case "":
		return !pgconn.SafeToRetry(err)
	case statementCompletionUnknown:
		return true
	}
	return gone(err)
}

// resolve checks the earlier attempts with an unknown outcome. It returns the plan of the attempt
// that was committed, or nil.
func (w *writing) resolve(ctx context.Context, c *pgx.Conn) (*plan, error) {
	for _, d := range w.doubts {
		var found int
		err := c.QueryRow(ctx, findDoubt, d.subject.Kind, d.subject.Key, d.revision, d.salt).Scan(&found)
		if err != nil {
			return nil, err
		}
		if found > 0 {
			return d.plan, barrier(ctx, c)
		}
	}
	return nil, nil
}

// keepHead changes no data, but its transaction is replicated like a change.
const keepHead = "update nomen_head set holder = holder where id = 1"

// barrier waits until the synchronous standby, if there is one, has all committed transactions. A
// transaction can become visible before the standby has acknowledged it. Without the barrier, a
// reader could therefore see data that a failover loses.
//
// The barrier is itself a transaction. A standby acknowledges transactions in order, so when it
// acknowledges the barrier, it has all earlier transactions. On a former primary the barrier fails,
// because the standby was promoted. If the barrier succeeds, the earlier reads therefore included
// every acknowledged change.
func barrier(ctx context.Context, c *pgx.Conn) error {
	rollback(c) // releases locks
	if _, err := c.Exec(ctx, keepHead); err != nil {
		return err
	}
	return replicated(c)
}

func commit(ctx context.Context, c *pgx.Conn) error {
	if _, err := c.Exec(ctx, "commit"); err != nil {
		return err
	}
	return replicated(c)
}

// errUnreplicated means that a commit stopped waiting for the synchronous standby, because of a
// timeout or a cancellation. PostgreSQL reports success in this case, but a failover may lose the
// commit.
var errUnreplicated = errors.New("the changes are committed on the primary, but its synchronous standby has not acknowledged them")

// syncWait is the C function of PostgreSQL that emits a warning when it stops waiting for a
// synchronous standby. The function name identifies the warning, because the text depends on the
// language of the server.
const syncWait = "SyncRepWaitForLSN"

func noteUnreplicated(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == syncWait {
		c.CustomData()[syncWait] = true
	}
}

// replicated returns errUnreplicated if a warning of syncWait has arrived since the last call.
func replicated(c *pgx.Conn) error {
	data := c.PgConn().CustomData()
	if data[syncWait] == nil {
		return nil
	}
	delete(data, syncWait)
	return errUnreplicated
}

func subjectsOf(group []*request) map[store.Kind][]string {
	seen, all := map[store.Subject]bool{}, map[store.Kind][]string{}
	for _, r := range group {
		for i := range r.changes {
			if s := r.changes[i].Subject(); !seen[s] {
				seen[s] = true
				all[s.Kind] = append(all[s.Kind], s.Key)
			}
		}
	}
	return all
}

func load(ctx context.Context, c *pgx.Conn, subjects map[store.Kind][]string, lock string) (map[store.Subject]*store.Change, error) {
	last := map[store.Subject]*store.Change{}
	batch := &pgx.Batch{}
	if lock != "" {
		batch.Queue(begin)
		if subjects[store.KindUser] != nil {
			batch.Queue(lockUsers, usersVersion)
		}
	}
	collect := func(kind store.Kind) func(rows pgx.Rows) error {
		return func(rows pgx.Rows) error {
			var key, value []byte
			_, err := pgx.ForEachRow(rows, []any{&key, &value}, func() (err error) {
				s := store.Subject{Kind: kind, Key: string(key)}
				last[s], err = codec.Decode(s, value)
				return err
			})
			return err
		}
	}
	for _, kind := range changeKinds {
		if keys := subjects[kind]; keys != nil {
			batch.Queue(loadPresent+lock, kind, keys).Query(collect(kind))
		}
	}
	if keys := subjects[store.KindToken]; keys != nil {
		ids := make([][]byte, len(keys))
		for i, k := range keys {
			ids[i] = []byte(k)
		}
		batch.Queue(loadTokens, ids).Query(collect(store.KindToken))
	}
	return last, c.SendBatch(ctx, batch).Close()
}
