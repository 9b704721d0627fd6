package admin

import (
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/receipt"
)

func (s *API) published() *adminapi.PublishedLog {
	if s.publish == nil {
		return nil
	}
	is := s.publish.Status()
	out := &adminapi.PublishedLog{
		Origin: is.Origin, Key: is.VKey, Size: is.Size, Time: pointerTo(is.Time), Waiting: is.Waiting, Problem: is.Problem, Cosigned: is.Cosigned, Needed: is.Need,
	}
	for _, o := range is.Outcomes {
		w := adminapi.AskedWitness{Name: o.Witness, URL: o.URL, Time: pointerTo(o.Time)}
		if o.Err != nil {
			w.Problem = o.Err.Error()
		}
		out.Asked = append(out.Asked, w)
	}
	return out
}

// errUnpublished is the error for requests about the log of a server that does not publish its log.
var errUnpublished = &adminapi.StatusError{Status: http.StatusNotFound, Detail: "this server does not publish its log: log.key is not set"}

// publishError converts an error of the published log to an error of the API.
func publishError(err error) error {
	switch {
	case errors.Is(err, publish.ErrPending), errors.Is(err, publish.ErrSuspended):
		return &adminapi.StatusError{Status: http.StatusServiceUnavailable, Detail: err.Error()}
	case errors.Is(err, publish.ErrNotShown):
		return &adminapi.StatusError{Status: http.StatusForbidden, Detail: err.Error()}
	case errors.Is(err, fs.ErrNotExist):
		return &adminapi.StatusError{Status: http.StatusNotFound, Detail: "the published log has no such file"}
	}
	return err
}

// receipt sends the receipt for a revision of a name. The receipt includes the whole content of the
// revision.
func (s *API) receipt(c *call) error {
	if s.publish == nil {
		return errUnpublished
	}
	at, err := c.timeOf("at")
	if err != nil {
		return err
	}
	n, err := s.subject(c, at)
	if err != nil {
		return err
	}
	for change, err := range store.History(c.r.Context(), s.store, n) {
		if err != nil {
			return err
		}
		if !change.KnownAt(at) {
			continue
		}
		text, err := s.publish.OwnReceipt(c.r.Context(), change)
		if err != nil {
			return publishError(err)
		}
		return sendFile(c, receipt.MediaType, text)
	}
	return store.ErrNotFound
}

// logFile sends a file of the published log.
func (s *API) logFile(c *call) error {
	if s.publish == nil {
		return errUnpublished
	}
	data, _, err := s.publish.File(c.r.Context(), c.value)
	if err != nil {
		return publishError(err)
	}
	kind := "application/octet-stream"
	if c.value == "checkpoint" {
		kind = "text/plain; charset=utf-8"
	}
	return sendFile(c, kind, data)
}

func sendFile(c *call, kind string, data []byte) error {
	describe(c.w.Header(), kind)
	if c.r.Method == http.MethodHead {
		return nil
	}
	_, err := c.w.Write(data)
	return ignored(err)
}

func pointerTo(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
