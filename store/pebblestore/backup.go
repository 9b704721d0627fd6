package pebblestore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/ledger"
)

// Suffixes of the temporary directories of a backup. The checkpoint is next to the store, and the
// other directories are next to the backup.
const (
	suffixBackupNew  = ".new"         // the new backup, still incomplete; or the previous one, while it is removed
	suffixBackupOld  = ".old"         // the previous backup, complete, until the new one is in its place
	suffixBackupCopy = ".copy"        // a checkpoint beside the backup, if there is no space beside the store
	suffixCheckpoint = ".checkpoint-" // and a number: a checkpoint of the store, with hard links to its tables
)

// ErrNoBackup is returned by [Store.Backup] if the directory contains anything other than an
// earlier backup of the same store.
var ErrNoBackup = errors.New("the directory is not an earlier backup of this store")

// Backup implements [store.Backuper]. A backup is a store that can be opened read-only, together
// with a [Manifest] of its files. [Restore] converts a backup to a store.
//
// If dir contains an earlier backup, the new backup gets hard links to the tables that both backups
// contain. Backup copies all other tables and verifies the checksums of their blocks. The backup of
// a damaged store therefore never replaces a good backup. When the new backup is complete and on
// disk, it replaces the earlier backup. After a crash, at least one complete backup remains. Its
// name can then end in ".old". The next call of Backup restores the name, and removes incomplete
// directories with the suffixes ".new" and ".copy".
//
// Backup normally creates a checkpoint next to the store, which is a directory with hard links to
// the files of the database. If the file system of the store is full or read-only, Backup copies
// the files to a directory next to the backup instead.
//
// Only the owner can read a new backup. If it replaces a backup that a group can read, the group
// can also read the new backup.
func (s *Store) Backup(ctx context.Context, dir string, progress func(done, total uint64)) error {
	return s.backupBy(ctx, dir, func(e *engine, dir string) error { return s.replaceBackup(ctx, e, dir, progress) })
}

// BackupLinked makes a backup in the directory dir, which must not exist. It is like
// [Store.Backup], but keeps the earlier backup. The parameter earlier is the directory of an
// earlier backup in the same file system, or "". The new backup has hard links to the tables that
// both backups contain.
func (s *Store) BackupLinked(ctx context.Context, dir, earlier string, progress func(done, total uint64)) error {
	return s.backupBy(ctx, dir, func(e *engine, dir string) error { return s.addBackup(ctx, e, dir, earlier, progress) })
}

func (s *Store) backupBy(ctx context.Context, dir string, work func(e *engine, dir string) error) error {
	e, err := s.enter()
	if err != nil {
		return err
	}
	defer e.gate.Leave()
	dir = s.fs.PathJoin(dir)
	if err = cmp.Or(ctx.Err(), e.damage, e.failure(), s.mayBackUp(dir)); err == nil {
		err = work(e, dir)
	}
	damaged := (*CorruptError)(nil)
	switch {
	case pebble.IsCorruptionError(err), errors.As(err, &damaged):
		return fmt.Errorf("pebblestore: backup to %s: the store is damaged: %s; an earlier backup there is unchanged", dir, firstLine(err))
	case err != nil:
		return fmt.Errorf("pebblestore: backup to %s: %w", dir, err)
	}
	return nil
}

func (s *Store) addBackup(ctx context.Context, e *engine, dir, earlier string, progress func(done, total uint64)) error {
	if there, err := isThere(s.fs, dir); err != nil || there {
		return cmp.Or(err, fmt.Errorf("%s: %w", dir, fs.ErrExist))
	}
	if err := s.clearRests(dir); err != nil {
		return err
	}
	fresh := dir + suffixBackupNew
	if err := s.fill(ctx, e, fresh, dir, earlier, progress); err != nil {
		return errors.Join(err, s.fs.RemoveAll(fresh))
	}
	s.shareAs(s.fs.PathDir(dir), fresh)
	return move(s.fs, fresh, dir)
}

// clearRests removes the temporary directories of an unfinished backup to dir. If they contain
// other files, clearRests removes nothing and returns ErrNoBackup.
func (s *Store) clearRests(dir string) error {
	for _, suffix := range []string{suffixBackupNew, suffixBackupCopy} {
		if err := s.checkRemovable(dir + suffix); err != nil {
			return err
		}
	}
	return s.fs.RemoveAll(dir + suffixBackupNew)
}

func (s *Store) replaceBackup(ctx context.Context, e *engine, dir string, progress func(done, total uint64)) error {
	there, err := s.earlier(e, dir)
	if err == nil {
		err = s.clearRests(dir)
	}
	if err != nil {
		return err
	}
	fresh := dir + suffixBackupNew
	if err := s.fill(ctx, e, fresh, dir, dir, progress); err != nil {
		return errors.Join(err, s.fs.RemoveAll(fresh))
	}
	if !there {
		return move(s.fs, fresh, dir)
	}
	s.shareAs(dir, fresh)
	old := dir + suffixBackupOld
	for _, step := range [][2]string{{dir, old}, {fresh, dir}, {old, fresh}} {
		if err := move(s.fs, step[0], step[1]); err != nil {
			return err
		}
	}
	return s.fs.RemoveAll(fresh)
}

func (s *Store) mayBackUp(dir string) error {
	for _, suffix := range []string{"", suffixBackupNew, suffixBackupOld, suffixBackupCopy} {
		if s.isWithin(dir + suffix) {
			return fmt.Errorf("%s is inside the store: choose another directory", dir+suffix)
		}
	}
	if isCheckpoint(s.fs.PathBase(s.dir), s.fs.PathBase(dir)) {
		return errors.New("this name is reserved for temporary checkpoints of the store: choose another one")
	}
	return nil
}

// fill makes a complete backup in the directory fresh, which the caller will rename to dir. Files
// that have not changed since the earlier backup become hard links.
func (s *Store) fill(ctx context.Context, e *engine, fresh, dir, earlier string, progress func(done, total uint64)) (err error) {
	from := s.dir + suffixCheckpoint + strconv.FormatUint(s.backups.Add(1), 10)
	defer func() { _ = s.fs.RemoveAll(from) }() // the directory has only links, and a copy of the end of the log
	m := &Manifest{Made: s.now().UTC().Truncate(time.Second), Program: s.program}
	if !e.readOnly {
		err = s.checkpoint(e, from, m)
	}
	if e.readOnly || isUnwritable(err) && e.failure() == nil {
		// A backup is most needed when the disk of the store is full or read-only. In that case the
		// files are copied twice: to the directory from, and from there to the backup.
		_ = s.fs.RemoveAll(from)
		from = dir + suffixBackupCopy
		if err = s.checkpoint(e, from, m); err != nil {
			return errors.Join(err, s.fs.RemoveAll(from))
		}
	}
	if err == nil {
		err = errors.Join(s.fs.MkdirAll(fresh, durable.PrivateDir), beginManifest(s.fs, fresh))
	}
	if err == nil {
		err = s.take(ctx, from, fresh, earlier, m, progress)
	}
	if err == nil {
		err = writeManifest(s.fs, fresh, m)
	}
	return err
}

func (s *Store) checkpoint(e *engine, dir string, m *Manifest) error {
	if there, err := isThere(s.fs, dir); err != nil || there {
		if err = errors.Join(err, s.fs.RemoveAll(dir)); err != nil {
			return err
		}
	}
	// Checkpoint must not flush the write-ahead log. Acknowledged changes are already in its file,
	// and on a full disk a failed write to the log would end the program.
	copied := e.db.Checkpoint
	if e.readOnly { // Pebble cannot checkpoint a read-only database, but its files do not change
		copied = func(dir string, _ ...pebble.CheckpointOption) error { return s.copyEngine(e, dir) }
	}
	if err := errors.Join(copied(dir), e.failure()); err != nil {
		return err
	}
	return s.settleCheckpoint(dir, m)
}

// copyEngine copies the files of a read-only engine. If another engine replaces e during the copy,
// copyEngine returns an error.
func (s *Store) copyEngine(e *engine, dir string) error {
	files, err := s.fs.List(s.dir)
	if err == nil {
		err = s.fs.MkdirAll(dir, durable.PrivateDir)
	}
	for _, file := range files {
		if err == nil && isEngineFile(file) && file != lockFile && file != manifestFile {
			_, err = copyFile(s.fs, s.fs.PathJoin(s.dir, file), s.fs.PathJoin(dir, file))
		}
	}
	if s.engine.Load() != e {
		return errors.New("the store became writable during the backup: try again")
	}
	return err
}

// isWithin reports whether dir is the directory of the store or a directory below it, following
// symbolic links.
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

// checkRemovable returns an error that wraps [ErrNoBackup] if dir contains files that a backup
// cannot have left there. Only files of the storage engine may be removed. A missing directory is
// no error.
func (s *Store) checkRemovable(dir string) error {
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
			return fmt.Errorf("%s: %w: it contains %q; Backup needs this directory, so move it away or choose another name", dir, ErrNoBackup, file)
		}
	}
	return nil
}

func isCheckpoint(base, name string) bool {
	number, ok := strings.CutPrefix(name, base+suffixCheckpoint)
	if _, err := strconv.ParseUint(number, 10, 64); err != nil {
		return false
	}
	return ok
}

// clearCheckpoints removes the checkpoints that interrupted backups have left. The store must be
// open for writing, so that no other process can make a checkpoint.
func (s *Store) clearCheckpoints() error {
	parent := s.fs.PathDir(s.dir)
	names, err := s.fs.List(parent)
	if err != nil {
		return nil // the parent directory may be unreadable, which does not matter
	}
	for _, name := range names {
		if isCheckpoint(s.fs.PathBase(s.dir), name) {
			err = errors.Join(err, s.fs.RemoveAll(s.fs.PathJoin(parent, name)))
		}
	}
	return err
}

// earlier reports whether there is an earlier backup for dir. If a crash has left this backup under
// its temporary name, earlier renames it.
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
	case aside && there: // the crash came after dir was complete
		err = s.fs.RemoveAll(dir + suffixBackupNew)
		if err == nil {
			err = move(s.fs, old, dir+suffixBackupNew)
		}
	case aside:
		err = move(s.fs, old, dir)
	}
	return there || aside, err
}

// isMine returns ErrNoBackup unless dir contains a backup of this store. Such a backup has the same
// identity, and the log of s begins with the log of the backup.
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

func identity(db *pebble.DB) ([]byte, error) {
	value, closer, err := db.Get([]byte(metaID))
	if err != nil {
		return nil, unreadable(metaID, err)
	}
	defer closer.Close()
	return bytes.Clone(value), nil
}

// take copies the files of a checkpoint to a new directory and adds them to m. A file that has not
// changed since the earlier backup becomes a hard link.
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
	reading := tableOptions(s.fs)
	for _, file := range files {
		f, err := s.takeFile(ctx, file, from, to, earlier, reading)
		if err != nil {
			return err
		}
		if file != lockFile {
			m.Files = append(m.Files, f)
		}
		if done += uint64(f.Size); progress != nil {
			progress(done, max(done, total))
		}
	}
	return syncDir(s.fs, to)
}

// takeFile adds a file to a backup. If the earlier backup has the same file, takeFile makes a hard
// link to it. Otherwise it copies the file, and verifies the copy if it is a table. The parameter
// earlier can be "".
func (s *Store) takeFile(ctx context.Context, file, from, to, earlier string, reading sstable.ReaderOptions) (BackupFile, error) {
	if err := ctx.Err(); err != nil {
		return BackupFile{}, err
	}
	source, target := s.fs.PathJoin(from, file), s.fs.PathJoin(to, file)
	if kept := s.fs.PathJoin(earlier, file); earlier != "" {
		f, same, err := compareFiles(s.fs, source, kept)
		if f.Name = file; err != nil || same && s.fs.Link(kept, target) == nil {
			return f, err
		}
	}
	f, err := copyFile(s.fs, source, target)
	if err == nil && isTable(file) {
		err = checkTable(ctx, s.fs, target, reading)
	}
	f.Name = file
	return f, err
}

// settleCheckpoint moves the changes from the write-ahead log of a checkpoint to tables, and
// describes the checkpoint in m. A bit error in a table is always detected, but a bit error at the
// end of a log looks like an interrupted write.
func (s *Store) settleCheckpoint(dir string, m *Manifest) error {
	if err := s.roomFor(dir); err != nil {
		return err
	}
	o := Options{Dir: dir, FS: s.fs, CacheSize: minMemTableSize, Log: s.report}
	var lock dirLock
	db, err := openDatabase(o, &lock, nil, func(p *pebble.Options, _ *engineDisk) {
		p.DisableAutomaticCompactions = true // keep the tables as they are in the store
	})
	if err != nil {
		return errors.Join(err, lock.release())
	}
	log, err := logOf(db.DB)
	if err == nil {
		m.Head = log.Head()
		m.Format, m.Rules, err = versionsOf(db.DB)
	}
	if err := errors.Join(err, db.Flush(), db.closeAlone()); err != nil {
		return err
	}
	return writeMark(s.fs, s.fs.PathJoin(dir), m.Head)
}

// roomFor returns a [*FullError] if the disk does not have enough free space for settleCheckpoint.
func (s *Store) roomFor(dir string) error {
	const spare = 8 << 20 // for everything else that the engine writes
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
	if free, _ := freeSpace(s.fs, dir); free < wanted {
		return &FullError{Free: free, Wanted: wanted}
	}
	return nil
}

// shareAs sets the group permissions of a new backup to those of an earlier backup. This includes
// the files with hard links in both backups.
func (s *Store) shareAs(earlier, fresh string) {
	if vfs.Root(s.fs) != vfs.Default {
		return
	}
	info, err := os.Stat(earlier)
	if err != nil {
		return // the new backup stays private
	}
	mode := info.Mode().Perm()
	if mode&0o007 != 0 { // the earlier backup can be read by all users
		mode = durable.PrivateDir
	}
	files, err := s.fs.List(fresh)
	if err != nil {
		return // the new backup stays private
	}
	for _, file := range files {
		durable.Share(s.fs.PathJoin(fresh, file), info, durable.Private|mode&0o040)
	}
	durable.Share(fresh, info, mode)
}
