package pebblestore

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// RemoveBackup deletes a backup and its directory. If the directory has other files or no manifest,
// RemoveBackup deletes nothing and returns [ErrNoBackup]. If RemoveBackup is interrupted,
// [RemoveUnfinished] deletes the rest.
func RemoveBackup(dir string) error {
	s := &Store{fs: vfs.Default}
	err := s.isRest(dir)
	if err == nil {
		_, err = ReadManifest(dir)
	}
	if err == nil {
		err = s.isRest(dir + suffixBackupNew)
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

// RemoveUnfinished deletes what is left beside dir after a backup to dir, or a call of
// RemoveBackup, was interrupted. If there are other files, it returns [ErrNoBackup].
func RemoveUnfinished(dir string) error {
	s := &Store{fs: vfs.Default}
	var errs []error
	for _, suffix := range []string{suffixBackupNew, suffixBackupCopy} {
		err := s.isRest(dir + suffix)
		if err == nil {
			err = s.fs.RemoveAll(dir + suffix)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
