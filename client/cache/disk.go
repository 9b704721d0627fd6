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

// A Disk is a [Storage] that keeps each entry in a file. Several programs can use the same
// directory at the same time. A file gets its final name when it is complete, and a damaged file
// counts as missing, so the directory needs no repair after a crash.
//
// The limits are for the whole directory. The limits are enforced from time to time, so the
// directory can exceed them by a sixteenth.
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

// OpenDisk returns a Storage in a directory, which it creates if necessary. Only the owner can read
// the directory, because the names that a user requests are private.
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
		_ = os.Chtimes(path, now, now) // a failure only makes the entry appear older
	}
	return e, true
}

// Put implements [Storage]. If an entry exceeds the limits by itself, Put does not store it.
func (d *Disk) Put(e Entry) error {
	text, err := encode(e)
	if err != nil {
		return err
	}
	size := int64(len(text))
	if size > min(d.limits.MaxBytes, maxEntry) {
		d.Drop(e.Key) // an entry with the same key is out of date
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

// count adds a written file to the counts, and sweeps the directory when enough was written.
func (d *Disk) count(size int64) error {
	const part = 16 // the directory is swept after this fraction of the limits was written
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

// abandoned is the age at which an incomplete file is removed.
const abandoned = time.Hour

// sweep removes abandoned files. If the directory exceeds a limit, sweep also removes the least
// recently used entries, until the directory is a sixteenth below the limits. Other programs may
// sweep the directory at the same time.
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

// usedAt returns when a file was last used. For a time in the future, which a wrong clock can
// cause, usedAt returns zero. Otherwise, the file would stay longer than all other files.
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
