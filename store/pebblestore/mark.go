package pebblestore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// markFile contains a recent head of the log, the mark. It serves to detect the loss of the last
// changes. Pebble treats unreadable data at the end of its files as writes that a crash
// interrupted, and continues without this data. The log is then shorter than the mark, and
// checkMark returns an error.
const markFile = "HEAD"

const maxMark = 128

func writeMark(files vfs.FS, dir string, h store.Head) error {
	return durable.Write(disk{files}, files.PathJoin(dir, markFile), fmt.Appendf(nil, "%v\n", h))
}

// readMark returns the mark, or the head of an empty log if the store has no mark.
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
		return h, fmt.Errorf("%s: damaged; if a verification of the store finds no other fault, remove the file", path)
	}
	return h, nil
}

func (e *engine) checkMark() error {
	mark, err := readMark(e.disk.FS, e.disk.dir)
	if err != nil || mark.Size == 0 {
		return err
	}
	if size := e.log.Size(); size < mark.Size {
		return fmt.Errorf("the log has %d changes but had %d: files are damaged, and the last changes are missing", size, mark.Size)
	}
	log, err := ledger.Open(mark.Size, source{e.db})
	if err != nil {
		return err
	}
	if log.Head() != mark {
		return fmt.Errorf("the first %d changes of the log have been altered, or %s is damaged", mark.Size, markFile)
	}
	return viewing(e.db, func(v *view) error { return v.checkRows(mark.Size, e.log.Size()) })
}

// checkRows returns an error if one of the log rows start+1 to end is missing. These rows are later
// than the mark and can come from the write-ahead log. If a file of the write-ahead log is missing,
// a row can be missing although later rows exist.
func (v *view) checkRows(start, end uint64) error {
	v.key = appendSeq(v.key[:0], start+1)
	for ok := v.it.SeekGE(v.key); start < end; ok = v.it.Next() {
		start++
		if v.key = appendSeq(v.key[:0], start); !ok || !bytes.Equal(v.it.Key(), v.key) {
			return cmp.Or(v.failure("log"), fmt.Errorf("change %d of the log is missing: files are missing or damaged", start))
		}
	}
	return nil
}

// keepMark writes the mark after each flush of a memtable, because Pebble then deletes the
// write-ahead log of the memtable.
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
			e.disk.fail(fmt.Errorf("cannot write the head of the log: %w", err))
		}
	}
}
