package adminapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/nomen-project/nomen/bulk"
)

// Import imports the records of r, which may be compressed (see [bulk.Import]). It calls the
// functions Progress, Refused, Warned and Changed of the options while it receives the response,
// and ignores Now. Only an administrator may set Who.
func (c *Client) Import(ctx context.Context, r io.Reader, o bulk.ImportOptions) (bulk.Summary, error) {
	q := importQuery(o)
	setFlag(q, "changes", o.Changed != nil)
	in := &watchedReader{r: r, fail: make(chan error, 1)}
	resp, err := c.send(ctx, http.MethodPost, "import", q, in, o.Format.MediaType())
	if err != nil {
		return bulk.Summary{}, errors.Join(in.failure(), err)
	}
	defer resp.Body.Close()
	s, err := readEvents(resp.Body, o)
	if err != nil {
		err = errors.Join(in.failure(), err)
	}
	return s, err
}

func importQuery(o bulk.ImportOptions) url.Values {
	q := url.Values{}
	setFlag(q, "dry_run", o.DryRun)
	setFlag(q, "retired", o.Retired)
	setFlag(q, "strict", o.Strict)
	setFlag(q, "map_resolvers", o.Resolvers)
	setText(q, "sheet", o.Sheet.Name)
	setText(q, "encoding", o.Sheet.Encoding)
	setText(q, "delimiter", o.Sheet.Delimiter)
	setFlag(q, "spreadsheet", o.Sheet.Spreadsheet)
	for _, m := range o.Sheet.Columns {
		q.Add("map", m)
	}
	for _, m := range o.Sheet.Split {
		q.Add("split", m)
	}
	setText(q, "why", o.Why)
	setText(q, "as", o.Who)
	setText(q, "compression", compressionName(o.Compression))
	if o.OnConflict != bulk.Merge {
		q.Set("on_conflict", o.OnConflict.String())
	}
	if o.Format != bulk.JSONLines {
		q.Set("format", o.Format.String())
	}
	return q
}

func setFlag(q url.Values, name string, on bool) {
	if on {
		q.Set(name, "1")
	}
}

func setText(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

func compressionName(c bulk.Compression) string {
	switch c {
	case bulk.Plain:
		return "none"
	case bulk.Gzip:
		return "gzip"
	case bulk.Zstd:
		return "zstd"
	}
	return ""
}

// ParseCompression returns the compression with this name in the API.
func ParseCompression(name string) (bulk.Compression, bool) {
	for _, c := range []bulk.Compression{bulk.Auto, bulk.Plain, bulk.Gzip, bulk.Zstd} {
		if name == compressionName(c) {
			return c, true
		}
	}
	return bulk.Auto, false
}

func readEvents(r io.Reader, o bulk.ImportOptions) (bulk.Summary, error) {
	var last bulk.Summary
	for e, err := range readLines[Event]("import", r) {
		switch {
		case err != nil:
			return last, err
		case e.Summary != nil && e.Problem != nil:
			return *e.Summary, e.Problem.err()
		case e.Summary != nil:
			return *e.Summary, nil
		case e.Refused != nil && o.Refused != nil:
			o.Refused(*e.Refused)
		case e.Warned != nil && o.Warned != nil:
			o.Warned(*e.Warned)
		case e.Change != nil && o.Changed != nil:
			o.Changed(*e.Change)
		case e.Doubts != nil && o.Doubted != nil:
			o.Doubted(*e.Doubts)
		case e.Progress != nil:
			last = *e.Progress
			if o.Progress != nil {
				o.Progress(last)
			}
		}
	}
	return last, fmt.Errorf("adminapi: import: the response was truncated: %w", io.ErrUnexpectedEOF)
}

// A watchedReader records the first error of reading the file. Without it, the error of the request
// would hide the error of reading.
type watchedReader struct {
	r    io.Reader
	fail chan error
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		select {
		case w.fail <- err:
		default:
		}
	}
	return n, err
}

func (w *watchedReader) failure() error {
	select {
	case err := <-w.fail:
		return fmt.Errorf("adminapi: import: reading: %w", err)
	default:
		return nil
	}
}

// Export writes records to w (see [bulk.Export]). It ignores the options Progress and Now. It calls
// Refused only at the end, and at most for [MaxRefusals] records. After an error, the output is
// incomplete.
func (c *Client) Export(ctx context.Context, w io.Writer, o bulk.ExportOptions) (bulk.Summary, error) {
	q := url.Values{}
	setText(q, "prefix", o.Prefix)
	for _, s := range o.Statuses {
		q.Add("status", string(s))
	}
	if !o.At.IsZero() {
		q.Set("at", o.At.UTC().Format(time.RFC3339Nano))
	}
	if o.Format != bulk.JSONLines {
		q.Set("format", o.Format.String())
	}
	setFlag(q, "revisions", o.Revisions)
	setFlag(q, "spreadsheet", o.Spreadsheet)
	setText(q, "compression", compressionName(o.Compression))
	var s bulk.Summary
	resp, err := c.send(ctx, http.MethodGet, "export", q, nil, "")
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return s, fmt.Errorf("adminapi: export: %w", err)
	}
	if err := json.Unmarshal([]byte(resp.Trailer.Get(SummaryTrailer)), &s); err != nil {
		return s, fmt.Errorf("adminapi: export: the response was truncated: %w", err)
	}
	if o.Refused != nil {
		for _, text := range resp.Trailer.Values(RefusedTrailer) {
			var r bulk.Refusal
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				return s, fmt.Errorf("adminapi: export: %w", err)
			}
			o.Refused(r)
		}
	}
	return s, nil
}
