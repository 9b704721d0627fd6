package pebblestore

import (
	"cmp"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// A database is Pebble in a directory. It is not notified of failures of the disk: its user
// checks the disk before it relies on what was written.
type database struct {
	*pebble.DB
	disk *engineDisk
}

// openDatabase opens the database in the directory of o. Nothing else calls pebble.Open.
// The caller releases the lock. onDown, unless nil, is called once when the disk is down;
// adjust, unless nil, may change the options.
func openDatabase(o Options, lock *dirLock, onDown func(error), adjust func(*pebble.Options, *engineDisk)) (*database, error) {
	d := newEngineDisk(o.FS, o.Dir, lock, onDown)
	if o.hangAfter > 0 {
		d.limit = o.hangAfter
	}
	o.FS = d
	p := engineOptions(o)
	told := p.Logger.(*logger)
	p.EventListener.BackgroundError = func(err error) {
		if d.err() == nil && !d.isEnding() { // else it is known
			told.Errorf("background error: %v", firstLine(err))
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

// Close closes the database. Compactions give up. If the disk has failed that is the
// error, and nothing that was written may be there.
func (d *database) Close() error {
	close(d.disk.ending)
	err := d.DB.Close()
	return cmp.Or(d.disk.err(), err)
}

// closeAlone closes a database and releases its lock.
func (d *database) closeAlone() error { return errors.Join(d.Close(), d.disk.lock.release()) }
