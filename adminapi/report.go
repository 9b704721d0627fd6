package adminapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A BackupRequest is the body of POST backup.
type BackupRequest struct {
	Dir string `json:"dir"` // an absolute path on the machine of the server
}

// A Report is one line of the response to verify, backup, relocate, undo and mint. The last line
// has Done and the final result. If the work ended early, it also has the problem. Each earlier
// line has one of the other members, such as Progress.
type Report struct {
	Progress  *Progress            `json:"progress,omitempty"`
	Fault     *Fault               `json:"fault,omitempty"`     // of verify
	Moved     *Moved               `json:"moved,omitempty"`     // of relocate
	Refused   *Refused             `json:"refused,omitempty"`   // of relocate and undo
	Relocated *registrar.Relocated `json:"relocated,omitempty"` // of relocate: totals so far, and at the end
	Reverted  *registrar.Reversal  `json:"reverted,omitempty"`  // of undo
	Undone    *registrar.Undone    `json:"undone,omitempty"`    // of undo: totals so far, and at the end
	Minted    string               `json:"minted,omitempty"`    // of mint: a name that was reserved
	Done      bool                 `json:"done,omitempty"`
	Head      *Head                `json:"head,omitempty"` // of verify, at the end
	Problem   *Problem             `json:"problem,omitempty"`
}

// Progress is the amount of work done so far. For verify, it is the number of changes and other
// items checked; for backup, the number of bytes.
type Progress struct {
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

// A Fault is the JSON form of a [store.Fault].
type Fault struct {
	Kind    string `json:"kind,omitempty"` // name, authority or token; "" for the store itself
	Key     string `json:"key,omitempty"`
	Seq     uint64 `json:"seq,omitempty"`
	Problem string `json:"problem"`
}

// NewFault returns the JSON form of f.
func NewFault(f store.Fault) Fault {
	j := Fault{Key: f.Subject.Key, Seq: f.Seq, Problem: f.Problem}
	if f.Subject.Kind != 0 {
		j.Kind = kindNames()[f.Subject.Kind]
	}
	return j
}

func (j Fault) fault() store.Fault {
	f := store.Fault{Seq: j.Seq, Problem: j.Problem, Subject: store.Subject{Key: j.Key}}
	for kind, word := range kindNames() {
		if word == j.Kind {
			f.Subject.Kind = kind
		}
	}
	return f
}

func kindNames() map[store.Kind]string {
	return map[store.Kind]string{store.KindName: "name", store.KindAuthority: "authority", store.KindToken: "token", store.KindUser: "user"}
}

// Moved is a location that was or would be replaced.
type Moved struct {
	Key  string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Refused is a name that could not be changed.
type Refused struct {
	Key     string   `json:"name"`
	Problem *Problem `json:"problem"`
}

// Verify makes the server verify its store; see [store.Verifier].
func (c *Client) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	return c.verify(ctx, nil, fault, progress)
}

// VerifySince makes the server verify the entries of its log after an earlier head. If the log does
// not begin with the log of that head, the error is a [*store.HeadError].
func (c *Client) VerifySince(ctx context.Context, since store.Head, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	return c.verify(ctx, url.Values{"since": {since.String()}}, fault, progress)
}

func (c *Client) verify(ctx context.Context, q url.Values, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	last, err := c.reports(ctx, "verify", q, nil, func(r Report) {
		switch {
		case r.Fault != nil:
			fault(r.Fault.fault())
		case r.Progress != nil && progress != nil:
			progress(r.Progress.Done, r.Progress.Total)
		}
	})
	if err != nil {
		return store.Head{}, err
	}
	if last.Head == nil {
		return store.Head{}, fmt.Errorf("adminapi: verify: the response has no head")
	}
	return last.Head.head()
}

// Backup makes the server back up its store to dir, an absolute path on the server's machine (see
// [store.Backuper]).
func (c *Client) Backup(ctx context.Context, dir string, progress func(done, total uint64)) error {
	_, err := c.reports(ctx, "backup", nil, BackupRequest{dir}, func(r Report) {
		if r.Progress != nil && progress != nil {
			progress(r.Progress.Done, r.Progress.Total)
		}
	})
	return err
}

// Relocate replaces the beginning of the URLs of locations; see [registrar.Registrar.Relocate].
func (c *Client) Relocate(ctx context.Context, rel registrar.Relocation) (registrar.Relocated, error) {
	var sum registrar.Relocated
	last, err := c.reports(ctx, "relocate", nil, rel, func(r Report) {
		switch {
		case r.Moved != nil && rel.Moved != nil:
			rel.Moved(name.FromKey(r.Moved.Key), r.Moved.From, r.Moved.To)
		case r.Refused != nil && r.Refused.Problem != nil && rel.Refused != nil:
			rel.Refused(name.FromKey(r.Refused.Key), r.Refused.Problem.err())
		case r.Relocated != nil:
			if sum = *r.Relocated; rel.Progress != nil {
				rel.Progress(sum)
			}
		}
	})
	if last.Relocated != nil {
		sum = *last.Relocated
	}
	return sum, err
}

// Undo reverts changes; see [registrar.Registrar.Undo].
func (c *Client) Undo(ctx context.Context, u registrar.Undoing) (registrar.Undone, error) {
	var sum registrar.Undone
	last, err := c.reports(ctx, "undo", nil, u, func(r Report) {
		switch {
		case r.Reverted != nil && u.Reverted != nil:
			u.Reverted(*r.Reverted)
		case r.Refused != nil && r.Refused.Problem != nil && u.Refused != nil:
			u.Refused(r.Refused.Key, r.Refused.Problem.err())
		case r.Undone != nil:
			if sum = *r.Undone; u.Progress != nil {
				u.Progress(sum)
			}
		}
	})
	if last.Undone != nil {
		sum = *last.Undone
	}
	return sum, err
}

// Mint creates names and reserves them. It calls each for every name as soon as the name is
// reserved. It returns an error if fewer names than requested were reserved.
func (c *Client) Mint(ctx context.Context, m Minting, each func(name.Name)) error {
	_, err := c.reports(ctx, "mint", nil, m, func(r Report) {
		if r.Minted != "" {
			each(name.FromKey(r.Minted))
		}
	})
	return err
}

// A Minting is the body of POST mint.
type Minting struct {
	Prefix   string `json:"prefix"`             // prefix of an authority, or the identifier of a URN namespace
	Template string `json:"template,omitempty"` // template for the part after the prefix; "" for the template of the authority, or to continue existing names
	Shoulder string `json:"shoulder,omitempty"` // selects the template of the authority that begins with this text; instead of Template
	Count    int    `json:"count"`              // absent for one
	DryRun   bool   `json:"dry_run,omitempty"`  // reserve nothing
	Why      string `json:"why,omitempty"`
}

// reports sends a request that starts a job, and reads the reports in the response. It calls each
// for every report except the last, which it returns. When ctx ends, reports cancels the job. If
// the connection fails, the job continues.
func (c *Client) reports(ctx context.Context, path string, q url.Values, body any, each func(Report)) (Report, error) {
	b, err := Encode(body)
	if err != nil {
		return Report{}, err
	}
	id := NewJobID()
	resp, err := c.sendWith(ctx, http.Header{JobHeader: {id}}, http.MethodPost, path, q, bytes.NewReader(b), "application/json")
	if err != nil {
		if ctx.Err() != nil { // the server may have started the job
			_ = c.left(ctx, id, err)
		}
		return Report{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusAccepted {
		return Report{}, readWaiting(path, resp.Body)
	}
	for r, err := range readLines[Report](path, resp.Body) {
		switch {
		case err != nil:
			return r, c.left(ctx, resp.Header.Get(JobHeader), err)
		case r.Problem != nil && r.Done:
			return r, r.Problem.err()
		case r.Done:
			return r, nil
		}
		each(r)
	}
	return Report{}, c.left(ctx, resp.Header.Get(JobHeader), fmt.Errorf("adminapi: %s: the response was truncated: %w", path, io.ErrUnexpectedEOF))
}

// left returns the error for a job whose response ended with err. If ctx has ended, left cancels
// the job.
func (c *Client) left(ctx context.Context, id string, err error) error {
	switch {
	case id == "": // the request did not start a job
		return err
	case ctx.Err() == nil:
		return &DetachedError{Job: id, Err: err}
	}
	const patience = 5 * time.Second
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if _, cerr := c.CancelJob(last, id); cerr != nil {
		return fmt.Errorf("%w; cannot cancel job %s: %w", err, id, cerr)
	}
	return err
}
