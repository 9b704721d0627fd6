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

// A lineWriter sends JSON Lines. Until the first line is sent, an error can be reported as a
// problem. After that an error aborts the response, so that the client sees that it is
// truncated. It is safe for concurrent use.
type lineWriter struct {
	c  *call
	mu sync.Mutex // guards what follows
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

// begin sends the header.
func (w *lineWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	describe(w.c.w.Header(), bulk.JSONLines.MediaType())
	w.c.w.WriteHeader(http.StatusOK)
}

// write buffers a line.
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

// send sends what was written, or at least the header.
func (w *lineWriter) send() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil
	}
	w.begin()
	return errors.Join(w.out.Flush(), w.Flush())
}

// end finishes a response, with err if that is not nil.
func (s *API) end(w *lineWriter, err error) error {
	if err == nil {
		return ignored(w.send())
	}
	if !w.begun {
		return unsupportedError(err)
	}
	_ = w.send() // these lines are valid
	s.log.Info("response aborted", "target", requestlog.Printable(w.c.r.RequestURI), "who", w.c.actor.Who, "err", err)
	panic(http.ErrAbortHandler)
}

// stream sends a line for each value: the first result of line. It skips values for which the
// second result is false. It sends at most limit lines, or all if limit is 0. If it has sent no
// line, it returns the error empty, which may be nil.
func stream[T any](s *API, c *call, values iter.Seq2[T, error], limit uint64, empty error, line func(T) (any, bool)) error {
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
	if sent == 0 && empty != nil {
		return empty
	}
	return s.end(w, nil)
}

// tell writes a report, unless the client is gone. An empty report only sends the header.
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

// stop stops writing to the connection.
func (w *lineWriter) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
}
