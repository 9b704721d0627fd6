package admin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// secondNames tests a change of rights between a request and its approval. It gives a name outside
// of urn:x-shop a location on the old site, and lets a user with the grants before make a request.
// Then it gives the user the grants after, and approves the request.
func secondNames(t *testing.T, open openStore, before, after []store.UserGrant, request func(*workshop, *adminapi.Client) adminapi.Job) (*workshop, adminapi.Job) {
	t.Helper()
	w := newSecond(t, open, 3)
	w.locate("urn:x-shop:0", "https://old.example/00")
	root := w.as("root", registrar.Administrator)
	if _, err := root.PutAuthority(t.Context(), &store.Authority{Prefix: name.MustParsePrefix("urn:x-more"), Owners: []string{"a", "b"}}, 0, ""); err != nil {
		t.Fatal(err)
	}
	rec := &store.Record{Spelling: "urn:x-more:0", Name: name.MustParse("urn:x-more:0"), Locations: []nomen.Location{{URL: "https://old.example/more"}, {URL: "https://old.example/b"}}}
	if _, err := root.Put(t.Context(), registrar.Request{Record: rec, Expected: 0}, ""); err != nil {
		t.Fatal(err)
	}
	out, err := root.PutUser(t.Context(), &store.User{Name: "Anna", Grants: before}, store.AnyRevision, "")
	if err != nil {
		t.Fatal(err)
	}
	actor, err := registrar.Person(out.User)
	if err != nil {
		t.Fatal(err)
	}
	j := request(w, w.api.Client(actor))
	next := out.User.Clone()
	next.Grants = after
	if _, err := root.PutUser(t.Context(), next, store.AnyRevision, ""); err != nil {
		t.Fatal(err)
	}
	if j, err = root.ApproveJob(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	return w, j
}

// If the requester has lost rights, the job fails with this reason and changes nothing. If the
// requester has got more rights, the job changes what was approved, and no more.
func secondRights(t *testing.T, open openStore) {
	grant := func(role string, prefixes ...string) []store.UserGrant {
		return []store.UserGrant{{Role: role, Prefixes: prefixes}}
	}
	const lost = "the person who made the request no longer has the rights for it: "
	for _, tt := range []struct {
		what          string
		before, after []store.UserGrant
		request       func(*workshop, *adminapi.Client) adminapi.Job
		problem       string // "" if it is carried out
		moved         int64
	}{
		{"some names", grant("editor", "urn:x-shop", "urn:x-more"), grant("editor", "urn:x-shop"), (*workshop).relocate, lost + "1 of the 4 names; nothing was changed", 0},
		{"all names", grant("editor"), grant("reader"), (*workshop).relocate, lost + "4 of the 4 names; nothing was changed", 0},
		{"more names", grant("editor", "urn:x-shop"), grant("editor"), (*workshop).relocate, "", 3},
		{"administrator", grant("administrator"), grant("editor"), (*workshop).redact, lost + "this needs the role administrator; ", 0},
		{"administrator elsewhere", grant("administrator"), grant("administrator", "urn:x-more"), (*workshop).redact, lost + "the prefixes granted to ", 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w, j := secondNames(t, open, tt.before, tt.after, tt.request)
			if tt.problem == "" {
				if j.State != adminapi.JobDone || j.Result.Relocated.Names != tt.moved || j.Result.Relocated.Refused != 0 || w.url("urn:x-shop:2") != "https://new.example/2" {
					t.Errorf("%+v, %+v, %+v", j, j.Problem, j.Result)
				}
			} else if j.State != adminapi.JobFailed || j.Problem == nil || j.Problem.Status != http.StatusForbidden || !strings.HasPrefix(j.Problem.Detail, tt.problem) {
				t.Errorf("%+v, %+v, %+v, %+v", j, j.Problem, j.Result.Relocated, j.Result.Refused)
			}
			if got := w.url("urn:x-more:0"); got != "https://old.example/more" {
				t.Errorf("changed without approval: %s", got)
			}
			if c := w.last("urn:x-shop:0"); tt.problem != "" && (c.Revision() != 2 || len(c.Redacts) > 0) {
				t.Errorf("changed: %+v", c)
			}
		})
	}
}

// A second person who has lost the rights cannot approve the job: it is not found, or the role is
// too low. Another person can still approve it.
func secondApproverRights(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	j := w.relocate(w.as("u-1", registrar.Editor, "urn:x-shop"))
	if _, err := w.as("u-2", registrar.Editor, "urn:x-shop").Job(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]*adminapi.Client{"no role": w.as("u-2", registrar.Reader, "urn:x-shop"), "another prefix": w.as("u-2", registrar.Editor, "urn:x-more")} {
		_, approved := c.ApproveJob(t.Context(), j.ID)
		_, rejected := c.RejectJob(t.Context(), j.ID, "no")
		denied := func(err error) bool {
			return errors.Is(err, store.ErrNotFound) || errors.As(err, new(*registrar.DeniedError))
		}
		if !denied(approved) || !denied(rejected) || w.url("urn:x-shop:0") != "https://old.example/0" {
			t.Errorf("%s: %v, %v", what, approved, rejected)
		}
	}
	if done, err := w.as("u-3", registrar.Editor).ApproveJob(t.Context(), j.ID); err != nil || done.State != adminapi.JobDone {
		t.Errorf("another person: %+v, %v", done, err)
	}
}

// What other clients add or change between the check of an approved relocation and its end is not
// relocated, but reported. A change that has nothing to do with locations is kept.
func secondMeanwhile(t *testing.T, open openStore) {
	w := newSecond(t, open, 4)
	ctx, requester := t.Context(), registrar.Actor{Who: "u-1", Grants: []registrar.Grant{{Role: registrar.Editor}}}
	id := w.relocate(w.api.Client(requester)).ID
	w.api.jobs.mu.Lock()
	j := w.api.jobs.find(id)
	w.api.jobs.mu.Unlock()
	err := applyRequest(j, func(rel registrar.Relocation) error {
		approved, err := w.api.checkApproved(ctx, j, rel, requester)
		if err != nil {
			return err
		}
		w.locate("urn:x-shop:1", "https://old.example/other")
		w.locate("urn:x-shop:3", "https://elsewhere.example/3")
		w.locate("urn:x-shop:9", "https://old.example/9")
		titled := registrar.Request{Record: &store.Record{Name: name.MustParse("urn:x-shop:2"), Metadata: nomen.Metadata{"title": {"Two"}}}, Fields: registrar.FieldMetadata, Expected: store.AnyRevision}
		if _, err := w.as("root", registrar.Administrator).Put(ctx, titled, ""); err != nil {
			return err
		}
		return w.api.relocateOnly(ctx, j, rel, requester, approved)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"urn:x-shop:0": "https://new.example/0", "urn:x-shop:1": "https://old.example/other", "urn:x-shop:2": "https://new.example/2",
		"urn:x-shop:3": "https://elsewhere.example/3", "urn:x-shop:9": "https://old.example/9",
	}
	for spelling, url := range want {
		if got := w.url(spelling); got != url {
			t.Errorf("%s: got %s, want %s", spelling, got, url)
		}
	}
	if rec, err := w.store.Get(ctx, name.MustParse("urn:x-shop:2"), time.Time{}); err != nil || len(rec.Metadata["title"]) != 1 {
		t.Errorf("the title was lost: %+v, %v", rec, err)
	}
	var refused []string
	for _, r := range j.Result.Refused {
		refused = append(refused, r.Key)
		if !strings.Contains(r.Problem.Detail, "after the second person approved; it was not changed") {
			t.Errorf("%s: %+v", r.Key, r.Problem)
		}
	}
	slices.Sort(refused)
	if sum := j.Result.Relocated; !slices.Equal(refused, []string{"urn:x-shop:1", "urn:x-shop:9"}) || sum.Names != 2 || sum.Locations != 2 || sum.Refused != 2 {
		t.Errorf("refused %v, %+v", refused, sum)
	}
}

// A name that the check at the approval rejects is not relocated, even if another client makes it
// valid before the relocation reaches it. It is reported with the reason of the check.
func secondValidLater(t *testing.T, open openStore) {
	w := newSecond(t, open, 4)
	ctx, requester := t.Context(), registrar.Actor{Who: "u-1", Grants: []registrar.Grant{{Role: registrar.Editor}}}
	large := slices.Repeat([]string{strings.Repeat("x", 64_000)}, 16) // with the new location it exceeds store.MaxRecord
	w.describe("urn:x-shop:1", large)
	to := "https://new.example/" + strings.Repeat("y", 30_000) + "/"
	_, err := w.api.Client(requester).Relocate(ctx, registrar.Relocation{From: "https://old.example/", To: to, Why: "moved"})
	id := w.waiting(err).ID
	w.api.jobs.mu.Lock()
	j := w.api.jobs.find(id)
	w.api.jobs.mu.Unlock()
	err = applyRequest(j, func(rel registrar.Relocation) error {
		approved, err := w.api.checkApproved(ctx, j, rel, requester)
		if err != nil {
			return err
		}
		w.describe("urn:x-shop:1", []string{"short"})
		return w.api.relocateOnly(ctx, j, rel, requester, approved)
	})
	if err != nil {
		t.Fatal(err)
	}
	for spelling, want := range map[string]string{"urn:x-shop:0": to + "0", "urn:x-shop:1": "https://old.example/1", "urn:x-shop:2": to + "2", "urn:x-shop:3": to + "3"} {
		if got := w.url(spelling); got != want {
			t.Errorf("%s: got %.60s, want %.60s", spelling, got, want)
		}
	}
	sum, refused := j.Result.Relocated, j.Result.Refused
	if sum.Names != 3 || sum.Refused != 1 || len(refused) != 1 || refused[0].Key != "urn:x-shop:1" || !strings.Contains(refused[0].Problem.Detail, fmt.Sprint("exceeds the limit of ", store.MaxRecord)) {
		t.Errorf("%+v, %+v", sum, refused)
	}
}

// describe sets the descriptions of a name.
func (w *workshop) describe(spelling string, descriptions []string) {
	w.Helper()
	rec := &store.Record{Name: name.MustParse(spelling), Metadata: nomen.Metadata{"description": descriptions}}
	req := registrar.Request{Record: rec, Fields: registrar.FieldMetadata, Expected: store.AnyRevision}
	if _, err := w.as("root", registrar.Administrator).Put(w.Context(), req, ""); err != nil {
		w.Fatal(err)
	}
}

// A moved location can still begin with the old address. It does not count as changed by others.
func secondMatchesAgain(t *testing.T, open openStore) {
	w := newSecond(t, open, 0)
	for i := range 3 {
		w.locate(fmt.Sprintf("urn:x-shop:%d", i), fmt.Sprintf("https://old.example/a/a/%d", i))
	}
	_, err := w.as("u-1", registrar.Editor).Relocate(t.Context(), registrar.Relocation{From: "https://old.example/a/", To: "https://old.example/"})
	j, err := w.as("u-2", registrar.Editor).ApproveJob(t.Context(), w.waiting(err).ID)
	if err != nil || j.State != adminapi.JobDone || j.Result.Relocated.Names != 3 || j.Result.Relocated.Refused != 0 || len(j.Result.Refused) != 0 {
		t.Errorf("%+v, %+v, %v", j, j.Result, err)
	}
	for i := range 3 {
		if got, want := w.url(fmt.Sprintf("urn:x-shop:%d", i)), fmt.Sprintf("https://old.example/a/%d", i); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Jobs name the users who have made and decided them.
func secondNamesUsers(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	for id, display := range map[string]string{"u-01234567": "Ada Lovelace", "u-76543210": "Charles Babbage"} {
		if _, err := w.store.Apply(t.Context(), []store.Change{{User: &store.User{ID: id, Name: display, Since: w.now()}, Time: w.now(), Who: id}}); err != nil {
			t.Fatal(err)
		}
	}
	ada, charles := w.as("u-01234567", registrar.Editor), w.as("u-76543210", registrar.Editor)
	j := w.relocate(ada)
	decided, err := charles.ApproveJob(t.Context(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ada.Jobs(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, got := range []adminapi.Job{decided, all[0], await(t, ada, j.ID)} {
		if got.WhoName != "Ada Lovelace" || got.Approval.ByName != "Charles Babbage" {
			t.Errorf("by %q, decided by %q", got.WhoName, got.Approval.ByName)
		}
	}
}
