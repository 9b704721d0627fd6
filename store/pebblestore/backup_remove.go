package pebblestore

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// RemoveBackup deletes a backup and its directory. If the directory contains other files or no
// manifest, RemoveBackup deletes nothing and returns [ErrNoBackup]. After an interruption,
// [RemoveUnfinished] deletes the remaining files.
func RemoveBackup(dir string) error {
	s := &Store{fs: vfs.Default}
	err := s.checkRemovable(dir)
	if err == nil {
		_, err = ReadManifest(dir)
	}
	if err == nil {
		err = s.checkRemovable(dir + suffixBackupNew)
	}
	if err != nil {
		return err
	}
	if err := s.fs.RemoveAll(dir + suffixBackupNew); err != nil {
		return err
	}
	if err := move(s.fs, dir, dir+suffixBackupNew); err != nil {
		return err
	}
	return s.fs.RemoveAll(dir + suffixBackupNew)
}

// RemoveUnfinished deletes the directories next to dir that an interrupted backup or an interrupted
// call of [RemoveBackup] has left. If they contain other files, RemoveUnfinished returns
// [ErrNoBackup].
func RemoveUnfinished(dir string) error {
	s := &Store{fs: vfs.Default}
	var errs []error
	for _, suffix := range []string{suffixBackupNew, suffixBackupCopy} {
		err := s.checkRemovable(dir + suffix)
		if err == nil {
			err = s.fs.RemoveAll(dir + suffix)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
