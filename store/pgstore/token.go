package pgstore

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

const (
	tokenOne  = "select value from nomen_token where id = $1"
	tokenPage = "select id, value from nomen_token where id > $1 order by id limit $2"
)

// token returns the last change of a token. It prefers the primary, because a replica may not have
// the revocation of a token yet.
func (s *Store) token(ctx context.Context, id string) (*store.Change, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	value, err := s.value(ctx, true, tokenOne, []byte(id))
	switch {
	case err != nil:
		return nil, failed("read", err)
	case value == nil:
		return nil, store.ErrNotFound
	}
	return (&tokenRow{[]byte(id), value}).decode()
}

type tokenRow struct{ id, value []byte }

func (r *tokenRow) subject() store.Subject {
	return store.Subject{Kind: store.KindToken, Key: string(r.id)}
}

func (r *tokenRow) decode() (*store.Change, error) { return codec.Decode(r.subject(), r.value) }

// tokens calls yield with the last changes of all tokens, in the order of their IDs, until yield
// returns false.
func (s *Store) tokens(ctx context.Context, yield func(*store.Change) bool) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.snapshot(ctx, true, func(ctx context.Context, tx pgx.Tx, begun *bool) error {
		for last := []byte{}; ; {
			page, err := readTokens(ctx, tx, last)
			if err != nil || len(page) == 0 {
				return err
			}
			last = page[len(page)-1].id
			for _, row := range page {
				*begun = true
				t, err := row.decode()
				if err = cmp.Or(err, ctx.Err()); err != nil || !yield(t) {
					return err
				}
			}
		}
	})
}

// readTokens reads the page of tokens that follows an ID.
func readTokens(ctx context.Context, c queryer, after []byte) ([]tokenRow, error) {
	return collect(ctx, c, func(r pgx.CollectableRow) (row tokenRow, err error) {
		err = r.Scan(&row.id, &row.value)
		return row, err
	}, tokenPage, after, firstPage)
}
