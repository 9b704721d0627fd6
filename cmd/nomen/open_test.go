package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nomen-project/nomen/store/pebblestore"
)

// A command waits for a while for a store that another command has open.
func TestWhenFree(t *testing.T) {
	for _, tt := range []struct {
		name   string
		locked int // how often the store is found locked
		want   error
	}{
		{"free", 0, nil},
		{"soon free", 3, nil},
		{"never free", 1 << 30, pebblestore.ErrLocked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cli{data: t.TempDir(), streams: streams{err: io.Discard}}
				tries := 0
				_, remote, err := c.whenFree(t.Context(), func() (*pebblestore.Store, error) {
					if tries++; tries <= tt.locked {
						return nil, fmt.Errorf("store: %w", pebblestore.ErrLocked)
					}
					return nil, nil
				})
				if !errors.Is(err, tt.want) || remote != nil {
					t.Errorf("got %v, %v; want %v", remote, err, tt.want)
				}
				if tt.want == nil && tries != tt.locked+1 {
					t.Errorf("%d tries, want %d", tries, tt.locked+1)
				}
			})
		})
	}
}

// Commands that run at the same time all succeed: each waits for the others. A command that gives
// up says that another process has the store open.
func TestCommandsAtOnce(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	const many = 8
	ended := make(chan string, many)
	for i := range many {
		go func() {
			var out, log strings.Builder
			args := []string{"--data", data, "put", fmt.Sprint("urn:example:", i), "https://h.example/"}
			for run(t.Context(), args, streams{strings.NewReader(""), &out, &log}) != exitYes {
				if !strings.Contains(log.String(), pebblestore.ErrLocked.Error()) || t.Context().Err() != nil {
					ended <- log.String()
					return
				}
				log.Reset() // on a busy machine it can give up: run it again
			}
			ended <- ""
		}()
	}
	for range many {
		if failure := <-ended; failure != "" {
			t.Error(failure)
		}
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data directory: %v, %v; want mode 0700", info, err)
	}
}
