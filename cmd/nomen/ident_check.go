package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

const checkLong = `Check tells whether identifiers are valid, and warns of what in them may deceive
people or programs: passwords, hosts that look like others, addresses in odd
forms, ports, escaped delimiters, texts in which browsers, curl and Go's net/url
see another host. A finding says where it is, in bytes from 0, and is an error,
a warning or an information.

Valid is what the reference rule of the dialect derives, for URNs that of their
dialect. With --rule it is what the named production of the dialect derives,
such as host, IPv6address or reg-name (in 1997 site, hostname ...), and nothing
else is looked at. The exit status is 1 if an identifier is not valid or has a
finding that is an error.

` + streamHelp

func (c *cli) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check ID...",
		Short: "are identifiers valid, and is anything odd about them?",
		Long:  checkLong,
		Example: `  nomen check http://example.org/ 'http://example.org/a b'
  nomen check http://www.example.org@0x7f.1:8080/
  nomen check --rule IPv6address 2001:db8::1 1::2::3
  nomen check --dialect 1997 --rule site example.org:80
  nomen check --json - < urls.txt`,
		Args: arguments(1, -1),
	}
	k := &checker{dialects: addDialects(cmd), rules: scheme.Rules()}
	cmd.Flags().StringVar(&k.rule, "rule", "", "production of the dialect to check against")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := k.knowsRule(); err != nil {
			return err
		}
		return c.answerEach(cmd.Context(), args, k.answer)
	}
	return cmd
}

// A checker answers what is to be said about identifiers.
type checker struct {
	*dialects
	rule  string // "" is the reference rule
	rules []uri.SchemeRules
}

// knowsRule checks that the dialect has the production.
func (k *checker) knowsRule() error {
	if k.rule == "" || !errors.Is(k.uri.CheckRule(k.rule, ""), uri.ErrUnknownRule) {
		return nil
	}
	return usagef("--rule %q: %s has %s", k.rule, k.uri, strings.Join(slices.Collect(k.uri.Rules()), ", "))
}

// A verdict is the result for one identifier in JSON.
type verdict struct {
	Input    string    `json:"input"`
	Valid    bool      `json:"valid"`
	Findings []finding `json:"findings"`
}

// A finding is a [uri.Finding], or what a parser or a namespace says.
type finding struct {
	Code     uri.FindingCode `json:"code"`
	Severity string          `json:"severity"`
	Offset   int             `json:"offset"`
	Message  string          `json:"message"`
	Rule     string          `json:"rule,omitempty"`
}

// findingNamespace: a rule of the namespace of a URN is broken.
const findingNamespace uri.FindingCode = "namespace"

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
		v.judge(k.uri.CheckRule(k.rule, s))
		return v
	}
	id, err := k.read(s)
	v.Valid = err == nil
	if k.looksURN(s) {
		v.judge(err)
		if !id.urn.IsValid() {
			return v
		}
		v.namespace(id)
		s = id.urn.String()
	}
	for _, f := range k.uri.Inspect(s, k.rules...) {
		v.add(f, err, id)
	}
	slices.SortStableFunc(v.Findings, func(a, b finding) int { return a.Offset - b.Offset })
	return v
}

// judge takes the answer of a parser.
func (v *verdict) judge(err error) {
	v.Valid = err == nil
	if err != nil {
		v.breach(uri.FindingInvalid, err)
	}
}

// breach adds that a rule is broken.
func (v *verdict) breach(code uri.FindingCode, err error) {
	e := explain(err)
	v.Findings = append(v.Findings, finding{code, uri.SeverityError.String(), *e.Offset, e.Message, e.Rule})
}

// add adds a finding about the spelling of id. Why it is no URI is in err.
func (v *verdict) add(f uri.Finding, err error, id identifier) {
	var bad *uri.Error
	rule := ""
	if f.Code == uri.FindingInvalid && errors.As(err, &bad) {
		if id.urn.IsValid() { // has been judged
			return
		}
		rule = bad.Rule
	}
	v.Findings = append(v.Findings, finding{
		f.Code, f.Severity.String(), id.offsetIn(v.Input, f.Offset), strings.TrimPrefix(f.Message, rule+": "), rule,
	})
}

// namespace adds what the rules of the namespace of a URN say: names in urn:dns
// have the four fields of 1995 in every dialect.
func (v *verdict) namespace(id identifier) {
	if !strings.EqualFold(id.urn.NID(), "dns") {
		return
	}
	if _, err := id.urn.Assigned().Convert(urn.Draft1995); err != nil {
		v.breach(findingNamespace, err)
	}
}

// show prints a verdict for people: a line, and one for each finding.
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
}
