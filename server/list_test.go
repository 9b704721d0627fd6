package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// endless is a store with an infinite list.
type endless struct{ store.Reader }

func (endless) List(ctx context.Context, _ store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		rec := &store.Record{Name: name.MustParse("urn:dns:example.org:x"), Status: nomen.Active}
		for ctx.Err() == nil {
			if !yield(rec, nil) {
				return
			}
		}
		yield(nil, ctx.Err())
	}
}

// Y95-57: the list streams: its first lines arrive before the last are written, and it
// ends when the client closes.
func TestListStreams(t *testing.T) {
	s, st := newTestServer(t, nil)
	s.store = endless{st}
	l := listen(t, s)
	c, err := net.Dial("tcp", l.Public.String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, "GET /-/list/urn:dns:example.org HTTP/1.1\r\nHost: x\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 3)
	if _, err := io.ReadFull(resp.Body, line); err != nil || string(line) != "x\r\n" {
		t.Errorf("got %q, %v", line, err)
	}
	c.Close()
	stop(t, l) // hangs if the list continues
}

// A counting store counts the records read, each of which takes some time.
type counting struct {
	store.Reader
	read int
	time time.Time
}

func (c *counting) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for rec, err := range c.Reader.List(ctx, scan) {
			c.read++
			c.time = c.time.Add(10 * time.Millisecond)
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Unlisted records cost little: those of other authorities are skipped, and the search
// for the next name is limited in time.
func TestListPassesOver(t *testing.T) {
	s, st := newTestServer(t, func(o *Options) { o.Limits.Timeout = 5 * time.Second })
	owners := []string{"a", "b"}
	changes := []store.Change{
		{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-list:a"), Owners: owners, List: true}},
		{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-list:a:b"), Owners: owners}},
	}
	put := func(key string, status nomen.Status) {
		changes = append(changes, store.Change{Time: modified, Record: &store.Record{Name: name.MustParse(key), Spelling: key, Status: status}})
	}
	put("urn:x-list:a:a", nomen.Active)
	for i := range 3000 {
		put(fmt.Sprintf("urn:x-list:a:b:%04d", i), nomen.Active)
	}
	put("urn:x-list:a:c", nomen.Active)
	apply := func() {
		t.Helper()
		if _, err := st.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
		changes = nil
	}
	apply()
	c := &counting{Reader: st}
	s.store, s.now = c, func() time.Time { return c.time }
	set, err := s.authorities.Set(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	a := authorityWithPrefix(set, "urn:x-list:a")
	list := func() (all []string, err error) {
		for element, err := range s.elements(t.Context(), set, a) {
			if err != nil {
				return all, err
			}
			all = append(all, element)
		}
		return all, nil
	}
	if all, err := list(); err != nil || !slices.Equal(all, []string{"a", "c"}) || c.read > 5 {
		t.Errorf("got %q, %v; read %d records", all, err, c.read)
	}
	c.read = 0
	if n, err := s.sizes.of(t.Context(), s, set, a); err != nil || n.names != 2 || n.more || c.read > 5 {
		t.Errorf("the size is %+v, %v; read %d records", n, err, c.read)
	}
	for i := range 3000 {
		put(fmt.Sprintf("urn:x-list:a:a%04d", i), nomen.Reserved)
	}
	apply()
	c.read = 0
	s.limits.Timeout = 5 * time.Second
	if all, err := list(); !errors.Is(err, errTooFar) || !slices.Equal(all, []string{"a"}) || c.read != 2001 {
		t.Errorf("among reserved names: got %q, %v; read %d records", all, err, c.read)
	}
	s.limits.Timeout = time.Hour
	if all, err := list(); err != nil || !slices.Equal(all, []string{"a", "c"}) {
		t.Errorf("with patience: got %q, %v", all, err)
	}
}

// A list that fails does not look complete.
func TestListBreaksOff(t *testing.T) {
	s, st := newTestServer(t, nil)
	b := &breaking{Reader: st}
	s.store = b
	l := listen(t, s)
	resp, err := http.Get("http://" + l.Public.String() + "/-/list/urn:dns:example.org")
	if err != nil {
		return // aborted before the header was sent
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil || resp.StatusCode != 200 || b.calls != 3 {
		t.Errorf("got %d, %q, and no error; %d lists", resp.StatusCode, body, b.calls)
	}
}

// The list of a breaking store fails when it is read for the third time: after counting
// and measuring.
type breaking struct {
	store.Reader
	calls int
}

func (b *breaking) List(context.Context, store.Scan) iter.Seq2[*store.Record, error] {
	b.calls++
	broken := b.calls > 2
	return func(yield func(*store.Record, error) bool) {
		for _, spelling := range []string{"urn:dns:example.org:x", "urn:dns:example.org:y"} {
			if !yield(&store.Record{Name: name.MustParse(spelling), Status: nomen.Active}, nil) {
				return
			}
			if broken {
				yield(nil, errors.New("disk on fire"))
				return
			}
		}
	}
}
