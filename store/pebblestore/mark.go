package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// markFile is beside the engine's files and has a head that the log has had. The
// engine takes what it cannot read at the end of its own files for writes that a
// crash has cut off, and goes on with what was before: then the log is shorter than
// it was, which the mark tells.
const markFile = "HEAD"

// maxMark is how long a mark can be, in bytes.
const maxMark = 128

// writeMark puts a mark on disk, in place of the one that is there.
func writeMark(files vfs.FS, dir string, h store.Head) error {
	return durable.Write(disk{files}, files.PathJoin(dir, markFile), fmt.Appendf(nil, "%v\n", h))
}

// readMark returns the mark, the head of an empty log if there is none.
func readMark(disk vfs.FS, dir string) (h store.Head, err error) {
	path := disk.PathJoin(dir, markFile)
	if there, err := isThere(disk, path); err != nil || !there {
		return h, err
	}
	f, err := disk.Open(path)
	if err != nil {
		return h, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxMark))
	if err := errors.Join(err, f.Close()); err != nil {
		return h, err
	}
	line, whole := strings.CutSuffix(string(text), "\n")
	h, err = store.ParseHead(line)
	if err != nil || !whole {
		return h, fmt.Errorf("%s: it is damaged: when verify finds nothing else, remove it", path)
	}
	return h, nil
}

// checkMark returns an error if the log does not begin with that of the mark.
func (e *engine) checkMark() error {
	mark, err := readMark(e.disk.FS, e.disk.dir)
	if err != nil || mark.Size == 0 {
		return err
	}
	if size := e.log.Size(); size < mark.Size {
		return fmt.Errorf("the log has %d changes and had %d: files are damaged, and the last changes are missing", size, mark.Size)
	}
	log, err := ledger.Open(mark.Size, source{e.db})
	if err != nil {
		return err
	}
	if log.Head() != mark {
		return fmt.Errorf("the first %d changes are not those that they were, or %s is damaged", mark.Size, markFile)
	}
	return nil
}

// keepMark writes a mark whenever the engine has written a table, since it then lets
// go of a log that had the same.
func (s *Store) keepMark(e *engine) {
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-e.flushed:
		}
		if !s.writable() || e.disk.check() != nil {
			continue
		}
		if err := writeMark(s.fs, s.dir, s.sealed.head()); err != nil {
			e.disk.fail(fmt.Errorf("the head of the log cannot be noted: %w", err))
		}
	}
}
