package audit_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// forgetful is a store whose history of users is empty.
type forgetful struct{ *memstore.Store }

func (forgetful) UserHistory(context.Context, string) iter.Seq2[*store.Change, error] {
	return func(func(*store.Change, error) bool) {}
}

// TestSinceWithUsers checks that users are verified like names and authorities.
func TestSinceWithUsers(t *testing.T) {
	s := memstore.New()
	for _, name := range []string{"Ali", "Ali B"} {
		u := store.Change{User: &store.User{ID: "u-a", Name: name, Subjects: []string{"header ali"}}, Expected: store.AnyRevision, Time: time.Now()}
		if _, err := s.Apply(t.Context(), []store.Change{u}); err != nil {
			t.Fatal(err)
		}
	}
	want := add(t, s, 3, 3)
	if got, faults, err := since(t, s, store.Head{}, 0); err != nil || got != want || len(faults) > 0 {
		t.Errorf("%v, %+v, %v, want %v without faults", got, faults, err, want)
	}
	_, faults, err := since(t, forgetful{s}, store.Head{}, 0)
	if err != nil || len(faults) != 1 || faults[0].Subject != (store.Subject{Kind: store.KindUser, Key: "u-a"}) || !strings.Contains(faults[0].Problem, "revision 2 is logged, but revision 0 is served") {
		t.Errorf("without the history of users: %+v, %v", faults, err)
	}
}

// forgottenRights is a store whose history of the rights of tokens is empty.
type forgottenRights struct{ *memstore.Store }

func (forgottenRights) TokenRightsHistory(context.Context, string) iter.Seq2[*store.Change, error] {
	return func(func(*store.Change, error) bool) {}
}

// TestSinceWithRights checks that the rights of tokens are verified like names and authorities.
func TestSinceWithRights(t *testing.T) {
	s := memstore.New()
	for _, role := range []string{"reader", "editor"} {
		c := store.Change{Rights: &store.TokenRights{ID: "t", Role: role}, Expected: store.AnyRevision, Time: time.Now()}
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	want := add(t, s, 3, 3)
	if got, faults, err := since(t, s, store.Head{}, 0); err != nil || got != want || len(faults) > 0 {
		t.Errorf("%v, %+v, %v, want %v without faults", got, faults, err, want)
	}
	_, faults, err := since(t, forgottenRights{s}, store.Head{}, 0)
	if err != nil || len(faults) != 1 || faults[0].Subject != (store.Subject{Kind: store.KindTokenRights, Key: "t"}) {
		t.Errorf("without the history of rights: %+v, %v", faults, err)
	}
}
