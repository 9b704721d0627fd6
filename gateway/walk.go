package gateway

import (
	"context"
	"iter"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A Look is one record that a [Walk] looked at.
type Look struct {
	Record *store.Record
	Listed bool   // everybody may know it, and the authority decides about it
	Next   string // the key behind which a later walk goes on
}

// Walk yields the records under an authority, one of those that everybody may know after
// the other, in the order of their keys, from behind a key on. Of the records that are not
// listed, those of another authority are passed over as a whole: of each such block one is
// yielded. Those that are reserved are all looked at, and it is for the caller to say how
// many are enough. Each block is as of its own moment.
func Walk(ctx context.Context, r store.Reader, set *store.AuthoritySet, of *store.Authority, after string) iter.Seq2[Look, error] {
	return func(yield func(Look, error) bool) {
		for on := true; on; {
			after, on = walk(ctx, r, set, of, after, yield)
		}
	}
}

// walk walks up to a block of another authority, and returns the key behind which to go
// on, if there is anything.
func walk(ctx context.Context, r store.Reader, set *store.AuthoritySet, of *store.Authority, after string, yield func(Look, error) bool) (next string, on bool) {
	for rec, err := range r.List(ctx, store.Scan{Prefix: of.Prefix.String(), After: after}) {
		if err != nil {
			yield(Look{}, err)
			return "", false
		}
		other := set.Of(rec.Name)
		at := Look{Record: rec, Listed: other == of && rec.Status != nomen.Reserved, Next: rec.Name.Key()}
		behind := ""
		if other != of {
			behind = beyond(other, at.Next)
		}
		if behind != "" {
			at.Next = behind
		}
		if !yield(at, nil) {
			return "", false
		}
		if behind != "" {
			return behind, true
		}
	}
	return "", false
}

// beyond returns what is greater than all keys of an authority that have the same
// delimiter after its prefix as this one; "" if that is not known.
func beyond(a *store.Authority, key string) string {
	if a == nil {
		return ""
	}
	p := a.Prefix.String()
	if !strings.HasPrefix(key, p) || len(key) == len(p) {
		return ""
	}
	return key[:len(p)+1] + "\x7f" // keys are of visible ASCII
}
