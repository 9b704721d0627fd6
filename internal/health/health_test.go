package health

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A testStore counts its reads.
type testStore struct {
	store.Reader
	condition store.Condition
	usage     store.Usage
	reads     int
	err       error
}

func (s *testStore) Condition() store.Condition { return s.condition }
func (s *testStore) Usage() store.Usage         { return s.usage }

func (s *testStore) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	s.reads++
	if s.err != nil {
		return func(yield func(*store.Authority, error) bool) { yield(nil, s.err) }
	}
	return s.Reader.Authorities(ctx, at)
}

func TestCauses(t *testing.T) {
	wrong := func() *registrar.ClockError { return &registrar.ClockError{Cause: "it is late"} }
	full := store.Condition{NoWrites: true, Full: true, Cause: "the disk\nis full"}
	for _, tt := range []struct {
		what      string
		condition store.Condition
		usage     store.Usage
		clock     func() *registrar.ClockError
		unloaded  bool
		want      []string
	}{
		{what: "nothing is wrong", usage: store.Usage{Unsealed: 10 * time.Second}},
		{what: "storage", condition: full, want: []string{`storage: the disk\x0ais full`}},
		{what: "clock", clock: wrong, want: []string{"clock: it is late"}},
		{what: "a read-only server needs no clock", clock: wrong, condition: store.Condition{NoWrites: true}},
		{what: "storage and clock", clock: wrong, condition: full, want: []string{`storage: the disk\x0ais full`, "clock: it is late"}},
		{what: "sealer", usage: store.Usage{Unsealed: 12500 * time.Millisecond}, want: []string{"log: changes have been waiting for 12 seconds to be added to the log"}},
		{what: "authorities", unloaded: true, want: []string{"authorities: the naming authorities are not loaded yet"}},
		{what: "storage explains the authorities", unloaded: true, condition: full, want: []string{`storage: the disk\x0ais full`}},
		{
			what: "no primary", usage: store.Usage{Servers: map[string]int{"replica": 1, "unknown": 1}},
			want: []string{"storage: the lag of the database's replicas is not known, because no primary is known"},
		},
		{what: "a primary", usage: store.Usage{Servers: map[string]int{"replica": 1, "primary": 1, "down": 1}}},
	} {
		s := &testStore{Reader: memstore.New(), condition: tt.condition, usage: tt.usage}
		state := &State{Store: s, Clock: tt.clock, Authorities: store.NewTable(s, time.Now, time.Second)}
		if tt.unloaded {
			s.err = errors.New("not now")
		}
		_, _ = state.Authorities.Set(t.Context(), time.Time{})
		reads := s.reads
		if got := state.Causes(); !slices.Equal(got, tt.want) || state.Ready() != (tt.want == nil) {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
		if s.reads != reads {
			t.Errorf("%s: the store was read", tt.what)
		}
	}
}

// Every cause has a line. In JSON the first line is the status.
func TestReport(t *testing.T) {
	s := &testStore{condition: store.Condition{NoWrites: true, Cause: "full"}}
	state := &State{Store: s, Clock: func() *registrar.ClockError { return &registrar.ClockError{Cause: "late"} }}
	check := func(path string, status int, want string, lines ...string) {
		t.Helper()
		r := state.Check(path)
		text, err := json.Marshal(r)
		if err != nil || string(text) != want || r.Status != status || !slices.Equal(r.Lines, lines) {
			t.Errorf("%s: got %d %s %q, %v; want %d %s %q", path, r.Status, text, r.Lines, err, status, want, lines)
		}
	}
	check(LivePath, http.StatusOK, `{"status":"ok"}`, "ok")
	check(ReadyPath, http.StatusServiceUnavailable, `{"status":"degraded: storage: full","causes":["storage: full","clock: late"]}`, "degraded: storage: full", "degraded: clock: late")
	s.condition, state.Clock = store.Condition{}, nil
	check(ReadyPath, http.StatusOK, `{"status":"ready"}`, "ready")
	state.Close()
	check(ReadyPath, http.StatusServiceUnavailable, `{"status":"closing"}`, "closing")
	check(LivePath, http.StatusOK, `{"status":"ok"}`, "ok")
	if state.Ready() {
		t.Error("a closing server is ready")
	}
}

func TestWantsJSON(t *testing.T) {
	for accept, want := range map[string]bool{"": false, "*/*": false, "application/json": true, "text/plain, Application/JSON ;q=1": true, "application/json-seq": false} {
		if got := WantsJSON(accept); got != want {
			t.Errorf("%q: got %v", accept, got)
		}
	}
}
