package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen/internal/race"
	"github.com/nomen-project/nomen/uri"
)

// An address that does not answer delays the connection only a moment. Addresses that an untrusted
// locator must not reach are not tried.
func TestAddressesByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.host("whois.example", "10.0.0.1 8.8.8.8 9.9.9.9")
		var mu sync.Mutex
		var dialed, told []string
		f := newFetcher(t, Options{
			DNS: w,
			Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
				mu.Lock()
				dialed = append(dialed, address)
				mu.Unlock()
				if address == "8.8.8.8:43" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				ours, theirs := net.Pipe()
				go func() {
					readOneLine(theirs)
					io.WriteString(theirs, "a user\r\n")
					theirs.Close()
				}()
				return ours, nil
			},
			Trace: func(s string) { told = append(told, s) },
		})
		start := time.Now()
		o, err := f.Open(t.Context(), uri.MustParse("whois://whois.example/x"), Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Body.Close()
		if text, err := io.ReadAll(o.Body); string(text) != "a user\n" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
		if took := time.Since(start); took != race.Stagger {
			t.Errorf("it took %v, want %v", took, race.Stagger)
		}
		if want := []string{"8.8.8.8:43", "9.9.9.9:43"}; !slices.Equal(dialed, want) {
			t.Errorf("dialled %q, want %q", dialed, want)
		}
		if len(told) < 2 {
			t.Errorf("told %q", told)
		}
	})
}

// readOneLine reads a line.
func readOneLine(r io.Reader) {
	var b [1]byte
	for b[0] != '\n' {
		if _, err := r.Read(b[:]); err != nil {
			return
		}
	}
}

// If no address answers, the error comes after the timeout of one attempt, not of each.
func TestNoAddressAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.host("whois.example", "8.8.8.8 9.9.9.9 8.8.4.4")
		f := newFetcher(t, Options{DNS: w, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		start := time.Now()
		_, err := f.Open(t.Context(), uri.MustParse("whois://whois.example/x"), Request{})
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != DefaultTimeout {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
