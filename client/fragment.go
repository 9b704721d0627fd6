package client

import (
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/uri"
)

// ApplyFragment adds the fragment of the requested URI u to the locations without a fragment (2012,
// 2.4 and App. A: N12-38; RFC 9110, 10.2.2). If the fragment has no meaning in the resource, a
// client shows the whole resource (N12-39).
func ApplyFragment(a *nomen.Answer, u uri.URI) {
	fragment, _ := u.Fragment()
	addFragment(a, fragment)
}

func addFragment(a *nomen.Answer, fragment string) {
	if fragment == "" {
		return
	}
	for i, l := range a.Locations {
		if !strings.Contains(l.URL, "#") {
			a.Locations[i].URL = l.URL + "#" + fragment
		}
	}
	if a.Redirect != "" && !strings.Contains(a.Redirect, "#") {
		a.Redirect += "#" + fragment
	}
}
