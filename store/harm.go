package store

import (
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
)

// Clean removes unsafe parts from the answer of another resolver: locations and redirects that the
// registrar would reject as locations, and names that are not URIs or that a browser would execute.
// Clean replaces the lists of the answer, and does not modify the elements of the old lists.
func Clean(a *nomen.Answer) {
	a.Locations = slices.DeleteFunc(slices.Clone(a.Locations), func(l nomen.Location) bool { return location.Check(l.URL) != nil })
	a.Names = slices.DeleteFunc(slices.Clone(a.Names), func(s string) bool { return !location.IsHarmless(s) })
	if a.Redirect != "" && location.Check(a.Redirect) != nil {
		a.Redirect = ""
	}
}
