package pebblestore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// What stands beside a backup while it is made, by what is added to its name, and
// beside the store.
const (
	suffixBackupNew  = ".new"         // the next one, not complete; or one that is being removed
	suffixBackupOld  = ".old"         // the one before, complete, until the next one has its place
	suffixBackupCopy = ".copy"        // a checkpoint beside a backup, where there is no room beside the store
	suffixCheckpoint = ".checkpoint-" // and a number, of the store: tables under second names
)

// ErrNoBackup is returned by Backup for a directory that holds something else than
// an earlier backup of the same store.
var ErrNoBackup = errors.New("there is something that is no earlier backup of this store")

// Backup implements [store.Backuper]. A backup is a store that can be opened for
// reading, and a [Manifest] of its files; [Restore] makes a store of it. The tables of
// an earlier backup that are still the store's are taken over: files that have the same
// bytes are linked, the others copied, and the blocks of copied tables are checked, so
// that damage of the store does not replace a good backup. The new backup replaces the
// earlier one when it is complete and on disk; a crash leaves one of them, under its
// name or under that with ".old" added, from where the next run takes it back. A
// directory with ".new" or ".copy" added is removed.
//
// The engine makes links to its files beside the store. Where there is no room for that, or
// the file system is read-only, it copies them beside the backup.
//
// Only the owner can read a backup. If an earlier one lets in its group, and nobody
// else, the new one does too.
func (s *Store) Backup(ctx context.Context, dir string, progress func(done, total uint64)) error {
	e, err := s.enter()
	if err != nil {
		return err
	}
	defer e.gate.Leave()
	dir = s.fs.PathJoin(dir)
	err = s.backup(ctx, e, dir, progress)
	damaged := (*CorruptError)(nil)
	switch {
	case pebble.IsCorruptionError(err), errors.As(err, &damaged):
		return fmt.Errorf("pebblestore: backup to %s: the store is damaged: %s; an earlier backup there stays as it is; 'nomen verify' tells what is affected", dir, firstLine(err))
	case err != nil:
		return fmt.Errorf("pebblestore: backup to %s: %w", dir, err)
	}
	return nil
}

func (s *Store) backup(ctx context.Context, e *engine, dir string, progress func(done, total uint64)) error {
	if err := cmp.Or(ctx.Err(), e.damage, e.failure()); err != nil {
		return err
	}
	for _, suffix := range []string{"", suffixBackupNew, suffixBackupOld, suffixBackupCopy} {
		if s.isWithin(dir + suffix) {
			return fmt.Errorf("%s is the store itself, or within it: choose another directory", dir+suffix)
		}
	}
	if isCheckpoint(s.fs.PathBase(s.dir), s.fs.PathBase(dir)) {
		return errors.New("this name is that of what is removed when the store is opened: choose another one")
	}
	there, err := s.earlier(e, dir)
	for _, suffix := range []string{suffixBackupNew, suffixBackupCopy} {
		if err == nil {
			err = s.isRest(dir + suffix)
		}
	}
	if err != nil {
		return err
	}
	from := s.dir + suffixCheckpoint + strconv.FormatUint(s.backups.Add(1), 10)
	fresh := dir + suffixBackupNew
	defer func() { _ = s.fs.RemoveAll(from) }() // links, and the end of the log
	if err := s.fs.RemoveAll(fresh); err != nil {
		return err
	}
	m := &Manifest{Made: s.now().UTC().Truncate(time.Second), Program: s.program}
	if !e.readOnly {
		err = s.checkpoint(e, from, m)
	}
	if e.readOnly || isUnwritable(err) && e.failure() == nil {
		// The disk of the store has no room, or is read-only: this is when a copy is
		// needed most. The files are copied twice then, which takes as much room again.
		_ = s.fs.RemoveAll(from)
		from = dir + suffixBackupCopy
		if err2 := s.checkpoint(e, from, m); err2 != nil {
			return errors.Join(err2, s.fs.RemoveAll(from))
		}
		err = nil
	}
	if err == nil {
		err = errors.Join(s.fs.MkdirAll(fresh, durable.PrivateDir), beginManifest(s.fs, fresh))
	}
	if err == nil {
		err = s.take(ctx, from, fresh, dir, m, progress)
	}
	if err == nil {
		err = writeManifest(s.fs, fresh, m)
	}
	if err != nil {
		return errors.Join(err, s.fs.RemoveAll(fresh))
	}
	if there {
		s.shareAs(dir, fresh)
	}
	if !there {
		return move(s.fs, fresh, dir)
	}
	old := dir + suffixBackupOld
	for _, step := range [][2]string{{dir, old}, {fresh, dir}, {old, fresh}} {
		if err := move(s.fs, step[0], step[1]); err != nil {
			return err
		}
	}
	return s.fs.RemoveAll(fresh)
}

// checkpoint makes a checkpoint of an engine and notes in m what it is.
func (s *Store) checkpoint(e *engine, dir string, m *Manifest) error {
	if there, err := isThere(s.fs, dir); err != nil || there {
		if err = errors.Join(err, s.fs.RemoveAll(dir)); err != nil {
			return err
		}
	}
	// What was acknowledged is in the log's file already, and a write to the log on a
	// disk that has no room at all would be the end of the program.
	copied := e.db.Checkpoint
	if e.readOnly { // an engine of which Pebble makes no checkpoint, but which changes no file
		copied = func(dir string, _ ...pebble.CheckpointOption) error { return s.copyEngine(e, dir) }
	}
	if err := errors.Join(copied(dir), e.failure()); err != nil {
		return err
	}
	return s.settleCheckpoint(dir, m)
}

// copyEngine copies the files of an engine that only reads, unless another one takes its
// place meanwhile.
func (s *Store) copyEngine(e *engine, dir string) error {
	files, err := s.fs.List(s.dir)
	if err == nil {
		err = s.fs.MkdirAll(dir, durable.PrivateDir)
	}
	for _, file := range files {
		if err == nil && isEngineFile(file) && file != lockFile && file != ManifestFile {
			_, err = copyFile(s.fs, s.fs.PathJoin(s.dir, file), s.fs.PathJoin(dir, file))
		}
	}
	if s.engine.Load() != e {
		return errors.New("the store takes changes again since the backup began: make it again")
	}
	return err
}

// isWithin reports whether a path is the directory of the store or leads into it, by
// whatever way.
func (s *Store) isWithin(dir string) bool {
	onDisk := vfs.Root(s.fs) == vfs.Default
	place, own := dir, s.dir
	if onDisk {
		place, own = absolute(dir), absolute(s.dir)
	}
	mine, err := os.Stat(own)
	for {
		if place == own {
			return true
		}
		if onDisk && err == nil {
			if info, err := os.Stat(place); err == nil && os.SameFile(info, mine) {
				return true
			}
		}
		parent := s.fs.PathDir(place)
		if parent == place {
			return false
		}
		place = parent
	}
}

// absolute returns the path without symbolic links of what there is of it.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	there, rest := path, ""
	for {
		if real, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(there)
		if parent == there {
			return path
		}
		there, rest = parent, filepath.Join(filepath.Base(there), rest)
	}
}

// engineFiles are the names of what is in a store or an unfinished backup.
var engineFiles = []string{"*.sst", "*.blob", "*.log", "*.dbtmp", "MANIFEST-*", "OPTIONS-*", "marker.*", "temporary.*", lockFile, "CURRENT", markFile, markFile + ".tmp", ManifestFile, ManifestFile + ".tmp"}

// lockFile is the engine's lock of a directory, which is empty and no part of a backup.
const lockFile = "LOCK"

// isEngineFile reports whether a name is one of those.
func isEngineFile(name string) bool {
	return slices.ContainsFunc(engineFiles, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// isRest returns ErrNoBackup if there is something else than what an unfinished
// backup has left: that is removed.
func (s *Store) isRest(dir string) error {
	there, err := isThere(s.fs, dir)
	if err != nil || !there {
		return err
	}
	files, err := s.fs.List(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if !isEngineFile(file) {
			return fmt.Errorf("%s: %w: it has %q; a backup is made there first, so move it away or choose another name", dir, ErrNoBackup, file)
		}
	}
	return nil
}

// isCheckpoint reports whether a name beside a store is that of a checkpoint.
func isCheckpoint(base, name string) bool {
	number, ok := strings.CutPrefix(name, base+suffixCheckpoint)
	if _, err := strconv.ParseUint(number, 10, 64); err != nil {
		return false
	}
	return ok
}

// clearCheckpoints removes the checkpoints of backups that a crash has ended: who
// has the store open for writing knows that nobody makes one.
func (s *Store) clearCheckpoints() error {
	parent := s.fs.PathDir(s.dir)
	names, err := s.fs.List(parent)
	if err != nil {
		return nil // there may be no right to look, and none is needed
	}
	for _, name := range names {
		if isCheckpoint(s.fs.PathBase(s.dir), name) {
			err = errors.Join(err, s.fs.RemoveAll(s.fs.PathJoin(parent, name)))
		}
	}
	return err
}

// earlier reports whether there is an earlier backup in dir, to which it returns
// one that a crash has left beside it.
func (s *Store) earlier(e *engine, dir string) (bool, error) {
	old := dir + suffixBackupOld
	there, err := isThere(s.fs, dir)
	aside, err2 := isThere(s.fs, old)
	if err := errors.Join(err, err2); err != nil {
		return false, err
	}
	if there {
		err = s.isMine(e, dir)
	}
	if err == nil && aside {
		if err = s.isMine(e, old); err != nil {
			err = fmt.Errorf("%s: %w", old, err)
		}
	}
	switch {
	case err != nil:
		return false, err
	case aside && there: // the crash came when dir was complete
		err = s.fs.RemoveAll(dir + suffixBackupNew)
		if err == nil {
			err = move(s.fs, old, dir+suffixBackupNew)
		}
	case aside:
		err = move(s.fs, old, dir)
	}
	return there || aside, err
}

// isMine returns ErrNoBackup unless dir holds an earlier backup of s: a store of
// the same identity, whose log is the beginning of that of s.
func (s *Store) isMine(e *engine, dir string) error {
	b, err := Open(Options{Dir: dir, FS: s.fs, ReadOnly: true, CacheSize: minMemTableSize})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	defer b.Close()
	mine, err := identity(e.db.DB)
	theirs, err2 := identity(b.engine.Load().db.DB)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	now, then := s.sealed.head(), b.sealed.head()
	if !bytes.Equal(mine, theirs) || then.Size > now.Size {
		return ErrNoBackup
	}
	proof, err := ledger.ProveConsistency(source{e.db}, now.Size, then.Size)
	if err != nil {
		return err
	}
	if ledger.CheckConsistency(proof, now, then) != nil {
		return ErrNoBackup
	}
	return nil
}

// identity returns the random bytes that tell a store from others.
func identity(db *pebble.DB) ([]byte, error) {
	value, closer, err := db.Get([]byte(metaID))
	if err != nil {
		return nil, unreadable(metaID, err)
	}
	defer closer.Close()
	return bytes.Clone(value), nil
}

// take brings the files of a checkpoint into a new directory and lists them in m. Those
// that an earlier backup has become links to these.
func (s *Store) take(ctx context.Context, from, to, earlier string, m *Manifest, progress func(done, total uint64)) error {
	files, err := s.fs.List(from)
	if err != nil {
		return err
	}
	slices.Sort(files)
	done, total := uint64(0), uint64(0)
	for _, file := range files {
		info, err := s.fs.Stat(s.fs.PathJoin(from, file))
		if err != nil {
			return err
		}
		total += uint64(info.Size())
	}
	engine := engineOptions(Options{FS: s.fs, CacheSize: minMemTableSize})
	engine.EnsureDefaults()
	reading := engine.MakeReaderOptions()
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		source, target, kept := s.fs.PathJoin(from, file), s.fs.PathJoin(to, file), s.fs.PathJoin(earlier, file)
		f, same, err := compareFiles(s.fs, source, kept)
		switch {
		case err != nil:
		case same:
			err = s.fs.Link(kept, target)
		default:
			if f, err = copyFile(s.fs, source, target); err == nil && isTable(file) {
				err = checkTable(ctx, s.fs, target, reading)
			}
		}
		if err != nil {
			return err
		}
		f.Name = file
		if file != lockFile {
			m.Files = append(m.Files, f)
		}
		if done += uint64(f.Size); progress != nil {
			progress(done, max(done, total))
		}
	}
	return syncDir(s.fs, to)
}

// settleCheckpoint writes what a checkpoint has in its log alone into tables: bits that
// are flipped there are always noticed, while at the end of a log they look like a
// write that was cut off. It notes in m what the checkpoint is.
func (s *Store) settleCheckpoint(dir string, m *Manifest) error {
	if err := s.roomFor(dir); err != nil {
		return err
	}
	o := Options{Dir: dir, FS: s.fs, CacheSize: minMemTableSize, Log: s.report}
	var lock dirLock
	db, err := openDatabase(o, &lock, nil, func(p *pebble.Options, _ *engineDisk) {
		p.DisableAutomaticCompactions = true // the tables are those of the store
	})
	if err != nil {
		return errors.Join(err, lock.release())
	}
	m.Head, err = headIn(db.DB)
	if err == nil {
		m.Format, m.Rules, err = versionsOf(db.DB)
	}
	if err := errors.Join(err, db.Flush(), db.closeAlone()); err != nil {
		return err
	}
	return writeMark(s.fs, s.fs.PathJoin(dir), m.Head)
}

// roomFor returns a [*FullError] if the disk of the store has no room for what a
// checkpoint has in its logs as tables too.
func (s *Store) roomFor(dir string) error {
	const spare = 8 << 20 // for all else that the engine writes
	usage, err := s.fs.GetDiskUsage(dir)
	if err != nil {
		return nil // where it is not known, a write will tell
	}
	files, err := s.fs.List(dir)
	if err != nil {
		return err
	}
	wanted := uint64(spare)
	for _, file := range files {
		if info, err := s.fs.Stat(s.fs.PathJoin(dir, file)); err == nil && strings.HasSuffix(file, ".log") {
			wanted += 2 * uint64(info.Size())
		}
	}
	if usage.AvailBytes < wanted {
		return &FullError{Free: usage.AvailBytes, Wanted: wanted}
	}
	return nil
}

// shareAs lets the group of an earlier backup into a new one if it was let into that.
// The files that both have in common are then of that group too.
func (s *Store) shareAs(earlier, fresh string) {
	if vfs.Root(s.fs) != vfs.Default {
		return
	}
	info, err := os.Stat(earlier)
	if err != nil {
		return // it stays private
	}
	mode := info.Mode().Perm()
	if mode&0o007 != 0 { // as the umask of an earlier program left it
		mode = durable.PrivateDir
	}
	files, err := s.fs.List(fresh)
	if err != nil {
		return // it stays private
	}
	for _, file := range files {
		durable.Share(s.fs.PathJoin(fresh, file), info, durable.Private|mode&0o040)
	}
	durable.Share(fresh, info, mode)
}

// headIn computes the head of a log.
func headIn(db *pebble.DB) (store.Head, error) {
	v, err := newView(db)
	if err != nil {
		return store.Head{}, err
	}
	defer v.close()
	size, err := v.logSize()
	if err != nil {
		return store.Head{}, err
	}
	log, err := ledger.Open(size, source{db})
	return log.Head(), err
}

func isTable(file string) bool { return strings.HasSuffix(file, ".sst") }

// checkTable reads every block of a table, which has checksums. The error is one of
// [pebble.IsCorruptionError] if one is wrong.
func checkTable(ctx context.Context, files vfs.FS, path string, o sstable.ReaderOptions) error {
	f, err := files.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(ctx, readable, o)
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}

// compareFiles reports whether b is there, with the bytes of a, and what a is then.
func compareFiles(files vfs.FS, a, b string) (f BackupFile, same bool, err error) {
	there, err := isThere(files, b)
	if err != nil || !there {
		return f, false, err
	}
	x, err := files.Open(a, vfs.SequentialReadsOption)
	if err != nil {
		return f, false, err
	}
	defer x.Close()
	y, err := files.Open(b, vfs.SequentialReadsOption)
	if err != nil {
		return f, false, err
	}
	defer y.Close()
	sum := sha256.New()
	same, err = sameBytes(x, y, sum)
	if err != nil || !same {
		return f, false, err
	}
	info, err := x.Stat()
	if err != nil {
		return f, false, err
	}
	return BackupFile{Size: info.Size(), SHA256: [32]byte(sum.Sum(nil))}, true, nil
}

// sameBytes compares two files, and writes what they have in common to w. A file of
// the second disk that cannot be read is another one.
func sameBytes(x, y vfs.File, w io.Writer) (bool, error) {
	xs, err := x.Stat()
	ys, err2 := y.Stat()
	if err := errors.Join(err, err2); err != nil || xs.Size() != ys.Size() {
		return false, err
	}
	var a, b [64 << 10]byte
	for {
		n, err := io.ReadFull(x, a[:])
		m, err2 := io.ReadFull(y, b[:])
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		_, _ = w.Write(a[:n]) // a hash
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return err2 == err, nil
		}
		if err != nil || err2 != nil {
			return false, err
		}
	}
}

// copyFile copies a file to another disk, perhaps, and waits for that. It returns the
// size and the sum of what it has read.
func copyFile(files vfs.FS, from, to string) (f BackupFile, err error) {
	in, err := files.Open(from, vfs.SequentialReadsOption)
	if err != nil {
		return f, err
	}
	defer in.Close()
	out, err := files.Create(to, vfs.WriteCategoryUnspecified)
	if err != nil {
		return f, err
	}
	sum := sha256.New()
	f.Size, err = io.Copy(io.MultiWriter(sum, out), in)
	f.SHA256 = [32]byte(sum.Sum(nil))
	return f, errors.Join(err, out.Sync(), out.Close())
}

func syncDir(disk vfs.FS, dir string) error {
	d, err := disk.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
