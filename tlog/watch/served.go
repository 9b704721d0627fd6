package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/receipt"
)

// Served compares the content that a server shows for a name with the log of the server.
type Served interface {
	// Compare compares the content that the server shows for the name with this key with the log.
	// The last entry about the name has the given number, which starts at 1. Compare returns an
	// alert if the content does not match, or if the server does not have the name. It returns an
	// error if the server could not be asked.
	Compare(ctx context.Context, key string, entry uint64) (*Alert, error)
}

// namesEachTime is the number of names that a watcher compares in a check. Each check continues
// where the previous check ended.
const namesEachTime = 100

// maxUnanswered is the number of names without an answer after which a watcher stops comparing
// names in a check, because the server seems to be unavailable.
const maxUnanswered = 3

// public reports whether the record of a name is public after an entry.
func public(leaf *codec.Leaf) bool {
	return leaf.Subject.Kind == store.KindName && (leaf.Status == nomen.Active || leaf.Status == nomen.Retired)
}

// note adds the name of an entry to the names that the watcher compares. If the name is no longer
// public, note removes it.
func (c *checking) note(_ context.Context, index uint64, leaf *codec.Leaf) {
	switch {
	case leaf.Subject.Kind == store.KindName && !public(leaf):
		delete(c.state.Names, leaf.Subject.Key)
	case public(leaf) && (len(c.state.Names) < maxNames || c.state.Names[leaf.Subject.Key].Entry > 0):
		if c.state.Names == nil {
			c.state.Names = map[string]watchedName{}
		}
		c.state.Names[leaf.Subject.Key] = watchedName{Entry: index + 1}
	}
}

// compare compares the name of an entry with the server. It is used in an audit.
func (c *checking) compare(ctx context.Context, index uint64, leaf *codec.Leaf) {
	if !public(leaf) {
		return
	}
	a, err := c.Served.Compare(ctx, leaf.Subject.Key, index+1)
	if err != nil {
		c.report.Unanswered++
		return
	}
	if c.report.Served++; a != nil {
		a.Entry, a.Name = index+1, leaf.Subject.Key
		c.alert(a)
	}
}

// compareNames compares the next names with the server. It reports the same fault of a name only
// once.
func (c *checking) compareNames(ctx context.Context) {
	keys := make([]string, 0, len(c.state.Names))
	for key := range c.state.Names {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	from, _ := slices.BinarySearch(keys, c.state.NextName)
	for i := range min(len(keys), namesEachTime) {
		key := keys[(from+i)%len(keys)]
		c.state.NextName = keys[(from+i+1)%len(keys)]
		was := c.state.Names[key]
		a, err := c.Served.Compare(ctx, key, was.Entry)
		if err != nil { // a later check asks the server again
			if c.report.Unanswered++; c.report.Unanswered == maxUnanswered {
				return
			}
			continue
		}
		now := watchedName{Entry: was.Entry}
		if c.report.Served++; a != nil {
			now.Bad = a.Kind
			if was.Bad != a.Kind {
				a.Entry, a.Name = was.Entry, key
				c.alert(a)
			}
		}
		c.state.Names[key] = now
	}
}

// Server is a nomen server that serves names and their receipts. It implements [Served].
type Server struct {
	root      string // URL of the server without its path
	client    *http.Client
	key       note.Verifier
	witnesses []note.Verifier
}

// NewServer returns the server that publishes a log. The parameter address is the URL of the log,
// which ends with /-/log. The parameter key is the key of the log.
func NewServer(address string, transport http.RoundTripper, key note.Verifier, witnesses ...note.Verifier) (*Server, error) {
	root, ok := strings.CutSuffix(strings.TrimRight(address, "/"), "/-/log")
	if !ok {
		return nil, fmt.Errorf("the URL %q does not end with /-/log, so it is not that of a server of nomen, but perhaps of a copy of its log", shown.Short(address, 200))
	}
	return &Server{root: root, client: noRedirects(transport, requestTimeout), key: key, witnesses: witnesses}, nil
}

// Compare implements [Served]. It verifies the receipt of the name, and checks that a redirect of
// the server leads to a location in the receipt.
func (s *Server) Compare(ctx context.Context, key string, entry uint64) (*Alert, error) {
	path := format.NamePath(key)
	text := shown.Short(key, 200)
	data, _, err := s.get(ctx, "/-/proof"+path, tlog.MaxProof)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return alertf(Dropped, "%s: the server does not have the name, but entry %d of the log is about it", text, entry), nil
	case err != nil:
		return nil, err
	}
	r, err := receipt.Check(data, s.key, s.witnesses...)
	switch {
	case err != nil:
		return alertf(Altered, "%s: the receipt of the server is not valid: %v", text, err), nil
	case r.Leaf.Subject != (store.Subject{Kind: store.KindName, Key: name.FromKey(key).Key()}):
		return alertf(Altered, "%s: the receipt of the server is about another name", text), nil
	case r.Seq < entry:
		return alertf(Altered, "%s: the server shows entry %d, but the log has the newer entry %d", text, r.Seq, entry), nil
	case r.Change == nil || r.Change.Record == nil || r.Leaf.Status != nomen.Active || len(r.Change.Record.Locations) == 0:
		return nil, nil
	}
	_, location, err := s.get(ctx, path, 1)
	switch {
	case errors.Is(err, fs.ErrNotExist) && alwaysValid(r.Change.Record.Locations):
		return alertf(Dropped, "%s: the server has a receipt for the name, but does not answer requests for the name itself, which entry %d of the log says is active", text, r.Seq), nil
	case err != nil || location == "":
		return nil, nil // the receipt shows that the server has the name
	}
	for _, l := range r.Change.Record.Locations {
		if sameURL(l.URL, location) {
			return nil, nil
		}
	}
	return alertf(Retargeted, "%s: the server redirects to %s, which is not a location of the record in the log (entry %d)", text, shown.Short(location, 200), r.Seq), nil
}

// alwaysValid reports whether the record has a valid location at any time.
func alwaysValid(locations []nomen.Location) bool {
	return slices.ContainsFunc(locations, func(l nomen.Location) bool { return l.ValidFrom == "" && l.ValidUntil == "" })
}

func sameURL(location, redirect string) bool {
	a, errA := url.Parse(location)
	b, errB := url.Parse(redirect)
	return location == redirect || errA == nil && errB == nil && a.String() == b.String()
}

// get returns a response body of at most limit bytes, and the Location of a redirect. If the server
// does not have the resource, the error is [fs.ErrNotExist].
func (s *Server) get(ctx context.Context, path string, limit int64) (body []byte, location string, err error) {
	pause := firstWait
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+path, nil)
		if err != nil {
			return nil, "", err
		}
		resp, err := s.client.Do(req)
		if err != nil {
			return nil, "", err
		}
		body, err = io.ReadAll(io.LimitReader(resp.Body, limit))
		resp.Body.Close()
		switch status := resp.StatusCode; {
		case status == http.StatusNotFound || status == http.StatusGone:
			return nil, "", fs.ErrNotExist
		case status/100 == 3:
			return nil, resp.Header.Get("Location"), nil
		case (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) && try < maxTries:
			pause *= 2
			select {
			case <-time.After(pause / 2):
				continue
			case <-ctx.Done():
				return nil, "", ctx.Err()
			}
		case status != http.StatusOK:
			return nil, "", fmt.Errorf("%s: status %d", path, status)
		}
		return body, "", err
	}
}
