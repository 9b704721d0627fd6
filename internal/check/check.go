// Package check verifies that the log, the changes and the index of locations of a store agree, and
// follow the rules for all stores. A store passes a consistent snapshot of itself as a [Source].
package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
)

// A Source is a consistent snapshot of a store. An iterator ends after it yields an error. The
// field Err of an element is an error about this element alone, after which the iterator continues.
// An error that means damage (see Damaged) becomes a fault, and any other error ends the
// verification.
type Source struct {
	Size  uint64      // number of entries in the log
	Head  *store.Head // the stored head, or nil if the store has none
	Count int64       // the stored number of records, or -1 if the store has none
	Now   time.Time   // a change with a later time is a fault; zero means that times are not checked

	// Log returns an iterator over the rows of the log, in order. If leaves is true, it reads the
	// change of each row, and sets Leaf and Err.
	Log func(leaves bool) iter.Seq2[Row, error]

	// Waiting contains the changes that were acknowledged but do not have a number in the log yet.
	Waiting []Row

	// Node returns the stored hash of a node of the Merkle tree. It is called for nodes that the
	// current row of Log completes.
	Node func(level int, index uint64) (ledger.Hash, error)

	// Changes returns an iterator over the changes of names, authorities and users, subject by
	// subject. The changes of a subject are sorted by revision, in descending order if Descending
	// is true.
	Changes    func() iter.Seq2[Change, error]
	Descending bool

	Places func() iter.Seq2[Place, error] // yields the index of locations; nil if the store has none
	Tokens func() iter.Seq2[Token, error] // yields each token; nil if tokens are not verified

	// Damaged reports whether an error means that data is damaged. It may be nil. A [Problem] and a
	// [*codec.CorruptError] always mean damage.
	Damaged func(error) bool
}

// A Row is a row of the log.
type Row struct {
	Seq      uint64
	Subject  store.Subject // zero if the row cannot be read
	Revision uint64
	Time     time.Time
	Mark     []byte      // the stored hash of the leaf, or its first bytes
	Leaf     ledger.Hash // hash of the leaf, computed from the change
	Err      error       // error of reading the row or its change
}

// A Change is a change of a name, an authority or a user.
type Change struct {
	Subject  store.Subject
	Revision uint64 // the revision under which the change is stored
	Time     time.Time
	Last     bool         // the change is stored as the last change of the subject
	Entry    *store.Entry // Seq is 0 if the store does not store the number with the change
	Err      error        // error of reading Entry
}

// A Place is an entry in the index of locations.
type Place struct {
	store.Place
	Err error // error of reading the place
}

// A Token is a token of the store.
type Token struct {
	ID    string
	Token *store.Token // nil if it cannot be read
	Err   error        // error of reading the token
}

// A Problem describes damage in words for people to read.
type Problem string

func (p Problem) Error() string { return string(p) }

// Run verifies the source as [store.Verifier] describes. The amount of memory that Run needs
// depends on the number of tokens, but not on the size of the rest of the store.
func Run(ctx context.Context, src *Source, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	c := &checker{Source: src, ctx: ctx, turn: pacer.Begin(ctx), fault: fault, next: 1, seed: maphash.MakeSeed(), future: store.FutureCheck{Now: src.Now}}
	passes := 3 // the log, the changes and the index
	if src.Places == nil {
		passes = 2
	}
	c.passes = newPasses(src.Size, passes, progress)
	for _, step := range []func() error{c.log, c.changes, c.places, c.unmatched, c.misplaced, c.tokens} {
		if err := c.broken(store.Subject{}, 0, step()); err != nil {
			return store.Head{}, err
		}
	}
	if src.Count >= 0 && src.Count != c.records {
		c.report(store.Subject{}, 0, "%d records, but the stored count is %d", c.records, src.Count)
	}
	c.future.Report(fault)
	c.passes.end()
	return c.tree.Head(), nil
}

type checker struct {
	*Source
	ctx    context.Context
	turn   *pacer.Turn
	fault  func(store.Fault)
	passes *passes
	future store.FutureCheck
	seed   maphash.Seed

	tree ledger.Log // computed from the rows
	next uint64     // number that the next row must have
	bad  uint64     // number of the last row whose leaf may be wrong
	lost bool       // rows are missing, so the tree cannot be computed
	over bool       // there are rows beyond the end of the log

	records int64
	logged  tally // compares changes in the log or waiting with stored changes
	located tally // compares locations of records with the index
	cut     bool  // a pass has ended early, so its result must not be compared

	rights map[string]*store.TokenRights // current rights of each token in the log, by its ID
}

func (c *checker) report(s store.Subject, seq uint64, format string, args ...any) {
	c.fault(store.Fault{Subject: s, Seq: seq, Problem: fmt.Sprintf(format, args...)})
}

// broken reports err as a fault if it means damage, and otherwise returns it.
func (c *checker) broken(s store.Subject, seq uint64, err error) error {
	if err == nil {
		return nil
	}
	if !errors.As(err, new(Problem)) && !errors.As(err, new(*codec.CorruptError)) && (c.Damaged == nil || !c.Damaged(err)) {
		return err
	}
	text, _, _ := strings.Cut(err.Error(), "\n") // the other lines can be a stack trace of the database
	c.report(s, seq, "%s", text)
	return nil
}

// step counts an element, and reports the progress.
func (c *checker) step() error {
	c.passes.add(1)
	return c.turn.Step(c.ctx)
}

// log verifies the rows of the log, and computes the tree.
func (c *checker) log() error {
	c.passes.begin(c.Size)
	for row, err := range c.Log(true) {
		if err == nil {
			err = c.row(&row)
		}
		if err != nil {
			c.cut = true
			return err
		}
	}
	c.gap(c.Size + 1)
	for i := range c.Waiting {
		c.logged.add(wanted, c.hashRow(c.Waiting[i]))
	}
	if got := c.tree.Head(); c.Head != nil && got != *c.Head && !c.lost && c.bad == 0 {
		c.report(store.Subject{}, 0, "the head of the log is %v, but recomputed it is %v", *c.Head, got)
	}
	return nil
}

func (c *checker) row(r *Row) error {
	switch {
	case r.Seq > c.Size:
		if !c.over {
			c.report(store.Subject{}, c.Size+1, "the log has rows after its end, change %d", c.Size)
		}
		c.over = true
		return c.step()
	case r.Seq < c.next:
		c.report(r.Subject, r.Seq, "change %d of the log is stored after change %d", r.Seq, c.next-1)
		c.lost = true
	default:
		c.gap(r.Seq)
	}
	c.next = max(c.next, r.Seq+1)
	if r.Subject.Kind != 0 {
		c.future.Add(r.Subject, r.Seq, r.Time)
		c.logged.add(wanted, c.hashRow(*r))
	}
	switch {
	case r.Err != nil:
		c.bad = r.Seq
		if err := c.broken(r.Subject, r.Seq, r.Err); err != nil {
			return err
		}
	case !bytes.HasPrefix(r.Leaf[:], r.Mark):
		c.bad = r.Seq
		c.report(r.Subject, r.Seq, "revision %d was altered: it does not match the log", r.Revision)
	}
	if c.lost {
		return c.step()
	}
	return cmp.Or(c.nodes(c.tree.AppendHash(nil, r.Leaf), r.Seq), c.step())
}

func (c *checker) gap(seq uint64) {
	switch {
	case c.next == seq:
		return
	case c.next+1 == seq:
		c.report(store.Subject{}, c.next, "change %d of the log is missing", c.next)
	default:
		c.report(store.Subject{}, c.next, "changes %d to %d of the log are missing", c.next, seq-1)
	}
	c.lost = true
}

// nodes compares the nodes that row seq completes with the stored nodes. It skips nodes above a
// leaf that may be wrong.
func (c *checker) nodes(nodes []ledger.Node, seq uint64) error {
	for _, n := range nodes {
		first := n.Index<<n.Level + 1
		got, err := c.Node(n.Level, n.Index)
		if err != nil {
			if err := c.broken(store.Subject{}, seq, err); err != nil {
				return err
			}
		} else if got != n.Hash && c.bad < first {
			c.report(store.Subject{}, seq, "changes %d to %d are not those of the log: its hash over them is another", first, seq)
		}
	}
	return nil
}

func (c *checker) places() error {
	if c.Places == nil {
		return nil
	}
	c.passes.begin(c.located.count(wanted))
	for p, err := range c.Places() {
		if err == nil && p.Err != nil {
			err = c.broken(store.PlaceSubject(p.Place), 0, p.Err)
		} else if err == nil {
			c.located.add(present, c.hashPlace(p.Place))
		}
		if err = cmp.Or(err, c.step()); err != nil {
			c.cut = true
			return err
		}
	}
	return nil
}

func (c *checker) tokens() error {
	if c.Tokens == nil {
		return nil
	}
	for t, err := range c.Tokens() {
		if err == nil {
			err = cmp.Or(c.token(&t), c.turn.Step(c.ctx))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// token verifies that the rights of a token are those in the log. It accepts tokens without rights
// if no token has rights, because an earlier version of the program has then written the store.
func (c *checker) token(t *Token) error {
	s := store.Subject{Kind: store.KindToken, Key: t.ID}
	if t.Err != nil || c.cut || len(c.rights) == 0 {
		return c.broken(s, 0, t.Err)
	}
	switch r := c.rights[t.ID]; {
	case r == nil:
		c.report(s, 0, "the token is not in the log: it was added without the program, or by an earlier version of it")
	case !r.Redacted && !r.SameContent(t.Token.Rights()):
		c.report(s, 0, "the token does not have the rights of revision %d of the log: it was altered", r.Revision)
	}
	return nil
}
