package urn

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A Table is a registry, sorted by the names of its entries. A Table is immutable. Methods that add
// entries return a new Table. The zero Table is empty and ready to use. [IANANamespaces],
// [SchemeIDs1995], [Keywords2012] and [Services2012] return the registries that the documents
// define.
type Table[E Entry[E]] struct{ entries []E }

// The kinds of registries.
type (
	Namespaces = Table[Namespace] // RFC 8141, section 6; draft of 2012, section 9.1
	SchemeIDs  = Table[SchemeID]  // draft of 1995, section 2.1
	Keywords   = Table[Keyword]   // draft of 2012, section 9.2.1
	Services   = Table[Service]   // draft of 2012, section 9.2.2
)

// An Entry is an entry of a [Table].
type Entry[E any] interface {
	Namespace | SchemeID | Keyword | Service

	canonical() E // returns the entry with a canonical name and its own copies of lists
	name() string
	fault() *EntryError  // returns why no table accepts the entry, or nil
	policy() *EntryError // returns why the document does not allow its registration, or nil
}

// An EntryError says why a registry rejects an entry.
type EntryError struct {
	Name    string // of the entry
	Field   string // the invalid field
	Message string
}

// Error returns the name, the field and the reason.
func (e *EntryError) Error() string {
	return fmt.Sprintf("urn: registry entry %q: %s %s", e.Name, e.Field, e.Message)
}

// Len returns the number of entries.
func (t Table[E]) Len() int { return len(t.entries) }

// All returns an iterator over the entries, sorted by name.
func (t Table[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range t.entries {
			if !yield(e.canonical()) {
				return
			}
		}
	}
}

// Lookup returns the entry with the given name, and whether there is one. NIDs and SchemeIDs are
// case-insensitive; keywords and services are case-sensitive.
func (t Table[E]) Lookup(name string) (E, bool) {
	i, ok := t.find(name)
	if !ok {
		var none E
		return none, false
	}
	return t.entries[i].canonical(), true
}

// find returns the index of the entry with a name, or the index at which to insert it, and whether
// there is such an entry.
func (t Table[E]) find(name string) (int, bool) {
	var e E
	switch any(e).(type) {
	case Namespace, SchemeID:
		name = strings.ToLower(name)
	}
	return slices.BinarySearchFunc(t.entries, name, func(e E, name string) int {
		return strings.Compare(e.name(), name)
	})
}

// With returns a copy of t with the entries added. An added entry replaces an entry with the same
// name. Use With to add local entries, such as experimental and unregistered names. The error is an
// [*EntryError] if a name is invalid or a required field is empty.
func (t Table[E]) With(entries ...E) (Table[E], error) {
	for _, e := range entries {
		if err := e.fault(); err != nil {
			return t, err
		}
	}
	return t.with(entries...), nil
}

// Register returns a copy of t with the entry added, if the document that governs the registry
// permits that. Otherwise the error is an [*EntryError].
func (t Table[E]) Register(e E) (Table[E], error) {
	if err := e.fault(); err != nil {
		return t, err
	}
	if err := e.policy(); err != nil {
		return t, err
	}
	if _, ok := t.find(e.name()); ok {
		return t, &EntryError{e.name(), "name", "is already registered"}
	}
	return t.with(e), nil
}

func (t Table[E]) with(entries ...E) Table[E] {
	t.entries = slices.Clone(t.entries)
	for _, e := range entries {
		e = e.canonical()
		i, ok := t.find(e.name())
		if ok {
			t.entries[i] = e
		} else {
			t.entries = slices.Insert(t.entries, i, e)
		}
	}
	return t
}

type word interface{ ~uint8 }

func parseWord[W word](w *W, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("urn: invalid value %q: must be one of %s", text, strings.Join(names, ", "))
	}
	*w = W(i)
	return nil
}

func wordName[W word](w W, names []string) string {
	if int(w) >= len(names) {
		return "invalid"
	}
	return names[w]
}
