package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// maxAbove is how many shorter names are looked up for the page about one unknown name.
const maxAbove = 4

// near returns public names with a similar spelling to an unknown name. It looks up only spellings
// that differ from the name by a common mistake. So it says nothing about names that a client could
// not guess. If the store fails, it returns what it has found.
func (s *Server) near(ctx context.Context, a parsedTarget, shown []string) (all []string) {
	for _, spelling := range similarSpellings(a.kept().Key()) {
		if key := s.publicKey(ctx, a, spelling); key != "" && !slices.Contains(all, key) && !slices.Contains(shown, key) {
			all = append(all, key)
		}
	}
	return all
}

// similarSpellings returns the spellings that were probably meant instead of key, the likeliest
// first.
func similarSpellings(key string) (all []string) {
	add := func(s string) {
		if s != key && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	begin := strings.LastIndexAny(key, ":/") + 1 // the last part of the name
	stem, last := key[:begin], key[begin:]
	add(strings.TrimRight(key, ".,;:!?)]}>'\"/-_"))
	if i := strings.LastIndexByte(last, '%'); i > 0 { // a closing quote or bracket is escaped
		add(stem + last[:i])
	}
	add(stem + strings.ToLower(last))
	add(stem + strings.ToUpper(last))
	add(stem + strings.ReplaceAll(last, "_", "-"))
	add(stem + strings.ReplaceAll(last, "-", "_"))
	add(stem + strings.ReplaceAll(last, "-", ""))
	add(stem + strings.NewReplacer("O", "0", "o", "0", "l", "1", "I", "1").Replace(last))
	return all
}

// above returns the longest public name that an unknown name begins with, up to a delimiter. It
// returns "" if there is none.
func (s *Server) above(ctx context.Context, a parsedTarget) string {
	key, tried := a.kept().Key(), 0
	for tried < maxAbove {
		i := strings.LastIndexAny(key, "/:.-")
		if i < 0 || strings.HasPrefix(key, "urn:") && strings.Count(key[:i], ":") < 2 {
			return ""
		}
		key = key[:i]
		if tried++; s.publicKey(ctx, a, key) != "" {
			return key
		}
	}
	return ""
}

// publicKey returns the key of the public record of a name, as of the time of the request. It
// returns "" if there is none, or if the client may not see it.
func (s *Server) publicKey(ctx context.Context, a parsedTarget, spelling string) string {
	n, err := name.Parse(spelling)
	if err != nil {
		return ""
	}
	set, err := s.authorities.Set(ctx, time.Time{}) // the current policy decides
	if err != nil {
		return ""
	}
	of := set.Of(n)
	if of.Refuses(spelling) != nil {
		return ""
	}
	rec, err := s.store.Get(ctx, of.Fold(n), a.query.at)
	if err != nil || rec.Status == nomen.Reserved {
		return ""
	}
	return rec.Name.Key()
}
