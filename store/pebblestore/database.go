package pebblestore

import (
	"cmp"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// A database is a Pebble database in a directory. Write failures are hidden from Pebble (see
// [engineDisk]), so a caller must check disk.err before it relies on a write.
type database struct {
	*pebble.DB
	disk *engineDisk
}

// openDatabase opens the database in the directory of o. If the manifest is damaged, openDatabase
// returns an error and changes nothing. The function onDown, if not nil, is called once when the
// disk fails. The function adjust, if not nil, may modify the options. The caller must release the
// lock.
func openDatabase(o Options, lock *dirLock, onDown func(error), adjust func(*pebble.Options, *engineDisk)) (*database, error) {
	return openWith(o, lock, onDown, func(p *pebble.Options, d *engineDisk) {
		d.locked = func() error {
			torn, err := checkManifest(o.FS, o.Dir)
			if torn {
				err = checkTorn(o, lock)
			}
			return err
		}
		if adjust != nil {
			adjust(p, d)
		}
	})
}

// openWith opens a database without checking its manifest. All databases are opened by openWith.
func openWith(o Options, lock *dirLock, onDown func(error), adjust func(*pebble.Options, *engineDisk)) (*database, error) {
	d := newEngineDisk(o.FS, o.Dir, lock, onDown)
	d.pacer = o.Pacer
	if o.hangAfter > 0 {
		d.limit = o.hangAfter
	}
	o.FS = d
	p := engineOptions(o)
	log := p.Logger.(*logger)
	p.EventListener.BackgroundError = func(err error) {
		if d.err() == nil && !d.isEnding() { // otherwise the failure was reported already
			log.Errorf("background error: %v", firstLine(err))
		}
	}
	if adjust != nil {
		adjust(p, d)
	}
	db, err := pebble.Open(o.Dir, p)
	if err != nil {
		close(d.ending)
		return nil, cmp.Or(d.err(), err)
	}
	d.opened()
	return &database{DB: db, disk: d}, nil
}

// Close aborts compactions and closes the database. If the disk has failed, so that writes may be
// lost, Close returns the failure.
func (d *database) Close() error {
	close(d.disk.ending)
	err := d.DB.Close()
	return cmp.Or(d.disk.err(), err)
}

func (d *database) closeAlone() error { return errors.Join(d.Close(), d.disk.lock.release()) }
