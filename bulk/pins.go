package bulk

import (
	"context"
	"errors"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Pins are the revisions of names before an import. With them, the import does not overwrite
// changes that others make in the meantime. A record with a revision in the file needs no pin.
type Pins interface {
	// Next returns the revision that the name of the next valid record must have: 0 if the name
	// must not exist, and [store.AnyRevision] if any is accepted. The import calls Next once for
	// each valid record, in order.
	Next() (uint64, error)

	// Own reports whether the import with this ID has made all changes of a name after a revision,
	// as it does if the file contains the name twice.
	Own(ctx context.Context, n name.Name, after uint64, id string) (bool, error)
}

// maxOwn bounds how often a record is tried again after conflicts with earlier records of its file.
const maxOwn = 3

// pin makes a request expect the revision that its name had before the import. It reports whether
// it did.
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

// resolveOwn applies the records again whose conflicts are with earlier records of the same file.
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

// applyAgain applies a record again if the conflict was with an earlier record of this import. It
// reports whether it did.
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
