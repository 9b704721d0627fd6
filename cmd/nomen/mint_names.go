package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

var _ reserve.Backend = mintBackend{}

// A mintStore is the part of a backend that minting needs.
type mintStore interface {
	Authorities(ctx context.Context) ([]*store.Authority, error)
	GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error)
	Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error)
	Export(ctx context.Context, w io.Writer, o bulk.ExportOptions) (bulk.Summary, error)
}

// A mintBackend is a mintStore that can list names.
type mintBackend struct{ mintStore }

// Keys implements [reserve.Backend], with one record in memory at a time.
func (m mintBackend) Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r, w := io.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err := m.Export(ctx, w, bulk.ExportOptions{Compression: bulk.Plain, Prefix: prefix})
			w.CloseWithError(err)
		}()
		defer func() {
			cancel()
			_ = r.Close()
			<-ended
		}()
		for in := json.NewDecoder(r); ; {
			var rec struct{ Name string }
			err := in.Decode(&rec)
			if errors.Is(err, io.EOF) {
				return
			}
			n, bad := name.Parse(rec.Name)
			if err == nil && bad != nil {
				continue // valid only by older rules: no new name can equal it
			}
			if !yield(n, err) || err != nil {
				return
			}
		}
	}
}

// An emptyBackend stands for a store that does not exist yet, for a dry run.
type emptyBackend struct{ mintStore }

func (emptyBackend) GetAt(context.Context, name.Name, time.Time) (*store.Record, error) {
	return nil, store.ErrNotFound
}

func (emptyBackend) Authorities(context.Context) ([]*store.Authority, error) { return nil, nil }

func (emptyBackend) Export(context.Context, io.Writer, bulk.ExportOptions) (bulk.Summary, error) {
	return bulk.Summary{}, nil
}
