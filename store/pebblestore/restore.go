package pebblestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
)

// ErrNotBackup is returned by [Restore] if the directory contains no files of a backup.
var ErrNotBackup = errors.New("the directory is not a backup")

// A DamagedError is returned by [Restore] if the backup is damaged. The details were passed to
// RestoreOptions.Damage.
type DamagedError struct {
	Dir     string
	Damaged int // number of damaged files, or of faults of the store
	Files   int // number of files of the backup
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: the backup is damaged: %d faults in %d files", e.Dir, e.Damaged, e.Files)
}

// A Damage describes damage to a file of a backup, or a fault of the store in the backup.
type Damage struct {
	File    string       // name of the file; "" if the store is damaged
	Problem string       // what is wrong, for people to read
	Fault   *store.Fault // the fault of the store; set if File is empty
}

// RestoreOptions are the parameters of [Restore].
type RestoreOptions struct {
	From string // directory of the backup; it is not modified
	To   string // an empty or new directory; "" to check the backup in place
	FS   vfs.FS // file system; if nil, the file system of the operating system

	Verify   bool                     // verify the history too, as [Store.Verify] does
	Use      func(*Store) error       // if not nil, called at the end with the store, open read-only, unless anything is damaged
	Damage   func(Damage)             // if not nil, called for each damaged file
	Progress func(done, total uint64) // if not nil, called with the number of bytes copied
	Checked  func(done, total uint64) // if not nil, called with the progress of verifying the history
	Note     func(string)             // if not nil, called with messages for the operator
}

// A Restored describes a restored or checked backup.
type Restored struct {
	Records  int64
	Head     store.Head
	Files    int
	Manifest *Manifest // manifest of the backup; nil if it has none
}

// Restore copies the backup in the directory o.From to the directory o.To, which can then be opened
// as a store. It reads every file and compares it with the manifest. Without a manifest, Restore
// verifies the history as [Store.Verify] does. If anything is damaged, the error is a
// [*DamagedError], and the directory o.To must not be used.
func Restore(ctx context.Context, o RestoreOptions) (Restored, error) {
	o.FS = keptPrivate(o.FS)
	r := &restorer{RestoreOptions: o, ctx: ctx}
	if err := r.run(); err != nil {
		return r.res, err
	}
	if r.damaged > 0 {
		return r.res, &DamagedError{o.From, r.damaged, r.res.Files}
	}
	return r.res, nil
}

type restorer struct {
	RestoreOptions
	ctx         context.Context
	res         Restored
	damaged     int
	done, total uint64
}

func (r *restorer) damage(file, format string, args ...any) {
	r.damaged++
	if r.Damage != nil {
		r.Damage(Damage{File: file, Problem: fmt.Sprintf(format, args...)})
	}
}

func (r *restorer) note(format string, args ...any) {
	if r.Note != nil {
		r.Note(fmt.Sprintf(format, args...))
	}
}

// IsBackup returns [ErrNotBackup] unless the directory contains a file of a backup, even a damaged
// one.
func IsBackup(dir string) error {
	there, err := vfs.Default.List(dir)
	if err == nil && !hasBackup(there) {
		err = fmt.Errorf("%s: %w", dir, ErrNotBackup)
	}
	return err
}

func hasBackup(files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		return name == manifestFile || strings.HasPrefix(name, "MANIFEST-")
	})
}

func (r *restorer) run() error {
	there, err := r.FS.List(r.From)
	if err != nil {
		return err
	}
	m, err := readManifest(r.FS, r.From)
	if bad := (*ManifestError)(nil); errors.As(err, &bad) {
		r.damage(bad.File, "%s; to restore without it, copy the backup, remove %s from the copy and restore that: its history is then checked instead", bad.Problem, manifestFile)
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.res.Manifest = m; m != nil {
		err = r.copyListed(m, there)
	} else {
		err = r.copyAll(there)
	}
	if err != nil || r.damaged > 0 {
		return err
	}
	return r.open()
}

func (r *restorer) copyListed(m *Manifest, there []string) error {
	if err := checkFormat(m.Format); err != nil {
		return err
	}
	if err := r.copyFiles(m.Files, func(f *BackupFile) error { return r.copyOne(f.Name, f) }); err != nil {
		return err
	}
	for _, name := range there {
		_, listed := slices.BinarySearchFunc(m.Files, name, func(f BackupFile, name string) int { return strings.Compare(f.Name, name) })
		if !listed && name != manifestFile && name != lockFile {
			r.note("%s: not part of the backup; skipped", r.FS.PathJoin(r.From, name))
		}
	}
	return nil
}

// copyAll copies the files of a backup without a manifest.
func (r *restorer) copyAll(there []string) error {
	slices.Sort(there)
	if !hasBackup(there) {
		return fmt.Errorf("%s: %w", r.From, ErrNotBackup)
	}
	r.note("%s has no %s; its history is verified instead of the SHA-256 of its files", r.From, manifestFile)
	var files []BackupFile
	for _, name := range there {
		if !isEngineFile(name) || name == lockFile {
			continue
		}
		f := BackupFile{Name: name}
		if info, err := r.FS.Stat(r.FS.PathJoin(r.From, name)); err == nil {
			f.Size = info.Size()
		}
		files = append(files, f)
	}
	reading := tableOptions(r.FS)
	return r.copyFiles(files, func(f *BackupFile) error {
		before := r.damaged
		if err := r.copyOne(f.Name, nil); err != nil || r.damaged > before || !isTable(f.Name) {
			return err
		}
		if err := checkTable(r.ctx, r.FS, r.FS.PathJoin(r.From, f.Name), reading); err != nil {
			r.damage(r.FS.PathJoin(r.From, f.Name), "damaged: %s", firstLine(err))
		}
		return nil
	})
}

// copyFiles calls copyOne for each file, and waits until the copies are on disk.
func (r *restorer) copyFiles(files []BackupFile, copyOne func(*BackupFile) error) error {
	r.res.Files = len(files)
	for i := range files {
		r.total += uint64(files[i].Size)
	}
	if r.To != "" {
		if err := r.FS.MkdirAll(r.To, durable.PrivateDir); err != nil {
			return err
		}
	}
	for i := range files {
		if err := copyOne(&files[i]); err != nil {
			return err
		}
	}
	if r.To == "" {
		return nil
	}
	return syncDir(r.FS, r.To)
}

// copyOne copies a file and compares it with the line for this file in the manifest, which may be
// nil. If damage was already found, copyOne only reads the file.
func (r *restorer) copyOne(name string, line *BackupFile) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	from := r.FS.PathJoin(r.From, name)
	info, err := r.FS.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.damage(from, "missing")
		return nil
	case err == nil && !info.Mode().IsRegular():
		r.damage(from, "not a regular file")
		return nil
	case err == nil && line != nil && info.Size() != line.Size:
		r.damage(from, "damaged: it has %d bytes, expected %d", info.Size(), line.Size)
		return nil
	}
	if err != nil {
		r.damage(from, "cannot be read: %v", err)
		return nil
	}
	got, readErr, err := r.transfer(from, r.FS.PathJoin(r.To, name))
	switch {
	case err != nil:
		return err
	case readErr != nil:
		r.damage(from, "cannot be read: %v", readErr)
	case line != nil && (got.SHA256 != line.SHA256 || got.Size != line.Size):
		r.damage(from, "damaged: its SHA-256 does not match the manifest")
	}
	return nil
}

// transfer copies a file. If there is no destination, or if damage was found, it only reads the
// file. Errors of reading and of writing are separate results.
func (r *restorer) transfer(from, to string) (f BackupFile, readErr, err error) {
	in, readErr := r.FS.Open(from, vfs.SequentialReadsOption)
	if readErr != nil {
		return f, readErr, nil
	}
	defer in.Close()
	sum := sha256.New()
	var out vfs.File
	if r.damaged == 0 && r.To != "" {
		if out, err = r.FS.Create(to, vfs.WriteCategoryUnspecified); err != nil {
			return f, nil, err
		}
	}
	var buffer [256 << 10]byte
	for readErr == nil && err == nil {
		var n int
		n, readErr = in.Read(buffer[:])
		_, _ = sum.Write(buffer[:n]) // writing to a hash never fails
		if out != nil {
			_, err = out.Write(buffer[:n])
		}
		f.Size += int64(n)
		r.done += uint64(n)
		if r.Progress != nil {
			r.Progress(r.done, max(r.done, r.total))
		}
		err = cmp.Or(err, r.ctx.Err())
	}
	if out != nil {
		err = errors.Join(err, out.Sync(), out.Close())
	}
	f.SHA256 = [32]byte(sum.Sum(nil))
	if readErr == io.EOF {
		readErr = nil
	}
	return f, readErr, err
}

// open opens the restored store. It compares the store with the manifest, or verifies the history.
func (r *restorer) open() error {
	s, err := Open(Options{Dir: cmp.Or(r.To, r.From), FS: r.FS, CacheSize: minMemTableSize, ReadOnly: true, Now: noClock})
	if err != nil {
		if errors.As(err, new(*store.VersionError)) {
			return fmt.Errorf("%s: %w", r.From, err)
		}
		r.damage(r.From, "it cannot be opened: %s", firstLine(err))
		return nil
	}
	return errors.Join(r.check(s), s.Close())
}

func (r *restorer) check(s *Store) error {
	var err error
	if m := r.res.Manifest; m == nil || r.Verify {
		r.res.Head, err = s.Verify(r.ctx, func(f store.Fault) {
			r.damaged++
			if r.Damage != nil {
				r.Damage(Damage{Problem: f.Problem, Fault: &f})
			}
		}, r.Checked)
	} else {
		r.res.Head, err = s.Head(r.ctx)
	}
	if err != nil {
		return err
	}
	if m := r.res.Manifest; m != nil && r.res.Head != m.Head {
		r.damage(r.From, "the head of its history is %v, expected %v as in the manifest", r.res.Head, m.Head)
	}
	r.res.Records, _, err = s.Count(r.ctx)
	if err == nil && r.Use != nil && r.damaged == 0 {
		err = r.Use(s)
	}
	return err
}

// noClock returns the zero time, so that changes with times in the future are not reported as
// damage.
func noClock() time.Time { return time.Time{} }

// firstLine returns the first line of an error. Errors of Pebble may contain a stack trace.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
