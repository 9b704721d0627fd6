package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/quiet"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/witness"
)

// interval is the time between two checks for new entries. It is also the minimum time between two
// checkpoints.
const interval = time.Second

// A Source is a store whose log can be published.
type Source interface {
	store.Reader
	store.Feed
	store.Prover
	store.TreeReader
	store.Vault
}

// SourceOf returns the reader r as a Source. If the log of r cannot be published, the error is an
// [errors.ErrUnsupported].
func SourceOf(r store.Reader) (Source, error) {
	if s, ok := r.(Source); ok {
		return s, nil
	}
	return nil, fmt.Errorf("%T cannot publish its log: %w", r, errors.ErrUnsupported)
}

// Options are the parameters of a Log.
type Options struct {
	Store       Source
	Authorities *store.Table
	Key         string // the private key in text form; its name is the origin
	File        string // file with a copy of the state, outside the store; "" for none
	ReadOnly    bool   // serve the published log, but do not publish new entries

	// Lease reports whether this process may publish. It is called before each checkpoint. If it is
	// nil, the process may always publish.
	Lease func(context.Context) bool

	Policy witness.Policy // witnesses to ask for cosignatures
	Client *http.Client   // for requests to witnesses; nil for the default

	Entries bool // serve the bundles of entries
	Content bool // receipts include the author and the reason of changes

	Now func() time.Time
	Log *slog.Logger
}

// A Log is the published log of a store. It is safe for concurrent use.
type Log struct {
	o            Options
	witnesses    *witness.Group // may be nil
	split        bool           // SplitDigests of the store was called; used by a step
	contradicted quiet.Lines    // log lines about witnesses that contradict the log; used by a step
	shown        atomic.Pointer[published]
	status       atomic.Pointer[Status]
	cache        tileCache

	mu     sync.Mutex // held by a step
	newest *State     // the state with the newest checkpoint that this process knows
	saved  string     // the checkpoint in the file
}

// A published is the state of the log that clients see.
type published struct {
	text     []byte
	origin   string
	size     uint64
	verified bool // the log of the store continues this checkpoint
}

// A Status is the state of publication.
type Status struct {
	Origin   string    // origin of the checkpoints
	VKey     string    // the public key with which clients verify checkpoints
	Size     uint64    // size of the published checkpoint
	Time     time.Time // when this process first saw this checkpoint, or zero
	Waiting  uint64    // number of entries that are not yet published
	Problem  string    // reason for which new entries are not published, or ""
	Cosigned int       // number of witnesses that have cosigned the checkpoint
	Need     int       // required number of cosignatures

	Witnesses int               // number of witnesses
	Outcomes  []witness.Outcome // answer of each witness; nil if this process did not ask the witnesses
}

// New returns the published log of a store. It does not sign before [Log.Run] or [Log.Step] is
// called.
func New(o Options) (*Log, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if _, _, _, err := keyFor(o.Key, ""); err != nil {
		return nil, err
	}
	if err := o.Policy.Check(); err != nil {
		return nil, err
	}
	l := &Log{o: o}
	if len(o.Policy.Witnesses) > 0 {
		l.witnesses = witness.NewGroup(o.Policy, o.Client)
	}
	l.status.Store(&Status{})
	return l, nil
}

// Run publishes the log until ctx ends.
func (l *Log) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		l.Step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Status returns the current status.
func (l *Log) Status() Status { return *l.status.Load() }

type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// Step publishes a checkpoint if the log has grown. Run calls it once a second. Its error is also
// in the [Status].
func (l *Log) Step(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.Status()
	outcomes := s.Outcomes
	s = Status{Origin: s.Origin, VKey: s.VKey, Size: s.Size, Time: s.Time, Cosigned: s.Cosigned, Need: l.o.Policy.Need, Witnesses: len(l.o.Policy.Witnesses), Outcomes: outcomes}
	err := l.step(ctx, &s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.Problem = err.Error()
	}
	if before := l.Status().Problem; s.Problem != before && s.Problem != "" {
		l.o.Log.Error("no checkpoint of the log is published", "problem", s.Problem)
	} else if before != "" && s.Problem == "" {
		l.o.Log.Info("checkpoints of the log are published again")
	}
	l.status.Store(&s)
	return err
}

func (l *Log) step(ctx context.Context, s *Status) error {
	state, stored, filed, err := load(ctx, l.o.Store, l.o.File)
	if err != nil {
		return err
	}
	if filed != nil && filed.Signed != "" {
		l.saved = filed.Signed
	}
	if state == nil {
		if state = filed; state == nil {
			state = new(State)
		}
	}
	signer, verifier, vkey, err := keyFor(l.o.Key, state.Origin)
	if err != nil {
		return err
	}
	s.Origin, s.VKey = verifier.Name(), vkey
	head, err := l.o.Store.Head(ctx)
	if err != nil {
		return err
	}
	s.Waiting = head.Size
	known := []*State{state, filed, l.newest}
	for _, k := range known {
		if err := l.continues(ctx, k, verifier, head); err != nil {
			l.show(state, s, false)
			return err
		}
	}
	if state.Signed == "" && state.Restored != "" {
		return &refusal{"the store was restored from a backup, and it is not known which checkpoint was published last; " + remedy}
	}
	l.show(state, s, true)
	if err := l.splitDigests(ctx); err != nil {
		return err
	}
	last, any, err := state.signed()
	if err != nil {
		return err
	}
	if any {
		if err := l.save(state); err != nil {
			return err
		}
		if last.Size == head.Size && isCosigned(state) {
			return nil
		}
	}
	if l.o.ReadOnly || l.o.Lease != nil && !l.o.Lease(ctx) {
		return nil
	}
	return l.publish(ctx, state, stored, signer, head, s)
}

// splitDigests makes the store compute the digest of each further change from two parts, a public
// and a private one. A receipt can then contain and prove only the public part.
func (l *Log) splitDigests(ctx context.Context) error {
	if s, ok := l.o.Store.(store.Splitter); ok && !l.split && !l.o.ReadOnly {
		if err := s.SplitDigests(ctx); err != nil {
			return err
		}
		l.split = true
	}
	return nil
}

func isCosigned(s *State) bool {
	return len(s.Published) >= len(s.Signed) && s.Published[:len(s.Signed)] == s.Signed
}

func checkpointOf(origin string, h store.Head) tlog.Checkpoint {
	c := tlog.Checkpoint{Origin: origin, Size: h.Size, Root: h.Hash}
	if h.Size == 0 {
		c.Root = tlog.EmptyRoot()
	}
	return c
}

// continues returns a [refusal] unless the log with the given head continues the newest checkpoint
// of a state. The state may be nil.
func (l *Log) continues(ctx context.Context, s *State, key note.Verifier, head store.Head) error {
	if s == nil || s.Signed == "" || s.Origin != key.Name() {
		return nil
	}
	signed, err := tlog.Open([]byte(s.Signed), key)
	switch {
	case errors.Is(err, tlog.ErrUnsigned):
		return &refusal{errForeignKey.Error()}
	case err != nil:
		return err
	}
	now := checkpointOf(signed.Origin, head)
	if signed.Size > now.Size {
		return &refusal{fmt.Sprintf("a checkpoint with %d entries was published, but the log has only %d: an older backup was restored; %s", signed.Size, now.Size, remedy)}
	}
	var hashes []tlog.Hash
	if signed.Size > 0 && signed.Size < now.Size {
		if hashes, err = l.o.Store.ProveHead(ctx, now.Size, signed.Size); err != nil {
			return err
		}
	}
	if tlog.CheckConsistency(hashes, signed.Checkpoint, now) != nil {
		return &refusal{fmt.Sprintf("the log does not continue the published checkpoint with %d entries: the history was rewritten, or an older backup was restored and then changed; %s", signed.Size, remedy)}
	}
	return nil
}

// remedy refers an operator to the instructions for a refusal.
const remedy = "docs/howto/publish-the-log.md says what to do"

// publish signs a checkpoint of the head, asks the witnesses for cosignatures, and makes the
// checkpoint available to clients.
func (l *Log) publish(ctx context.Context, state *State, stored []byte, signer note.Signer, head store.Head, s *Status) error {
	next := *state
	next.Origin, next.Restored = signer.Name(), ""
	if last, any, err := state.signed(); err != nil || !any || last.Size != head.Size {
		text, err := checkpointOf(signer.Name(), head).Sign(signer)
		if err != nil {
			return err
		}
		next.Signed = string(text)
	}
	if l.witnesses == nil {
		next.Published = next.Signed
	}
	// The state is stored before the checkpoint is sent. Therefore, no other process can sign a
	// checkpoint that contradicts it.
	stored, ok, err := l.swap(ctx, stored, &next)
	if err != nil || !ok {
		return err
	}
	if l.witnesses != nil {
		cosigned, err := l.cosign(ctx, &next, s)
		if err != nil {
			return err
		}
		next.Published = cosigned
		if _, ok, err = l.swap(ctx, stored, &next); err != nil || !ok {
			return err
		}
	}
	l.show(&next, s, true)
	return nil
}

// swap replaces the stored state. If another process has changed the state, ok is false.
func (l *Log) swap(ctx context.Context, stored []byte, next *State) (now []byte, ok bool, err error) {
	now = next.encode()
	if ok, err = l.o.Store.SwapSecret(ctx, SecretKey, stored, now); err != nil || !ok {
		return stored, false, err
	}
	kept := *next
	l.newest = &kept
	return now, true, l.save(&kept)
}

// save writes the state to the file, unless the file already has the state.
func (l *Log) save(s *State) error {
	if l.newest == nil || l.newest.Signed != s.Signed {
		kept := *s
		l.newest = &kept
	}
	if l.o.File == "" || l.o.ReadOnly || l.saved == s.Signed {
		return nil
	}
	if err := durable.WriteFile(l.o.File, string(s.encode())); err != nil {
		return err
	}
	l.saved = s.Signed
	return nil
}

// cosign asks the witnesses for cosignatures. It returns the checkpoint with the cosignatures that
// it received.
func (l *Log) cosign(ctx context.Context, s *State, status *Status) (string, error) {
	c, err := tlog.Peek([]byte(s.Signed))
	if err != nil {
		return "", err
	}
	r, err := l.witnesses.Cosign(ctx, []byte(s.Signed), func(ctx context.Context, older uint64) ([]tlog.Hash, error) {
		if older == 0 || older == c.Size {
			return nil, nil
		}
		return l.o.Store.ProveHead(ctx, c.Size, older)
	})
	if err != nil {
		return "", err
	}
	status.Outcomes, status.Cosigned = r.Outcomes, r.Cosigned
	for _, o := range r.Outcomes {
		if !errors.Is(o.Err, witness.ErrAhead) && !errors.Is(o.Err, witness.ErrFork) {
			continue
		}
		// A witness can claim this without evidence. A single witness must therefore not stop a log
		// that other witnesses confirm.
		if r.Cosigned < max(1, l.o.Policy.Need) {
			return "", &refusal{fmt.Sprintf("witness %s: %v; %s", o.Witness, o.Err, remedy)}
		}
		if l.contradicted.Take(l.o.Now()) {
			l.o.Log.Error("a witness contradicts the log, but enough others have cosigned it", "witness", o.Witness, "problem", o.Err.Error(), "size", c.Size, "cosignatures", r.Cosigned)
		}
	}
	if !r.Enough {
		l.o.Log.Warn("a checkpoint has fewer cosignatures than it should have", "size", c.Size, "cosignatures", r.Cosigned, "needed", l.o.Policy.Need)
	}
	return string(r.Checkpoint), nil
}

// show makes the published checkpoint of a state available to clients.
func (l *Log) show(s *State, status *Status, verified bool) {
	if s.Published == "" {
		return
	}
	c, err := tlog.Peek([]byte(s.Published))
	if err != nil {
		return
	}
	if old := l.shown.Load(); old == nil || string(old.text) != s.Published || old.verified != verified {
		l.shown.Store(&published{text: []byte(s.Published), origin: c.Origin, size: c.Size, verified: verified})
		if old == nil || string(old.text) != s.Published {
			status.Time = l.o.Now()
		}
	}
	status.Size = c.Size
	status.Waiting -= min(status.Waiting, c.Size)
	if l.witnesses != nil && status.Outcomes == nil {
		status.Cosigned = l.countCosignatures(s)
	}
}

func (l *Log) countCosignatures(s *State) int {
	keys := make([]note.Verifier, 0, len(l.o.Policy.Witnesses))
	for _, w := range l.o.Policy.Witnesses {
		keys = append(keys, w.Key)
	}
	n, err := note.Open([]byte(s.Published), note.VerifierList(keys...))
	if err != nil {
		return 0
	}
	return len(n.Sigs)
}

// Resume makes a log publish again after a refusal. If checkpoint is not nil, the log must continue
// the log with this checkpoint. Otherwise, Resume starts a new origin with the name origin. Resume
// returns the public key of the log.
func Resume(ctx context.Context, o Options, checkpoint []byte, origin string) (vkey string, err error) {
	l, err := New(o)
	if err != nil {
		return "", err
	}
	state, stored, filed, err := load(ctx, o.Store, o.File)
	if err != nil {
		return "", err
	}
	next := State{Origin: origin}
	head, err := o.Store.Head(ctx)
	if err != nil {
		return "", err
	}
	if checkpoint != nil {
		c, err := tlog.Peek(checkpoint)
		if err != nil {
			return "", err
		}
		next.Origin, next.Signed, next.Published = c.Origin, string(checkpoint), string(checkpoint)
	}
	_, verifier, vkey, err := keyFor(o.Key, next.Origin)
	if err != nil {
		return "", err
	}
	if checkpoint != nil {
		if err := l.continues(ctx, &next, verifier, head); err != nil {
			return "", err
		}
	}
	for _, s := range []*State{state, filed} {
		if s == nil {
			continue
		}
		if checkpoint != nil && s.Origin == next.Origin {
			if err := l.continues(ctx, s, verifier, head); err != nil {
				return "", err
			}
		}
		for _, c := range append(slices.Clone(s.Ended), s.Signed) {
			if c != "" && c != next.Signed && !slices.Contains(next.Ended, c) {
				next.Ended = append(next.Ended, c)
			}
		}
		if len(next.Notes) == 0 {
			next.Notes = s.Notes
		}
	}
	if _, ok, err := l.swap(ctx, stored, &next); err != nil {
		return "", err
	} else if !ok {
		return "", errors.New("the state of publication was changed concurrently; stop all servers of this store first")
	}
	if next.Signed == "" { // save does not write a state without a checkpoint
		return vkey, l.write(&next)
	}
	return vkey, nil
}

func (l *Log) write(s *State) error {
	if l.o.File == "" {
		return nil
	}
	return durable.WriteFile(l.o.File, string(s.encode()))
}

// NextOrigin returns the origin under which a log is published again after a rollback. It consists
// of the name of the log's key and a number, which is 2 for the first rollback.
func NextOrigin(ctx context.Context, o Options) (string, error) {
	state, _, filed, err := load(ctx, o.Store, o.File)
	if err != nil {
		return "", err
	}
	_, verifier, _, err := keyFor(o.Key, "")
	if err != nil {
		return "", err
	}
	used := map[string]bool{}
	for _, s := range []*State{state, filed} {
		if s == nil {
			continue
		}
		used[s.Origin] = true
		for _, text := range s.Ended {
			if c, err := tlog.Peek([]byte(text)); err == nil {
				used[c.Origin] = true
			}
		}
	}
	for n := 2; ; n++ {
		if origin := fmt.Sprintf("%s/%d", verifier.Name(), n); !used[origin] {
			return origin, nil
		}
	}
}
