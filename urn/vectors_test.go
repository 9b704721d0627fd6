package urn

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A vector is an entry of docs/spec/vectors; files use the fields they need.
type vector struct {
	ID, Dialect, Production, Input, A, B, Reason string

	SchemeID    string  `json:"scheme_id"`
	AuthorityID string  `json:"authority_id"`
	ElementID   string  `json:"element_id"`
	Reserved    bool    `json:"reserved_request"`
	NID, NSS    string  //
	R           *string `json:"r_component"`
	Q           *string `json:"q_component"`
	F           *string `json:"f_component"`
	Equivalent  bool
}

// vectors calls test for every entry of a file in a dialect of this package.
func vectors(t *testing.T, file string, test func(*testing.T, Dialect, vector)) {
	data, err := os.ReadFile("../docs/spec/vectors/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Vectors []vector }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, v := range all.Vectors {
		for _, d := range []Dialect{Draft1995, RFC8141} {
			if v.Dialect == d.String() {
				t.Run(v.ID, func(t *testing.T) { test(t, d, v) })
				ran++
			}
		}
	}
	if ran == 0 {
		t.Fatalf("%s has no vector for this package", file)
	}
}

func TestVectorsParse(t *testing.T) {
	vectors(t, "parse-urn.json", func(t *testing.T, d Dialect, v vector) {
		u, err := d.Parse(v.Input)
		if err != nil {
			t.Fatal(err)
		}
		if d == Draft1995 {
			// Case is not significant in the second field (Y95-02).
			got := [3]string{strings.ToLower(u.SchemeID()), u.AuthorityID(), u.ElementID()}
			if want := [3]string{v.SchemeID, v.AuthorityID, v.ElementID}; got != want || u.IsReservedRequest() != v.Reserved {
				t.Errorf("got %q, reserved %v; want %q, %v", got, u.IsReservedRequest(), want, v.Reserved)
			}
			return
		}
		if u.NID() != v.NID || u.NSS() != v.NSS {
			t.Errorf("got NID %q, NSS %q; want %q, %q", u.NID(), u.NSS(), v.NID, v.NSS)
		}
		component(t, "r", v.R, u.RComponent)
		component(t, "q", v.Q, u.QComponent)
		component(t, "f", v.F, u.FComponent)
	})
}

func component(t *testing.T, which string, want *string, get func() (string, bool)) {
	got, ok := get()
	if ok != (want != nil) || ok && got != *want {
		t.Errorf("%s-component: got %q, %v; want %v", which, got, ok, want)
	}
}

func TestVectorsValid(t *testing.T) {
	vectors(t, "valid.json", func(t *testing.T, d Dialect, v vector) {
		if _, err := d.Parse(v.Input); err != nil {
			t.Error(err)
		}
	})
}

func TestVectorsInvalid(t *testing.T) {
	vectors(t, "invalid.json", func(t *testing.T, d Dialect, v vector) {
		if u, err := d.Parse(v.Input); err == nil {
			t.Errorf("%q was read; it is wrong: %s", u, v.Reason)
		}
	})
}

func TestVectorsEquivalence(t *testing.T) {
	vectors(t, "urn-equivalence.json", func(t *testing.T, d Dialect, v vector) {
		a, errA := d.Parse(v.A)
		b, errB := d.Parse(v.B)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := Equivalent(a, b); got != v.Equivalent {
			t.Errorf("Equivalent(%q, %q) = %v, want %v", v.A, v.B, got, v.Equivalent)
		}
	})
}
