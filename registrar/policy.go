package registrar

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// maxMaxAge is the maximum of max_age: a year, in seconds.
const maxMaxAge = 365 * 24 * 60 * 60

func checkAnswers(of string, a *store.Authority) error {
	for _, c := range [...]struct {
		field string
		fault fault
	}{
		{"suffix", oneOf(string(a.Suffix), "", string(store.SuffixAppend))},
		{"access", oneOf(string(a.Access), "", string(store.AccessDenied), string(store.AccessLegal))},
		{"access_note", checkText(a.AccessNote, true)},
		{"commitment", checkText(a.Commitment, true)},
		{"q_component", oneOf(string(a.QComponent), "", string(store.PassAppend), string(store.PassIgnore))},
		{"query", oneOf(string(a.Query), "", string(store.PassAppend), string(store.PassIgnore))},
		{"choice", oneOf(string(a.Choice), "", string(store.ChoiceFixed))},
		{"failover", oneOf(string(a.Failover), "", string(store.FailoverArchive))},
		{"check_digit", oneOf(a.CheckDigit, append([]string{""}, CheckDigits()...)...)},
	} {
		if c.fault.bad() {
			return refuse(of, c.field, c.fault)
		}
	}
	if a.MaxAge < 0 || a.MaxAge > maxMaxAge {
		return refuse(of, "max_age", faultf(0, "range", "%d must be between 0 and %d seconds", a.MaxAge, maxMaxAge))
	}
	return cmp.Or(checkMint(of, a), checkServices(of, a), checkDirectives(of, a), checkDelegation(of, a), checkRules(of, a))
}

// CheckDigits returns the possible values of [store.Authority].CheckDigit that require check
// characters.
func CheckDigits() []string { return []string{"namespace", "noid", "luhn", "mod97"} }

func checkMint(of string, a *store.Authority) error {
	shoulders := map[string]bool{}
	for i, text := range a.Mint {
		t, err := mint.Parse(a.Prefix, text)
		if err == nil {
			_, err = t.Start(mint.Options{})
		}
		var bad *mint.Error
		switch {
		case errors.As(err, &bad):
			return refuseAt(of, "mint", i, "", fault{offset: bad.Offset, rule: bad.Rule, message: bad.Message, err: err})
		case err != nil:
			return refuseAt(of, "mint", i, "", fault{rule: "template", message: err.Error(), err: err})
		case shoulders[t.Shoulder()]:
			return refuseAt(of, "mint", i, "", faultf(0, "template", "another template begins with %q too", t.Shoulder()))
		}
		shoulders[t.Shoulder()] = true
	}
	return nil
}

func oneOf(s string, allowed ...string) fault {
	if slices.Contains(allowed, s) {
		return fault{}
	}
	return faultf(0, "value", "%q must be one of %s", s, strings.Join(allowed[1:], ", "))
}

func checkServices(of string, a *store.Authority) error {
	for i, s := range a.Services {
		f := checkService(s)
		switch {
		case s == "":
			f = faultf(0, "service", "must not be empty")
		case slices.Contains(a.Services[:i], s):
			f = faultf(0, "service", "%s is repeated", s)
		case (s == nomen.I2R || s == nomen.I2Rs) && !a.Fetch:
			f = faultf(0, "service", "%s requires fetch", s)
		}
		if f.bad() {
			return refuseAt(of, "services", i, "", f)
		}
	}
	if a.Service != "" && len(a.Services) > 0 && !slices.Contains(a.Services, a.Service) {
		return refuse(of, "default_service", faultf(0, "service", "%s must be one of the services offered", a.Service))
	}
	return nil
}

// checkDirectives checks the keywords (2012, 2.3; N12-26, N12-27) and the directives of
// r-components.
func checkDirectives(of string, a *store.Authority) error {
	for _, keyword := range slices.Sorted(maps.Keys(a.Keywords)) {
		field := "keywords." + keyword
		if !isKeyword(keyword) {
			return refuse(of, field, faultf(0, "keywd", "must be a letter followed by letters, digits and single hyphens, without a hyphen at the end"))
		}
		for i, value := range a.Keywords[keyword] {
			if f := checkFull(value, false); f.bad() {
				return refuseAt(of, field, i, "", f)
			}
		}
	}
	for _, r := range slices.Sorted(maps.Keys(a.RComponent)) {
		field := "r_component." + r
		if u, err := uri.Parse("x:?" + r); err != nil || r == "" || strings.ContainsAny(r, "#") || !u.IsValid() {
			return refuse(of, field, faultf(0, "r-component", "invalid characters in r-component"))
		}
		if err := checkDirected(a.RComponent[r]); err != nil {
			return refuse(of, field, faultf(0, "directive", "%s", err))
		}
	}
	return nil
}

func isKeyword(s string) bool {
	for i := range len(s) {
		hyphen := s[i] == '-' && i > 0 && i < len(s)-1 && s[i-1] != '-'
		if !ascii.IsAlnum(s[i]) && !hyphen || i == 0 && !ascii.IsLetter(s[i]) {
			return false
		}
	}
	return s != ""
}

func checkDirected(directives string) error {
	if _, err := uri.Parse("x:?" + directives); err != nil || strings.ContainsAny(directives, "#") {
		return errors.New("invalid characters in query")
	}
	for directive := range strings.SplitSeq(directives, "&") {
		keyword, value, _ := strings.Cut(directive, "=")
		f := fault{}
		switch {
		case value == "":
			return fmt.Errorf("%q: expected keyword=value", directive)
		case keyword == "s":
			f = checkService(nomen.Service(value))
		case keyword == "lang":
			f = checkLang(value)
		case keyword == "country":
			f = checkCountry(value)
		case keyword == "type", keyword == "c":
		default:
			return fmt.Errorf("%q: keyword must be s, c, lang, type or country", keyword)
		}
		if f.bad() {
			return fmt.Errorf("%s: %s", directive, f.message)
		}
	}
	return nil
}

func checkDelegation(of string, a *store.Authority) error {
	if a.Delegation == nil {
		return nil
	}
	if a.Delegation.Mode != store.ModeRedirect && a.Delegation.Mode != store.ModeAsk {
		return refuse(of, "delegation.mode", faultf(0, "value", "%q must be redirect or ask", a.Delegation.Mode))
	}
	if a.Delegation.Mode == store.ModeRedirect && a.Delegation.To == "" {
		return refuse(of, "delegation.to", faultf(0, "value", "mode redirect needs the address of the resolver; only mode ask can find it by discovery"))
	}
	c, err := (&store.Authority{Prefix: a.Prefix, Policy: store.Policy{Delegation: a.Delegation}}).Compile()
	if err != nil {
		f := fault{rule: "delegation", message: err.Error(), err: err}
		var e *store.DelegationError
		if errors.As(err, &e) {
			f.message = e.Err.Error()
		}
		var template *rule.Error
		if errors.As(err, &template) {
			f = fault{offset: template.Offset, rule: template.Rule, message: template.Message, err: err}
		}
		return refuse(of, "delegation.to", f)
	}
	if a.Delegation.Mode == store.ModeAsk && c.Link != nil && !asksByName(a.Delegation.To) {
		return refuse(of, "delegation.to", faultf(0, "URI-Template", "in mode ask the template must have {+name} and no other variable"))
	}
	if c.Via != "" && !slices.ContainsFunc([]string{"hdl", "doi"}, func(scheme string) bool {
		return a.Prefix.String() == scheme || strings.HasPrefix(a.Prefix.String(), scheme+":")
	}) {
		return refuse(of, "delegation.to", faultf(0, "value", "a DSpace repository resolves only handles, and the names of this authority are not handles"))
	}
	host := c.Host
	if c.Link != nil || c.Via != "" {
		if u, err := uri.Parse(strings.NewReplacer("{", "", "}", "", "dspace:", "").Replace(a.Delegation.To)); err == nil {
			host, _ = u.Host()
		}
	}
	if slices.Contains(a.Hosts, store.CanonicalHost(host)) {
		return refuse(of, "delegation.to", faultf(0, "loop", "%s is a host of this authority itself", store.CanonicalHost(host)))
	}
	return nil
}

func asksByName(template string) bool {
	rest := strings.NewReplacer("{+name}", "", "{name}", "").Replace(template)
	return rest != template && !strings.ContainsAny(rest, "{}")
}

// checkRules compiles the rules and runs their tests. Locations in rules must be valid, as in
// records.
func checkRules(of string, a *store.Authority) error {
	for i := range a.Rules {
		list := fmt.Sprintf("rules[%d].", i)
		for j, l := range a.Rules[i].Locations {
			if f := checkTemplate(l.URL, false); f.bad() {
				return refuseAt(of, list+"locations", j, ".url", f)
			}
			l.URL = "https://example.org/" // any valid URL, because the result of the template is unknown
			if field, f := checkNoView(&l); f.bad() {
				return refuseAt(of, list+"locations", j, "."+field, f)
			}
			if field, f := checkLocation(&l); f.bad() {
				return refuseAt(of, list+"locations", j, "."+field, f)
			}
		}
		for j, s := range a.Rules[i].SameAs {
			if f := checkTemplate(s, true); f.bad() {
				return refuseAt(of, list+"same_as", j, "", f)
			}
		}
	}
	if len(a.Rules) == 0 {
		return nil
	}
	compiled, err := a.Rules.Check(a.Prefix)
	if err == nil {
		return checkFoldedRules(of, a, compiled)
	}
	var failed *rule.TestError
	if errors.As(err, &failed) {
		return refuse(of, fmt.Sprintf("rules[%d].tests[%d]", failed.Rule, failed.Test), fault{rule: "test", message: failedTest(failed), err: err})
	}
	var e *rule.IndexError
	if errors.As(err, &e) {
		f := fault{rule: "rule", message: e.Err.Error(), err: err}
		var inner *rule.Error
		if errors.As(e.Err, &inner) {
			f = fault{offset: inner.Offset, rule: inner.Rule, message: fmt.Sprintf("%q: %s", inner.Input, inner.Message), err: err}
		}
		return refuse(of, fmt.Sprintf("rules[%d].%s", e.Rule, e.What), f)
	}
	return err
}

func failedTest(e *rule.TestError) string {
	got, want := "no rule matches", "no rule to match"
	if e.Matched >= 0 {
		got = fmt.Sprintf("rule %d gives %s", e.Matched+1, listed(e.Got))
	}
	if len(e.Want) > 0 {
		want = fmt.Sprintf("rule %d to give %s", e.Rule+1, listed(e.Want))
	}
	return fmt.Sprintf("test %d of rule %d, %s: %s; the test expects %s", e.Test+1, e.Rule+1, e.From, got, want)
}

func listed(urls []string) string {
	if len(urls) == 0 {
		return "no location"
	}
	return strings.Join(urls, ", ")
}

// checkTemplate checks the text of a template and its scheme, which must not be a variable. If name
// is true, the template makes a name, which can have any scheme whose content browsers do not
// execute.
func checkTemplate(s string, name bool) fault {
	if f := checkText(s, false); f.bad() {
		return f
	}
	scheme, _, ok := strings.Cut(s, ":")
	switch {
	case !ok || strings.ContainsAny(scheme, "{}"):
		return faultf(0, "scheme", "a template must begin with a literal scheme")
	case location.Runs(scheme):
		return faultf(0, "scheme", "%s: makes a browser execute or display the content of the link itself", scheme)
	case !name && !location.Allows(scheme):
		return faultf(0, "scheme", "%q is not among the schemes that a location may have", scheme)
	}
	return fault{}
}

func checkDigit(n name.Name, a *store.Authority) error {
	if a == nil || a.CheckDigit == "" {
		return nil
	}
	width, kind := 1, "{check:"+a.CheckDigit+"}"
	switch a.CheckDigit {
	case "mod97":
		width = 2
	case "namespace":
		if f := flawOf(n); f != nil {
			message := f.Rule + ": " + f.Message
			return refuse(n.Key(), "name", faultf(f.Offset, "check", "%s", message+meant(n.Key(), message)))
		}
		return nil
	}
	element := a.Prefix.Element(n)
	if len(element) <= width {
		return refuse(n.Key(), "name", faultf(len(n.Key()), "check", "too short for the check characters (%s) that %s requires", a.CheckDigit, a.Prefix))
	}
	right, err := withCheck(a.Prefix, element[:len(element)-width]+kind)
	if err != nil {
		return refuse(n.Key(), "name", fault{offset: len(n.Key()) - width, rule: "check", message: err.Error(), err: err})
	}
	if right != n {
		return refuse(n.Key(), "name", faultf(len(n.Key())-width, "check", "wrong check characters (%s), expected %s", a.CheckDigit, right))
	}
	return nil
}

// withCheck returns the first name that a template makes.
func withCheck(p name.Prefix, template string) (name.Name, error) {
	t, err := mint.Parse(p, template)
	if err != nil {
		return name.Name{}, err
	}
	run, err := t.Start(mint.Options{})
	if err != nil {
		return name.Name{}, err
	}
	for n, err := range run.Names() {
		return n, err
	}
	return name.Name{}, errors.New("no characters to compute check characters from")
}
