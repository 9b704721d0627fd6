package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// newSecond returns a workshop with n names, in which a second person must approve redactions and
// relocations of more than two names.
func newSecond(t *testing.T, open openStore, n int) *workshop {
	now := time.Now().UTC().Truncate(time.Second) // a database does not accept other times
	w := newWorkshopOn(t, open(t), func() time.Time { return now })
	w.api.Set(Settings{SecondPerson: adminapi.SecondPerson{Redact: true, RelocateAbove: 2}})
	for i := range n {
		w.locate(fmt.Sprintf("urn:x-shop:%d", i), fmt.Sprintf("https://old.example/%d", i))
	}
	return w
}

// locate gives a name one location.
func (w *workshop) locate(spelling, url string) {
	w.Helper()
	rec := &store.Record{Spelling: spelling, Name: name.MustParse(spelling), Locations: []nomen.Location{{URL: url}}}
	if _, err := w.as("root", registrar.Administrator).Put(w.Context(), registrar.Request{Record: rec, Expected: store.AnyRevision}, ""); err != nil {
		w.Fatal(err)
	}
}

// waiting returns the job of a request that must wait.
func (w *workshop) waiting(err error) adminapi.Job {
	w.Helper()
	var e *adminapi.WaitingError
	if !errors.As(err, &e) || e.Job.State != adminapi.JobWaiting {
		w.Fatalf("the request did not wait: %v", err)
	}
	return e.Job
}

func (w *workshop) relocate(c *adminapi.Client) adminapi.Job {
	w.Helper()
	_, err := c.Relocate(w.Context(), registrar.Relocation{From: "https://old.example/", To: "https://new.example/", Why: "moved"})
	return w.waiting(err)
}

func (w *workshop) redact(c *adminapi.Client) adminapi.Job {
	w.Helper()
	_, err := c.Redact(w.Context(), name.MustParse("urn:x-shop:0"), registrar.Redaction{Revisions: []uint64{1}, Reason: "a letter", Expected: store.AnyRevision})
	return w.waiting(err)
}

// last returns the last change of a name.
func (w *workshop) last(spelling string) *store.Change {
	w.Helper()
	for change, err := range store.History(w.Context(), w.store, name.MustParse(spelling)) {
		if err != nil {
			w.Fatal(err)
		}
		return change
	}
	return nil
}

// refused checks that err is the refusal of a decision.
func (w *workshop) refused(err error, status int, what string) {
	w.Helper()
	var e *adminapi.StatusError
	if !errors.As(err, &e) || e.Kind != adminapi.KindSecond || e.Status != status || !strings.Contains(e.Detail, what) {
		w.Errorf("%v, expected a refusal %d with %q", err, status, what)
	}
}

// secondTests are the tests of the rule about a second person. They run on each kind of store.
func secondTests() map[string]func(*testing.T, openStore) {
	return map[string]func(*testing.T, openStore){
		"relocates":            secondRelocates,
		"not needed":           secondNotNeeded,
		"applies":              secondApplies,
		"finds other names":    secondFindsOtherNames,
		"redacts":              secondRedacts,
		"finds other revision": secondFindsOtherRevision,
		"invalid":              secondInvalid,
		"restart":              secondRestart,
		"lapses":               secondLapses,
		"limit":                secondLimit,
		"tokens":               secondTokens,
		"users":                secondUsers,
		"rights":               secondRights,
		"rights to approve":    secondApproverRights,
		"meanwhile":            secondMeanwhile,
		"valid later":          secondValidLater,
		"names users":          secondNamesUsers,
		"matches again":        secondMatchesAgain,
	}
}

func TestSecondPerson(t *testing.T) {
	onStores(t, func(t *testing.T, open openStore) {
		for what, test := range secondTests() {
			t.Run(what, func(t *testing.T) { test(t, open) })
		}
	})
}

// A relocation of many names changes nothing before another person has approved it. The history
// has both persons.
func secondRelocates(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	anna, ben := w.as("u-1", registrar.Editor, "urn:x-shop"), w.as("u-2", registrar.Editor, "urn:x-shop")
	j := w.relocate(anna)
	if a := j.Approval; j.Kind != adminapi.JobRelocate || j.Who != "u-1" || a.Why != "moved" || a.From != "https://old.example/" || a.To != "https://new.example/" ||
		!a.Until.Equal(w.now().Add(14*24*time.Hour)) || j.Result.Relocated.Names != 3 || len(j.Result.Moved) != 3 || j.Complete || !j.Ended.IsZero() {
		t.Fatalf("asked %+v, %+v, %+v", j, j.Approval, j.Result)
	}
	if got := w.url("urn:x-shop:0"); got != "https://old.example/0" {
		t.Fatalf("changed before the approval: %s", got)
	}
	if again := w.relocate(anna); again.ID != j.ID {
		t.Errorf("asked twice: %s and %s", again.ID, j.ID)
	}
	_, err := anna.ApproveJob(t.Context(), j.ID)
	w.refused(err, http.StatusForbidden, "another person")
	_, err = anna.RejectJob(t.Context(), j.ID, "no")
	w.refused(err, http.StatusForbidden, "another person")
	for who, c := range map[string]*adminapi.Client{
		"reader": w.as("u-3", registrar.Reader), "of another prefix": w.as("u-4", registrar.Administrator, "urn:x-other"), "of a part": w.as("u-5", registrar.Editor, "urn:x-shop:0"),
	} {
		if _, err := c.Job(t.Context(), j.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s sees the job: %v", who, err)
		}
		if _, err := c.ApproveJob(t.Context(), j.ID); !errors.Is(err, store.ErrNotFound) && !errors.As(err, new(*registrar.DeniedError)) {
			t.Errorf("%s approves the job: %v", who, err)
		}
		if all, err := c.Jobs(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("%s lists %v, %v", who, all, err)
		}
	}
	if all, err := ben.Jobs(t.Context()); err != nil || len(all) != 1 || all[0].ID != j.ID {
		t.Errorf("the second person lists %v, %v", all, err)
	}
	done, err := ben.ApproveJob(t.Context(), j.ID)
	if err != nil || done.State != adminapi.JobDone || done.Approval.By != "u-2" || done.Result.Relocated.Names != 3 || w.url("urn:x-shop:2") != "https://new.example/2" {
		t.Fatalf("approved %+v, %+v, %v", done, done.Result, err)
	}
	if c := w.last("urn:x-shop:1"); c.Who != "u-1" || c.Why != "moved (approved by u-2)" || c.Batch != done.Import || c.Batch == "" {
		t.Errorf("history: %+v", c)
	}
	size := w.last("urn:x-shop:1").Revision()
	if again, err := ben.ApproveJob(t.Context(), j.ID); err != nil || again.State != adminapi.JobDone || w.last("urn:x-shop:1").Revision() != size {
		t.Errorf("approved twice: %+v, %v", again, err)
	}
	_, err = w.as("u-6", registrar.Administrator).ApproveJob(t.Context(), j.ID)
	w.refused(err, http.StatusConflict, "decided by u-2")
}

// A relocation up to the limit, a dry run and an undo need no second person.
func secondNotNeeded(t *testing.T, open openStore) {
	w := newSecond(t, open, 2)
	c := w.as("u-1", registrar.Editor)
	sum, err := c.Relocate(t.Context(), registrar.Relocation{From: "https://old.example/", To: "https://new.example/"})
	if err != nil || sum.Names != 2 || w.url("urn:x-shop:1") != "https://new.example/1" {
		t.Fatalf("two names: %+v, %v", sum, err)
	}
	w.locate("urn:x-shop:2", "https://new.example/2")
	if dry, err := c.Relocate(t.Context(), registrar.Relocation{From: "https://new.example/", To: "https://a.example/", DryRun: true}); err != nil || dry.Names != 3 {
		t.Errorf("dry run: %+v, %v", dry, err)
	}
	if undone, err := c.Undo(t.Context(), registrar.Undoing{Batch: sum.Batch}); err != nil || undone.Restored != 2 {
		t.Errorf("undo: %+v, %v", undone, err)
	}
	w.api.Set(Settings{})
	if _, err := w.as("u-1", registrar.Administrator).Redact(t.Context(), name.MustParse("urn:x-shop:0"), registrar.Redaction{Revisions: []uint64{1}, Reason: "a letter", Expected: store.AnyRevision}); err != nil {
		t.Errorf("redaction without the rule: %v", err)
	}
}

// Applying a dry run of a relocation needs a second person as the relocation itself does.
func secondApplies(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	anna := w.as("u-1", registrar.Editor)
	dry, err := anna.StartRelocation(t.Context(), registrar.Relocation{From: "https://old.example/", To: "https://new.example/", DryRun: true}, adminapi.Background{})
	if err != nil {
		t.Fatal(err)
	}
	dry = await(t, anna, dry.ID)
	j, err := anna.ApplyJob(t.Context(), dry.ID, adminapi.Application{})
	if err != nil || j.State != adminapi.JobWaiting || j.DryRunOf != dry.ID || w.url("urn:x-shop:0") != "https://old.example/0" {
		t.Fatalf("applied %+v, %v", j, err)
	}
	if again, err := anna.ApplyJob(t.Context(), dry.ID, adminapi.Application{}); err != nil || again.ID != j.ID {
		t.Errorf("applied twice: %+v, %v", again, err)
	}
	if j, err = w.as("u-2", registrar.Editor).RejectJob(t.Context(), j.ID, "the new site is not ready"); err != nil || j.State != adminapi.JobRejected || j.Approval.Reason != "the new site is not ready" || j.Approval.By != "u-2" {
		t.Errorf("rejected %+v, %v", j, err)
	}
	_, err = w.as("u-3", registrar.Editor).ApproveJob(t.Context(), j.ID)
	w.refused(err, http.StatusConflict, "decided by u-2")
	if next, err := anna.ApplyJob(t.Context(), dry.ID, adminapi.Application{}); err != nil || next.ID == j.ID || next.State != adminapi.JobWaiting {
		t.Errorf("applied after the rejection: %+v, %v", next, err)
	}
	if _, err := w.as("u-2", registrar.Editor).RejectJob(t.Context(), j.ID, " "); !errors.As(err, new(*adminapi.RequestError)) {
		t.Errorf("rejected without a reason: %v", err)
	}
}

// Names that were changed after the request are not relocated by an old approval.
func secondFindsOtherNames(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	j := w.relocate(w.as("u-1", registrar.Editor))
	w.locate("urn:x-shop:9", "https://old.example/9")
	failed, err := w.as("u-2", registrar.Editor).ApproveJob(t.Context(), j.ID)
	if err != nil || failed.State != adminapi.JobFailed || failed.Problem == nil || !strings.Contains(failed.Problem.Detail, "4 locations of 4 names would change, and 3 locations of 3 names then") {
		t.Errorf("approved %+v, %+v, %v", failed, failed.Problem, err)
	}
	if got := w.url("urn:x-shop:0"); got != "https://old.example/0" {
		t.Errorf("changed: %s", got)
	}
}

// A redaction of a name, an authority or a user needs a second administrator, and is carried out
// once.
func secondRedacts(t *testing.T, open openStore) {
	w := newSecond(t, open, 1)
	w.locate("urn:x-shop:0", "https://b.example/")
	anna, ben := w.as("u-1", registrar.Administrator, "urn:x-shop"), w.as("u-2", registrar.Administrator, "urn:x-shop")
	j := w.redact(anna)
	if a := j.Approval; j.Kind != adminapi.JobRedact || a.Of != "name" || a.Key != "urn:x-shop:0" || a.Revision != 2 || len(a.Revisions) != 1 || a.Why != "a letter" {
		t.Fatalf("asked %+v, %+v", j, j.Approval)
	}
	if again := w.redact(anna); again.ID != j.ID {
		t.Errorf("asked twice: %s and %s", again.ID, j.ID)
	}
	for _, c := range []*adminapi.Client{w.as("u-3", registrar.Owner), w.as("u-4", registrar.Administrator, "urn:x-other")} {
		if _, err := c.ApproveJob(t.Context(), j.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("approved without the right: %v", err)
		}
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := ben.ApproveJob(t.Context(), j.ID); err != nil {
				t.Errorf("approve: %v", err)
			}
		})
	}
	group.Wait()
	j = await(t, ben, j.ID)
	if c := w.last("urn:x-shop:0"); j.State != adminapi.JobDone || c.Revision() != 3 || c.Who != "u-1" || c.Why != "a letter (approved by u-2)" || len(c.Redacts) != 1 {
		t.Errorf("approved %+v, %+v, %+v", j, j.Problem, c)
	}

	root, other := w.as("u-8", registrar.Administrator), w.as("u-9", registrar.Administrator)
	p := name.MustParsePrefix("urn:x-shop")
	a, err := root.Authority(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	next := a.Clone()
	next.Owners = []string{"b", "c"}
	if _, err := root.PutAuthority(t.Context(), next, store.AnyRevision, ""); err != nil {
		t.Fatal(err)
	}
	_, err = root.RedactAuthority(t.Context(), p, registrar.Redaction{Reason: "an address", Expected: store.AnyRevision})
	if j, err = other.ApproveJob(t.Context(), w.waiting(err).ID); err != nil || j.State != adminapi.JobDone {
		t.Errorf("authority: %+v, %v", j, err)
	}
	u, err := root.PutUser(t.Context(), &store.User{Name: "Carl"}, store.AnyRevision, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = root.RedactUser(t.Context(), u.User.ID, registrar.Redaction{Reason: "left", Expected: store.AnyRevision})
	id := w.waiting(err).ID
	if got, err := root.User(t.Context(), u.User.ID); err != nil || got.Name != "Carl" || got.Disabled {
		t.Errorf("before the approval: %+v, %v", got, err)
	}
	if j, err = other.ApproveJob(t.Context(), id); err != nil || j.State != adminapi.JobDone {
		t.Errorf("user: %+v, %v", j, err)
	}
	if got, err := root.User(t.Context(), u.User.ID); err != nil || got.Name != "" || !got.Disabled {
		t.Errorf("after the approval: %+v, %v", got, err)
	}
	granted, err := root.Grant(t.Context(), adminapi.Grant{Who: "Dora", Role: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = root.RedactToken(t.Context(), granted.ID, registrar.Redaction{Reason: "left", Expected: store.AnyRevision})
	id = w.waiting(err).ID
	bearer := func() string {
		r, err := w.store.(store.RightsHistorian).TokenRights(t.Context(), granted.ID, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Who
	}
	if got := bearer(); got != "Dora" {
		t.Errorf("before the approval, the bearer of the token is %q", got)
	}
	if j, err = other.ApproveJob(t.Context(), id); err != nil || j.State != adminapi.JobDone || bearer() != "" {
		t.Errorf("token: %+v, %v, bearer %q", j, err, bearer())
	}
}

// A redaction whose subject was changed after the request is not carried out.
func secondFindsOtherRevision(t *testing.T, open openStore) {
	w := newSecond(t, open, 1)
	w.locate("urn:x-shop:0", "https://b.example/")
	j := w.redact(w.as("u-1", registrar.Administrator))
	w.locate("urn:x-shop:0", "https://c.example/")
	failed, err := w.as("u-2", registrar.Administrator).ApproveJob(t.Context(), j.ID)
	if c := w.last("urn:x-shop:0"); err != nil || failed.State != adminapi.JobFailed || !strings.Contains(failed.Problem.Detail, "its revision is 3, and was 2") || len(c.Redacts) > 0 {
		t.Errorf("approved %+v, %+v, %v", failed, failed.Problem, err)
	}
}

// An invalid request fails at once, and makes no job.
func secondInvalid(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	root := w.as("u-1", registrar.Administrator)
	for _, red := range []registrar.Redaction{
		{Revisions: []uint64{1}, Reason: "current", Expected: store.AnyRevision},
		{Revisions: []uint64{7}, Reason: "missing", Expected: store.AnyRevision},
	} {
		if _, err := root.Redact(t.Context(), name.MustParse("urn:x-shop:0"), red); !errors.As(err, new(*registrar.RefusalError)) {
			t.Errorf("%s: %v", red.Reason, err)
		}
	}
	w.locate("urn:x-shop:0", "https://old.example/b")
	if _, err := root.Redact(t.Context(), name.MustParse("urn:x-shop:0"), registrar.Redaction{Revisions: []uint64{1}, Reason: "x", Expected: 1}); !errors.As(err, new(*store.ConflictError)) {
		t.Errorf("another revision: %v", err)
	}
	if _, err := w.as("u-2", registrar.Owner).Redact(t.Context(), name.MustParse("urn:x-shop:0"), registrar.Redaction{Revisions: []uint64{1}, Reason: "x", Expected: store.AnyRevision}); !errors.As(err, new(*registrar.DeniedError)) {
		t.Errorf("an owner: %v", err)
	}
	if _, err := root.Relocate(t.Context(), registrar.Relocation{From: "https://old.example/", To: "x"}); !errors.As(err, new(*registrar.RefusalError)) {
		t.Errorf("relocation: %v", err)
	}
	long := registrar.Relocation{From: "https://old.example/", To: "https://new.example/", Why: strings.Repeat("x", maxAsked)}
	if _, err := root.Relocate(t.Context(), long); !errors.As(err, new(*store.LimitError)) {
		t.Errorf("long reason: %v", err)
	}
	if all, err := root.Jobs(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("jobs: %+v, %v", all, err)
	}
}

// What waits survives a restart and a reload that turns the rule off. Only the person who asked can
// withdraw it.
func secondRestart(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	j := w.relocate(w.as("u-1", registrar.Editor))
	w.restart()
	ben := w.as("u-2", registrar.Administrator)
	_, err := ben.CancelJob(t.Context(), j.ID)
	w.refused(err, http.StatusForbidden, "you can reject it")
	if got, err := ben.ApproveJob(t.Context(), j.ID); err != nil || got.State != adminapi.JobDone || w.url("urn:x-shop:0") != "https://new.example/0" {
		t.Errorf("approved after the restart: %+v, %v", got, err)
	}
	w.restart()
	if got, err := w.as("u-1", registrar.Editor).Job(t.Context(), j.ID); err != nil || got.State != adminapi.JobDone || got.Approval.By != "u-2" {
		t.Errorf("after the second restart: %+v, %v", got, err)
	}
	w.api.Set(Settings{SecondPerson: adminapi.SecondPerson{RelocateAbove: 1}})
	anna := w.as("u-1", registrar.Editor)
	_, err = anna.Relocate(t.Context(), registrar.Relocation{From: "https://new.example/", To: "https://c.example/"})
	j = w.waiting(err)
	if got, err := anna.CancelJob(t.Context(), j.ID); err != nil || got.State != adminapi.JobCancelled {
		t.Errorf("withdrawn: %+v, %v", got, err)
	}
	_, err = w.as("u-2", registrar.Administrator).ApproveJob(t.Context(), j.ID)
	w.refused(err, http.StatusConflict, "it is cancelled")
}

// Without a decision, a request lapses after 14 days.
func secondLapses(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	now := w.now()
	w.api.jobs.now = func() time.Time { return now }
	anna, ben := w.as("u-1", registrar.Editor), w.as("u-2", registrar.Editor)
	j := w.relocate(anna)
	now = w.now().Add(14*24*time.Hour - time.Second)
	if got, err := ben.Job(t.Context(), j.ID); err != nil || got.State != adminapi.JobWaiting {
		t.Errorf("a second before: %+v, %v", got, err)
	}
	now = now.Add(time.Second)
	_, err := ben.ApproveJob(t.Context(), j.ID)
	w.refused(err, http.StatusConflict, "it is lapsed")
	if all, err := ben.Jobs(t.Context()); err != nil || len(all) != 1 || all[0].State != adminapi.JobLapsed || all[0].Ended.IsZero() {
		t.Errorf("lapsed: %+v, %v", all, err)
	}
	if next := w.relocate(anna); next.ID == j.ID {
		t.Error("the lapsed job waits again")
	}
}

// One token cannot fill the list of what waits.
func secondLimit(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	anna := w.as("u-1", registrar.Editor)
	var err error
	for i := range maxTokenWaiting {
		_, err = anna.Relocate(t.Context(), registrar.Relocation{From: "https://old.example/", To: fmt.Sprintf("https://new.example/%d/", i)})
		w.waiting(err)
	}
	_, err = anna.Relocate(t.Context(), registrar.Relocation{From: "https://old.example/", To: "https://new.example/"})
	if !errors.As(err, new(*adminapi.JobsError)) {
		t.Errorf("one too many: %v", err)
	}
	w.relocate(w.as("u-2", registrar.Editor))
}

// A token counts as the person who made it, and its rights are checked again when the other person
// approves.
func secondTokens(t *testing.T, open openStore) {
	w := newSecond(t, open, 3)
	listening := listen(t, w.api)
	root := w.as("u-1", registrar.Administrator)
	token := func(by *adminapi.Client, who string) *adminapi.Client {
		t.Helper()
		granted, err := by.Grant(t.Context(), adminapi.Grant{Who: who, Role: "administrator"})
		if err != nil {
			t.Fatal(err)
		}
		return &adminapi.Client{URL: "http://" + listening.Addrs[1].String(), Token: granted.Token}
	}
	own := token(root, "script")
	copied := token(own, "other script")
	for what, c := range map[string]*adminapi.Client{"a token of the user": own, "a token of that token": copied} {
		j := w.relocate(root)
		_, err := c.ApproveJob(t.Context(), j.ID)
		w.refused(err, http.StatusForbidden, "another person")
		if _, err = c.CancelJob(t.Context(), j.ID); err != nil {
			t.Errorf("%s cannot withdraw: %v", what, err)
		}
	}
	j := w.relocate(copied)
	_, err := root.ApproveJob(t.Context(), j.ID)
	w.refused(err, http.StatusForbidden, "another person")

	byOperator := func(who string) (*adminapi.Client, string) {
		t.Helper()
		spelling, tok := adminapi.NewToken(adminapi.Grant{Who: who, Role: "editor"}, w.now())
		if err := w.api.registrar.PutToken(t.Context(), registrar.Operator(), tok, ""); err != nil {
			t.Fatal(err)
		}
		return &adminapi.Client{URL: "http://" + listening.Addrs[1].String(), Token: spelling}, tok.ID
	}
	anna, id := byOperator("anna")
	ben, _ := byOperator("ben")
	second, _ := byOperator("anna")
	j = w.relocate(anna)
	_, err = second.ApproveJob(t.Context(), j.ID)
	w.refused(err, http.StatusForbidden, "another person")
	if err := root.Revoke(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	failed, err := ben.ApproveJob(t.Context(), j.ID)
	if err != nil || failed.State != adminapi.JobFailed || !strings.Contains(failed.Problem.Detail, "no longer valid") || w.url("urn:x-shop:0") != "https://old.example/0" {
		t.Errorf("approved for a revoked token: %+v, %+v, %v", failed, failed.Problem, err)
	}
	j = w.relocate(second)
	if done, err := ben.ApproveJob(t.Context(), j.ID); err != nil || done.State != adminapi.JobDone {
		t.Errorf("approved by another person: %+v, %v", done, err)
	}
}

// A user who was disabled, or has lost the rights, cannot be the requester any more. Rights by
// claims, which the store does not have, count as at the time of the request.
func secondUsers(t *testing.T, open openStore) {
	for _, tt := range []struct {
		what   string
		change func(*store.User)
		want   string
	}{
		{"unchanged", func(*store.User) {}, adminapi.JobDone},
		{"disabled", func(u *store.User) { u.Disabled = true }, adminapi.JobFailed},
		{"without rights", func(u *store.User) { u.Grants = nil }, adminapi.JobFailed},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newSecond(t, open, 3)
			root := w.as("root", registrar.Administrator)
			out, err := root.PutUser(t.Context(), &store.User{Name: "Anna", Grants: []store.UserGrant{{Role: "editor"}}}, store.AnyRevision, "")
			if err != nil {
				t.Fatal(err)
			}
			j := w.relocate(w.as(out.User.ID, registrar.Editor))
			next := out.User.Clone()
			tt.change(next)
			if _, err := root.PutUser(t.Context(), next, store.AnyRevision, ""); err != nil {
				t.Fatal(err)
			}
			if j, err = root.ApproveJob(t.Context(), j.ID); err != nil || j.State != tt.want {
				t.Errorf("%s: %+v, %+v, %v", tt.what, j, j.Problem, err)
			}
		})
	}
}
