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

// Disk keeps entries in files of a directory, one for each. Several programs can
// use the directory at once. A file is complete from the moment that it has its
// name, and one that was damaged is as if it were not there; so nothing has to be
// mended after a crash.
//
// The limits hold for the directory as a whole, but are looked after only now and
// then: there can be a sixteenth more than allowed.
type Disk struct {
	dir    string
	limits Limits

	mu    sync.Mutex
	files int   // that were written since the directory was last looked over
	bytes int64 // of them
}

var _ Keeper = (*Disk)(nil)

// How the files are called.
const (
	entrySuffix = ".entry"
	newPart     = entrySuffix + ".new" // within the name of one that is not complete
	oldPart     = "new-"               // at the beginning of the same, as earlier programs named it
)

// maxEntry bounds what is read of a file.
const maxEntry = 64 << 20

// OpenDisk returns a keeper in a directory, which it makes if there is none: for
// its owner alone, because what was asked is nobody else's business.
func OpenDisk(dir string, l Limits) (*Disk, error) {
	if err := os.MkdirAll(dir, durable.PrivateDir); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	d := &Disk{dir: dir, limits: l.withDefaults()}
	return d, d.sweep()
}

// path returns the file of a key.
func (d *Disk) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	s := hex.EncodeToString(sum[:])
	return filepath.Join(d.dir, s[:2], s[2:]+entrySuffix)
}

// Get implements [Keeper].
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
		_ = os.Chtimes(path, now, now) // it was used: that it goes later is all there is to it
	}
	return e, true
}

// Put implements [Keeper]. An entry that has no room even alone is not kept.
func (d *Disk) Put(e Entry) error {
	text, err := encode(e)
	if err != nil {
		return err
	}
	size := int64(len(text))
	if size > min(d.limits.MaxBytes, maxEntry) {
		d.Drop(e.Key) // it is not the answer any more
		return nil
	}
	if err := d.write(d.path(e.Key), text); err != nil {
		return err
	}
	return d.count(size)
}

// write replaces a file.
func (d *Disk) write(path string, text []byte) error {
	if err := os.Mkdir(filepath.Dir(path), durable.PrivateDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.Write(durable.Disk{Mode: durable.Private, Disposable: true}, path, text)
}

// Drop implements [Keeper].
func (d *Disk) Drop(key string) { _ = os.Remove(d.path(key)) }

// count looks the directory over when much has been written.
func (d *Disk) count(size int64) error {
	const part = 16 // of the limits
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

// A file is what a directory says of one.
type file struct {
	path string
	size int64
	used time.Time
}

// abandoned is after how long a file that is not complete belongs to nobody.
const abandoned = time.Hour

// sweep removes what was used least lately, down to a sixteenth below the limits,
// and what others have left unfinished. Another program may do the same: what it
// has removed is gone.
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

// list returns the entries and how many bytes they have, and removes what is
// abandoned. Files of others are none of its business.
func (d *Disk) list() (files []file, total int64, err error) {
	for _, dir := range entriesOf(d.dir) {
		if !isHex(dir.Name(), 2) || !dir.IsDir() {
			continue
		}
		for _, entry := range entriesOf(filepath.Join(d.dir, dir.Name())) {
			info, err := entry.Info()
			if err != nil { // somebody else was faster
				continue
			}
			path := filepath.Join(d.dir, dir.Name(), entry.Name())
			sum, isEntry := strings.CutSuffix(entry.Name(), entrySuffix)
			switch {
			case isEntry && isHex(sum, 62):
				files = append(files, file{path, info.Size(), usedAt(info.ModTime())})
				total += info.Size()
			case (strings.Contains(entry.Name(), newPart) || strings.HasPrefix(entry.Name(), oldPart)) && time.Since(info.ModTime()) > abandoned:
				_ = os.Remove(path)
			}
		}
	}
	_, err = os.Stat(d.dir)
	return files, total, err
}

// usedAt returns when a file was used: nobody knows if the clock was wrong then, and it
// goes first, rather than stay before all others until that time has come.
func usedAt(modified time.Time) time.Time {
	if time.Until(modified) > time.Minute {
		return time.Time{}
	}
	return modified
}

// entriesOf returns what is in a directory, nothing if it went away.
func entriesOf(dir string) []fs.DirEntry {
	all, _ := os.ReadDir(dir)
	return all
}

func isHex(s string, length int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == length
}
