package store_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// TestPolicyText checks that ParsePolicy reads what Text writes, for every field.
func TestPolicyText(t *testing.T) {
	rich := storetest.RichAuthority().Policy
	text := rich.Text()
	got, err := store.ParsePolicy(text)
	if err != nil || !reflect.DeepEqual(got, rich) || got.Text() != text || got.IsZero() {
		t.Fatalf("ParsePolicy(%s) = %+v, %v, want %+v", text, got, err, rich)
	}
	fields := reflect.ValueOf(&rich).Elem()
	for i := range fields.NumField() {
		label := fields.Type().Field(i).Name
		if fields.Field(i).IsZero() {
			t.Errorf("the rich policy has no %s", label)
		}
		without := rich
		reflect.ValueOf(&without).Elem().Field(i).SetZero()
		if without.Text() == text {
			t.Errorf("%s is not in the text", label)
		}
	}
	var zero store.Policy
	if !zero.IsZero() || zero.Text() != "" {
		t.Errorf("the zero policy is %q", zero.Text())
	}
	if got, err := store.ParsePolicy(""); err != nil || !got.IsZero() {
		t.Errorf("the empty text gives %+v, %v", got, err)
	}
	empty := store.Policy{Rules: rule.Set{}, Services: []nomen.Service{}, Keywords: map[string][]string{}, RComponent: map[string]string{}}
	if !empty.IsZero() {
		t.Errorf("a policy of empty lists is %q", empty.Text())
	}
}

// TestPolicyTextRefused checks that unknown fields are rejected.
func TestPolicyTextRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"fetch":true,"speed":1}`:                 `"speed"`,
		`{"rules":[{"match":"x","whom":"now"}]}`:   `"whom"`,
		`{"rules":[{"match":"x","when":"now"}]}`:   `rules.when`,
		`{"delegation":{"mode":"ask","via":"x"}}`:  `"via"`,
		`{"fetch":"yes"}`:                          "bool",
		`{"fetch":true} {}`:                        "unexpected data",
		`{"fetch":true`:                            "EOF",
		`[]`:                                       "array",
		`{"rules":[{"locations":[{"uri":"x"}]}]} `: `"uri"`,
	} {
		if p, err := store.ParsePolicy(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParsePolicy(%s) = %+v, %v, want an error with %s", text, p, err, want)
		}
	}
}

func TestPolicyLimit(t *testing.T) {
	a := authority("urn:x-a")
	a.AccessNote = strings.Repeat("x", store.MaxPolicy)
	var e *store.LimitError
	if err := store.Check(0, &store.Change{Authority: a, Time: start}); !errors.As(err, &e) || e.What != "policy" || e.Limit != store.MaxPolicy {
		t.Errorf("a policy that is too large: %v", err)
	}
	a.AccessNote = a.AccessNote[:store.MaxPolicy-len(`{"access_note":""}`)]
	if err := store.Check(0, &store.Change{Authority: a, Time: start}); err != nil {
		t.Errorf("the largest policy: %v", err)
	}
}

// FuzzPolicyText checks that a policy survives Text and ParsePolicy.
func FuzzPolicyText(f *testing.F) {
	rich := storetest.RichAuthority().Policy
	f.Add(rich.Text())
	f.Add(`{"fetch":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := store.ParsePolicy(text)
		if err != nil {
			return
		}
		again, err := store.ParsePolicy(p.Text())
		if err != nil || again.Text() != p.Text() {
			t.Errorf("%q: %q, then %q, %v", text, p.Text(), again.Text(), err)
		}
	})
}
