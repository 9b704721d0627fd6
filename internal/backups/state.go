package backups

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// File is the name of the file with the state, in the data directory of a server.
const File = "backups.json"

const stateVersion = 1

// A State is the state of the scheduled backups of a server. It is saved in a file.
type State struct {
	Version int    `json:"version"`
	Plan    string `json:"plan,omitempty"` // describes the plan, or ""
	To      string `json:"to,omitempty"`   // directory of the plan
	Mount   bool   `json:"mount,omitzero"` // a file system is mounted at To

	Running   string    `json:"running,omitempty"`  // directory of the backup in progress
	Attempted time.Time `json:"attempted,omitzero"` // start of the last attempt
	Problem   string    `json:"problem,omitempty"`  // why the last attempt failed, or ""
	Failures  int       `json:"failures,omitempty"` // failed attempts in a row
	Interval  float64   `json:"interval,omitempty"` // usual time between two backups in seconds
	Next      time.Time `json:"next,omitzero"`      // when the next backup is due
	Others    int       `json:"others,omitempty"`   // number of backups in To that this server has not made, and so never deletes
	Backups   []*Backup `json:"backups"`            // made by this server and not deleted, oldest first
}

// A Backup describes a backup that the server has made.
type Backup struct {
	Dir     string    `json:"dir"`
	Made    time.Time `json:"made"`    // when it began
	Seconds float64   `json:"seconds"` // how long it took
	Bytes   int64     `json:"bytes"`   // size of its files
	Head    string    `json:"head"`    // head of the log in it

	Finished  bool      `json:"finished"`           // the rehearsal and the hook have ended, or were not due
	Rehearsed time.Time `json:"rehearsed,omitzero"` // when the rehearsal succeeded
	Problem   string    `json:"problem,omitempty"`  // why the rehearsal failed
	Sent      time.Time `json:"sent,omitzero"`      // when the hook succeeded
	HookError string    `json:"hook_error,omitempty"`
}

func (b *Backup) good() bool { return b.Problem == "" }

// Last returns the newest good backup, or nil.
func (s *State) Last() *Backup { return s.newest((*Backup).good) }

// LastRehearsed returns the newest backup whose rehearsal succeeded, or nil.
func (s *State) LastRehearsed() *Backup {
	return s.newest(func(b *Backup) bool { return b.good() && !b.Rehearsed.IsZero() })
}

func (s *State) newest(ok func(*Backup) bool) *Backup {
	for i := len(s.Backups) - 1; i >= 0; i-- {
		if ok(s.Backups[i]) {
			return s.Backups[i]
		}
	}
	return nil
}

func (s *State) clone() State {
	c := *s
	c.Backups = make([]*Backup, len(s.Backups))
	for i, b := range s.Backups {
		one := *b
		c.Backups[i] = &one
	}
	return c
}

// Read reads the state from the data directory of a server. If no backups were ever scheduled, the
// error is [fs.ErrNotExist].
func Read(data string) (s State, err error) {
	file := filepath.Join(data, File)
	b, err := os.ReadFile(file)
	if err == nil {
		if err = json.Unmarshal(b, &s); err == nil && s.Version != stateVersion {
			err = fmt.Errorf("version %d, expected %d", s.Version, stateVersion)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil {
		return State{}, err
	}
	for _, b := range s.Backups {
		if b == nil {
			return State{}, fmt.Errorf("%s: a backup is null", file)
		}
	}
	return s, nil
}

func (s *State) encode() []byte {
	s.Version = stateVersion
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("backups: " + err.Error()) // strings, numbers and times can always be marshalled
	}
	return append(b, '\n')
}

// setAside renames an unreadable state file, so that the next state does not overwrite it.
func setAside(data string) error {
	file := filepath.Join(data, File)
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.unread%d", file, n)
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(file, to)
		}
	}
}
