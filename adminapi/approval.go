package adminapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ApprovalTime is the time after which a job that waits for approval by a second person lapses.
const ApprovalTime = 14 * 24 * time.Hour

// A SecondPerson determines which requests need the approval of a second person. For such a
// request, the server creates a job that does nothing before it is approved.
type SecondPerson struct {
	Redact        bool `json:"redact"`                   // redactions of names, authorities, users and tokens
	RelocateAbove int  `json:"relocate_above,omitempty"` // relocations of more than this number of names; 0 if no relocation needs approval
}

// An Approval describes what a second person must approve, and the decision.
type Approval struct {
	Why   string    `json:"why,omitempty"`  // reason for the request
	Until time.Time `json:"until,omitzero"` // time at which the request lapses; absent before the job waits for approval

	// The following fields are for a redaction.
	Of        string   `json:"of,omitempty"`        // name, authority, user or token
	Key       string   `json:"key,omitempty"`       // key of the name, prefix of the authority, or ID of the user or token
	Revisions []uint64 `json:"revisions,omitempty"` // absent for all revisions before Revision
	Revision  uint64   `json:"revision,omitempty"`  // current revision when the request was made

	// The following fields are for a relocation. Job.Result lists the names that would change.
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Retired bool   `json:"retired,omitempty"` // retired names change too

	// The following fields describe the decision, if a decision was made.
	By     string    `json:"by,omitempty"`      // who decided, as in the history
	ByName string    `json:"by_name,omitempty"` // as WhoName in a Revision
	At     time.Time `json:"at,omitzero"`
	Reason string    `json:"reason,omitempty"` // reason for a rejection
}

// Decided reports whether a second person has approved or rejected the job.
func (a *Approval) Decided() bool { return !a.At.IsZero() }

// A Rejection is the body of POST jobs/ID/reject.
type Rejection struct {
	Reason string `json:"reason"` // must not be empty
}

// ApproveJob approves a job that waits for a second person. It returns the job, which may still
// run. If the caller has already approved the job, ApproveJob has no effect.
func (c *Client) ApproveJob(ctx context.Context, id string) (Job, error) {
	return request[Job](ctx, c, http.MethodPost, "jobs/"+EscapeName(id)+"/approve", nil, nil)
}

// RejectJob rejects a job that waits for a second person.
func (c *Client) RejectJob(ctx context.Context, id, reason string) (Job, error) {
	return request[Job](ctx, c, http.MethodPost, "jobs/"+EscapeName(id)+"/reject", nil, Rejection{reason})
}

// A WaitingError reports that the server has not carried out a request, because a second person
// must approve it.
type WaitingError struct{ Job Job }

func (e *WaitingError) Error() string {
	return fmt.Sprintf("nothing was changed: a second person must approve job %s", e.Job.ID)
}

func readWaiting(path string, body io.Reader) error {
	var e WaitingError
	if err := json.NewDecoder(io.LimitReader(body, maxResponse)).Decode(&e.Job); err != nil {
		return fmt.Errorf("adminapi: %s: %w", path, err)
	}
	return &e
}
