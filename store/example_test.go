package store_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A store keeps every revision, so a record can be read as of an earlier time.
func Example() {
	ctx, s := context.Background(), memstore.New()
	n := name.MustParse("urn:example:alb002")
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for revision, location := range []string{"https://old.example/2", "https://new.example/2"} {
		_, err := s.Apply(ctx, []store.Change{{
			Record:   &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: location}}},
			Expected: uint64(revision), Time: year(2024 + revision), Who: "an archivist",
		}})
		if err != nil {
			log.Fatal(err)
		}
	}
	for _, at := range []time.Time{{}, year(2024)} { // now, and as of 2024
		rec, err := s.Get(ctx, n, at)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Revision, rec.Locations[0].URL)
	}
	for c, err := range store.History(ctx, s, n) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Time.Year(), c.Who, c.Record.Locations[0].URL)
	}
	// Output:
	// 2 https://new.example/2
	// 1 https://old.example/2
	// 2025 an archivist https://new.example/2
	// 2024 an archivist https://old.example/2
}
