package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/uri"
)

const parseLong = `Parse splits URIs, references and URNs into their components, as spelled. Missing components
are not shown; empty components are shown as "". An IPv6 address keeps its brackets. A URN
is split twice: as a URI, and into the parts of its URN dialect. If the URN follows the
rules of a known namespace, parse also shows the parts that these rules define ('nomen
namespaces'). For other URIs, parse shows the parts that the rules of the scheme define, if
there are any ('nomen schemes').

--dialect selects the version of the standard by which identifiers are read:

  for URIs  rfc3986           2005, the default
            rfc6874           the same, with zones in IPv6 addresses
            2003, 1997, 1993  the earlier drafts
  for URNs  rfc8141           2017, the default
            2012              a draft, with a query of directives
            rfc2141           1997
            1995              a draft

To choose one for URIs and one for URNs, separate them by a comma: 2003,1995.

` + streamHelp

func (c *cli) parseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "parse ID...",
		Short: "split identifiers into their components",
		Long:  parseLong,
		Example: `  nomen parse 'http://user@example.org:8080/a/b?q#f'
  nomen parse --json 'http://[2001:db8::1]/' 'urn:example:a-b?+r?=q#f' ../relative
  nomen parse --dialect 1993 gopher://h.example/00/About%20Gopher
  nomen parse --dialect 1995 '<urn:dns:example.org: alb%2D002>'
  nomen parse --dialect 2012 'urn:isbn:9789510184356?s=I2L&page=4#top'
  nomen parse --json - < urls.txt`,
		Args: arguments(1, -1),
	}
	p := &parser{addDialects(cmd)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.answerEach(cmd.Context(), args, p.answer)
	}
	return cmd
}

type parser struct{ *dialects }

type components struct {
	Input     string         `json:"input"`
	Dialect   string         `json:"dialect"`
	Kind      string         `json:"kind,omitempty"`
	Scheme    *string        `json:"scheme,omitempty"`
	Authority *string        `json:"authority,omitempty"`
	Userinfo  *string        `json:"userinfo,omitempty"`
	Host      *string        `json:"host,omitempty"`
	HostKind  *string        `json:"host_kind,omitempty"`
	Port      *string        `json:"port,omitempty"`
	Path      *string        `json:"path,omitempty"`
	Query     *string        `json:"query,omitempty"`
	Fragment  *string        `json:"fragment,omitempty"`
	URN       *urnComponents `json:"urn,omitempty"`
	Parts     nameParts      `json:"parts,omitempty"`
	Error     *resolveError  `json:"error,omitempty"`
}

func (p *parser) answer(a *answers, s string) {
	r := components{Input: s, Dialect: p.dialectOf(s)}
	id, err := p.read(s)
	if err != nil {
		r.Error = explain(err)
		a.refuse(err, r)
		return
	}
	r.set(id)
	if a.json != nil {
		a.object(r)
		return
	}
	r.show(a)
}

// dialectOf returns the name of the dialect in which an input is parsed. This is the dialect for
// URNs if the input begins like a URN, and otherwise the dialect for URIs.
func (d *dialects) dialectOf(s string) string {
	if inner, _ := uri.Undelimit(s); d.looksURN(inner) {
		return d.urn.String()
	}
	return d.uri.String()
}

func (r *components) set(id identifier) {
	u := id.uri
	r.Kind = "uri"
	if u.IsReference() {
		r.Kind = "reference"
	}
	r.Scheme, r.Authority = defined(u.Scheme()), defined(u.Authority())
	r.Userinfo, r.Host, r.Port = defined(u.Userinfo()), defined(u.Host()), defined(u.Port())
	if r.Host != nil {
		r.HostKind = defined(u.HostKind().String(), true)
	}
	r.Path, r.Query, r.Fragment = defined(u.Path(), true), defined(u.Query()), defined(u.Fragment())
	r.URN, r.Parts = urnParts(id.urn), partsOf(id.urn)
	if r.URN == nil {
		r.Parts = r.beyond(schemeParts(u))
	}
}

func (r *components) show(a *answers) {
	width := len("authority id")
	for _, part := range r.Parts {
		width = max(width, len(part.Name))
	}
	row := func(label string, value *string) {
		if value == nil {
			return
		}
		text := printable(*value)
		if text == "" {
			text = `""`
		}
		a.text(a.paint(colourFaint, strings.ReplaceAll(label, "_", " "), width) + "  " + text)
	}
	row("input", &r.Input)
	row("dialect", &r.Dialect)
	row("kind", &r.Kind)
	row("scheme", r.Scheme)
	row("authority", r.Authority)
	row("userinfo", r.Userinfo)
	row("host", r.Host)
	row("host kind", r.HostKind)
	row("port", r.Port)
	row("path", r.Path)
	row("query", r.Query)
	row("fragment", r.Fragment)
	r.URN.rows(row)
	for _, part := range r.Parts {
		if !r.repeats(part) {
			row(part.Name, &part.Value)
		}
	}
	a.text("")
}
