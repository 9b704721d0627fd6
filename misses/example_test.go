package misses_test

import (
	"fmt"
	"time"

	"github.com/nomen-project/nomen/misses"
)

func Example() {
	c, err := misses.Open(misses.Options{Now: func() time.Time { return time.Date(2026, 11, 20, 12, 34, 56, 0, time.UTC) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	c.Add("urn:dns:example.org:abl002", []string{"urn:dns:example.org:alb002"})
	c.Add("urn:dns:example.org:abl002", nil)
	c.Add("urn:dns:example.org:never", nil)
	for _, m := range c.List(1) {
		fmt.Println(m.Count, m.Name, m.Suggestions, m.Last.Format(time.RFC3339))
	}
	// Output: 2 urn:dns:example.org:abl002 [urn:dns:example.org:alb002] 2026-11-20T12:00:00Z
}

func ExampleMerge() {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	here := []misses.Miss{{Name: "urn:x-y:a", Count: 2, First: at, Last: at}}
	there := []misses.Miss{{Name: "urn:x-y:a", Count: 3, First: at, Last: at.Add(time.Hour)}}
	for _, m := range misses.Merge(here, there) {
		fmt.Println(m.Name, m.Count, m.Last.Sub(m.First))
	}
	// Output: urn:x-y:a 5 1h0m0s
}
