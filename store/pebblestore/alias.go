package pebblestore

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/store"
)

const aliasBatch = 4 << 20

// indexAliases rebuilds the aliases in the index of locations. It is for new versions of the rules
// of names, in which aliases can have other keys. indexAliases can be repeated after an
// interruption. The caller must sync the database. A million records take about a second.
func indexAliases(db *pebble.DB) (err error) {
	batch := db.NewBatch()
	defer func() { err = errors.Join(err, batch.Close()) }()
	from, to := store.AliasSpan()
	if err := batch.DeleteRange(appendEscaped([]byte{spaceLocation}, from), appendEscaped([]byte{spaceLocation}, to), nil); err != nil {
		return err
	}
	err = viewing(db, func(v *view) error {
		v.it.SetBounds([]byte{spaceName}, []byte{spaceName + 1})
		for ok := v.it.First(); ok; ok = v.it.Next() {
			c, err := v.change(store.Subject{Kind: store.KindName, Key: string(v.it.Key()[1:])})
			if err == nil {
				err = addAliases(batch, c.Record)
			}
			if err == nil && batch.Len() > aliasBatch {
				err = db.Apply(batch, pebble.NoSync)
				batch.Reset()
			}
			if err != nil {
				return err
			}
		}
		return v.failure("")
	})
	if err != nil {
		return err
	}
	return db.Apply(batch, pebble.NoSync)
}

func addAliases(batch *pebble.Batch, r *store.Record) error {
	if r == nil {
		return nil
	}
	for _, url := range r.AppendAliases(nil) {
		if err := batch.Set(appendPlace(nil, store.Place{URL: url, Name: r.Name}), nil, nil); err != nil {
			return err
		}
	}
	return nil
}
