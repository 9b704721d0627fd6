package pgstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

const (
	verifyHead    = "select size, names, hash from nomen_head where id = 1"
	verifyPending = "select id, part, names, entries from nomen_pending order by stamp, id, part"
	verifyLog     = "select chunk, entries, hashes from nomen_log where chunk >= $1 order by chunk limit $2"
	verifyBeyond  = "select count(*) from nomen_log where chunk >= $1"
	verifyLast    = "select chunk, entries from nomen_log order by chunk desc limit 1"
	verifyTokens  = "select id, value from nomen_token where id > $1 order by id limit $2"
	verifyPresent = `select key, time, revision, salt, value from nomen_present
	where kind = $1 and key >= $2 order by key limit $3`
	verifyPast = `select key, time, revision, salt, value from nomen_past
	where kind = $1 and (key, time, revision) > ($2, $3, $4) order by key, time, revision limit $5`
	verifyPlaces = `select head, mark, key, rest from nomen_place
	where (head, mark, key) > ($1, $2, $3) order by head, mark, key limit $4`
)

// bucket is the number of things that are held in memory at a time to find out which of
// them are missing or unexpected.
const bucket = 1 << 18

// Verify implements [store.Verifier], in a transaction that sees one snapshot. Its memory
// does not grow with the store: sets that should be equal are compared by the sums of
// their hashes, and only if these differ are they compared in detail, part by part.
func (s *Store) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (h store.Head, err error) {
	if err := s.enter(); err != nil {
		return h, err
	}
	defer s.gate.Leave()
	if err := ctx.Err(); err != nil {
		return h, err
	}
	err = s.snapshot(ctx, true, func(ctx context.Context, tx pgx.Tx, begun *bool) error {
		v := &verifier{ctx: ctx, tx: tx, seed: maphash.MakeSeed(), show: progress, future: store.FutureCheck{Now: s.now()}, fault: func(f store.Fault) {
			*begun = true
			fault(f)
		}}
		h, err = v.verify()
		return err
	})
	return h, err
}

// A verifier is one call of Verify.
type verifier struct {
	ctx      context.Context
	tx       pgx.Tx
	seed     maphash.Seed
	fault    func(store.Fault)
	show     func(done, total uint64) // may be nil
	progress *store.Passes            // set by verify

	size    uint64 // of the log, according to its head
	head    store.Head
	names   int64 // according to the head and the waiting changes
	log     ledger.Log
	broken  bool // a fault was found in the log, so that hashes above it cannot match
	sealed  sum  // changes that the log and the waiting entries refer to
	kept    sum  // changes that exist
	located sum  // places according to the records
	indexed sum  // places in the index
	records int64
	future  store.FutureCheck
}

// A sum is an order-independent hash of a multiset.
type sum struct{ count, hashes uint64 }

func (s *sum) add(hash uint64) {
	s.count++
	s.hashes += hash
}

func (v *verifier) verify() (store.Head, error) {
	counted, err := v.readHead()
	if err != nil {
		return store.Head{}, err
	}
	pending, err := v.pending()
	if err != nil {
		return store.Head{}, err
	}
	const passes = 3 // over the log, the subjects and the locations
	v.progress = store.NewPasses(v.size, passes, v.show)
	for _, part := range []func() error{v.entries, v.subjects, v.places, func() error { return v.strangers(pending) }, v.misplaced, v.tokens} {
		if err := part(); err != nil {
			return store.Head{}, err
		}
	}
	if counted && v.records != v.names {
		v.fault(store.Fault{Problem: fmt.Sprintf("there are %d names, but the head of the log counts %d", v.records, v.names)})
	}
	v.future.Report(v.fault)
	v.progress.End()
	return v.log.Head(), nil
}

// readHead reads the head; found is false if there is none, in which case it derives the
// size of the log from its rows.
func (v *verifier) readHead() (found bool, err error) {
	var hash []byte
	err = v.tx.QueryRow(v.ctx, verifyHead).Scan(&v.size, &v.names, &hash)
	if !errors.Is(err, pgx.ErrNoRows) {
		v.head.Size = v.size
		copy(v.head.Hash[:], hash)
		return true, err
	}
	v.report(store.Subject{}, 0, "nomen_head has no row: the end of the log is unknown, and nothing can be sealed")
	var chunk uint64
	var b []byte
	if err = v.tx.QueryRow(v.ctx, verifyLast).Scan(&chunk, &b); errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	entries, _ := readEntries(b, checkSize) // errors are reported with the row
	v.size = chunk*chunkSize + uint64(len(entries))
	return false, err
}

// pending returns the entries that are waiting to be sealed.
func (v *verifier) pending() ([]entry, error) {
	rows, err := v.tx.Query(v.ctx, verifyPending)
	if err != nil {
		return nil, err
	}
	var all []entry
	var id, b []byte
	var part, names int64
	_, err = pgx.ForEachRow(rows, []any{&id, &part, &names, &b}, func() error {
		entries, err := readEntries(b, len(ledger.Hash{}))
		if err != nil {
			v.fault(store.Fault{Problem: fmt.Sprintf("row %x, part %d of nomen_pending cannot be read, and nothing can be sealed: %v", id, part, err)})
		}
		for i := range entries {
			v.sealed.add(v.hashEntry(&entries[i]))
		}
		v.names += names
		all = append(all, entries...)
		return nil
	})
	return all, err
}

// hashEntry hashes what an entry and the row of its change have in common.
func (v *verifier) hashEntry(e *entry) uint64 {
	return v.hashChange(e.subject(), int64(e.revision), e.time)
}

func (v *verifier) hashChange(s store.Subject, revision, time int64) uint64 {
	b := append(make([]byte, 0, 128), byte(s.Kind))
	b = binary.BigEndian.AppendUint64(b, uint64(revision))
	b = binary.BigEndian.AppendUint64(b, uint64(time))
	return maphash.Bytes(v.seed, append(b, s.Key...))
}

// entries recomputes the tree from the stored changes.
func (v *verifier) entries() error {
	v.progress.Begin(v.size)
	err := v.eachLogRow(func(row logRow, entries []entry) error {
		for i := range entries {
			e := &entries[i]
			v.sealed.add(v.hashEntry(e))
			v.future.Add(e.subject(), uint64(row.chunk)*chunkSize+uint64(i)+1, time.UnixMilli(e.time).UTC())
		}
		leaves, err := v.leaves(uint64(row.chunk)*chunkSize, entries)
		if err == nil {
			v.chunk(row, leaves)
		}
		v.progress.Add(uint64(len(entries)))
		return err
	})
	if err != nil {
		return err
	}
	var beyond int
	if err := v.tx.QueryRow(v.ctx, verifyBeyond, (v.size+chunkSize-1)/chunkSize).Scan(&beyond); err != nil {
		return err
	}
	if beyond > 0 {
		v.report(store.Subject{}, v.size+1, fmt.Sprintf("nomen_log has %d rows after the last entry", beyond))
	}
	if got := v.log.Head(); got != v.head && !v.broken {
		v.fault(store.Fault{Problem: fmt.Sprintf("the head of the log is %d:%x, but recomputed it is %d:%x", v.head.Size, v.head.Hash, got.Size, got.Hash)})
	}
	return nil
}

// eachLogRow calls f for each row of the log, up to its size.
func (v *verifier) eachLogRow(f func(logRow, []entry) error) error {
	chunks := int64((v.size + chunkSize - 1) / chunkSize)
	for next := int64(0); next < chunks; {
		rows, err := v.tx.Query(v.ctx, verifyLog, next, feedChunks)
		if err != nil {
			return err
		}
		page, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (row logRow, err error) {
			err = r.Scan(&row.chunk, &row.entries, &row.hashes)
			return row, err
		})
		if err != nil {
			return err
		}
		for _, row := range page {
			if next = row.chunk + 1; next > chunks {
				break
			}
			entries, err := readEntries(row.entries, checkSize)
			if err != nil {
				v.report(store.Subject{}, uint64(row.chunk)*chunkSize+1, fmt.Sprintf("row %d of nomen_log cannot be read: %v", row.chunk, err))
			}
			if err := f(row, entries); err != nil {
				return err
			}
		}
		if len(page) == 0 {
			return nil
		}
	}
	return nil
}

// report reports a fault of the log.
func (v *verifier) report(s store.Subject, seq uint64, problem string) {
	v.broken = true
	v.fault(store.Fault{Subject: s, Seq: seq, Problem: problem})
}

// leaves returns the leaves of the changes that entries refer to.
func (v *verifier) leaves(before uint64, entries []entry) ([]ledger.Hash, error) {
	rows, err := readAll(v.ctx, v.tx, entries)
	if err != nil {
		return nil, err
	}
	leaves := make([]ledger.Hash, len(rows))
	for i := range rows {
		e, seq := &entries[i], before+uint64(i)+1
		if rows[i].value == nil {
			v.report(e.subject(), seq, fmt.Sprintf("revision %d is missing", e.revision))
			continue
		}
		kept, err := rows[i].decode()
		if err != nil {
			v.report(e.subject(), seq, fmt.Sprintf("revision %d cannot be read: %v", e.revision, err))
			continue
		}
		found := entryOf(e.subject(), kept)
		leaves[i] = found.leaf
		if found.revision != e.revision || found.time != e.time || found.check() != e.check() {
			v.report(e.subject(), seq, fmt.Sprintf("revision %d was altered: it does not match the log", e.revision))
		}
	}
	return leaves, nil
}

// chunk appends the leaves of a row to the tree and compares its hashes.
func (v *verifier) chunk(row logRow, leaves []ledger.Hash) {
	first := uint64(row.chunk) * chunkSize
	if first != v.log.Size() || len(leaves) != int(min(chunkSize, v.size-first)) {
		v.report(store.Subject{}, first+1, fmt.Sprintf("row %d of nomen_log has %d entries, after %d in the rows before it, %d in total", row.chunk, len(leaves), v.log.Size(), v.size))
	}
	var nodes []ledger.Node
	for _, leaf := range leaves {
		nodes = v.log.AppendHash(nodes, leaf)
	}
	want := leaves
	if len(nodes) > 0 && v.log.Size()%chunkSize == 0 {
		want = nil
		for _, n := range nodes {
			want = append(want, n.Hash)
		}
	}
	if stored, err := splitHashes(row.hashes); (err != nil || !slices.Equal(stored, want)) && !v.broken {
		v.report(store.Subject{}, first+1, fmt.Sprintf("the tree does not match: the hashes of row %d of nomen_log (entries %d to %d) differ from those of the changes", row.chunk, first+1, first+uint64(len(leaves))))
	}
}

// subjects verifies all changes, subject by subject.
func (v *verifier) subjects() error {
	v.progress.Begin(v.size)
	return v.eachChange(func(r *changeRow, last bool, of *subjectState) {
		v.kept.add(v.hashChange(r.subject, r.revision, r.time))
		v.progress.Add(1)
		e, err := r.decode()
		if err != nil {
			return // reported with its number in the log, or by strangers
		}
		of.add(v, r, e.Change)
		if !last {
			return
		}
		of.end(v)
		v.records += int64(records(e.Change))
		for _, p := range places(e.Change) {
			v.located.add(v.hashPlace(p))
		}
	}, func(of *subjectState) {
		v.fault(store.Fault{Subject: of.subject, Problem: fmt.Sprintf("revision %d was replaced, but its replacement is missing", of.revision)})
	})
}

// eachChange calls f with every row of a change, subject by subject, the revisions of each
// in order. It calls lost, if not nil, for subjects without a row in nomen_present.
func (v *verifier) eachChange(f func(r *changeRow, last bool, of *subjectState), lost func(*subjectState)) error {
	for _, kind := range changeKinds {
		past := &stream{v: v, kind: kind, page: v.pastPage, row: changeRow{time: minMillis - 1}}
		present := &stream{v: v, kind: kind, page: v.presentPage}
		if err := merge(past, present, f, lost); err != nil {
			return err
		}
	}
	return nil
}

// merge is eachChange for one kind.
func merge(past, present *stream, f func(r *changeRow, last bool, of *subjectState), lost func(*subjectState)) error {
	p, err := past.next()
	if err != nil {
		return err
	}
	n, err := present.next()
	for of := (&subjectState{}); err == nil && (p != nil || n != nil); {
		if p == nil || n != nil && n.subject.Key < p.subject.Key {
			f(n, true, of.of(n.subject))
			n, err = present.next()
			continue
		}
		of = of.of(p.subject)
		f(p, false, of)
		p, err = past.next()
		if orphan := (p == nil || p.subject != of.subject) && (n == nil || n.subject != of.subject); orphan && lost != nil {
			lost(of)
		}
	}
	return err
}

// A stream reads rows of changes page by page.
type stream struct {
	v    *verifier
	kind store.Kind
	page func(s *stream) ([]changeRow, error)
	row  changeRow // the last one returned
	rows []changeRow
	size int
	end  bool
}

// next returns the next row, nil after the last.
func (s *stream) next() (*changeRow, error) {
	if len(s.rows) == 0 && !s.end {
		var err error
		if s.rows, err = s.page(s); err != nil {
			return nil, err
		}
		bytes := 1
		for i := range s.rows {
			bytes += len(s.rows[i].value) + len(s.rows[i].subject.Key)
		}
		n := len(s.rows)
		s.end, s.size = n == 0, max(1, min(4*n, lastPage, n*pageBytes/bytes))
	}
	if s.end {
		return nil, s.v.ctx.Err()
	}
	s.row, s.rows = s.rows[0], s.rows[1:]
	return &s.row, nil
}

func (v *verifier) presentPage(s *stream) ([]changeRow, error) {
	lower := ""
	if s.row.subject.Key != "" {
		lower = behind(s.row.subject.Key)
	}
	return v.changeRows(s.kind, verifyPresent, s.kind, lower, max(s.size, firstPage))
}

func (v *verifier) pastPage(s *stream) ([]changeRow, error) {
	return v.changeRows(s.kind, verifyPast, s.kind, s.row.subject.Key, s.row.time, s.row.revision, max(s.size, firstPage))
}

func (v *verifier) changeRows(kind store.Kind, sql string, args ...any) ([]changeRow, error) {
	rows, err := v.tx.Query(v.ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (row changeRow, err error) {
		row.subject.Kind = kind
		err = r.Scan(&row.subject.Key, &row.time, &row.revision, &row.salt, &row.value)
		return row, err
	})
}

// A subjectState is the state of verifying the revisions of a subject.
type subjectState struct {
	subject  store.Subject
	revision int64
	time     int64
	named    map[uint64]bool // revisions that should be redacted
	redacted map[uint64]bool // revisions that are redacted
}

// of returns the state for a subject: s itself, or a new one.
func (s *subjectState) of(subject store.Subject) *subjectState {
	if s.subject == subject {
		return s
	}
	return &subjectState{subject: subject, time: minMillis - 1}
}

// add verifies the next revision.
func (s *subjectState) add(v *verifier, r *changeRow, c *store.Change) {
	report := func(format string, args ...any) {
		v.fault(store.Fault{Subject: s.subject, Problem: fmt.Sprintf(format, args...)})
	}
	if r.revision != s.revision+1 {
		report("revision %d follows revision %d", r.revision, s.revision)
	}
	if r.time < s.time {
		report("revision %d is earlier than the one before it", r.revision)
	}
	if int64(c.Revision()) != r.revision || c.Time.UnixMilli() != r.time {
		report("revision %d of %v is stored as revision %d", c.Revision(), c.Time, r.revision)
	}
	s.revision, s.time = r.revision, r.time
	for _, n := range c.Redacts {
		if s.named == nil {
			s.named = map[uint64]bool{}
		}
		s.named[n] = true
	}
	if c.Redacted {
		if s.redacted == nil {
			s.redacted = map[uint64]bool{}
		}
		s.redacted[c.Revision()] = true
	}
}

// end checks that the revisions named by redactions, and no others, are redacted.
func (s *subjectState) end(v *verifier) {
	for n := range s.named {
		if !s.redacted[n] {
			v.fault(store.Fault{Subject: s.subject, Problem: fmt.Sprintf("the content of revision %d exists although it was redacted", n)})
		}
	}
	for n := range s.redacted {
		if !s.named[n] {
			v.fault(store.Fault{Subject: s.subject, Problem: fmt.Sprintf("the content of revision %d is missing although no change redacted it", n)})
		}
	}
}

// strangers reports changes that exist but are not in the log, and entries of the log or
// waiting entries whose changes do not exist.
func (v *verifier) strangers(pending []entry) error {
	if v.sealed == v.kept {
		return nil
	}
	return v.eachBucket(max(v.sealed.count, v.kept.count), func(mine func(uint64) bool) error {
		type expected struct {
			entry entry
			times int
		}
		all := map[uint64]expected{}
		note := func(entries []entry) {
			for i := range entries {
				if h := v.hashEntry(&entries[i]); mine(h) {
					all[h] = expected{entries[i], all[h].times + 1}
				}
			}
		}
		note(pending)
		err := v.eachLogRow(func(_ logRow, entries []entry) error {
			note(entries)
			return v.ctx.Err()
		})
		if err != nil {
			return err
		}
		err = v.eachChange(func(r *changeRow, _ bool, _ *subjectState) {
			h := v.hashChange(r.subject, r.revision, r.time)
			if !mine(h) {
				return
			}
			if e := all[h]; e.times > 0 {
				all[h] = expected{e.entry, e.times - 1}
				return
			}
			v.fault(store.Fault{Subject: r.subject, Problem: fmt.Sprintf("revision %d exists but is not in the log", r.revision)})
		}, nil)
		for _, e := range all {
			if e.times > 0 {
				v.fault(store.Fault{Subject: e.entry.subject(), Problem: fmt.Sprintf("revision %d is in the log but does not exist", e.entry.revision)})
			}
		}
		return err
	})
}

// eachBucket calls f for each part of n things; mine reports whether a hash belongs to the
// part.
func (v *verifier) eachBucket(n uint64, f func(mine func(uint64) bool) error) error {
	buckets := n/bucket + 1
	for b := range buckets {
		if err := f(func(hash uint64) bool { return hash%buckets == b }); err != nil {
			return err
		}
	}
	return nil
}

// tokens reports tokens that cannot be read.
func (v *verifier) tokens() error {
	last, id, value := []byte{}, []byte(nil), []byte(nil)
	for n := 1; n > 0; {
		rows, err := v.tx.Query(v.ctx, verifyTokens, last, firstPage)
		if err != nil {
			return err
		}
		n = 0
		_, err = pgx.ForEachRow(rows, []any{&id, &value}, func() error {
			n++
			if _, err := decodeToken(id, value); err != nil {
				v.fault(store.Fault{Subject: store.Subject{Kind: store.KindToken, Key: string(id)}, Problem: fmt.Sprintf("cannot be read: %v", err)})
			}
			last, id, value = id, nil, nil
			return v.ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) hashPlace(p place) uint64 {
	b := append(make([]byte, 0, 256), p.key...)
	b = append(b, 0)
	b = append(b, p.head...)
	return maphash.Bytes(v.seed, append(b, p.rest...))
}

// places verifies the index of locations.
func (v *verifier) places() error {
	v.progress.Begin(v.located.count)
	return v.eachPlace(func(p place, mark []byte) {
		v.indexed.add(v.hashPlace(p))
		v.progress.Add(1)
		if url := p.head + p.rest; makePlace(url, p.key) != p || string(mark) != string(p.mark()) {
			v.fault(store.Fault{Subject: store.Subject{Kind: store.KindName, Key: p.key}, Problem: fmt.Sprintf("the location %q is at the wrong place of the index", url)})
		}
	})
}

func (v *verifier) eachPlace(f func(p place, mark []byte)) error {
	head, mark, key := []byte{}, []byte{}, ""
	for size := firstPage; ; {
		rows, err := v.tx.Query(v.ctx, verifyPlaces, head, mark, key, size)
		if err != nil {
			return err
		}
		n, bytes := 0, 1
		var rest []byte
		_, err = pgx.ForEachRow(rows, []any{&head, &mark, &key, &rest}, func() error {
			n++
			bytes += len(head) + len(rest) + len(key)
			f(place{string(head), string(rest), key}, mark)
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
		size = max(1, min(4*n, lastPage, n*pageBytes/bytes))
	}
}

// misplaced reports locations that are missing in the index, and those that should not be
// there.
func (v *verifier) misplaced() error {
	if v.located == v.indexed {
		return nil
	}
	return v.eachBucket(max(v.located.count, v.indexed.count), func(mine func(uint64) bool) error {
		all := map[uint64]place{}
		err := v.eachChange(func(r *changeRow, last bool, _ *subjectState) {
			if e, err := r.decode(); err == nil && last {
				for _, p := range places(e.Change) {
					if h := v.hashPlace(p); mine(h) {
						all[h] = p
					}
				}
			}
		}, nil)
		if err != nil {
			return err
		}
		report := func(p place, problem string) {
			v.fault(store.Fault{Subject: store.Subject{Kind: store.KindName, Key: p.key}, Problem: fmt.Sprintf("the location %q %s", p.head+p.rest, problem)})
		}
		err = v.eachPlace(func(p place, _ []byte) {
			h := v.hashPlace(p)
			if _, ok := all[h]; mine(h) && !ok {
				report(p, "is in the index but not in the record")
			}
			delete(all, h)
		})
		for _, p := range all {
			report(p, "is missing in the index")
		}
		return err
	})
}
