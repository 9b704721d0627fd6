package paced

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A slowWriter is a client that reads at a given rate, with a pause after each piece.
type slowWriter struct {
	http.ResponseWriter
	rate     int // bytes a second
	pause    time.Duration
	deadline time.Time
}

func (w *slowWriter) SetWriteDeadline(t time.Time) error { w.deadline = t; return nil }
func (w *slowWriter) SetReadDeadline(time.Time) error    { return nil }
func (w *slowWriter) FlushError() error                  { return nil }

func (w *slowWriter) Write(b []byte) (int, error) {
	takes := w.pause + time.Duration(len(b))*time.Second/time.Duration(w.rate)
	if left := time.Until(w.deadline); takes > left {
		time.Sleep(max(left, 0))
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(takes)
	return len(b), nil
}

// A stream continues as long as its client reads at the minimum rate, and is aborted soon when it
// does not, even if each single step is fast enough.
func TestPaced(t *testing.T) {
	const step = 30 * time.Second
	for _, tt := range []struct {
		name        string
		rate, piece int
		pause       time.Duration // of the client, for each piece
		produce     time.Duration // of the server, for each piece
		ends        bool
	}{
		{"fast", 1 << 20, 32 << 10, 0, 0, false},
		{"a slow line", 6 << 10, 4 << 10, 0, 0, false},
		{"a slow server", 1 << 20, 100, 0, time.Minute, false},
		{"fits and starts", 1 << 20, 128 << 10, 25 * time.Second, 0, false},
		{"one byte at a time", 1, 1, 28 * time.Second, 0, true},
		{"one piece at a time", 1 << 20, 4 << 10, 29 * time.Second, 0, true},
		{"a little too slow", 3 << 10, 4 << 10, 0, 0, true},
		{"nothing", 1 << 20, 4 << 10, time.Hour, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewWriter(&slowWriter{ResponseWriter: httptest.NewRecorder(), rate: tt.rate, pause: tt.pause}, step)
				began, b := time.Now(), make([]byte, tt.piece)
				var err error
				for time.Since(began) < time.Hour && err == nil {
					time.Sleep(tt.produce)
					_, err = p.Write(b)
				}
				if took := time.Since(began); errors.Is(err, ErrTooSlow) != tt.ends || tt.ends && took > 5*time.Minute {
					t.Errorf("ended after %v with %v, want an end %t", took, err, tt.ends)
				}
			})
		})
	}
}
