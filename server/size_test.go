package server

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A slowList yields the records of one authority after a delay.
type slowList struct {
	store.Reader
	slow  string // prefix
	takes time.Duration
	lists atomic.Int32
}

// List implements [store.Reader].
func (l *slowList) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		if strings.HasPrefix(scan.Prefix, l.slow) {
			l.lists.Add(1)
			select {
			case <-time.After(l.takes):
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
		for r, err := range l.Reader.List(ctx, scan) {
			if !yield(r, err) {
				return
			}
		}
	}
}

// Counting a long list does not delay requests for other lists. Only one request at a time counts a
// list. Other requests for this list wait for the result, at most as long as counting would have
// taken them. Counting ends after maxCounting.
func TestSizesHoldNobody(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		want  size
	}{
		{maxCounting / 2, size{names: 1, bytes: 3}},
		{time.Hour, size{more: true}},
	} {
		s, st := newTestServer(t, nil)
		changes := []store.Change{}
		for _, p := range []string{"slow", "fast"} {
			n := name.MustParse("urn:x-list:" + p + ":a")
			changes = append(changes,
				store.Change{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-list:" + p), Owners: []string{"a"}, List: true}},
				store.Change{Time: modified, Record: &store.Record{Name: n, Spelling: n.Key()}})
		}
		if _, err := st.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
		l := &slowList{Reader: st, slow: "urn:x-list:slow", takes: tt.takes}
		s.store = l
		set, err := s.authorities.Set(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		slow, fast := authorityWithPrefix(set, "urn:x-list:slow"), authorityWithPrefix(set, "urn:x-list:fast")
		synctest.Test(t, func(t *testing.T) {
			given, cancel := context.WithCancel(t.Context())
			gaveUp := make(chan error, 1)
			go func() {
				_, err := s.sizes.of(given, s, set, slow)
				gaveUp <- err
			}()
			synctest.Wait()
			const many = 10
			sizes := make(chan size, many)
			for range many {
				go func() {
					n, err := s.sizes.of(t.Context(), s, set, slow)
					if err != nil {
						t.Error(err)
					}
					sizes <- n
				}()
			}
			synctest.Wait()
			begun := time.Now()
			if n, err := s.sizes.of(t.Context(), s, set, fast); err != nil || n.names != 1 || time.Since(begun) > 0 {
				t.Errorf("another list: %+v, %v after %v", n, err, time.Since(begun))
			}
			hasty, end := context.WithTimeout(t.Context(), time.Millisecond)
			defer end()
			if _, err := s.sizes.of(hasty, s, set, slow); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a client that cannot wait: %v", err)
			}
			cancel() // the counting request gives up, and another one takes over
			if err := <-gaveUp; !errors.Is(err, context.Canceled) {
				t.Errorf("a client that gave up: %v", err)
			}
			for range many {
				n := <-sizes
				n.counted = time.Time{}
				if n != tt.want {
					t.Errorf("got %+v, want %+v", n, tt.want)
				}
			}
			if took := time.Since(begun); took > maxCounting+time.Second/2 || l.lists.Load() != 2 {
				t.Errorf("%d counts in %v", l.lists.Load(), took)
			}
		})
	}
}
