package gateway

import (
	"context"
	"iter"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A Look is one record that [Walk] has read.
type Look struct {
	Record *store.Record
	Listed bool   // the record is public and belongs to the authority
	Next   string // key after which another walk can continue
}

// Walk yields the records of an authority whose keys are greater than start, sorted by key. Names
// with a longer prefix can belong to other authorities; Walk yields one record of each block of
// such names, and skips the rest. Walk also yields all reserved records, so the caller must limit
// the number of records. Walk lists the store again for each block, so each block shows the state
// at that moment.
func Walk(ctx context.Context, r store.Reader, set *store.AuthoritySet, of *store.Authority, start string) iter.Seq2[Look, error] {
	return func(yield func(Look, error) bool) {
		for on := true; on; {
			start, on = walk(ctx, r, set, of, start, yield)
		}
	}
}

// walk yields records up to the first record of another authority, whose names form a block. If
// there are more records, it returns true and the key after which to continue.
func walk(ctx context.Context, r store.Reader, set *store.AuthoritySet, of *store.Authority, after string, yield func(Look, error) bool) (next string, on bool) {
	for rec, err := range r.List(ctx, store.Scan{Prefix: of.Prefix.String(), After: after}) {
		if err != nil {
			yield(Look{}, err)
			return "", false
		}
		other := set.Of(rec.Name)
		at := Look{Record: rec, Listed: other == of && rec.Status != nomen.Reserved, Next: rec.Name.Key()}
		skip := ""
		if other != of {
			skip = beyond(other, at.Next)
		}
		if skip != "" {
			at.Next = skip
		}
		if !yield(at, nil) {
			return "", false
		}
		if skip != "" {
			return skip, true
		}
	}
	return "", false
}

// beyond returns a key that sorts after all keys with the prefix of the authority and the delimiter
// that follows this prefix in key. It returns "" if key does not begin with the prefix and a
// delimiter.
func beyond(a *store.Authority, key string) string {
	if a == nil {
		return ""
	}
	p := a.Prefix.String()
	if !strings.HasPrefix(key, p) || len(key) == len(p) {
		return ""
	}
	return key[:len(p)+1] + "\x7f" // greater than all these keys, because keys consist of visible ASCII characters
}
