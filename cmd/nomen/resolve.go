package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
)

const resolveLong = `Resolve asks a resolver about names and prints what it says.

Without --via, urn:dns:HOST:ELEMENT is asked of HOST at port 4500, each of its
addresses in turn, by the protocol of 1995. With --via HOST:PORT the name goes
there by the same protocol; with --via URL, over the web.

Names may be written with white space and in <angle brackets>, as the protocol
of 1995 allows. Requests travel unencrypted, except to an https URL; -v says
each step.

` + streamHelp

func (c *cli) resolveCommand() *cobra.Command {
	o := client.Options{}
	q := nomen.Question{}
	var service string
	cmd := &cobra.Command{
		Use:   "resolve NAME...",
		Short: "ask the right resolver",
		Long:  resolveLong,
		Example: `  nomen resolve urn:dns:example.org:alb002
  nomen resolve --via localhost:4500 urn:ietf:rfc:2648
  nomen resolve --via https://urn.example.org/ --service I2Ls --json urn:nbn:fi-fe2019
  nomen resolve --via localhost:4500 --json - < names.txt`,
		Args: arguments(1, -1),
	}
	f := cmd.Flags()
	f.StringVarP(&service, "service", "s", "", "I2L, I2Ls, I2C, I2Cs, I2N or I2Ns (default I2C: all that is known)")
	f.StringVarP(&q.Component, "component", "c", "", "component of a structured resource")
	f.StringVar(&o.Accept, "accept", "", "media types wanted, as in an Accept field")
	f.StringVar(&o.Via, "via", "", "HOST:PORT or URL of the resolver")
	f.Uint16Var(&o.Port, "port", 0, "of resolvers of urn:dns names (default 4500)")
	f.BoolVar(&o.Simple, "simple", false, "send Simple-Requests (HTTP/0.9)")
	f.DurationVar(&o.Timeout, "timeout", client.DefaultTimeout, "of one attempt at one address")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q.Service = nomen.Service(service)
		switch {
		case service == "" && strings.Contains(o.Via, "://"):
			q.Service = nomen.I2C // the protocol of 1995 answers so unasked
		case service != "" && !q.Service.Known():
			return usagef("--service %q: want one of I2L, I2Ls, I2C, I2Cs, I2N, I2Ns", service)
		}
		if c.verbose {
			o.Trace = func(step string) { fmt.Fprintln(c.err, "nomen: "+printable(step)) }
		}
		q.Accept = o.Accept
		asker, err := client.New(o)
		if err != nil {
			return usageError{err}
		}
		defer asker.Close()
		return c.answerNames(cmd.Context(), args, func(a *answers, arg string) error {
			return resolveOne(cmd.Context(), asker, q, a, arg, o.Via)
		})
	}
	return cmd
}

// resolveOne asks about one name and says the answer, also when it is no.
func resolveOne(ctx context.Context, r nomen.Resolver, q nomen.Question, out *answers, arg, via string) error {
	a, err := ask(ctx, r, q, arg)
	if out.json == nil && a != nil {
		if err := out.answer(a); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		out.refuse(err, resolved(arg, q.Service, a, err, via))
	case out.json != nil:
		out.object(resolved(arg, q.Service, a, nil, via))
	}
	return err
}

// ask asks about a name as q does. With an error there can be an answer all the
// same: a tombstone.
func ask(ctx context.Context, r nomen.Resolver, q nomen.Question, arg string) (*nomen.Answer, error) {
	asked, err := client.Parse(arg)
	if err != nil {
		return nil, err
	}
	asked.Service, asked.Accept = q.Service, q.Accept
	if q.Component != "" {
		asked.Component = q.Component
	}
	a, err := r.Resolve(ctx, asked)
	var no *nomen.Error
	if errors.As(err, &no) {
		a = no.Answer
	}
	return a, err
}

// A resolution is the result of one name in JSON.
type resolution struct {
	Name       string           `json:"name"`
	Service    nomen.Service    `json:"service"`
	Status     nomen.Status     `json:"status,omitempty"`
	Locations  []nomen.Location `json:"locations,omitempty"`
	Metadata   nomen.Metadata   `json:"metadata,omitempty"`
	Names      []string         `json:"names,omitempty"`
	Successors []name.Name      `json:"successors,omitempty"`
	Redirect   string           `json:"redirect,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	Modified   *time.Time       `json:"modified,omitempty"`
	Revision   uint64           `json:"revision,omitempty"`
	Via        string           `json:"via,omitempty"`
	Error      *resolveError    `json:"error,omitempty"`
}

type resolveError struct {
	Code    string `json:"code"`
	Offset  *int   `json:"offset,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
}

func resolved(arg string, service nomen.Service, a *nomen.Answer, err error, via string) resolution {
	r := resolution{Name: arg, Service: cmp.Or(service, nomen.I2C), Via: via}
	if a != nil {
		r.Name, r.Status, r.Locations, r.Metadata = a.Name.Key(), a.Status, a.Locations, a.Metadata
		r.Names, r.Successors, r.Redirect, r.Reason, r.Revision = a.Names, a.Successors, a.Redirect, a.Reason, a.Revision
		if !a.Modified.IsZero() {
			r.Modified = &a.Modified
		}
	}
	if err != nil {
		r.Error = explainAnswer(err)
	}
	return r
}

// answer answers for people.
func (out *answers) answer(a *nomen.Answer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := rowsOf(w)
	rows("name", a.Name.Key())
	rows("status", string(a.Status))
	rows("reason", a.Reason)
	for _, s := range a.Successors {
		rows("successor", s.Key())
	}
	rows("ask instead", a.Redirect)
	showLocations(rows, a.Locations)
	showMetadata(rows, a.Metadata)
	rows("same as", a.Names...)
	if !a.Modified.IsZero() {
		rows("modified", a.Modified.Format(time.RFC3339))
	}
	return w.Flush()
}
