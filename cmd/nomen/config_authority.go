package main

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// An authorityTable is one [[authority]] of a configuration file. Its keys are the
// fields that 'authority list --json' prints, except those that the store sets.
type authorityTable struct {
	Prefix         string              `toml:"prefix"`
	Owners         []string            `toml:"owners"`
	Hosts          []string            `toml:"hosts"`
	Addresses      []string            `toml:"addresses"`
	Default        bool                `toml:"default"`
	Parents        []string            `toml:"parents"`
	Children       []string            `toml:"children"`
	Contact        string              `toml:"contact"`
	Description    string              `toml:"description"`
	List           bool                `toml:"list"`
	DefaultService nomen.Service       `toml:"default_service"`
	FoldCase       bool                `toml:"fold_case"`
	RedirectStatus int                 `toml:"redirect_status"`
	Rules          []ruleTable         `toml:"rules"`
	Delegation     *delegationTable    `toml:"delegation"`
	Suffix         store.Suffix        `toml:"suffix"`
	Access         store.Access        `toml:"access"`
	AccessNote     string              `toml:"access_note"`
	Services       []nomen.Service     `toml:"services"`
	Keywords       map[string][]string `toml:"keywords"`
	RComponent     map[string]string   `toml:"r_component"`
	QComponent     store.Passing       `toml:"q_component"`
	Query          store.Passing       `toml:"query"`
	Fragment       bool                `toml:"fragment"`
	Fetch          bool                `toml:"fetch"`
	Choice         store.Choice        `toml:"choice"`
	MaxAge         int                 `toml:"max_age"`
	CheckDigit     string              `toml:"check_digit"`
}

// A delegationTable is the TOML form of a [store.Delegation].
type delegationTable struct {
	Mode store.Mode `toml:"mode"`
	To   string     `toml:"to"`
}

// A ruleTable is the TOML form of a [rule.Rule].
type ruleTable struct {
	Match      string               `toml:"match"`
	Regexp     string               `toml:"regexp"`
	IgnoreCase bool                 `toml:"ignore_case"`
	Raw        bool                 `toml:"raw"`
	Parts      map[string]partTable `toml:"parts"`
	Locations  []locationTable      `toml:"locations"`
	SameAs     []string             `toml:"same_as"`
	Tests      []testTable          `toml:"tests"`
}

// The tables in a rule have the same fields as their types, in the same order, so that
// they can be converted.
type (
	partTable struct {
		Drop string `toml:"drop"`
		Trim string `toml:"trim"`
		Case string `toml:"case"`
		Pad  int    `toml:"pad"`
	}
	locationTable struct {
		URL        string `toml:"url"`
		Type       string `toml:"type"`
		Lang       string `toml:"lang"`
		Rel        string `toml:"rel"`
		Priority   int    `toml:"priority"`
		Weight     int    `toml:"weight"`
		Country    string `toml:"country"`
		Component  string `toml:"component"`
		Charset    string `toml:"charset"`
		Note       string `toml:"note"`
		Down       bool   `toml:"down"`
		ValidFrom  string `toml:"valid_from"`
		ValidUntil string `toml:"valid_until"`
	}
	testTable struct {
		From string   `toml:"from"`
		To   []string `toml:"to"`
	}
)

func (t authorityTable) authority() (*store.Authority, error) {
	p, err := name.ParsePrefix(t.Prefix)
	if err != nil {
		return nil, err
	}
	a := &store.Authority{
		Prefix: p, Owners: t.Owners, Hosts: t.Hosts, Addresses: t.Addresses, Default: t.Default,
		Parents: t.Parents, Children: t.Children, Contact: t.Contact, Description: t.Description,
		List: t.List, Service: t.DefaultService, FoldCase: t.FoldCase, Redirect: t.RedirectStatus,
		Policy: store.Policy{
			Delegation: (*store.Delegation)(t.Delegation), Suffix: t.Suffix, Access: t.Access, AccessNote: t.AccessNote,
			Services: t.Services, Keywords: t.Keywords, RComponent: t.RComponent, QComponent: t.QComponent, Query: t.Query,
			Fragment: t.Fragment, Fetch: t.Fetch, Choice: t.Choice, MaxAge: t.MaxAge, CheckDigit: t.CheckDigit,
		},
	}
	for _, r := range t.Rules {
		a.Rules = append(a.Rules, r.rule())
	}
	return a, nil
}

func (t ruleTable) rule() rule.Rule {
	r := rule.Rule{Match: t.Match, Regexp: t.Regexp, IgnoreCase: t.IgnoreCase, Raw: t.Raw, SameAs: t.SameAs}
	for label, p := range t.Parts {
		if r.Parts == nil {
			r.Parts = map[string]rule.Part{}
		}
		r.Parts[label] = rule.Part(p)
	}
	for _, l := range t.Locations {
		r.Locations = append(r.Locations, nomen.Location(l))
	}
	for _, test := range t.Tests {
		r.Tests = append(r.Tests, rule.Test(test))
	}
	return r
}
