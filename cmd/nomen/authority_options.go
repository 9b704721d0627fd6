package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

type authorityOptions struct {
	*pflag.FlagSet
	setters []func(*store.Authority) error
}

func (o *authorityOptions) apply(a *store.Authority) error {
	var errs []error
	for _, set := range o.setters {
		errs = append(errs, set(a))
	}
	return errors.Join(errs...)
}

// sets registers a function that apply calls if the user has specified the option.
func (o *authorityOptions) sets(option string, set func(*store.Authority) error) {
	o.setters = append(o.setters, func(a *store.Authority) error {
		if !o.Changed(option) {
			return nil
		}
		return set(a)
	})
}

// setsField registers an assignment to a field of the authority. The function value returns the new
// value of the field.
func setsField[T any](o *authorityOptions, option string, field func(*store.Authority) *T, value func() T) {
	o.sets(option, func(a *store.Authority) error {
		*field(a) = value()
		return nil
	})
}

func textOption[T ~string](o *authorityOptions, option, usage string, field func(*store.Authority) *T) {
	value := o.String(option, "", usage)
	setsField(o, option, field, func() T { return T(*value) })
}

func (o *authorityOptions) boolOption(option, usage string, field func(*store.Authority) *bool) {
	value := o.Bool(option, false, usage)
	setsField(o, option, field, func() bool { return *value })
}

func (o *authorityOptions) intOption(option, usage string, field func(*store.Authority) *int) {
	value := o.Int(option, 0, usage)
	setsField(o, option, field, func() int { return *value })
}

func (o *authorityOptions) listOption(option, usage string, field func(*store.Authority) *[]string) {
	value := o.StringSlice(option, nil, usage)
	setsField(o, option, field, func() []string { return *value })
}

// textsOption adds an option for a list whose elements may contain commas. The user repeats the
// option for each element. An empty value clears the list.
func (o *authorityOptions) textsOption(option, usage string, field func(*store.Authority) *[]string) {
	value := o.StringArray(option, nil, usage)
	setsField(o, option, field, func() []string {
		return slices.DeleteFunc(*value, func(v string) bool { return v == "" })
	})
}

func (o *authorityOptions) declare() {
	o.textsOption("owner", "person or department responsible for the authority; give at least two (default none)", func(a *store.Authority) *[]string { return &a.Owners })
	o.listOption("host", "host name at which the server answers for this authority", func(a *store.Authority) *[]string { return &a.Hosts })
	o.listOption("address", "local address at which the server answers for this authority", func(a *store.Authority) *[]string { return &a.Addresses })
	o.boolOption("default", "use this authority for requests that do not name an authority", func(a *store.Authority) *bool { return &a.Default })
	o.textsOption("parent", "naming authority that authorised this one", func(a *store.Authority) *[]string { return &a.Parents })
	o.textsOption("child", "naming authority that this authority authorised", func(a *store.Authority) *[]string { return &a.Children })
	textOption(o, "contact", "contact URL, such as mailto:, https: or tel:", func(a *store.Authority) *string { return &a.Contact })
	textOption(o, "description", "description for people", func(a *store.Authority) *string { return &a.Description })
	o.boolOption("list", "let clients list the names of this authority (urn+a)", func(a *store.Authority) *bool { return &a.List })
	textOption(o, "default-service", "service for HTTP requests that give only a name: I2L, I2C and others (default I2L)", func(a *store.Authority) *nomen.Service { return &a.Service })
	o.boolOption("fold-case", "ignore case in what follows the prefix", func(a *store.Authority) *bool { return &a.FoldCase })
	o.intOption("redirect-status", "status code of redirects to HTTP/1.1 clients (default 303)", func(a *store.Authority) *int { return &a.Redirect })
}

// declarePolicy declares the options for the policy of an authority. If the value of --rules is
// "-", the rules are read from stdin.
func (o *authorityOptions) declarePolicy(stdin io.Reader) {
	rules := o.String("rules", "", "JSON file of rules, or \"-\" for standard input; an empty file removes them")
	o.sets("rules", func(a *store.Authority) (err error) {
		a.Rules, err = readRules(*rules, stdin, a.Rules)
		return err
	})
	o.declareDelegation()
	textOption(o, "suffix", "append: if a request has text after a registered name, add this text to the locations of the name", func(a *store.Authority) *store.Suffix { return &a.Suffix })
	textOption(o, "access", "reject all requests: denied (status 403), or legal (status 451: for legal reasons)", func(a *store.Authority) *store.Access { return &a.Access })
	textOption(o, "access-note", "reason for --access, for people", func(a *store.Authority) *string { return &a.AccessNote })
	o.declareServices()
	textOption(o, "q-component", "append or ignore: whether to add the q-component of a request to the query of the location (default append)", func(a *store.Authority) *store.Passing { return &a.QComponent })
	textOption(o, "query", "append or ignore: whether to add the plain query of a request to the query of the location (default ignore)", func(a *store.Authority) *store.Passing { return &a.Query })
	o.boolOption("fragment", "allow fragments in references to the names of this authority", func(a *store.Authority) *bool { return &a.Fragment })
	o.boolOption("fetch", "let I2R and I2Rs send the resource itself", func(a *store.Authority) *bool { return &a.Fetch })
	textOption(o, "choice", "fixed: of locations that are equally good, always choose the one with the greatest weight (default at random, by weight)", func(a *store.Authority) *store.Choice { return &a.Choice })
	textOption(o, "failover", "archive: while the checks of links say that a location is dead, redirect to another location or to an archived copy", func(a *store.Authority) *store.Failover { return &a.Failover })
	o.intOption("max-age", "seconds for which clients may cache responses", func(a *store.Authority) *int { return &a.MaxAge })
	textOption(o, "commitment", "what the authority promises about its names, such as 'Permanent: Stable Content'; for people", func(a *store.Authority) *string { return &a.Commitment })
	textOption(o, "check-digit", "check character of new names: namespace, noid, luhn or mod97", func(a *store.Authority) *string { return &a.CheckDigit })
	o.textsOption("mint", "template of new names, as for 'nomen mint'; can be repeated if each begins with a different text (default none)", func(a *store.Authority) *[]string { return &a.Mint })
}

func (o *authorityOptions) declareDelegation() {
	mode := o.String("delegate", "", "redirect: redirect clients to another resolver; ask: ask another resolver and return its response; \"\": no delegation")
	o.sets("delegate", func(a *store.Authority) error {
		if a.Delegation == nil {
			a.Delegation = &store.Delegation{}
		}
		if a.Delegation.Mode = store.Mode(*mode); *mode == "" {
			a.Delegation = nil
		}
		return nil
	})
	to := o.String("delegate-to", "", "the resolver for --delegate: HOST, HOST:PORT, a template such as https://resolver.example/{+name}{?s,c}, dspace:URL, or \"\"")
	o.sets("delegate-to", func(a *store.Authority) error {
		if a.Delegation == nil {
			return usagef("--delegate-to needs --delegate redirect or --delegate ask")
		}
		a.Delegation.To = *to
		return nil
	})
}

func (o *authorityOptions) declareServices() {
	services := o.StringSlice("service", nil, "service to offer: I2L, I2Ls and others (default all)")
	setsField(o, "service", func(a *store.Authority) *[]nomen.Service { return &a.Services }, func() (all []nomen.Service) {
		for _, s := range *services {
			all = append(all, nomen.Service(s))
		}
		return all
	})
	keywords := o.StringArray("keyword", nil, "directive that the authority supports, and its values: KEYWORD or KEYWORD=VALUE,VALUE")
	setsField(o, "keyword", func(a *store.Authority) *map[string][]string { return &a.Keywords }, func() map[string][]string {
		all := map[string][]string{}
		for _, k := range *keywords {
			keyword, values, hasValues := strings.Cut(k, "=")
			if all[keyword] = nil; hasValues {
				all[keyword] = strings.Split(values, ",")
			}
		}
		delete(all, "")
		return all
	})
	components := o.StringArray("r-component", nil, "R=DIRECTIVES: the r-component R stands for these directives; with toc=c=toc, ?+toc means c=toc")
	setsField(o, "r-component", func(a *store.Authority) *map[string]string { return &a.RComponent }, func() map[string]string {
		all := map[string]string{}
		for _, r := range *components {
			component, directives, _ := strings.Cut(r, "=")
			all[component] = directives
		}
		delete(all, "")
		return all
	})
}

// readRules reads rules from a file, or from stdin if file is "-". If the file is empty, or file is
// "", there are no rules. If there is an error, readRules returns the old rules.
func readRules(file string, stdin io.Reader, old rule.Set) (rules rule.Set, err error) {
	var text []byte
	switch file {
	case "":
	case "-":
		text, err = io.ReadAll(io.LimitReader(stdin, store.MaxRecord))
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return old, err
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := store.DecodeText(text, &rules); err != nil {
			return old, fmt.Errorf("%s: %w", file, err)
		}
	}
	return rules, nil
}
