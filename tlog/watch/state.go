package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/tlog"
)

const stateVersion = 1

// Limits of a state.
const (
	maxHeads = 64       // maximum number of heads that a watcher keeps
	maxNames = 10_000   // maximum number of names that a watcher compares with the server
	maxState = 64 << 20 // maximum length of the file, in bytes
)

// A head is a verified checkpoint.
type head struct {
	Signed string    `json:"checkpoint"` // the checkpoint with all signatures, as published
	Size   uint64    `json:"size"`
	Time   time.Time `json:"time"`           // time at which the checkpoint was read
	First  time.Time `json:"first,omitzero"` // time at which a checkpoint of this size was first read; if zero, Time
}

// since returns the time at which the log was first known to have the size of the head.
func (h head) since() time.Time {
	if h.First.IsZero() {
		return h.Time
	}
	return h.First
}

type watchedName struct {
	Entry uint64 `json:"entry"`         // number of the last entry about the name, from 1
	Bad   Kind   `json:"bad,omitempty"` // kind of the alert that was reported
}

// A state is what a watcher knows about a log. It is stored in a file as JSON.
type state struct {
	Version int       `json:"version"`
	Origin  string    `json:"origin"`
	Heads   []head    `json:"heads"`          // verified heads of the same history, oldest first
	Checked uint64    `json:"checked"`        // all entries before this position were checked
	Newest  time.Time `json:"newest"`         // latest time of these entries
	Entries bool      `json:"entries"`        // the log publishes its entries
	Found   int       `json:"found,omitzero"` // number of alerts before an audit was interrupted

	// Names are the names below the watched prefixes that the server should have, by key.
	Names    map[string]watchedName `json:"names,omitempty"`
	NextName string                 `json:"nextName,omitempty"` // key of the next name to compare
}

// readState reads the file at path. If the file does not exist, readState returns a new state.
func readState(path string, log note.Verifier) (*state, error) {
	s := &state{Version: stateVersion, Origin: log.Name()}
	if path == "" {
		return s, nil
	}
	if err := durable.Sweep(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil && info.Size() > maxState {
		err = errors.New("the file is too large")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err == nil {
		s = new(state)
		err = json.Unmarshal(data, s)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case s.Version != stateVersion:
		return nil, fmt.Errorf("%s: unknown version %d; use a newer nomen", path, s.Version)
	case s.Origin != log.Name():
		return nil, fmt.Errorf("%s is about the log %q, not %q; use another file", path, s.Origin, log.Name())
	}
	for _, h := range s.Heads {
		if c, err := tlog.Open([]byte(h.Signed), log); err != nil || c.Size != h.Size {
			return nil, fmt.Errorf("%s: a head is not signed by the key of the log: %v", path, err)
		}
	}
	if n := len(s.Heads); n > 0 && s.Checked > s.Heads[n-1].Size || n == 0 && s.Checked > 0 {
		return nil, fmt.Errorf("%s: the position is beyond the log", path)
	}
	return s, nil
}

func (s *state) write(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, string(data)+"\n")
}

func (h head) checkpoint() tlog.Checkpoint {
	c, _ := tlog.Peek([]byte(h.Signed)) // verified by readState, or before it was added
	return c
}

// add adds a verified head. If there are too many heads, add removes every second head of the older
// half. The heads then still cover the whole time, but older heads have larger gaps.
func (s *state) add(signed []byte, size uint64, now time.Time) {
	if n := len(s.Heads); n > 0 && s.Heads[n-1].Size == size {
		s.Heads[n-1] = head{string(signed), size, now, s.Heads[n-1].since()}
		return
	}
	if len(s.Heads) == maxHeads {
		thin := s.Heads[:0:0]
		for i, h := range s.Heads {
			if i%2 == 0 || i > maxHeads/2 {
				thin = append(thin, h)
			}
		}
		s.Heads = slices.Clip(thin)
	}
	s.Heads = append(s.Heads, head{string(signed), size, now, now})
}
