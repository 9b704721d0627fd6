package admin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/search"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// searchable serves names under two prefixes with a search index, and returns a client that may
// administer all of them.
func searchable(t *testing.T) (*adminapi.Client, *failingFeed, *search.Index) {
	t.Helper()
	feed := &failingFeed{}
	var x *search.Index
	api, s := newTestAPI(t, func(o *Options) {
		var err error
		feed.Store = o.Store.(*memstore.Store)
		if x, err = search.Open(search.Options{Dir: "search", FS: vfs.NewMem(), Store: feed}); err != nil {
			t.Fatal(err)
		}
		o.Search = x
	})
	t.Cleanup(func() { _ = x.Close() })
	var changes []store.Change
	for i := range 4 {
		for _, prefix := range []string{"urn:x-find:mine:", "urn:x-find:mine2:", "urn:x-find:other:"} {
			key := fmt.Sprintf("%s%d", prefix, i)
			changes = append(changes, store.Change{Time: testNow, Record: &store.Record{
				Name: name.MustParse(key), Spelling: key, Status: []nomen.Status{nomen.Active, nomen.Reserved}[i%2],
				Metadata: nomen.Metadata{"title": {fmt.Sprintf("Zettelkasten Nr. %d", i)}},
			}})
		}
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &adminapi.Client{URL: "http://" + listen(t, api).Admin.String()}
	c.Token = grant(t, s, adminapi.AdministratorGrant())
	return c, feed, x
}

// A failingFeed is a store whose log cannot be read if fails is set.
type failingFeed struct {
	*memstore.Store
	fails bool
}

var errFeed = errors.New("the log cannot be read")

func (f *failingFeed) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	if !f.fails {
		return f.Store.Changes(ctx, after)
	}
	return func(yield func(*store.Entry, error) bool) { yield(nil, errFeed) }
}

// found returns the keys of all pages of a search.
func found(t *testing.T, c *adminapi.Client, q adminapi.Search) (keys []string) {
	t.Helper()
	for {
		page, err := c.SearchNames(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Names {
			keys = append(keys, r.Spelling)
		}
		if q.After = page.Next; q.After == "" {
			return keys
		}
	}
}

func TestSearchNames(t *testing.T) {
	c, s, x := searchable(t)
	of := func(role string, prefixes ...string) *adminapi.Client {
		return &adminapi.Client{URL: c.URL, Token: grant(t, s.Store, adminapi.Grant{Who: "w", Role: role, Prefixes: prefixes})}
	}
	mine := []string{"urn:x-find:mine:0", "urn:x-find:mine:1", "urn:x-find:mine:2", "urn:x-find:mine:3"}
	for _, tt := range []struct {
		what   string
		client *adminapi.Client
		search adminapi.Search
		want   []string
	}{
		{"a prefix", c, adminapi.Search{Text: "zettel", Prefix: "urn:x-find:mine:"}, mine},
		{"pages", c, adminapi.Search{Text: "zettel", Prefix: "urn:x-find:mine:", Limit: 1}, mine},
		{"after", c, adminapi.Search{Text: "zettel", Prefix: "urn:x-find:mine:", After: mine[1]}, mine[2:]},
		{"a status", c, adminapi.Search{Text: "zettel", Prefix: "urn:x-find:mine:", Statuses: []nomen.Status{nomen.Reserved}}, []string{mine[1], mine[3]}},
		{"words", c, adminapi.Search{Text: "3 zettelkasten", Prefix: "urn:x-find:mine:"}, mine[3:]},
		{"own names", of("reader", "urn:x-find:mine"), adminapi.Search{Text: "zettel"}, mine},
		{"own names by pages", of("reader", "urn:x-find:mine"), adminapi.Search{Text: "zettel", Limit: 1}, mine},
		{"names of others", of("administrator", "urn:x-find:mine"), adminapi.Search{Text: "zettel", Prefix: "urn:x-find:other:"}, nil},
		{"names that nothing has", of("reader", "urn:x-none"), adminapi.Search{Text: "zettel"}, nil},
	} {
		if got := found(t, tt.client, tt.search); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
	if _, err := s.Apply(t.Context(), []store.Change{{Time: testNow, Delete: name.MustParse(mine[1]), Expected: 1}}); err != nil {
		t.Fatal(err)
	}
	if got := found(t, c, adminapi.Search{Text: "zettel", Prefix: "urn:x-find:mine:"}); slices.Contains(got, mine[1]) {
		t.Errorf("got %q, which has a deleted name", got)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SearchNames(t.Context(), adminapi.Search{Text: "zettel"}); !isNoIndex(err) {
		t.Errorf("got %v for an index that is closed", err)
	}
}

func isNoIndex(err error) bool {
	var status *adminapi.StatusError
	return errors.As(err, &status) && status.Kind == adminapi.KindNoIndex && status.Status == http.StatusServiceUnavailable
}

// TestSearchStatus: a search says how complete its index is, but only users with rights on all names
// learn how many changes it lacks.
func TestSearchStatus(t *testing.T) {
	c, s, x := searchable(t)
	scoped := &adminapi.Client{URL: c.URL, Token: grant(t, s.Store, adminapi.Grant{Who: "w", Role: "reader", Prefixes: []string{"urn:x-find:mine"}})}
	index := func(c *adminapi.Client) adminapi.Index {
		t.Helper()
		page, err := c.SearchNames(t.Context(), adminapi.Search{Text: "zettel"})
		if err != nil {
			t.Fatal(err)
		}
		return page.Index
	}
	if got, want := index(c), (adminapi.Index{Complete: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := s.Apply(t.Context(), []store.Change{{Time: testNow, Delete: name.MustParse("urn:x-find:mine:1"), Expected: 1}}); err != nil {
		t.Fatal(err)
	}
	s.fails = true
	if err := x.CatchUp(t.Context()); !errors.Is(err, errFeed) {
		t.Fatalf("got %v, want %v", err, errFeed)
	}
	if got, want := index(c), (adminapi.Index{Behind: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := index(scoped), (adminapi.Index{}); got != want {
		t.Errorf("with a prefix: got %+v, want %+v", got, want)
	}
	building := store.IndexStatus{Names: 7, Head: 9}
	if got, want := adminapi.NewIndex(building, true), (adminapi.Index{Building: true, Names: 7, Behind: 9}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := adminapi.NewIndex(building, false), (adminapi.Index{Building: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSearchRequests(t *testing.T) {
	c, _, _ := searchable(t)
	none, s := newTestAPI(t, nil)
	d := counter{t, c.URL, c.Token}
	for path, want := range map[string]int{
		"search": 400, "search?text=": 400, "search?text=-": 400, "search?text=a&limit=0": 400, "search?text=a&status=x": 400, "search?text=a&x=y": 400,
		"search?text=a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a": 400, "search?text=none": 200,
	} {
		if got, body := d.do("GET", path, ""); got != want {
			t.Errorf("%s: got %d, want %d: %s", path, got, want, body)
		}
	}
	off := &adminapi.Client{URL: "http://" + listen(t, none).Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	if _, err := off.SearchNames(t.Context(), adminapi.Search{Text: "a"}); !isNoIndex(err) {
		t.Errorf("without an index: got %v", err)
	}
}
