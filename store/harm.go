package store

import (
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/uri"
)

// Clean removes from the answer of another resolver the locations and the redirection
// that no location here may be, and names that are no URIs or that a browser would
// run. The lists of the answer are then its own.
func Clean(a *nomen.Answer) {
	a.Locations = slices.DeleteFunc(slices.Clone(a.Locations), func(l nomen.Location) bool { return location.Check(l.URL) != nil })
	a.Names = slices.DeleteFunc(slices.Clone(a.Names), func(s string) bool { return !isName(s) })
	if a.Redirect != "" && location.Check(a.Redirect) != nil {
		a.Redirect = ""
	}
}

// isName reports whether s is a URI that may be a name.
func isName(s string) bool {
	u, err := uri.Parse(s)
	if err != nil {
		return false
	}
	scheme, _ := u.Scheme()
	return !location.Runs(scheme)
}
