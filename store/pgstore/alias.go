package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

// aliasMark is in the text of the migration that adds the aliases of records to the index
// of locations.
const aliasMark = "{aliases}"

const (
	aliasPage = "select key, value from nomen_present where kind = $1 and key > $2 order by key limit 5000"
	addPlaces = `insert into nomen_place (head, mark, key, rest)
	select * from unnest($1::bytea[], $2::bytea[], $3::text[], $4::bytea[]) on conflict do nothing`
)

// addAliases adds the aliases of all records to the index, in the transaction of the
// migration.
func addAliases(ctx context.Context, tx pgx.Tx) error {
	last := ""
	for {
		rows, err := tx.Query(ctx, aliasPage, store.KindName, last)
		if err != nil {
			return err
		}
		var all []place
		var key string
		var value []byte
		n := 0
		_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
			n++
			c, err := codec.Decode(store.Subject{Kind: store.KindName, Key: key}, value)
			if err != nil || c.Record == nil {
				return err
			}
			for _, url := range c.Record.AppendAliases(nil) {
				all = append(all, makePlace(url, key))
			}
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
		heads, marks, keys, rests := placeColumns(all)
		if _, err := tx.Exec(ctx, addPlaces, heads, marks, keys, rests); len(all) > 0 && err != nil {
			return err
		}
		last = key
	}
}
