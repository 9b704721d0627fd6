package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// A Source is a resolver that can tell whether an answer is still current, as
// [client.Client.ResolveIf] does.
type Source interface {
	nomen.Resolver
	ResolveIf(ctx context.Context, q nomen.Question, have client.Validators) (*nomen.Answer, client.Validators, error)
}

// An Entry is a cached answer.
type Entry struct {
	Key        string            // of [Key]
	Answer     *nomen.Answer     // without a resource
	Validators client.Validators // with a date
	Confirmed  time.Time         // when it was last known to be current
}

// A Storage keeps entries by key, within its limits. It is safe for concurrent use. The caller
// owns the entries it returns.
type Storage interface {
	// Get returns the entry of a key. It treats an entry that cannot be read as missing.
	Get(key string) (Entry, bool)

	// Put stores an entry and replaces any entry with the same key.
	Put(e Entry) error

	// Drop removes the entry of a key, if there is one.
	Drop(key string)
}

// Options configure a [Cache].
type Options struct {
	// Shared says that the cache serves several users, so answers that depend on the user are
	// not kept (RFC 9111, 3.5).
	Shared bool

	Now func() time.Time // the clock; nil for [time.Now]

	// Failed, if not nil, is called when an entry could not be written. The answer is returned
	// nevertheless.
	Failed func(error)
}

// A Cache is a resolver that caches the answers of another. It is safe for concurrent use if
// its source and storage are.
type Cache struct {
	source  Source
	storage Storage
	o       Options
}

var _ nomen.Resolver = (*Cache)(nil)

// New returns a cache that keeps the answers of source in storage.
func New(source Source, storage Storage, o Options) *Cache {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return &Cache{source, storage, o}
}

// Resolve implements [nomen.Resolver]. It always asks the source and returns the source's error
// even if an answer is cached. A caller that prefers an old answer to an error calls
// [Cache.Past].
func (c *Cache) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	key := Key(q)
	if key == "" {
		return c.source.Resolve(ctx, q)
	}
	asked := q.Subject
	q = whole(q)
	kept, ok := c.storage.Get(key)
	a, v, err := c.source.ResolveIf(ctx, q, kept.Validators)
	switch {
	case ok && errors.Is(err, client.ErrUnchanged):
		a, err = kept.Answer, nil
		if !v.Dated() { // the cached answer is current, but must no longer be kept
			c.storage.Drop(key)
			break
		}
		c.keep(Entry{Key: key, Answer: a, Validators: v, Confirmed: c.o.Now()}, kept)
	case err != nil:
		if ok && isAnswer(err) {
			c.storage.Drop(key)
		}
		return nil, err
	case c.keeps(a, v):
		c.keep(Entry{Key: key, Answer: a, Validators: v, Confirmed: c.o.Now()}, Entry{})
	case ok:
		c.storage.Drop(key)
	}
	client.ApplyFragment(a, asked)
	return a, nil
}

// isAnswer reports whether an error says something about the name. After any other error the
// cached answer may still be current.
func isAnswer(err error) bool { return errors.As(err, new(*nomen.Error)) }

// keeps reports whether an answer may be kept.
func (c *Cache) keeps(a *nomen.Answer, v client.Validators) bool {
	return v.Dated() && v.From != "" && a.Resource == nil && a.Resources == nil && !(a.Private && c.o.Shared)
}

// refresh is the minimum time between two stored confirmations of an entry. So the time that
// [Cache.Past] returns can be too early by this much.
const refresh = time.Minute

// keep stores the entry e. It does nothing if the stored entry has the same
// validators and was confirmed recently.
func (c *Cache) keep(e, stored Entry) {
	if stored.Validators == e.Validators && e.Confirmed.Sub(stored.Confirmed) < refresh && !e.Confirmed.Before(stored.Confirmed) {
		return
	}
	own := *e.Answer
	e.Answer = &own
	if err := c.storage.Put(e); err != nil {
		c.o.Failed(fmt.Errorf("cache: %w", err))
	}
}

// ErrNothing is the error of [Cache.Past] for a question without a cached answer.
var ErrNothing = errors.New("cache: no cached answer")

// Past returns the cached answer to a question, and when it was last known to be current. It
// does not ask the source. The only error is [ErrNothing].
func (c *Cache) Past(q nomen.Question) (*nomen.Answer, time.Time, error) {
	key := Key(q)
	if key == "" {
		return nil, time.Time{}, ErrNothing
	}
	e, ok := c.storage.Get(key)
	if !ok {
		return nil, time.Time{}, ErrNothing
	}
	client.ApplyFragment(e.Answer, q.Subject)
	return e.Answer, e.Confirmed, nil
}

// whole returns q without the fragment of its subject.
func whole(q nomen.Question) nomen.Question {
	if _, ok := q.Subject.Fragment(); !ok {
		return q
	}
	spelling, _, _ := strings.Cut(q.Subject.String(), "#")
	if u, err := uri.Parse(spelling); err == nil {
		q.Subject = u
	}
	return q
}

// Key returns the same text for all questions that have the same answer. It consists of the key
// of the name and everything else in the question that affects the answer (2012, 5). It is ""
// for questions whose answers are not cached: those for a resource, those for an explanation
// and those without a valid name.
func Key(q nomen.Question) string {
	n := q.Name
	if n.IsZero() {
		spelling, _, _ := strings.Cut(q.Subject.String(), "#")
		asked, err := client.Parse(spelling)
		if err != nil {
			return ""
		}
		n = asked.Name
		q.R, q.Q = cmp.Or(q.R, asked.R), cmp.Or(q.Q, asked.Q)
	}
	if q.Explain || q.Service == nomen.I2R || q.Service == nomen.I2Rs {
		return ""
	}
	at := ""
	if !q.At.IsZero() {
		at = q.At.UTC().Format(time.RFC3339Nano)
	}
	parts := []string{
		n.Key(), string(q.Service), q.Component, q.R, q.Q, q.Query,
		other(q), strings.TrimSpace(q.Accept), strings.TrimSpace(q.Languages), q.Country, at,
	}
	for _, p := range parts {
		if strings.ContainsAny(p, "\n\r") {
			return "" // such a question cannot be sent either
		}
	}
	return strings.Join(parts, "\n")
}

// other returns the key of the second name in a question for I=I.
func other(q nomen.Question) string {
	if q.Service != nomen.IisI {
		return ""
	}
	if n, err := name.FromURI(q.Other); err == nil {
		return n.Key()
	}
	return q.Other.String()
}
