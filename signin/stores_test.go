package signin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A realStage is a stage whose users and sessions are in a store. Its nodes share the store; if the
// store supports only one node, they are the same.
type realStage struct {
	*stage
	registrar *registrar.Registrar // at the second node
	users     store.Users
	id        string // of a user
}

// onStores runs a test on each kind of store.
func onStores(t *testing.T, test func(s *realStage)) {
	t.Run("memstore", func(t *testing.T) {
		m := memstore.New()
		test(newRealStage(t, m, m))
	})
	t.Run("pebblestore", func(t *testing.T) {
		p, err := pebblestore.Open(pebblestore.Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		test(newRealStage(t, p, p))
	})
	if testing.Short() {
		return
	}
	t.Run("pgstore", func(t *testing.T) {
		server, err := pgtest.Start(pgtest.Options{})
		if err != nil {
			testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
		}
		t.Cleanup(func() { _ = server.Stop() })
		var nodes [2]store.Store
		for i := range nodes {
			p, err := pgstore.Open(t.Context(), pgstore.Options{URL: server.URL()})
			if err == nil {
				nodes[i], err = cachestore.New(t.Context(), p, cachestore.Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = nodes[i].Close() })
		}
		test(newRealStage(t, nodes[0], nodes[1]))
	})
}

func newRealStage(t *testing.T, nodes ...store.Store) *realStage {
	t.Helper()
	s := &realStage{stage: newStage(t, nil), registrar: registrar.New(nodes[1], registrar.Options{})}
	for i, node := range nodes {
		users, err := store.UsersOf(node)
		if err != nil {
			t.Fatal(err)
		}
		vault, err := store.VaultOf(node)
		if err != nil {
			t.Fatal(err)
		}
		s.users = users
		s.nodes[i].o.Vault, s.nodes[i].o.People = vault, Users{users, registrar.New(node, registrar.Options{})}
	}
	s.id = s.put(&store.User{Name: "Anna", Grants: []store.UserGrant{{Role: "editor"}}})
	return s
}

// put creates or replaces a user, and returns the ID.
func (s *realStage) put(u *store.User) string {
	s.Helper()
	out, err := s.registrar.PutUser(s.Context(), registrar.Operator(), u, store.AnyRevision, "")
	if err != nil {
		s.Fatal(err)
	}
	return out.User.ID
}

// edit changes the user.
func (s *realStage) edit(change func(*store.User)) {
	s.Helper()
	u, err := s.users.User(store.Fresh(s.Context()), s.id, noon.AddDate(100, 0, 0))
	if err != nil {
		s.Fatal(err)
	}
	u = u.Clone()
	change(u)
	s.put(u)
}

// TestDisabledMeanwhile: the sessions and links of a user who was disabled do not come back when the
// user is enabled again, even if there was no request meanwhile and no server was notified.
func TestDisabledMeanwhile(t *testing.T) {
	onStores(t, func(s *realStage) {
		old, other := s.browser(), s.browser()
		other.node = 1
		old.link(s.id)
		other.link(s.id)
		link, _, err := s.nodes[0].Link(s.Context(), s.id)
		if err != nil {
			s.Fatal(err)
		}
		s.edit(func(u *store.User) { u.Mail = "anna@example.org" })
		if old.user() != s.id || other.user() != s.id {
			s.Error("a change of the address ends a session")
		}
		s.edit(func(u *store.User) { u.Disabled = true })
		s.edit(func(u *store.User) { u.Disabled = false })
		later := s.browser()
		later.link(s.id)
		if got := old.user(); got != "" {
			s.Error("the session came back")
		}
		if got := later.get(sessionsPath); len(got.Sessions) != 1 {
			s.Errorf("sessions: %+v, want the one that is valid", got.Sessions)
		}
		if got := other.user(); got != "" {
			s.Error("the session at the other node came back")
		}
		if got := later.user(); got != s.id {
			s.Error("the new session ended too")
		}
		if p := s.browser().get(link); p.status != http.StatusGone {
			s.Errorf("the link: %d, want 410", p.status)
		}
		s.edit(func(u *store.User) { u.Disabled = true })
		if got := later.user(); got != "" {
			s.Error("a disabled user is signed in")
		}
	})
}

// TestRedactedMeanwhile: the removal of the content of the revision in which a user was disabled does
// not bring sessions back.
func TestRedactedMeanwhile(t *testing.T) {
	onStores(t, func(s *realStage) {
		b := s.browser()
		b.link(s.id)
		s.edit(func(u *store.User) { u.Disabled, u.Mail = true, "private@example.org" })
		s.edit(func(u *store.User) { u.Disabled, u.Mail = false, "" })
		_, err := s.registrar.RedactUser(s.Context(), registrar.Operator(), s.id, registrar.Redaction{Revisions: []uint64{2}, Reason: "private", Expected: store.AnyRevision})
		if err != nil {
			s.Fatal(err)
		}
		if got := b.user(); got != "" {
			s.Error("the session came back")
		}
	})
}

// TestSessionsOfNodes: sessions that begin at the same time on several nodes are all kept, and one
// node ends them for all.
func TestSessionsOfNodes(t *testing.T) {
	onStores(t, func(s *realStage) {
		browsers := make([]*browser, 8)
		done := make(chan error)
		for i := range browsers {
			browsers[i] = s.browser()
			go func() {
				w := httptest.NewRecorder()
				err := s.nodes[i%2].begin(w, browsers[i].request("POST", linkPath, nil), &Person{ID: s.id, Revision: 1}, ByLink, nil)
				browsers[i].keep(w.Result().Cookies())
				done <- err
			}()
		}
		for range browsers {
			if err := <-done; err != nil {
				s.Error(err)
			}
		}
		for i, b := range browsers {
			if b.user() != s.id {
				s.Errorf("session %d is lost", i)
			}
		}
		if err := s.nodes[1].EndAll(s.Context(), s.id); err != nil {
			s.Fatal(err)
		}
		for i, b := range browsers {
			if b.user() != "" {
				s.Errorf("session %d is left", i)
			}
		}
	})
}
