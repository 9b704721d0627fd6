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

// A Source is a resolver that can report whether an answer is still current; see
// [client.Client.ResolveIf].
type Source interface {
	nomen.Resolver
	ResolveIf(ctx context.Context, q nomen.Question, have client.Validators) (*nomen.Answer, client.Validators, error)
}

// An Entry is a cached answer.
type Entry struct {
	Key        string            // the result of Key
	Answer     *nomen.Answer     // without a resource
	Validators client.Validators // never without a date
	Confirmed  time.Time         // when the answer was last known to be current
}

// A Storage stores entries by key, within its limits. It is safe for concurrent use. The caller may
// modify the entries that Get returns.
type Storage interface {
	// Get returns the entry with a key. If an entry cannot be read, Get treats it as missing.
	Get(key string) (Entry, bool)

	// Put stores an entry, and replaces an entry with the same key.
	Put(e Entry) error

	// Drop removes the entry with a key, if there is one.
	Drop(key string)
}

// Options configure a [Cache].
type Options struct {
	// Shared means that several users share the cache. A shared cache does not store answers that
	// depend on the user (RFC 9111, 3.5).
	Shared bool

	Now func() time.Time // returns the current time; nil means time.Now

	// Failed is called with the error if Storage cannot store an answer. The caller of Resolve
	// still gets the answer. If Failed is nil, such errors are ignored.
	Failed func(error)
}

// A Cache is a resolver that caches the answers of another resolver. It is safe for concurrent use
// if its source and its storage are.
type Cache struct {
	source  Source
	storage Storage
	o       Options
}

var _ nomen.Resolver = (*Cache)(nil)

// New returns a Cache that stores the answers of source in storage.
func New(source Source, storage Storage, o Options) *Cache {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return &Cache{source, storage, o}
}

// Resolve implements [nomen.Resolver]. It always asks the source. If the source fails, Resolve
// returns the error even if an answer is cached. A caller that prefers an old answer to an error
// can call [Cache.Past].
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
		if !v.Dated() { // the answer is still current, but may no longer be cached
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

// isAnswer reports whether an error is an answer about the name, for example that the name is
// unknown. After any other error, the cached answer may still be current.
func isAnswer(err error) bool { return errors.As(err, new(*nomen.Error)) }

func (c *Cache) keeps(a *nomen.Answer, v client.Validators) bool {
	return v.Dated() && v.From != "" && a.Resource == nil && a.Resources == nil && !(a.Private && c.o.Shared)
}

// If an answer is confirmed again in less than this time, its entry is not written again. The time
// that [Cache.Past] returns can be too early by this amount.
const refresh = time.Minute

// keep stores the entry e. It does nothing if the stored entry has the same validators and was
// confirmed recently.
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

// ErrNothing means that no answer to the question is cached.
var ErrNothing = errors.New("cache: no cached answer")

// Past returns the cached answer to a question without asking the source, and the time at which the
// answer was last known to be current. The only error is [ErrNothing].
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

// whole removes the fragment from the subject of q.
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

// Key returns a string that is the same for all questions that have the same answer. The string
// consists of the key of the name, and of everything else in the question that affects the answer
// (2012, 5). Key returns "" if the answer must not be cached. This is the case if the question asks
// for a resource or an explanation, or has no valid name.
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
			return "" // a question that cannot be sent is not cached
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
