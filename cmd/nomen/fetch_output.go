package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/nomen-project/nomen/fetch"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/uri"
)

func (r *fetching) follow(ctx context.Context, f *fetch.Fetcher, location uri.URI) error {
	if r.output != "" {
		return r.keep(ctx, f, location)
	}
	o, err := f.Open(ctx, location, r.request)
	if err != nil {
		return err
	}
	defer o.Body.Close()
	switch {
	case r.json && r.menu:
		return r.showMenu(o)
	case r.json:
		return r.printJSON(describe(location, o))
	case r.menu:
		return r.showMenu(o)
	case !isScreen(r.out):
		_, err = io.Copy(r.out, o.Body)
		return err
	case !isTextType(o.Type):
		return usagef("%s cannot be shown on a terminal: save it with --output FILE", o.Type)
	}
	return showText(r.out, o.Body)
}

func showText(to io.Writer, from io.Reader) error {
	w := shown.NewWriter(to)
	_, err := io.Copy(w, from)
	return errors.Join(err, w.Close())
}

func (r *fetching) keep(ctx context.Context, f *fetch.Fetcher, location uri.URI) error {
	m := r.newMeter(true)
	if m != nil {
		r.save.Progress = func(done, total int64) { m.show(r.output, done, total) }
	}
	saved, err := f.Save(ctx, location, r.request, r.output, r.save)
	m.end()
	var part *fetch.PartError
	switch {
	case errors.As(err, &part) && part.Usable:
		fmt.Fprintf(r.err, "nomen: %d bytes are in %s; resume with --continue\n", part.Bytes, part.File)
	case errors.As(err, &part):
		fmt.Fprintf(r.err, "nomen: %d bytes are in %s; the server does not support resuming\n", part.Bytes, part.File)
	case errors.Is(err, fs.ErrExist) && r.save.Continue:
		return usagef("%w; --force replaces it", err)
	case errors.Is(err, fs.ErrExist):
		return usagef("%w; --force replaces it, --continue resumes a partial download", err)
	case errors.Is(err, fetch.ErrNoFile):
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if r.save.Continue && saved.Resumed == 0 {
		fmt.Fprintln(r.err, "nomen: started over: there was nothing to resume, or the resource has changed")
	}
	if r.json {
		d := describe(location, &saved.Object)
		d.File, d.Bytes, d.Resumed = r.output, &saved.Bytes, saved.Resumed
		return r.printJSON(d)
	}
	fmt.Fprintf(r.err, "nomen: saved %d bytes of %s to %s\n", saved.Bytes, saved.Type, r.output)
	return nil
}

type fetched struct {
	Input    string     `json:"input"`
	URL      string     `json:"url"`
	Type     string     `json:"type"`
	Size     *int64     `json:"size,omitempty"`
	Modified *time.Time `json:"modified,omitempty"`
	Fragment string     `json:"fragment,omitempty"`
	Chain    []string   `json:"chain"`
	File     string     `json:"file,omitempty"`
	Bytes    *int64     `json:"bytes,omitempty"`
	Resumed  int64      `json:"resumed,omitempty"`
}

func describe(location uri.URI, o *fetch.Object) *fetched {
	d := &fetched{Input: location.Redacted(), URL: o.URL, Type: o.Type, Fragment: o.Fragment, Chain: o.Chain}
	if o.Size >= 0 {
		d.Size = &o.Size
	}
	if !o.Modified.IsZero() {
		d.Modified = &o.Modified
	}
	return d
}

type menuItem struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// showMenu prints each item of a Gopher menu as a line with the locator, a tab and the title.
func (r *fetching) showMenu(o *fetch.Object) error {
	if o.Type != fetch.TypeMenu {
		return usagef("%s: not a Gopher menu but %s", o.URL, o.Type)
	}
	out := bufio.NewWriter(r.out)
	for item, err := range fetch.ReadMenu(o.Body) {
		if errors.Is(err, plan.ErrGopherItem) {
			fmt.Fprintln(r.err, "nomen: "+words(err))
			continue
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		m := menuItem{Type: string(rune(item.Type)), Title: item.Display}
		if at, err := item.Locator(); err == nil {
			m.URL = at.String()
		}
		if !r.json {
			fmt.Fprintf(out, "%s\t%s\n", m.URL, printable(m.Title))
			continue
		}
		if err := r.printJSON(m); err != nil {
			return err
		}
	}
	return out.Flush()
}

func isTextType(mediatype string) bool {
	t, _, _ := strings.Cut(strings.ToLower(mediatype), ";")
	t = strings.TrimSpace(t)
	return strings.HasPrefix(t, "text/") || strings.HasPrefix(t, "message/") || strings.HasSuffix(t, "json") || strings.HasSuffix(t, "xml") || t == fetch.TypeMenu
}
