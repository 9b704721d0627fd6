package pebblestore

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// aliasBatch is the number of bytes of the index written in one batch.
const aliasBatch = 4 << 20

// indexAliases writes the aliases in the index of locations again, by the rules of names of
// this program. If it is interrupted, the next call starts from the beginning. The caller must
// sync the database. It takes about a second for a million records.
func indexAliases(db *pebble.DB) (err error) {
	v, err := newView(db)
	if err != nil {
		return err
	}
	defer v.close()
	batch := db.NewBatch()
	defer func() { err = errors.Join(err, batch.Close()) }()
	from, to := store.AliasSpan()
	if err := batch.DeleteRange(appendEscaped([]byte{spaceLocation}, from), appendEscaped([]byte{spaceLocation}, to), nil); err != nil {
		return err
	}
	var key []byte
	v.it.SetBounds([]byte{spaceName}, []byte{spaceName + 1})
	for ok := v.it.First(); ok; ok = v.it.Next() {
		subject := store.Subject{Kind: store.KindName, Key: string(bytes.Clone(v.it.Key()[1:]))}
		c, err := v.change(subject)
		if err != nil {
			return err
		}
		if c.Record == nil {
			continue
		}
		for _, url := range c.Record.AppendAliases(nil) {
			key = appendPlace(key[:0], store.Place{URL: url, Name: name.FromKey(subject.Key)})
			if err := batch.Set(key, nil, nil); err != nil {
				return err
			}
		}
		if batch.Len() > aliasBatch {
			if err := db.Apply(batch, pebble.NoSync); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	if err := v.failure(""); err != nil {
		return err
	}
	return db.Apply(batch, pebble.NoSync)
}
