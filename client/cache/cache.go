package cache

import (
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

// A Source is a resolver that can tell whether an answer still holds, as
// [client.Client.ResolveIf] says.
type Source interface {
	nomen.Resolver
	ResolveIf(ctx context.Context, q nomen.Question, have client.Validators) (*nomen.Answer, client.Validators, error)
}

// An Entry is an answer that is kept.
type Entry struct {
	Key        string            // of [Key]
	Answer     *nomen.Answer     // without a resource
	Validators client.Validators // dated
	Confirmed  time.Time         // when it was last known to hold
}

// A Keeper keeps entries by their keys, as many as it has room for. It is safe for
// concurrent use. What it gives back belongs to the receiver.
type Keeper interface {
	// Get returns the entry of a key. One that cannot be read is as if it were
	// not there.
	Get(key string) (Entry, bool)

	// Put keeps an entry, in the place of the one of the same key.
	Put(e Entry) error

	// Drop forgets the entry of a key, if there is one.
	Drop(key string)
}

// Options configure a [Cache].
type Options struct {
	// Shared is for a cache that answers several people: what depends on who asks
	// is not kept (RFC 9111, 3.5).
	Shared bool

	Now func() time.Time // the clock; nil for [time.Now]

	// Failed, if not nil, is told when an entry could not be written. The answer is
	// given all the same.
	Failed func(error)
}

// A Cache is a resolver that keeps the answers of another. It is safe for
// concurrent use if those are.
type Cache struct {
	source Source
	keeper Keeper
	o      Options
}

var _ nomen.Resolver = (*Cache)(nil)

// New returns a cache of the answers of source in keeper.
func New(source Source, keeper Keeper, o Options) *Cache {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return &Cache{source, keeper, o}
}

// Resolve implements [nomen.Resolver]. The source is asked in every case. An error
// of it is the answer, however good the kept one may be: who would rather have the
// past calls [Cache.Past].
func (c *Cache) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	key := Key(q)
	if key == "" {
		return c.source.Resolve(ctx, q)
	}
	asked := q.Subject
	q = whole(q)
	kept, ok := c.keeper.Get(key)
	a, v, err := c.source.ResolveIf(ctx, q, kept.Validators)
	switch {
	case ok && errors.Is(err, client.ErrUnchanged):
		a, err = kept.Answer, nil
		if !v.Dated() { // it was confirmed, but is not to be kept any more
			c.keeper.Drop(key)
			break
		}
		c.keep(Entry{Key: key, Answer: a, Validators: v, Confirmed: c.o.Now()}, kept)
	case err != nil:
		if ok && isAnswer(err) {
			c.keeper.Drop(key)
		}
		return nil, err
	case c.keeps(a, v):
		c.keep(Entry{Key: key, Answer: a, Validators: v, Confirmed: c.o.Now()}, Entry{})
	case ok:
		c.keeper.Drop(key)
	}
	client.ApplyFragment(a, asked)
	return a, nil
}

// isAnswer reports whether an error says something about the name. Others are
// failures, after which the kept answer may still hold.
func isAnswer(err error) bool {
	var e *nomen.Error
	return errors.As(err, &e)
}

// keeps reports whether an answer may be kept.
func (c *Cache) keeps(a *nomen.Answer, v client.Validators) bool {
	return v.Dated() && v.From != "" && a.Resource == nil && a.Resources == nil && !(a.Private && c.o.Shared)
}

// refresh is how much later an entry has to be confirmed for that to be written
// down: nothing depends on it but what Past tells.
const refresh = time.Minute

// keep writes an entry unless the one that is there says the same.
func (c *Cache) keep(e, old Entry) {
	if old.Validators == e.Validators && e.Confirmed.Sub(old.Confirmed) < refresh && !e.Confirmed.Before(old.Confirmed) {
		return
	}
	own := *e.Answer
	e.Answer = &own
	if err := c.keeper.Put(e); err != nil {
		c.o.Failed(fmt.Errorf("cache: %w", err))
	}
}

// ErrNothing is the error of [Cache.Past] for a question whose answer is not kept.
var ErrNothing = errors.New("cache: no answer is kept")

// Past returns the kept answer to a question and when it was last known to hold,
// without asking anybody. The error is [ErrNothing], or that of a name which is
// none.
func (c *Cache) Past(q nomen.Question) (*nomen.Answer, time.Time, error) {
	key := Key(q)
	if key == "" {
		return nil, time.Time{}, ErrNothing
	}
	e, ok := c.keeper.Get(key)
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

// Key returns the same text for all questions that have the same answer: the key of
// the name and whatever else of the question decides (2012, 5); "" for a question
// whose answers are not kept: one for a resource, one that wants to know why, or
// one without a name.
func Key(q nomen.Question) string {
	n := q.Name
	if n.IsZero() {
		spelling, _, _ := strings.Cut(q.Subject.String(), "#")
		asked, err := client.Parse(spelling)
		if err != nil {
			return ""
		}
		n = asked.Name
		q.R, q.Q = first(q.R, asked.R), first(q.Q, asked.Q)
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
			return "" // it could not be sent either
		}
	}
	return strings.Join(parts, "\n")
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// other returns the key of the second name of I=I.
func other(q nomen.Question) string {
	if q.Service != nomen.IisI {
		return ""
	}
	if n, err := name.FromURI(q.Other); err == nil {
		return n.Key()
	}
	return q.Other.String()
}
