package admin

import (
	"fmt"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// applyBatch makes the changes of a batch. In a dry run, it only reports what would change.
func (s *API) applyBatch(c *call) error {
	var b adminapi.Batch
	if err := readJSON(c, &b); err != nil {
		return err
	}
	if len(b.Requests) > adminapi.MaxBatch {
		return &store.LimitError{What: "requests", Size: len(b.Requests), Limit: adminapi.MaxBatch}
	}
	reqs := make([]registrar.Request, len(b.Requests))
	for i, r := range b.Requests {
		var err error
		if reqs[i], err = r.Registrar(); err != nil {
			return fmt.Errorf("requests[%d]: %w", i, err)
		}
	}
	apply := func() ([]registrar.Outcome, error) { return s.registrar.Apply(c.r.Context(), c.actor, reqs, b.Why) }
	if b.DryRun {
		apply = func() ([]registrar.Outcome, error) { return s.registrar.Preview(c.r.Context(), c.actor, reqs) }
	}
	outs, err := apply()
	if err != nil {
		return err
	}
	res := adminapi.Results{Outcomes: make([]adminapi.Outcome, len(outs))}
	for i, out := range outs {
		res.Outcomes[i] = adminapi.NewOutcome(out)
	}
	return writeJSON(c.w, http.StatusOK, res)
}
