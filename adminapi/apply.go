package adminapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
)

// KeyHeader is the request header field for a key that the client has chosen. If the client repeats
// a request with the same key, the server does not start a second job: while it keeps the job of
// the first request, it returns that job.
const KeyHeader = "Idempotency-Key"

// MaxKey is the maximum length of a key in bytes.
const MaxKey = 64

// An Application is the body of POST jobs/ID/apply.
type Application struct {
	SHA256       string `json:"sha256,omitempty"`        // for an import: the digest that the dry run returned
	SkipRejected bool   `json:"skip_rejected,omitempty"` // apply the accepted changes although others were rejected
	Seen         uint64 `json:"seen,omitempty"`          // log number up to which other clients may have changed the names (see [Intervening])
}

// A Background holds the parameters of a job that runs in the background.
type Background struct {
	Key string // see [KeyHeader]; may be ""

	// The following fields are for a dry run of an import.
	Keep     bool   // make the server keep the file, so that ApplyJob can import it
	FileName string // name to show to users; may be ""
	File     string // ID of an earlier dry run, whose file is used instead of the body; may be ""
}

// StartImport is like Import, but returns as soon as the server has received the file. The import
// continues in the background. The functions in the options are not called.
func (c *Client) StartImport(ctx context.Context, r io.Reader, o bulk.ImportOptions, b Background) (Job, error) {
	q := importQuery(o)
	setFlag(q, "keep", b.Keep)
	setText(q, "filename", b.FileName)
	setText(q, "file", b.File)
	return c.start(ctx, "import", q, r, o.Format.MediaType(), b.Key)
}

// StartRelocation is like Relocate, but returns immediately. The relocation continues in the
// background.
func (c *Client) StartRelocation(ctx context.Context, rel registrar.Relocation, b Background) (Job, error) {
	return c.startJSON(ctx, "relocate", rel, b.Key)
}

// StartUndo is like Undo, but returns immediately. The undo continues in the background.
func (c *Client) StartUndo(ctx context.Context, u registrar.Undoing, b Background) (Job, error) {
	return c.startJSON(ctx, "undo", u, b.Key)
}

// ApplyJob starts a job in the background that makes the changes of a dry run. A dry run can be
// applied only once. If another job is applying it or has applied it, ApplyJob returns that job.
func (c *Client) ApplyJob(ctx context.Context, id string, a Application) (Job, error) {
	return c.startJSON(ctx, "jobs/"+EscapeName(id)+"/apply", a, "")
}

// Rejects writes the rejected lines of a dry run to w, as a table that users can correct and
// import. The server must still have the file of the dry run.
func (c *Client) Rejects(ctx context.Context, id string, w io.Writer) error {
	resp, err := c.send(ctx, http.MethodGet, "jobs/"+EscapeName(id)+"/rejects", nil, nil, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("adminapi: rejects: %w", err)
	}
	return nil
}

func (c *Client) startJSON(ctx context.Context, path string, body any, key string) (Job, error) {
	b, err := Encode(body)
	if err != nil {
		return Job{}, err
	}
	return c.start(ctx, path, nil, bytes.NewReader(b), "application/json", key)
}

func (c *Client) start(ctx context.Context, path string, q url.Values, body io.Reader, contentType, key string) (Job, error) {
	fields := http.Header{"Prefer": {"respond-async"}}
	if key != "" {
		fields.Set(KeyHeader, key)
	}
	var j Job
	resp, err := c.sendWith(ctx, fields, http.MethodPost, path, q, body, contentType)
	if err != nil {
		return j, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxResponse)).Decode(&j); err != nil {
		return j, fmt.Errorf("adminapi: %s: %w", path, err)
	}
	return j, nil
}
