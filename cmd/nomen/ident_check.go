package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

const checkLong = `Check says whether identifiers are valid. It also warns about anything that may mislead
people or programs: passwords, look-alike hosts, unusual forms of addresses, ports, escaped
delimiters, hosts that are not domain names, mixed writing directions, and text in which
browsers, curl and Go's net/url see different hosts. Each finding is an error, a warning or
information, and has an offset in bytes from 0.

A URI reference or URN is valid if it matches the syntax of its dialect (--dialect). If a
URN breaks a rule of its namespace, for example with a wrong check character, this is a
finding of severity error. Where possible, check suggests what was probably meant.

With --rule, an identifier is valid if it matches the given production of the dialect,
such as host, IPv6address, NSS or r-component. Nothing else is checked. If URIs and URNs
both have a production of that name, --dialect decides between them.

With --base, check also says which references cannot be resolved against that URI. (Most
relative references cannot be resolved against a URN, because it has no hierarchy.)

The exit status is 1 if an identifier is invalid or has a finding of severity error.

An identifier may be enclosed in angle brackets, with "URL:" and white space inside, as in
text.

` + ownRegistryHelp + `

` + streamHelp

func (c *cli) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check ID...",
		Short: "check whether identifiers are valid and harmless",
		Long:  checkLong,
		Example: `  nomen check http://example.org/ 'http://example.org/a b'
  nomen check http://www.example.org@0x7f.1:8080/
  nomen check urn:isbn:0-395-36341-2 urn:nbn:de:101:1-201102033593
  nomen check --rule IPv6address 2001:db8::1 1::2::3
  nomen check --rule NSS 'a%zz'
  nomen check --base urn:example:book chapter2 '#page4'
  nomen check --dialect 1997 --rule site example.org:80
  nomen check --json - < urls.txt`,
		Args: arguments(1, -1),
	}
	k := &checker{dialects: addDialects(cmd), rules: extra.Catalogue().Rules()}
	cmd.Flags().StringVar(&k.rule, "rule", "", "production of the dialect to check against (default that of a URI reference or URN)")
	base := cmd.Flags().String("base", "", "URI of the document that contains the references (default none)")
	file := addRegistry(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := k.knowsRule(); err != nil {
			return err
		}
		if *base != "" {
			b, err := k.readAbsolute(*base)
			if err != nil {
				return usagef("--base: %w", err)
			}
			k.base = b.uri
		}
		known, err := readRegistries(*file)
		if err != nil {
			return err
		}
		k.inspector = known.Inspector()
		return c.answerEach(cmd.Context(), args, k.answer)
	}
	return cmd
}

type checker struct {
	*dialects
	rule      string  // "" for the whole URI reference or URN
	base      uri.URI // of references; zero for none
	rules     []uri.SchemeRules
	inspector urn.Inspector
}

func (k *checker) knowsRule() error {
	if k.rule == "" || !isUnknownRule(k.checkRule("")) {
		return nil
	}
	return usagef("--rule %q: unknown production: %s has %s; %s has %s", k.rule,
		k.uri, strings.Join(slices.Collect(k.uri.Rules()), ", "), k.urn, strings.Join(slices.Collect(k.urn.Rules()), ", "))
}

func isUnknownRule(err error) bool {
	return errors.Is(err, uri.ErrUnknownRule) || errors.Is(err, urn.ErrUnknownRule)
}

// checkRule checks whether s matches the grammar rule that the user has specified. If both dialects
// have a rule with this name, the last dialect on the command line takes precedence. The default is
// the dialect for URIs.
func (k *checker) checkRule(s string) error {
	first, second := k.uri.CheckRule, k.urn.CheckRule
	if k.urnFirst {
		first, second = second, first
	}
	if err := first(k.rule, s); !isUnknownRule(err) {
		return err
	}
	return second(k.rule, s)
}

type verdict struct {
	Input       string       `json:"input"`
	Valid       bool         `json:"valid"`
	Findings    []finding    `json:"findings"`
	Suggestions []suggestion `json:"suggestions,omitempty"`
}

// A finding is the JSON form of a [uri.Finding], or of an error from a parser or a namespace.
type finding struct {
	Code     uri.FindingCode `json:"code"`
	Severity string          `json:"severity"`
	Offset   int             `json:"offset"`
	Message  string          `json:"message"`
	Rule     string          `json:"rule,omitempty"`
}

func (k *checker) answer(a *answers, s string) {
	v := k.check(s)
	isError := func(f finding) bool { return f.Severity == uri.SeverityError.String() }
	if !v.Valid || slices.ContainsFunc(v.Findings, isError) {
		a.no = true
	}
	if a.json != nil {
		a.object(v)
		return
	}
	v.show(a)
}

func (k *checker) check(s string) verdict {
	v := verdict{Input: s, Findings: []finding{}}
	if k.rule != "" {
		v.judge(k.checkRule(s))
		return v
	}
	v.Input, _ = uri.Undelimit(s)
	if k.looksURN(v.Input) {
		k.checkURN(&v)
	} else {
		k.checkURI(&v)
	}
	v.Input = s
	for i := range v.Findings {
		v.Findings[i].Offset = uri.DelimitedOffset(s, v.Findings[i].Offset)
	}
	slices.SortStableFunc(v.Findings, func(a, b finding) int { return a.Offset - b.Offset })
	return v
}

func (k *checker) checkURI(v *verdict) {
	id, err := k.read(v.Input)
	v.Valid = err == nil
	for _, f := range k.uri.Inspect(v.Input, k.rules...) {
		v.add(f)
	}
	if i, err := iri.ParseReference(v.Input); err == nil {
		for _, f := range i.Inspect() {
			v.add(f)
		}
	}
	if v.Valid {
		v.scheme(id)
		if f, odd := urn.InspectReference(k.base, id.uri); odd {
			v.add(f)
		}
	}
	if _, meant := name.Interpret(v.Input); meant || mayMeanName(id, v.Valid) {
		v.suggest(k.urn)
	}
}

func (v *verdict) judge(err error) {
	v.Valid = err == nil
	if err != nil {
		e := explain(err)
		v.Findings = append(v.Findings, finding{uri.FindingInvalid, uri.SeverityError.String(), *e.Offset, e.Message, e.Rule})
	}
}

func (v *verdict) add(f uri.Finding) {
	v.Findings = append(v.Findings, finding{f.Code, f.Severity.String(), f.Offset, f.Message, f.Rule})
}

func (v *verdict) show(a *answers) {
	word, colour := "valid", colourGreen
	if !v.Valid {
		word, colour = "invalid", colourRed
	}
	a.text(a.paint(colour, word, len("invalid")) + "  " + printable(v.Input))
	colours := map[string]string{"error": colourRed, "warning": colourYellow}
	for _, f := range v.Findings {
		rule := ""
		if f.Rule != "" {
			rule = " (" + f.Rule + ")"
		}
		a.text("  " + a.paint(colours[f.Severity], f.Severity, len("warning")) +
			fmt.Sprintf("  at %-3d  %-19s  ", f.Offset, f.Code) + printable(f.Message) + rule)
	}
	for _, m := range v.Suggestions {
		a.text("  did you mean  " + printable(m.Name) + "  (" + printable(m.Why) + ")")
	}
}
