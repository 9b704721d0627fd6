package admin

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const pinBatch = 1000

// pins are the revisions that the names in a file had before the import of the file; see
// [bulk.Pins]. They are stored in a temporary file, which has one number for each record of the
// imported file, in the same order. The number is the revision plus one, or 0 for
// [store.AnyRevision].
type pins struct {
	api  *API
	file *os.File
	in   *bufio.Reader
}

var _ bulk.Pins = (*pins)(nil)

// pin reads the current revisions of the names in a file. The caller must call drop on the result
// after use.
func (s *API) pin(ctx context.Context, file io.ReadSeeker, o bulk.ImportOptions) (*pins, error) {
	f, err := s.jobs.createSpool()
	if err != nil {
		return nil, unstored(err)
	}
	w := &pinWriter{api: s, out: bufio.NewWriter(f)}
	_, err = file.Seek(0, io.SeekStart)
	if err == nil {
		err = bulk.Names(file, o, func(_ int, spelling string) error { return w.add(ctx, spelling) })
	}
	if err == nil {
		err = errors.Join(w.flush(ctx), w.out.Flush())
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		drop(f)
		return nil, err
	}
	return &pins{s, f, bufio.NewReader(f)}, nil
}

func (p *pins) drop() { drop(p.file) }

func (p *pins) Next() (uint64, error) {
	n, err := binary.ReadUvarint(p.in)
	if err == nil && n == 0 {
		return store.AnyRevision, nil
	}
	return n - 1, err
}

func (p *pins) Own(ctx context.Context, n name.Name, after uint64, id string) (bool, error) {
	for c, err := range store.History(ctx, p.api.store, n) {
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return false, nil
		case err != nil:
			return false, err
		case !c.Delete.IsZero():
			return after == 0, nil // the name did not exist before, and the import has created it
		case c.Revision() <= after:
			return true, nil
		case c.Batch != id:
			return false, nil
		}
	}
	return after == 0, nil
}

type pinWriter struct {
	api   *API
	out   *bufio.Writer
	names []name.Name // names of the next records; the zero name for a rejected record
}

func (w *pinWriter) add(ctx context.Context, spelling string) error {
	n, err := name.Parse(spelling)
	if err == nil {
		n, err = w.api.registrar.Kept(ctx, n, time.Time{})
		if err != nil {
			return err
		}
	} else {
		n = name.Name{}
	}
	if w.names = append(w.names, n); len(w.names) < pinBatch {
		return ctx.Err()
	}
	return w.flush(ctx)
}

func (w *pinWriter) flush(ctx context.Context) error {
	valid := make([]name.Name, 0, len(w.names))
	for _, n := range w.names {
		if n != (name.Name{}) {
			valid = append(valid, n)
		}
	}
	records, err := store.Records(store.Fresh(ctx), w.api.store, valid, false)
	if err != nil {
		return err
	}
	for _, n := range w.names {
		pin := uint64(0)
		if n != (name.Name{}) {
			if pin = 1; records[0] != nil {
				pin += records[0].Revision
			}
			records = records[1:]
		}
		if _, err := w.out.Write(binary.AppendUvarint(nil, pin)); err != nil {
			return unstored(err)
		}
	}
	w.names = w.names[:0]
	return nil
}
