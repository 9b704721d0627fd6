package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
)

type auditedAddress struct {
	Name    string        `json:"name"`
	Address string        `json:"address"`
	Agrees  bool          `json:"agrees"`
	Differs []string      `json:"differs,omitempty"`
	Status  nomen.Status  `json:"status,omitempty"`
	Count   int           `json:"locations"`
	Error   *resolveError `json:"error,omitempty"`
}

// auditOne resolves a name at all addresses of a resolver, and prints the answer from each address
// (1995, 2.2.1).
func auditOne(ctx context.Context, remote *client.Client, r *resolving, out *answers, arg string) error {
	q, err := r.ofName(arg)
	if err == nil {
		var report *client.Report
		if report, err = remote.Audit(ctx, q); err == nil {
			out.audit(arg, report)
			return nil
		}
	}
	out.refuse(err, badName{arg, explainAnswer(err)})
	return err
}

func (out *answers) audit(arg string, r *client.Report) {
	out.no = out.no || !r.Agree()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, a := range r.Answers {
		line := auditedAddress{Name: arg, Address: a.Addr.String(), Agrees: a.Differs == nil && !a.Failed(), Differs: a.Differs}
		said := "agrees"
		if a.Answer != nil {
			line.Status, line.Count = a.Answer.Status, len(a.Answer.Locations)
		}
		if a.Err != nil {
			line.Error = explainAnswer(a.Err)
			said += ": " + printable(a.Err.Error())
		}
		switch {
		case a.Failed():
			said = "fails: " + printable(a.Err.Error())
		case a.Differs != nil:
			said = "differs: " + strings.Join(a.Differs, ", ") + strings.TrimPrefix(said, "agrees")
		}
		if out.json != nil {
			out.object(line)
		} else {
			fmt.Fprintf(w, "%s\t%s\n", line.Address, said)
		}
	}
	_ = w.Flush() // writing to memory cannot fail
}

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
	Same       *bool            `json:"same,omitempty"` // of I=I
	Private    bool             `json:"private,omitempty"`
	Why        []string         `json:"why,omitempty"`
	AsOf       *time.Time       `json:"as_of,omitempty"` // for an offline answer: when it was last confirmed
	Via        string           `json:"via,omitempty"`
	Error      *resolveError    `json:"error,omitempty"`

	format.RawBody
}

type resolveError struct {
	Code    string `json:"code"`
	Offset  *int   `json:"offset,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`

	Suggestions []string `json:"suggestions,omitempty"`
}

func resolved(arg string, service nomen.Service, a *nomen.Answer, err error, via string) resolution {
	r := resolution{Name: arg, Service: cmp.Or(service, nomen.I2C), Via: via}
	if a != nil {
		r.Name, r.Status, r.Locations, r.Metadata = a.Name.Key(), a.Status, a.Locations, a.Metadata
		r.Names, r.Successors, r.Redirect, r.Reason, r.Revision = a.Names, a.Successors, a.Redirect, a.Reason, a.Revision
		if !a.Modified.IsZero() {
			r.Modified = &a.Modified
		}
		if a.Service == nomen.IisI {
			r.Same = &a.Same
		}
		r.Private, r.Why, r.RawBody = a.Private, a.Why, format.NewRawBody(a.Raw)
	}
	if err != nil {
		r.Error = explainAnswer(err)
	}
	return r
}

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
	showLocations(rows, a.Locations, nil)
	showMetadata(rows, a.Metadata)
	rows("same as", a.Names...)
	if !a.Modified.IsZero() {
		rows("modified", a.Modified.Format(time.RFC3339))
	}
	if a.Service == nomen.IisI {
		rows("same", map[bool]string{true: "yes", false: "no"}[a.Same])
	}
	if r := a.Resource; r != nil {
		rows("resource", r.URL)
		rows("type", r.Type)
	}
	for _, r := range a.Resources {
		rows("resource", r.URL+"  "+r.Type)
	}
	showRaw(rows, a.Raw)
	rows("why", a.Why...)
	return w.Flush()
}
