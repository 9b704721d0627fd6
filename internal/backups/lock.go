package backups

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/flock"
)

// lock creates the directory of a plan if necessary. It takes an advisory lock on the directory, so
// that no other server makes backups there.
func (k *Scheduler) lock(p *Plan) (unlock func(), err error) {
	s, _ := k.State()
	if s.last(p.To) == nil { // the first backup; later, a missing directory would mean a missing disk
		err := os.Mkdir(p.To, durable.PrivateDir)
		switch user := durable.CurrentUser(); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("cannot create %s: the directory above it, %s, does not exist; make both with 'mkdir -p %s && chown %s %s', then reload the configuration to try again at once", p.To, filepath.Dir(p.To), p.To, user, p.To)
		case err != nil && !errors.Is(err, fs.ErrExist):
			return nil, durable.Unwritable(p.To, err)
		}
	}
	_, err = os.Stat(p.To)
	mount := isMount(p.To)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is missing, although it has earlier backups: is its disk mounted?", p.To)
	case err != nil:
		return nil, durable.Unwritable(filepath.Join(p.To, "x"), err)
	case s.Mount && s.To == p.To && !mount:
		return nil, fmt.Errorf("nothing is mounted at %s, where earlier backups are: mount the disk; if the backups are meant to be on this disk now, choose another directory", p.To)
	}
	lock, err := lockDir(p.To)
	if err != nil {
		return nil, err
	}
	k.update(func(s *State) { s.Mount = mount })
	return func() { _ = lock.Close() }, nil
}

// lockFile is a file that is locked if the directory itself cannot be locked, as on NFS.
const lockFile = ".nomen-backup.lock"

func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, durable.Unwritable(filepath.Join(dir, lockFile), err)
	}
	if err = flock.Try(f); err != nil && !errors.Is(err, flock.ErrLocked) {
		_ = f.Close()
		if f, err = os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, durable.Private); err != nil {
			return nil, durable.Unwritable(filepath.Join(dir, lockFile), err)
		}
		err = flock.Try(f)
	}
	if errors.Is(err, flock.ErrLocked) {
		err = fmt.Errorf("%s: another server is making a backup there", dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
