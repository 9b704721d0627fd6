package server

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// If clients that read slowly have all turns, the stream of the slowest client is aborted when
// another client needs a turn. The stream of a client that reads fast enough is never aborted.
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
