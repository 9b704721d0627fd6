package bulk

import (
	"context"
	"errors"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Pins returns the revisions that names had before an import. The import rejects a record if
// another user has changed its name since then. For a record with a revision in the file, the
// import uses the revision in the file instead.
type Pins interface {
	// Next returns the revision that the name of the next valid record must have. The result is 0
	// if the name must not exist, and [store.AnyRevision] if any revision is accepted. The import
	// calls Next once for each valid record, in order.
	Next() (uint64, error)

	// Own reports whether the import with the given ID has made all changes of a name since a
	// revision. This happens if the file contains the name more than once.
	Own(ctx context.Context, n name.Name, after uint64, id string) (bool, error)
}

// maxOwn limits the number of retries after a record conflicts with an earlier record of the same
// file.
const maxOwn = 3

// pin sets the expected revision of a request to the revision that the name had before the import.
// It returns false if it has not changed the request.
func (o *ImportOptions) pin(req *registrar.Request) (bool, error) {
	if o.Pins == nil {
		return false, nil
	}
	revision, err := o.Pins.Next()
	if err != nil || revision == store.AnyRevision || req.Record.Revision != 0 {
		return false, err
	}
	req.Expected, req.OrCreate = revision, revision == 0
	return true, nil
}

// resolveOwn retries records that conflict with earlier records of the same file.
func (i *importer) resolveOwn(ctx context.Context, b *batch, outs []registrar.Outcome) error {
	if i.options.Pins == nil || i.options.DryRun {
		return nil
	}
	for k := range outs {
		if !b.pinned[k] {
			continue
		}
		for range maxOwn {
			again, err := i.applyAgain(ctx, &b.reqs[k], &outs[k])
			if err != nil {
				return err
			}
			if !again {
				break
			}
		}
	}
	return nil
}

// applyAgain retries a record that conflicts with an earlier record of this import. It returns
// false if there was no such conflict.
func (i *importer) applyAgain(ctx context.Context, req *registrar.Request, out *registrar.Outcome) (bool, error) {
	var conflict *store.ConflictError
	if !errors.As(out.Err, &conflict) {
		return false, nil
	}
	own, err := i.options.Pins.Own(ctx, out.Name, req.Expected, i.id)
	if err != nil || !own {
		return false, err
	}
	next := *req
	next.Expected, next.OrCreate = conflict.Current, conflict.Current == 0
	checked, err := i.load.Check(ctx, []registrar.Request{next})
	if err != nil {
		return false, err
	}
	outs, err := i.load.Write(ctx, checked)
	if err == nil {
		*out, req.Expected = outs[0], next.Expected
	}
	return true, err
}
