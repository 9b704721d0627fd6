package admin

import (
	"bufio"
	"io"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/paced"
)

// An eventWriter sends events to the client. After a failure of the connection, it discards events,
// so that the import continues.
type eventWriter struct {
	*paced.Writer
	out *bufio.Writer
	err error
}

func newEventWriter(p *paced.Writer) *eventWriter {
	w := &eventWriter{Writer: p}
	w.out = bufio.NewWriter(w.Writer)
	return w
}

func (w *eventWriter) write(e adminapi.Event) {
	if w.err != nil {
		return
	}
	b, err := adminapi.Encode(e)
	if err == nil {
		_, err = w.out.Write(b)
	}
	w.err = err
}

func (w *eventWriter) flush() {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		w.err = w.Flush()
	}
}

// nowhere returns an eventWriter that discards all events, for clients that do not wait for the
// import.
func nowhere() *eventWriter { return &eventWriter{err: io.ErrClosedPipe} }
