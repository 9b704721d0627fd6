package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

type wordFlags struct {
	text, prefix string
	statuses     []string
}

func (w *wordFlags) register(f *pflag.FlagSet) {
	f.StringVar(&w.text, "text", "", "words that the names must have")
	f.StringVar(&w.prefix, "prefix", "", "with --text: only names that begin with this (default all)")
	f.StringSliceVar(&w.statuses, "status", nil, "with --text: only names with this status, reserved, active or retired; can be repeated (default all)")
}

func (c *cli) findWords(cmd *cobra.Command, w *wordFlags, limit int, after string) error {
	s, err := w.search(after)
	switch {
	case cmd.Flags().Changed("location") || cmd.Flags().Changed("after-location"):
		return usagef("find: --text cannot be combined with --location and --after-location")
	case err != nil:
		return err
	}
	return c.withStore(cmd.Context(), reads, func(b backend) error {
		return c.printFound(cmd.Context(), b, s, limit)
	})
}

func (w *wordFlags) search(after string) (s adminapi.Search, err error) {
	s = adminapi.Search{Text: w.text, Prefix: name.Beginning(w.prefix)}
	for _, text := range w.statuses {
		status, err := parseStatus(text)
		if err != nil {
			return s, err
		}
		s.Statuses = append(s.Statuses, status)
	}
	if after != "" {
		n, err := name.Parse(after)
		if err != nil {
			return s, err
		}
		s.After = n.Key()
	}
	return s, nil
}

type foundLine struct {
	Name   string       `json:"name"`
	Status nomen.Status `json:"status"`
	Title  string       `json:"title,omitempty"`
}

// printFound prints the names on all pages of search results as they arrive. It prints at most
// limit names, or all names if limit is 0.
func (c *cli) printFound(ctx context.Context, b backend, s adminapi.Search, limit int) error {
	a := newAnswers(c)
	found, warned := 0, false
	for {
		if s.Limit = adminapi.MaxPage; limit > 0 {
			s.Limit = min(s.Limit, limit-found)
		}
		page, err := b.SearchNames(ctx, s)
		if err != nil {
			a.flush()
			return badText(s.Text, err)
		}
		if !page.Index.Complete && !warned {
			warned = true
			fmt.Fprintln(c.err, "nomen: warning: "+incomplete(page.Index))
		}
		if err := a.sayFound(page.Names); err != nil {
			return err
		}
		found += len(page.Names)
		if s.After = page.Next; s.After == "" || found == limit && limit > 0 {
			break
		}
	}
	if err := a.end(); err != nil {
		return err
	}
	if found == 0 {
		fmt.Fprintf(c.err, "nomen: no name has the words %q\n", s.Text)
		return errNo
	}
	return nil
}

func (a *answers) sayFound(names []*store.Record) error {
	for _, r := range names {
		a.say(foundLine{r.Spelling, r.Status, titleOf(r)}, printable(r.Spelling)+"\t"+string(r.Status)+"\t"+printable(titleOf(r)))
	}
	a.flushFull()
	return a.err
}

func badText(text string, err error) error {
	var bad *adminapi.RequestError
	if errors.As(err, &bad) && bad.Field == "text" {
		return usagef("--text %q: %s", text, bad.Message)
	}
	return err
}

func titleOf(r *store.Record) string {
	for _, title := range r.Metadata["title"] {
		return title
	}
	return ""
}

func incomplete(i adminapi.Index) string {
	switch {
	case i.Building && i.Names > 0:
		return fmt.Sprintf("the search index is being built and has %d names so far: names may be missing", i.Names)
	case i.Building:
		return "the search index is being built: names may be missing"
	case i.Behind > 0:
		return fmt.Sprintf("the search index does not have the last %d changes yet: names may be missing", i.Behind)
	}
	return "the search index does not have the last changes yet: names may be missing"
}
