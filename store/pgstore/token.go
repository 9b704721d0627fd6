package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

const (
	tokenOne  = "select value from nomen_token where id = $1"
	tokenPage = "select id, value from nomen_token where id > $1 order by id limit $2"
)

// token returns the last change of a token. It prefers the primary, because a token that
// was revoked there may still be valid on a replica.
func (s *Store) token(ctx context.Context, id string) (*store.Change, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	var value []byte
	err := s.cluster.read(ctx, short, true, func(ctx context.Context, c *pgx.Conn, _ role) error {
		err := c.QueryRow(ctx, tokenOne, []byte(id)).Scan(&value)
		if errors.Is(err, pgx.ErrNoRows) {
			value, err = nil, nil
		}
		return err
	})
	switch {
	case err != nil:
		return nil, failed("read", err)
	case value == nil:
		return nil, store.ErrNotFound
	}
	return decodeToken([]byte(id), value)
}

func decodeToken(id, value []byte) (*store.Change, error) {
	return codec.Decode(store.Subject{Kind: store.KindToken, Key: string(id)}, value)
}

// tokens calls yield with the last changes of all tokens, in the order of their IDs, until
// it returns false.
func (s *Store) tokens(ctx context.Context, yield func(*store.Change) bool) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.snapshot(ctx, true, func(ctx context.Context, tx pgx.Tx, begun *bool) error {
		for last := []byte{}; ; {
			page, ids, err := readTokens(ctx, tx, last)
			if err != nil || len(page) == 0 {
				return err
			}
			last = ids[len(ids)-1]
			for _, t := range page {
				*begun = true
				if err := ctx.Err(); err != nil || !yield(t) {
					return err
				}
			}
		}
	})
}

func readTokens(ctx context.Context, c queryer, after []byte) (page []*store.Change, ids [][]byte, err error) {
	rows, err := c.Query(ctx, tokenPage, after, firstPage)
	if err != nil {
		return nil, nil, err
	}
	var id, value []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &value}, func() error {
		t, err := decodeToken(id, value)
		page, ids = append(page, t), append(ids, id)
		id, value = nil, nil
		return err
	})
	return page, ids, err
}
