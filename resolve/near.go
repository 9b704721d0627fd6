package resolve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/store"
)

// Limits on the search for names similar to an unknown name.
const (
	nearTime  = 200 * time.Millisecond // maximum time for all reads together
	nearReads = 12                     // maximum number of reads of records and of the alias index
	maxAbove  = 4                      // maximum number of shorter names that are looked up
	maxNear   = namespace.MaxSuggestions
)

// A standing describes whether a similar name exists.
type standing uint8

// The possible standings of a name.
const (
	absent     standing = iota // not registered, or not public
	undecided                  // not registered here, but another resolver or a rule may know it
	registered                 // registered and public
)

type nearSearch struct {
	decision
	reads int // number of reads that are left
}

// near returns names that the client probably meant instead of the unknown name. Registered names
// come first. Names that may be registered elsewhere follow. The last name is the longest
// registered name with which the unknown name begins.
//
// Names that are reserved or not public are omitted. All other names differ from the unknown name
// only by a common mistake. Therefore, the result reveals nothing that a client could not find out
// by guessing. If the store fails or a limit is reached, near returns the names found so far.
func (d *decision) near() []string {
	if d.o.NoSuggestions {
		return nil
	}
	ctx, cancel := context.WithTimeout(d.ctx, nearTime)
	defer cancel()
	s := nearSearch{*d, nearReads}
	s.ctx, s.q.Explain = ctx, false
	key := d.name.Key()
	known, unsure := s.collect(key)
	all := append(known, unsure...)
	if above := s.above(key); above != "" && !slices.Contains(all, above) {
		all = append(all[:min(len(all), maxNear-1)], above)
	}
	return all[:min(len(all), maxNear)]
}

// collect returns the similar spellings of key that are registered, and the similar spellings that
// may be registered elsewhere.
func (s *nearSearch) collect(key string) (known, unsure []string) {
	likely := suggest(key)
	var seen []string // keys of the known names
	for i, spelling := range slices.Concat(likely, similarSpellings(key)) {
		as, found := s.lookUp(spelling, i < len(likely))
		switch {
		case as == registered && !slices.Contains(seen, found):
			seen = append(seen, found)
			if i >= len(likely) {
				spelling = found
			}
			known = append(known, spelling)
		case as == undecided && i < len(likely):
			unsure = append(unsure, spelling)
		}
	}
	return known, unsure
}

// suggest returns names that were probably meant by s, by the rules of the namespace or scheme.
func suggest(s string) []string {
	var all []string
	for _, meant := range name.Suggest(s) {
		all = append(all, meant.Name)
	}
	return all
}

// similarSpellings returns spellings that may have been meant by key, with the likeliest first. It
// does not use the rules of namespaces.
func similarSpellings(key string) (all []string) {
	add := func(s string) {
		if s != key && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	begin := strings.LastIndexAny(key, ":/") + 1 // the last part of the name
	stem, last := key[:begin], key[begin:]
	add(strings.TrimRight(key, ".,;:!?)]}>'\"/-_"))
	if i := strings.LastIndexByte(last, '%'); i > 0 { // an escaped closing quote or bracket
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

// above returns the longest registered name with which key begins and after which a delimiter
// follows, or "".
func (s *nearSearch) above(key string) string {
	for range maxAbove {
		i := strings.LastIndexAny(key, "/:.-")
		if i < 0 || strings.HasPrefix(key, "urn:") && strings.Count(key[:i], ":") < 2 {
			return ""
		}
		key = key[:i]
		if as, found := s.lookUp(key, false); as == registered {
			return found
		}
	}
	return ""
}

// lookUp returns the standing of a spelling and the name under which it is registered. If aliases
// is true, it also looks for a record that lists the spelling as an alias. A reserved name counts
// as absent, so that the result does not reveal it.
func (s *nearSearch) lookUp(spelling string, aliases bool) (standing, string) {
	n, err := name.Parse(spelling)
	if err != nil {
		return absent, ""
	}
	of := s.decision
	of.policy = &noPolicy
	if of.about(n); of.name == s.name || of.admit() != nil {
		return absent, ""
	}
	switch rec, err := s.get(of.name); {
	case err == nil && isPublic(rec):
		return registered, rec.Name.Key()
	case aliases && s.isAlias(&of):
		return registered, of.name.Key()
	case of.authority == nil, of.policy.Delegation != nil, len(of.policy.Rules) > 0:
		return undecided, ""
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return undecided, ""
	}
	return absent, ""
}

// isAlias reports whether exactly one record lists the name as an alias, and may answer for it.
func (s *nearSearch) isAlias(of *decision) bool {
	if !s.mayRead() {
		return false
	}
	names, err := store.Aliased(s.ctx, s.records, of.name)
	if err != nil || len(names) != 1 {
		return false
	}
	rec, err := s.get(names[0])
	return err == nil && of.listedBy(rec) && of.isOpen(rec)
}

var errLimit = errors.New("resolve: limit of the search for suggestions")

func (s *nearSearch) mayRead() bool {
	s.reads--
	return s.reads >= 0 && s.ctx.Err() == nil // not every store checks the context
}

func (s *nearSearch) get(n name.Name) (*store.Record, error) {
	if !s.mayRead() {
		return nil, errLimit
	}
	return s.records.Get(s.ctx, n, s.q.At)
}

func isPublic(rec *store.Record) bool { return rec.Status != nomen.Reserved && !rec.Redacted }

func (d *decision) isOpen(rec *store.Record) bool {
	of := *d
	of.policy, of.q.Explain = &noPolicy, false
	of.about(rec.Name)
	return of.admit() == nil
}
