package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
)

// The intervals and limits of a scrub.
const (
	scrubStep     = 1024             // changes verified in one step
	scrubShare    = 10               // a scrub is active for at most 1/scrubShare of the time
	scrubPass     = 24 * time.Hour   // minimum time from the start of a pass to the start of the next
	scrubRetry    = time.Minute      // pause after a step that could not read the store
	scrubSave     = 30 * time.Second // interval at which the state is saved
	maxScrubLines = 100              // maximum number of faults that are logged in a pass
	scrubVersion  = 1                // version of the file format; see docs/reference/files.md
)

const scrubFile = "scrub.json"

// A scrub verifies the store in the background. About once a day, it makes a pass over all changes,
// from the first to the last. The slower the store responds, the longer the scrub pauses between
// two steps. It also pauses while a job is running.
type scrub struct {
	server *API
	source audit.Source
	rate   int // changes per second
	file   string

	mu          sync.Mutex
	state       scrubState
	saved       time.Time
	writeFailed bool // the last attempt to write the file failed and was logged
}

type scrubState struct {
	Version int       `json:"version"`
	Head    string    `json:"head"`           // head of the log up to the changes that this pass has verified
	Started time.Time `json:"started"`        // when this pass started
	Faults  uint64    `json:"faults"`         // faults that this pass has found
	Ended   time.Time `json:"ended,omitzero"` // when this pass was completed
	Last    struct {
		Ended  time.Time `json:"ended,omitzero"`
		Size   uint64    `json:"size"`
		Faults uint64    `json:"faults"`
	} `json:"last"` // the last complete pass
}

// newScrub returns a scrub of the store r. It returns nil if the rate is 0, or if the store cannot
// be verified in steps.
func newScrub(s *API, r store.Reader, rate int, dir string) *scrub {
	if rate <= 0 {
		return nil
	}
	source, err := audit.SourceOf(r)
	if err != nil {
		s.log.Info("scrub is not supported by this store", "err", err)
		return nil
	}
	c := &scrub{server: s, source: source, rate: rate}
	if dir != "" {
		c.file = filepath.Join(dir, scrubFile)
		c.state, err = readScrub(c.file)
	}
	if err != nil {
		s.log.Info("scrub restarts", "file", c.file, "err", err)
	}
	c.state.Version = scrubVersion
	return c
}

func readScrub(file string) (state scrubState, err error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &state)
	}
	if err == nil && state.Version != scrubVersion {
		err = fmt.Errorf("version %d, expected %d", state.Version, scrubVersion)
	}
	if err != nil {
		return scrubState{}, err
	}
	return state, nil
}

// known returns the current state, which is empty if c is nil.
func (c *scrub) known() scrubState {
	if c == nil {
		return scrubState{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// A ScrubState is the state of the background verification of the store.
type ScrubState struct {
	Ended          time.Time // end of the last complete pass; zero before the first
	Faults         uint64    // faults that the last complete pass found
	Changes, Found uint64    // changes verified and faults found by the current pass, or by the last pass between two passes
}

// Scrub returns the state of the background verification. If [Options] do not enable the
// verification, ok is false.
func (s *API) Scrub() (state ScrubState, ok bool) {
	known := s.scrub.known()
	h, _ := store.ParseHead(known.Head) // zero before the first step
	return ScrubState{known.Last.Ended, known.Last.Faults, h.Size, known.Faults}, s.scrub != nil
}

func (c *scrub) run(ctx context.Context) {
	for rest := time.Duration(0); ; {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			c.save(true)
			return
		}
		rest = c.step(ctx)
	}
}

// step verifies the next changes. It returns the pause before the next step.
func (c *scrub) step(ctx context.Context) time.Duration {
	s := c.server
	state := c.known()
	if wait := state.Started.Add(scrubPass).Sub(s.now()); !state.Ended.IsZero() && wait > 0 {
		return min(wait, time.Hour)
	}
	if s.jobs.busy() {
		return time.Second
	}
	var since store.Head
	if state.Ended.IsZero() && state.Head != "" {
		since, _ = store.ParseHead(state.Head) // if the head is invalid, the pass starts again
	}
	if since == (store.Head{}) {
		last := state.Last
		state = scrubState{Version: scrubVersion, Started: s.now().UTC(), Last: last}
	}
	begun := time.Now()
	next, err := audit.Since(ctx, c.source, since, scrubStep, func(f store.Fault) { c.found(&state, f) }, nil)
	took := time.Since(begun)
	if err != nil {
		return c.failed(ctx, err, since, state)
	}
	done := next.Size - since.Size
	if state.Head = next.String(); done < scrubStep {
		state.Ended = s.now().UTC()
		state.Last.Ended, state.Last.Size, state.Last.Faults = state.Ended, next.Size, state.Faults
		s.log.Debug("scrub complete", "changes", next.Size, "faults", state.Faults, "took", state.Ended.Sub(state.Started))
	}
	c.set(state)
	c.save(!state.Ended.IsZero())
	return max(time.Duration(done)*time.Second/time.Duration(c.rate)-took, (scrubShare-1)*took)
}

// found counts a fault. It logs the fault unless the pass has reached the limit of logged faults.
func (c *scrub) found(state *scrubState, f store.Fault) {
	if state.Faults++; state.Faults <= maxScrubLines {
		j := adminapi.NewFault(f)
		c.server.log.Error("scrub found a fault in the store", "kind", j.Kind, "key", j.Key, "change", j.Seq, "problem", j.Problem)
	}
}

// failed handles an error of a step. If the store no longer matches the verified changes, the next
// step starts a new pass.
func (c *scrub) failed(ctx context.Context, err error, since store.Head, state scrubState) time.Duration {
	var wrong *store.HeadError
	switch {
	case errors.As(err, &wrong) && since != (store.Head{}):
		c.server.log.Warn("scrub restarts: the store does not match the changes verified before", "head", wrong.Since.String(), "reason", wrong.Reason)
		c.set(scrubState{Version: scrubVersion, Last: state.Last})
	case ctx.Err() == nil:
		c.server.log.Warn("scrub cannot read the store", "err", err)
	}
	return scrubRetry
}

func (c *scrub) set(state scrubState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// save writes the state to the file from time to time. If now is true, it writes immediately.
func (c *scrub) save(now bool) {
	if c.file == "" || !now && time.Since(c.saved) < scrubSave {
		return
	}
	c.saved = time.Now()
	b, err := json.Marshal(c.known())
	if err == nil {
		err = durable.Write(durable.Disk{Mode: durable.Private}, c.file, b)
	}
	switch {
	case err != nil && !c.writeFailed:
		c.server.log.Warn("cannot save the state of the scrub", "file", c.file, "err", err)
	case err == nil && c.writeFailed:
		c.server.log.Info("the state of the scrub is saved again", "file", c.file)
	}
	c.writeFailed = err != nil
}

func (js *jobTable) busy() bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if js.runs(j) {
			return true
		}
	}
	return false
}
