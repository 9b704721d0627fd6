package pgstore

import (
	"testing"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/counts/countstest"
)

// The counts of all nodes of a database add up.
func TestCounts(t *testing.T) {
	countstest.Run(t, func(t testing.TB) (counts.Store, func() counts.Store) {
		url := newURL(t, shared)
		return open(t, url).Counts(), func() counts.Store { return open(t, url).Counts() }
	})
}
