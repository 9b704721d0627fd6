package handle

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/bulk/from/sqldump"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// These tables of the SQL storage are read.
const (
	tableHandles  = "handles" // a row for each value
	tablePrefixes = "nas"     // a row for each prefix of the server
)

// rows converts the rows of a dump. Each row counts as a directive.
type rows struct {
	*window
	seed maphash.Seed
	seen map[uint64]struct{} // hashes of the handles that have left the window
}

func readSQL(ctx context.Context, in *from.Input, out *from.Output) error {
	r := &rows{window: newWindow(ctx, in, out), seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	r.written = func(n name.Name) { r.seen[r.hash(n)] = struct{}{} }
	dump := sqldump.NewReader(in, func(table string) bool { return ascii.IsOneOf(table, tableHandles, tablePrefixes) })
	found := false
	for ctx.Err() == nil {
		row, err := dump.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return fmt.Errorf("no rows of the table %s found", tableHandles)
		case errors.Is(err, io.EOF):
			return r.flush()
		case err != nil:
			return errors.Join(err, r.flush())
		case ascii.EqualFold(row.Table, tablePrefixes):
			out.RefuseAt(row.Line, row.Column, string(row.Cell("na").Bytes()), "a prefix of the server: register an authority for it")
			continue
		}
		found = true
		if err := r.row(row); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (r *rows) row(row *sqldump.Row) error {
	handle := string(row.Cell("handle").Bytes())
	empty, err := r.empty(handle)
	if err != nil {
		r.out.RefuseAt(row.Line, row.Column, handle, err.Error())
		return nil
	}
	s, err := r.stateOf(row.Line, empty)
	if err != nil {
		return err
	}
	if s.exists = true; s.column == 0 {
		s.column = row.Column
	}
	text := handle + " " + row.Cell("idx").Text
	v, err := valueOf(row)
	if err == nil {
		err = r.put(s, v, s.stored)
	}
	switch {
	case err != nil:
		r.out.RefuseAt(row.Line, row.Column, text, err.Error())
	default:
		r.out.Handled(1)
	}
	return nil
}

// stateOf returns the state of a handle. If earlier rows of the handle have already been written to
// the output, stateOf reads the state from the store.
func (r *rows) stateOf(line int, empty *store.Record) (*state, error) {
	if _, ok := r.seen[r.hash(empty.Name)]; ok {
		return r.get(line, empty)
	}
	return r.fresh(line, empty)
}

func (r *rows) hash(n name.Name) uint64 { return maphash.String(r.seed, n.Key()) }

func valueOf(row *sqldump.Row) (v nomen.Value, err error) {
	if v.Type = string(row.Cell("type").Bytes()); isSecret(v.Type) {
		return v, errors.New(secretReason)
	}
	index, err := strconv.ParseInt(row.Cell("idx").Text, 10, 32)
	if err != nil || index < 1 || v.Type == "" || !utf8.ValidString(v.Type) {
		return v, errors.New("the row has no valid idx and type")
	}
	v.Index = int(index)
	if v.TTL, err = ttlOf(row.Cell("ttl_type").Text, row.Cell("ttl").Text); err != nil {
		return v, err
	}
	if v.Permissions, err = permissionsOf(row); err != nil {
		return v, err
	}
	if seconds, err := strconv.ParseInt(row.Cell("timestamp").Text, 10, 64); err == nil && seconds > 0 && seconds < 1<<36 {
		v.Timestamp = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	}
	list, ok := hdl.DecodeReferences(string(row.Cell("refs").Bytes()))
	if !ok {
		return v, fmt.Errorf("invalid refs %.80q: want INDEX:HANDLE, with %%0009 between several", row.Cell("refs").Bytes())
	}
	v.References = hdl.ReferencesText(list)
	v.Format, v.Data = hdl.DecodeData(v.Type, row.Cell("data").Bytes())
	return v, nil
}

func ttlOf(kind, text string) (nomen.TTL, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil || n < 0:
		return "", fmt.Errorf("invalid ttl %.20q", text)
	case kind == "1":
		return nomen.TTL(time.Unix(n, 0).UTC().Format(time.RFC3339)), nil
	}
	return nomen.Seconds(int(n)), nil
}

func permissionsOf(row *sqldump.Row) (string, error) {
	var digits []byte
	for _, column := range []string{"admin_read", "admin_write", "pub_read", "pub_write"} {
		switch c := row.Cell(column).Text; {
		case ascii.IsOneOf(c, "1", "t", "true", "y", "\x01"):
			digits = append(digits, '1')
		case ascii.IsOneOf(c, "0", "f", "false", "n", "\x00"):
			digits = append(digits, '0')
		default:
			return "", fmt.Errorf("invalid %s %.20q: must be 0 or 1", column, c)
		}
	}
	permissions, _ := hdl.Permissions(string(digits))
	return permissions, nil
}
