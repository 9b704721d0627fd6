package store

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/uri"
)

// Runs reports whether a browser that follows a link of this scheme, given in
// lower case, runs or shows what the link itself holds, or opens its own insides:
// no place where a resource could be.
func Runs(scheme string) bool {
	switch scheme {
	case "javascript", "data", "vbscript", "livescript", "mocha", "jscript",
		"blob", "filesystem", "about", "view-source", "jar", "chrome",
		"chrome-extension", "moz-extension", "resource", "res", "mhtml", "ms-its", "mk":
		return true
	}
	return false
}

// Clean removes from the answer of a stranger the locations, names and redirection
// that no location of ours may be. Its lists are then its own.
func Clean(a *nomen.Answer) {
	a.Locations = slices.DeleteFunc(slices.Clone(a.Locations), func(l nomen.Location) bool { return !harmless(l.URL) })
	a.Names = slices.DeleteFunc(slices.Clone(a.Names), func(s string) bool { return !harmless(s) })
	if !harmless(a.Redirect) {
		a.Redirect = ""
	}
}

// harmless reports whether s is a URI with which a browser does nothing but ask.
func harmless(s string) bool {
	u, err := uri.Parse(s)
	if err != nil {
		return false
	}
	scheme, _ := u.Scheme()
	return !Runs(strings.ToLower(scheme))
}
