package cache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/durable"
)

// A Disk is a [Storage] that keeps each entry in a file. Several programs can use its directory at
// the same time. Files get their names when they are complete, and a damaged file counts as
// missing, so nothing needs to be repaired after a crash.
//
// The limits are for the whole directory. They are enforced from time to time, so the directory can
// exceed them by a sixteenth.
type Disk struct {
	dir    string
	limits Limits

	mu    sync.Mutex
	files int   // files written since the last sweep
	bytes int64 // bytes written since the last sweep
}

var _ Storage = (*Disk)(nil)

// Parts of the names of files.
const (
	entrySuffix = ".entry"
	newPart     = entrySuffix + ".new" // marks an incomplete file
)

const maxEntry = 64 << 20

// OpenDisk returns a Storage that uses a directory. It creates the directory if necessary, readable
// only by its owner, because the names that a user requests are private.
func OpenDisk(dir string, l Limits) (*Disk, error) {
	if err := os.MkdirAll(dir, durable.PrivateDir); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	d := &Disk{dir: dir, limits: l.withDefaults()}
	return d, d.sweep()
}

func (d *Disk) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	s := hex.EncodeToString(sum[:])
	return filepath.Join(d.dir, s[:2], s[2:]+entrySuffix)
}

// Get implements [Storage].
func (d *Disk) Get(key string) (Entry, bool) {
	path := d.path(key)
	f, err := os.Open(path)
	if err != nil {
		return Entry{}, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil {
		return Entry{}, false
	}
	e, err := decode(text)
	if err != nil || e.Key != key {
		return Entry{}, false
	}
	now := time.Now()
	if info, err := f.Stat(); err == nil && now.Sub(info.ModTime()).Abs() > time.Minute {
		_ = os.Chtimes(path, now, now) // otherwise the entry is removed earlier, which does not matter
	}
	return e, true
}

// Put implements [Storage]. It drops an entry that exceeds the limits by itself.
func (d *Disk) Put(e Entry) error {
	text, err := encode(e)
	if err != nil {
		return err
	}
	size := int64(len(text))
	if size > min(d.limits.MaxBytes, maxEntry) {
		d.Drop(e.Key) // the entry stored before is out of date
		return nil
	}
	if err := d.write(d.path(e.Key), text); err != nil {
		return err
	}
	return d.count(size)
}

func (d *Disk) write(path string, text []byte) error {
	if err := os.Mkdir(filepath.Dir(path), durable.PrivateDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.Write(durable.Disk{Mode: durable.Private, Disposable: true}, path, text)
}

// Drop implements [Storage].
func (d *Disk) Drop(key string) { _ = os.Remove(d.path(key)) }

// count counts a written file, and sweeps the directory from time to time.
func (d *Disk) count(size int64) error {
	const part = 16 // the share of the limits after which the directory is swept
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files++
	d.bytes += size
	if d.files <= d.limits.MaxEntries/part && d.bytes <= d.limits.MaxBytes/part {
		return nil
	}
	d.files, d.bytes = 0, 0
	return d.sweep()
}

type file struct {
	path string
	size int64
	used time.Time
}

// abandoned is how old an incomplete file must be to be removed.
const abandoned = time.Hour

// sweep removes abandoned files. If the directory exceeds a limit, sweep also removes the least
// recently used entries, until the directory is a sixteenth below the limits. Other programs may do
// the same at the same time.
func (d *Disk) sweep() error {
	files, total, err := d.list()
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	n := len(files)
	if n <= d.limits.MaxEntries && total <= d.limits.MaxBytes {
		return nil
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path)) })
	const part = 16
	for _, f := range files {
		if n <= d.limits.MaxEntries-d.limits.MaxEntries/part && total <= d.limits.MaxBytes-d.limits.MaxBytes/part {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cache: %w", err)
		}
		n, total = n-1, total-f.size
	}
	return nil
}

// list returns the entries and their total size in bytes, and removes abandoned files. It ignores
// files that do not belong to the cache.
func (d *Disk) list() (files []file, total int64, err error) {
	for _, dir := range entriesOf(d.dir) {
		if !isHex(dir.Name(), 2) || !dir.IsDir() {
			continue
		}
		for _, entry := range entriesOf(filepath.Join(d.dir, dir.Name())) {
			info, err := entry.Info()
			if err != nil { // another program removed it
				continue
			}
			path := filepath.Join(d.dir, dir.Name(), entry.Name())
			sum, isEntry := strings.CutSuffix(entry.Name(), entrySuffix)
			switch {
			case isEntry && isHex(sum, 62):
				files = append(files, file{path, info.Size(), usedAt(info.ModTime())})
				total += info.Size()
			case strings.Contains(entry.Name(), newPart) && time.Since(info.ModTime()) > abandoned:
				_ = os.Remove(path)
			}
		}
	}
	_, err = os.Stat(d.dir)
	return files, total, err
}

// usedAt returns when a file was last used. A time in the future, from a wrong clock, becomes zero,
// so that the file does not stay longer than all others.
func usedAt(modified time.Time) time.Time {
	if time.Until(modified) > time.Minute {
		return time.Time{}
	}
	return modified
}

func entriesOf(dir string) []fs.DirEntry {
	all, _ := os.ReadDir(dir)
	return all
}

func isHex(s string, length int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == length
}
