package replay

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A Class says how the answer of the new server to a request differs from the answer of the old
// server.
type Class string

// The classes, in the order of reports.
const (
	Equal         Class = "equal"
	OtherStatus   Class = "other status"
	OtherLocation Class = "other location"
	MissingHere   Class = "missing here"  // only the new server answers 404 or 410
	MissingThere  Class = "missing there" // only the old server answers 404 or 410
	Failed        Class = "error"         // a server did not answer
	NotCompared   Class = "not compared"  // the old answer is unknown
)

func Classes() []Class {
	return []Class{Equal, OtherStatus, OtherLocation, MissingHere, MissingThere, Failed, NotCompared}
}

// RuleBase is the name of a rule for comparing Location fields. By this rule, a path below the base
// URL of the old server is equivalent to the same path below the base URL of the new server. The
// other rules are levels of equivalence in package uri.
const RuleBase = "base"

// A comparison says what counts as equal.
type comparison struct {
	exact       bool // a Location must have the same bytes
	anyRedirect bool // 301, 302, 303, 307 and 308 are equal
	base, old   string
}

// class compares two answers. If the two Location fields have different spellings but are
// equivalent, the result rules names the rules for this.
func (c comparison) class(target string, old, here Answer) (class Class, rules string) {
	switch {
	case old.Error != "" || here.Error != "":
		return Failed, ""
	case isMissing(here.Status) && old.Status < 400:
		return MissingHere, ""
	case isMissing(old.Status) && here.Status < 400:
		return MissingThere, ""
	case old.Status != here.Status && !(c.anyRedirect && isRedirect(old.Status) && isRedirect(here.Status)):
		return OtherStatus, ""
	case old.Location == here.Location || old.Location == "" && !old.complete || !isRedirect(here.Status):
		return Equal, ""
	case c.exact:
		return OtherLocation, ""
	}
	rules, ok := c.sameLocation(target, old.Location, here.Location)
	if !ok {
		return OtherLocation, ""
	}
	return Equal, rules
}

func isMissing(status int) bool { return status == 404 || status == 410 }

func isRedirect(status int) bool { return slices.Contains([]int{301, 302, 303, 307, 308}, status) }

func (c comparison) sameLocation(target, old, here string) (rules string, same bool) {
	a, errA := absolute(c.old, target, old)
	b, errB := absolute(c.base, target, here)
	if errA != nil || errB != nil {
		return "", false
	}
	if level, ok := uri.Compare(a, b, webRules()...); ok {
		return ruleOf(level, a.String() != old || b.String() != here), true
	}
	rest, below := strings.CutPrefix(b.String(), c.base)
	if !below {
		return "", false
	}
	if b, errB = uri.Parse(c.old + rest); errB != nil {
		return "", false
	}
	level, ok := uri.Compare(a, b, webRules()...)
	return ruleOf(level, true), ok
}

func absolute(base, target, location string) (uri.URI, error) {
	ref, err := uri.ParseReference(location)
	if err != nil || !ref.IsReference() {
		return ref, err
	}
	at, err := uri.Parse(base + strings.TrimPrefix(target, "/"))
	if err != nil {
		return ref, err
	}
	return at.Resolve(ref)
}

func ruleOf(level uri.Level, base bool) string {
	switch {
	case base && level == uri.LevelString:
		return RuleBase
	case base:
		return RuleBase + ", " + level.String()
	}
	return level.String()
}

func webRules() []uri.SchemeRules {
	return []uri.SchemeRules{
		{Scheme: "http", DefaultPort: "80", RootPath: true},
		{Scheme: "https", DefaultPort: "443", RootPath: true},
	}
}
