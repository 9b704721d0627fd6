package gateway

import (
	"context"
	"iter"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A Look is one record that [Walk] read.
type Look struct {
	Record *store.Record
	Listed bool   // the record is public and belongs to the authority
	Next   string // key from which a later walk continues
}

// Walk yields the records below an authority after a key, sorted by key. It skips the records
// of other authorities in blocks and yields one record of each block. It yields all reserved
// records, so the caller must limit how many it reads. Each block is read in a new listing,
// and shows the state at that moment.
func Walk(ctx context.Context, r store.Reader, set *store.AuthoritySet, of *store.Authority, after string) iter.Seq2[Look, error] {
	return func(yield func(Look, error) bool) {
		for on := true; on; {
			after, on = walk(ctx, r, set, of, after, yield)
		}
	}
}

// walk walks up to a block of another authority and returns the key from which to continue,
// if there is more.
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

// beyond returns a key that is greater than every key of an authority that has the same
// delimiter after the prefix as key. It returns "" if there is no such key.
func beyond(a *store.Authority, key string) string {
	if a == nil {
		return ""
	}
	p := a.Prefix.String()
	if !strings.HasPrefix(key, p) || len(key) == len(p) {
		return ""
	}
	return key[:len(p)+1] + "\x7f" // keys are visible ASCII
}
