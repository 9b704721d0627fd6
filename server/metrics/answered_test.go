package metrics

import (
	"testing"
	"time"
)

func TestAnswered(t *testing.T) {
	m := New(Options{Forms: []string{"http", "rcds"}})
	for _, r := range []struct {
		form   string
		status int
	}{{"http", 200}, {"rcds", 200}, {"http", 204}, {"http", 303}, {"http", 404}, {"http", 503}, {"http", 503}} {
		m.Observe(r.form, r.status, time.Millisecond)
	}
	m.AdminRequest("reader", 200) // not a request of a reader
	if got, want := m.Answered(), [10]uint64{2: 3, 3: 1, 4: 1, 5: 2}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
