package registrar

import (
	"errors"
	"slices"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func (d *desk) undo(a Actor, u Undoing) (Undone, map[string]error) {
	d.Helper()
	refused := map[string]error{}
	u.Refused = func(key string, err error) { refused[key] = err }
	sum, err := d.Undo(d.ctx, a, u)
	if err != nil {
		d.Fatal(err)
	}
	sum.Batch = "" // it is random
	return sum, refused
}

// size returns the number of changes in the log.
func (d *desk) size() uint64 {
	d.Helper()
	head, err := store.HeadOf(d.ctx, d.store)
	if err != nil {
		d.Fatal(err)
	}
	return head.Size
}

// Undoing needs the same rights as the changes: names of others are skipped, and only an owner
// can reactivate a name.
func TestUndoRights(t *testing.T) {
	d := newDesk(t)
	d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:dns:example.com"), Owners: []string{"a", "b"}})
	a := d.at("a", "", "https://a.example/")
	from := d.size() + 1
	d.good(d.ask(Operator(), Request{Record: &store.Record{Name: a, Status: nomen.Retired, Reason: "gone"}, Expected: store.AnyRevision}))
	foreign := name.MustParse("urn:dns:example.com:x")
	d.put(&store.Record{Name: foreign, Locations: []nomen.Location{{URL: "https://x.example/"}}})
	u := Undoing{From: from, To: d.size()}
	scoped := editor("urn:dns:example.org")
	sum, refused := d.undo(scoped, u)
	var denied *DeniedError
	if sum != (Undone{Changes: 1, Refused: 1}) || !errors.As(refused[a.Key()], &denied) || denied.Need != Owner {
		t.Errorf("an editor: %+v, %v", sum, refused)
	}
	scoped = actor(Owner, "urn:dns:example.org")
	dry := u
	dry.DryRun = true
	size := d.size()
	if sum, _ := d.undo(scoped, dry); sum != (Undone{Changes: 1, Restored: 1}) || d.size() != size {
		t.Errorf("a dry run: %+v, and %d changes", sum, d.size()-size)
	}
	if sum, _ := d.undo(scoped, u); sum != (Undone{Changes: 1, Restored: 1}) {
		t.Errorf("an owner: %+v", sum)
	}
	if got := d.urls(a); !slices.Equal(got, []string{"https://a.example/"}) {
		t.Errorf("brought back with %q", got)
	}
	if sum, _ := d.undo(Operator(), u); sum != (Undone{Changes: 2, Unchanged: 1, Retired: 1}) {
		t.Errorf("the operator: %+v", sum)
	}
	if _, err := d.Undo(d.ctx, actor(Reader), u); err == nil {
		t.Error("a reader undoes")
	}
}

// Changes by others between those to be undone are conflicts too.
func TestUndoBetween(t *testing.T) {
	d := newDesk(t)
	a := d.at("a", "", "https://a.example/1")
	change := func(id, url string) {
		l, err := d.NewLoad(Operator(), "")
		if err != nil {
			t.Fatal(err)
		}
		l.id = id
		b, err := l.Check(d.ctx, []Request{{Record: &store.Record{Name: a, Locations: []nomen.Location{{URL: url}}}, Fields: FieldLocations, Expected: store.AnyRevision}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Write(d.ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	change("0-aaaaaaaa", "https://a.example/2")
	change("0-bbbbbbbb", "https://a.example/3")
	change("0-aaaaaaaa", "https://a.example/4")
	u := Undoing{Batch: "0-aaaaaaaa"}
	sum, refused := d.undo(Operator(), u)
	var refusal *RefusalError
	if sum != (Undone{Changes: 2, Refused: 1}) || !errors.As(refused[a.Key()], &refusal) || refusal.Rule != "later" {
		t.Errorf("got %+v, %v", sum, refused)
	}
	u.Force = true
	if sum, refused := d.undo(Operator(), u); sum != (Undone{Changes: 2, Restored: 1}) {
		t.Errorf("by force: %+v, %v", sum, refused)
	}
	if got := d.urls(a); !slices.Equal(got, []string{"https://a.example/1"}) {
		t.Errorf("it has %q", got)
	}
}
