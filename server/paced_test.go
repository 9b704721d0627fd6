package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A slowWriter is a client that reads at a rate, and takes a while for each piece.
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

// A stream goes on for as long as its client reads at the least rate, and ends soon
// when it does not, however well that is spread over the steps.
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
				p := newPaced(&slowWriter{ResponseWriter: httptest.NewRecorder(), rate: tt.rate, pause: tt.pause}, step)
				began, b := time.Now(), make([]byte, tt.piece)
				var err error
				for time.Since(began) < time.Hour && err == nil {
					time.Sleep(tt.produce)
					_, err = p.Write(b)
				}
				if took := time.Since(began); errors.Is(err, errTooSlow) != tt.ends || tt.ends && took > 5*time.Minute {
					t.Errorf("ended after %v with %v, want an end %t", took, err, tt.ends)
				}
			})
		})
	}
}

// When all turns are taken by clients that read slowly, the slowest makes room for
// another one; a client that reads well is never ended for others.
func TestSlowReadersMakeRoom(t *testing.T) {
	const turns = 8
	s, m := newTestServer(t, func(o *Options) {
		o.Limits.Costly, o.Limits.Rate = turns, 1000
		o.Limits.Timeout = time.Minute
	})
	long := &store.Record{
		Spelling: "urn:dns:example.org:long", Name: name.MustParse("urn:dns:example.org:long"), Status: nomen.Active,
		Locations: []nomen.Location{{URL: "https://example.org/" + strings.Repeat("x", 4000)}},
	}
	if _, err := m.Apply(t.Context(), []store.Change{{Record: long, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	l := listen(t, s)
	list := strings.Repeat("urn:dns:example.org:long\n", 5000)
	for i := range turns { // each of an address of its own
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i))}}
		c, err := d.Dial("tcp", l.Public.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.(*net.TCPConn).SetReadBuffer(1 << 10)
		go fmt.Fprintf(c, "POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/uri-list\r\nContent-Length: %d\r\n\r\n%s", len(list), list)
	}
	taken := func() bool {
		back, err := s.turns.TakeFor(nil, 1)
		if err == nil {
			back()
		}
		return err != nil
	}
	for until := time.Now().Add(time.Minute); !taken(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the turns are not taken")
		}
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // after the grace period
		began := time.Now()
		_, got, _ := post(t, l, "", "text/uri-list", "urn:ietf:rfc:2648\n")
		if len(got) == 1 && got[0].Error == nil {
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("answered after %v", took)
			}
			break
		}
		if time.Now().After(until) {
			t.Fatal("another client is not answered")
		}
	}
}
