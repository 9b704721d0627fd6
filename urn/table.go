package urn

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A Table is an immutable registry, sorted by the names of its entries. Methods that add
// entries return a new Table. The zero Table is empty and ready to use. The tables of the
// documents are [IANANamespaces], [SchemeIDs1995], [Keywords2012] and [Services2012].
type Table[E Entry[E]] struct{ entries []E }

// The registries.
type (
	Namespaces = Table[Namespace] // RFC 8141, 6; 2012, 9.1
	SchemeIDs  = Table[SchemeID]  // 1995, 2.1
	Keywords   = Table[Keyword]   // 2012, 9.2.1
	Services   = Table[Service]   // 2012, 9.2.2
)

// An Entry is an entry of a [Table].
type Entry[E any] interface {
	Namespace | SchemeID | Keyword | Service

	canonical() E // returns the entry with a canonical name and copies of its lists
	name() string
	fault() *EntryError  // the reason why no table accepts the entry, or nil
	policy() *EntryError // the reason why the document does not allow its registration, or nil
}

// An EntryError reports why a registry rejects an entry.
type EntryError struct {
	Name    string // the name of the entry
	Field   string // the invalid field
	Message string
}

// Error returns the name, the field and the reason.
func (e *EntryError) Error() string {
	return fmt.Sprintf("urn: registry entry %q: %s %s", e.Name, e.Field, e.Message)
}

// Len returns the number of entries.
func (t Table[E]) Len() int { return len(t.entries) }

// All yields the entries in the order of their names.
func (t Table[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range t.entries {
			if !yield(e.canonical()) {
				return
			}
		}
	}
}

// Lookup returns the entry with a name. NIDs and SchemeIDs are case-insensitive,
// keywords and services case-sensitive.
func (t Table[E]) Lookup(name string) (E, bool) {
	i, ok := t.find(name)
	if !ok {
		var none E
		return none, false
	}
	return t.entries[i].canonical(), true
}

// find returns the index of the entry with a name, and whether there is one. If not, it is the
// index at which such an entry would be inserted.
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

// With returns t with entries added. An added entry replaces the entry with the same name. Use
// With for local additions, such as experimental and unregistered names. If a name is invalid
// or a required field is empty, the error is an [*EntryError].
func (t Table[E]) With(entries ...E) (Table[E], error) {
	for _, e := range entries {
		if err := e.fault(); err != nil {
			return t, err
		}
	}
	return t.with(entries...), nil
}

// Register returns t with another entry, if the document that governs the
// registry permits its registration. The error is an [*EntryError].
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

// A word is a value of a small set of named values.
type word interface{ ~uint8 }

// parseWord sets w to the value with the name in text.
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
