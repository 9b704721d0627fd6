package gateway

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// All pages together list every name once.
func TestGopherPages(t *testing.T) {
	var records []*store.Record
	for i := range 25 {
		records = append(records, here(fmt.Sprintf("n%02d", i)))
	}
	records[9].Status = nomen.Reserved
	at := burrow(t, GopherOptions{Page: 10}, records...)
	seen := map[string]int{}
	selector, pages := "/-/list/urn:dns:here.example", 0
	for selector != "" && pages < 10 {
		pages++
		next := ""
		for _, l := range menuLines(t, dig(t, at, selector+"\r\n")) {
			f := strings.Split(l, "\t")
			switch {
			case f[0] == "1More":
				next = f[1]
			case l[0] == '1':
				seen[f[1]]++
			}
		}
		selector = next
	}
	if len(seen) != 24 || pages != 3 || seen["urn:dns:here.example:n24"] != 1 || seen["urn:dns:here.example:n09"] != 0 {
		t.Errorf("%d pages: %v", pages, seen)
	}
	at = burrow(t, GopherOptions{Page: 1})
	root := dig(t, at, "\r\n")
	if !strings.Contains(root, "1More\t/-/authorities urn:dns:here.example\t") {
		t.Errorf("got %q", root)
	}
	if more := dig(t, at, "/-/authorities urn:dns:here.example\r\n"); !strings.Contains(more, "iurn:ietf:rfc") || strings.Contains(more, "More") {
		t.Errorf("got %q", more)
	}
}

// counting counts the records that are read of a store.
type counting struct {
	store.Reader
	read atomic.Int32
}

func (c *counting) List(ctx context.Context, s store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for rec, err := range c.Reader.List(ctx, s) {
			if c.read.Add(1); !yield(rec, err) {
				return
			}
		}
	}
}

// A page of a list reads a limited number of records, however many records are not listed, and does
// not show these.
func TestGopherListIsBounded(t *testing.T) {
	var records []*store.Record
	for i := range 300 {
		records = append(records, here(fmt.Sprintf("a%03d", i)), here(fmt.Sprintf("inner:secret%03d", i)))
		if records[2*i].Status = nomen.Reserved; i == 299 {
			records[2*i].Status = nomen.Active
		}
	}
	records = append(records, here("inner"), here("innermost"), here("z"))
	s := newStore(t, records, &store.Authority{Prefix: name.MustParsePrefix("urn:dns:here.example:inner"), Owners: []string{"a", "b"}})
	c := &counting{Reader: s}
	g, err := NewGopher(GopherOptions{Store: c, Authorities: store.NewTable(s, time.Now, time.Hour), Resolver: resolve.New(s, resolve.Options{}), Page: 10, Look: 100})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	selector := "/-/list/urn:dns:here.example"
	for pages := 1; selector != ""; pages++ {
		if pages > 10 {
			t.Fatal("no end")
		}
		m := &menu{host: "h", port: "70"}
		c.read.Store(0)
		g.serve(t.Context(), m, selector)
		if n := c.read.Load(); n > 101 {
			t.Errorf("%d records were read for a page", n)
		}
		if text := m.b.String(); strings.Contains(text, "secret") || strings.Contains(text, "a000") || strings.Contains(text, "a099") {
			t.Errorf("told %q", text)
		}
		selector = ""
		for _, l := range menuLines(t, m.b.String()) {
			switch f := strings.Split(l, "\t"); {
			case f[0] == "1More":
				selector = f[1]
			case l[0] == '1':
				seen = append(seen, f[0][1:])
			}
		}
	}
	if want := []string{"a299", "inner", "innermost", "z"}; !slices.Equal(seen, want) {
		t.Errorf("listed %q, want %q", seen, want)
	}
	other, err := NewGopher(g.o)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{other.seal("urn:dns:here.example:a100"), "~", "~%%"} {
		m := &menu{host: "h", port: "70"}
		g.serve(t.Context(), m, "/-/list/urn:dns:here.example "+place)
		if got := m.b.String(); !strings.HasPrefix(got, "3this page has expired; start the list again") {
			t.Errorf("%s: got %q", place, got)
		}
	}
}
