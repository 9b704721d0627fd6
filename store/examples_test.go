package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// exampleTime is when the records of the examples were made.
var exampleTime = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// exampleStore returns a store with a record of each name.
func exampleStore(names ...string) *memstore.Store {
	s := memstore.New()
	for _, n := range names {
		if _, err := s.Apply(context.Background(), []store.Change{exampleChange(n, 0)}); err != nil {
			log.Fatal(err)
		}
	}
	return s
}

func exampleChange(s string, expected uint64) store.Change {
	n := name.MustParse(s)
	return store.Change{Record: &store.Record{Name: n, Spelling: s, Status: nomen.Active}, Expected: expected, Time: exampleTime}
}

// A change states the revision on which it is based. If the record now has another revision,
// nothing is written.
func ExampleConflictError() {
	s := exampleStore("urn:example:a")
	_, err := s.Apply(context.Background(), []store.Change{exampleChange("urn:example:a", 7)})
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println("expected", conflict.Expected, "but it is", conflict.Current)
	}
	// Output: expected 7 but it is 1
}

// If a name has no record, the error is ErrNotFound, which is not a failure of the store.
func ExampleReader() {
	var r store.Reader = exampleStore("urn:example:a")
	_, err := r.Get(context.Background(), name.MustParse("urn:example:b"), time.Time{})
	fmt.Println(errors.Is(err, store.ErrNotFound))
	// Output: true
}

// Records are listed in the order of their keys. A listing can begin after any key.
func ExampleScan() {
	s := exampleStore("urn:example:b", "urn:example:a1", "urn:example:a2")
	for rec, err := range s.List(context.Background(), store.Scan{Prefix: "urn:example:a", After: "urn:example:a1"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Name)
	}
	// Output: urn:example:a2
}

// Several records are read at once. For a name without a record, the result is nil.
func ExampleRecords() {
	s := exampleStore("urn:example:a")
	records, err := store.Records(context.Background(), s, []name.Name{name.MustParse("urn:example:a"), name.MustParse("urn:example:b")}, false)
	fmt.Println(records[0].Name, records[1] == nil, err)
	// Output: urn:example:a true <nil>
}

// Changes is the log of all changes, which replicas and indexes follow.
func ExampleChanges() {
	for e, err := range store.Changes(context.Background(), exampleStore("urn:example:a", "urn:example:b"), 1) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Change.Record.Name)
	}
	// Output: urn:example:b
}

// Count returns the number of records, if the store keeps count.
func ExampleCount() {
	fmt.Println(store.Count(context.Background(), exampleStore("urn:example:a", "urn:example:b")))
	// Output: 2 true <nil>
}
