package admin

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// TestListTakesBoundedTime: a request for the few names with a status ends in time, and the next
// ones find all of them.
func TestListTakesBoundedTime(t *testing.T) {
	var clock atomic.Int64 // how often it was read
	api, s := newTestAPI(t, func(o *Options) {
		o.Now = func() time.Time {
			return servertest.Now.Add(time.Duration(clock.Add(1)) * maxReadTime * 2 / 5)
		}
	})
	const n = 10 * readGrain
	changes := make([]store.Change, n)
	for i := range changes {
		spelling := fmt.Sprintf("urn:dns:many.example:%06d", i)
		status := nomen.Active
		if i%(n/5) == n/5-1 {
			status = nomen.Reserved
		}
		changes[i] = store.Change{Record: &store.Record{Name: name.MustParse(spelling), Spelling: spelling, Status: status}, Time: servertest.Now}
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	found, requests, after := 0, 0, ""
	for {
		page, err := api.Client(registrar.Operator()).List(t.Context(), adminapi.Listing{Prefix: "urn:dns:many.example", After: after, Statuses: []nomen.Status{nomen.Reserved}, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		found += len(page.Names)
		if requests++; page.Next == "" || requests > n {
			break
		}
		after = page.Next
	}
	if found != 5 || requests < 3 || requests > 10 {
		t.Errorf("found %d names in %d requests, want 5 in a few", found, requests)
	}
}
