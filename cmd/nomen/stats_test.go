package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/adminapi"
)

// The command waits for the first result of a count, or with --fresh for the end of the running
// count.
func TestWhenCounted(t *testing.T) {
	yesterday := time.Now().Add(-24 * time.Hour)
	none, old, again := adminapi.Count{Counting: true}, adminapi.Count{Counted: yesterday}, adminapi.Count{Counted: yesterday, Counting: true}
	for title, tt := range map[string]struct {
		answers []adminapi.Count
		fresh   bool
		want    int // index of the answer
	}{
		"counted":             {[]adminapi.Count{old}, false, 0},
		"none yet":            {[]adminapi.Count{none, none, old}, false, 2},
		"counted, counting":   {[]adminapi.Count{again, old}, false, 0},
		"fresh":               {[]adminapi.Count{again, again, old}, true, 2},
		"fresh, just counted": {[]adminapi.Count{old}, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			c, calls, begin := &cli{streams: streams{err: &said}}, 0, time.Now()
			_, err := whenCounted(t.Context(), c, tt.fresh, func(n adminapi.Count) adminapi.Count { return n }, func(context.Context) (adminapi.Count, error) {
				calls++
				return tt.answers[calls-1], nil
			})
			if err != nil || calls != tt.want+1 || time.Since(begin) != time.Duration(tt.want)*countPause || bytes.Count(said.Bytes(), []byte("\n")) != min(tt.want, 1) {
				t.Errorf("%s: %v after %d calls and %v, said %q", title, err, calls, time.Since(begin), &said)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := whenCounted(ctx, &cli{streams: streams{err: new(bytes.Buffer)}}, false, func(n adminapi.Count) adminapi.Count { return n },
			func(context.Context) (adminapi.Count, error) { return none, nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a count that does not end: %v", err)
		}
	})
}
