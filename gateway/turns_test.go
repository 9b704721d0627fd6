package gateway

import (
	"net/netip"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	turns := NewTurns(3, 2)
	take := func(from string, want bool) func() {
		t.Helper()
		back, err := turns.TakeFor(&Client{Addr: netip.MustParseAddr(from)}, 1)
		if (err == nil) != want {
			t.Fatalf("%s: got the error %v, want one: %t", from, err, !want)
		}
		return back
	}
	first := take("2a00:1:2:3::1", true)
	second := take("2a00:1:2:3::2", true)
	take("2a00:1:2:3::3", false)
	third := take("192.0.2.1", true)
	take("192.0.2.2", false)
	first()
	first() // a second call does nothing
	take("192.0.2.1", true)()
	take("2a00:1:2:3::3", true)()
	second()
	third()
	if turns.taken.n != 0 || len(turns.taken.of) != 0 {
		t.Errorf("%d are taken, of %v", turns.taken.n, turns.taken.of)
	}
}

// A client that is not an own user cannot take all turns: other clients, including own users, get
// the rest.
func TestOneStranger(t *testing.T) {
	d := mustDoor(t, Access{Policy: All, Own: prefixes("10.0.0.0/8"), Total: 8, Burst: 100})
	n := 0
	for range 20 {
		if _, err := d.enter(&Client{Addr: netip.MustParseAddr("192.0.2.1")}); err == nil {
			n++
		}
	}
	if n != 2 {
		t.Errorf("one stranger got in %d times, want 2", n)
	}
	for i := range 6 {
		if _, err := d.enter(&Client{Addr: netip.MustParseAddr("10.0.0.1")}); err != nil {
			t.Errorf("own user %d: %v", i, err)
		}
	}
}

// New limits apply to what is taken later; a waiting client gets a turn that becomes free.
func TestResize(t *testing.T) {
	turns := NewTurns(2, 1)
	client := func(n byte) *Client { return &Client{Addr: netip.AddrFrom4([4]byte{192, 0, 2, n})} }
	for n := range byte(2) {
		if _, err := turns.TakeFor(client(n), 1); err != nil {
			t.Fatal(err)
		}
	}
	waited := make(chan error)
	go func() {
		_, err := turns.Wait(t.Context(), client(9), "")
		waited <- err
	}()
	for turns.waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	turns.Resize(4, 2)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if _, err := turns.TakeFor(client(0), 1); err != nil {
		t.Errorf("a second turn of a client: %v", err)
	}
	turns.Resize(1, 1)
	if _, err := turns.TakeFor(client(8), 1); err == nil {
		t.Error("got a turn above the new limit")
	}
}

// waiting returns how many clients wait.
func (t *Turns) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wait.n
}
