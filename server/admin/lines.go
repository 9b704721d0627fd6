package admin

import (
	"bufio"
	"errors"
	"iter"
	"net/http"
	"sync"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/internal/requestlog"
)

// A lineWriter sends JSON Lines. Before the first line was sent, an error can still be sent as a
// problem. A later error aborts the response, so that the client detects the truncation. A
// lineWriter is safe for concurrent use.
type lineWriter struct {
	c  *call
	mu sync.Mutex // guards the fields below
	*paced.Writer
	out   *bufio.Writer
	begun bool
	gone  bool // the client has disconnected; nothing may be written
}

func (s *API) newLineWriter(c *call) *lineWriter {
	w := &lineWriter{c: c, Writer: paced.NewWriter(c.w, s.timeout)}
	w.out = bufio.NewWriterSize(w.Writer, 32<<10)
	return w
}

func (w *lineWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	describe(w.c.w.Header(), bulk.JSONLines.MediaType())
	w.c.w.WriteHeader(http.StatusOK)
}

func (w *lineWriter) write(v any) error {
	b, err := adminapi.Encode(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil
	}
	w.begin()
	_, err = w.out.Write(b)
	return err
}

// send sends the buffered lines. The first call also sends the header, even if no lines are
// buffered.
func (w *lineWriter) send() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil
	}
	w.begin()
	return errors.Join(w.out.Flush(), w.Flush())
}

// end ends a response. If err is not nil, end sends or logs it.
func (s *API) end(w *lineWriter, err error) error {
	if err == nil {
		return ignored(w.send())
	}
	if !w.begun {
		return unsupportedError(err)
	}
	_ = w.send() // the lines before the error are valid
	s.log.Info("response aborted", "target", requestlog.Printable(w.c.r.RequestURI), "who", w.c.actor.Who, "err", err)
	panic(http.ErrAbortHandler)
}

// stream sends a line for each value for which line returns true, and stops after limit lines. A
// limit of 0 stands for no limit. If there were no lines to send, stream returns fallback, which
// may be nil.
func stream[T any](s *API, c *call, values iter.Seq2[T, error], limit uint64, fallback error, line func(T) (any, bool)) error {
	w := s.newLineWriter(c)
	if c.r.Method == http.MethodHead {
		return s.end(w, nil)
	}
	sent := uint64(0)
	for v, err := range values {
		if err != nil {
			return s.end(w, err)
		}
		shown, ok := line(v)
		if !ok {
			continue
		}
		if err := w.write(shown); err != nil {
			return s.end(w, err)
		}
		if sent++; sent == limit {
			break
		}
	}
	if sent == 0 && fallback != nil {
		return fallback
	}
	return s.end(w, nil)
}

// tell writes a report. If the report is empty, tell sends only the header.
func (w *lineWriter) tell(r adminapi.Report) {
	w.mu.Lock()
	gone := w.gone
	w.mu.Unlock()
	if gone {
		return
	}
	var err error
	if r != (adminapi.Report{}) {
		err = w.write(r)
	}
	if err == nil && (r.Moved == nil && r.Reverted == nil && r.Refused == nil && r.Fault == nil) {
		err = w.send()
	}
	if err != nil {
		w.stop()
	}
}

func (w *lineWriter) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
}
