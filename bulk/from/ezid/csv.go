package ezid

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/ezid"
)

func readCSV(ctx context.Context, in *from.Input, out *from.Output) error {
	im, b := newImporter(in, out), &bounded{Reader: in}
	b.reset()
	r := csv.NewReader(b)
	r.FieldsPerRecord = -1 // checked here, to report the row
	header, err := r.Read()
	if err != nil {
		return csvError("header", err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	id := slices.Index(header, ezid.IDColumn)
	if id < 0 {
		return fmt.Errorf("line 1: column %q not found: request the download with this column", ezid.IDColumn)
	}
	for ctx.Err() == nil {
		b.reset()
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		line := 0
		if len(row) > 0 {
			line, _ = r.FieldPos(0)
		}
		switch {
		case err != nil:
			return csvError("row", err)
		case len(row) != len(header):
			_, column := r.FieldPos(min(len(row), len(header)) - 1)
			out.RefuseAt(line, column, strings.Join(row, ","), fmt.Sprintf("the row has %d columns, and the header %d", len(row), len(header)))
			continue
		}
		e := &entry{line: line, start: 1, id: row[id], elements: ezid.Elements{}}
		e.place = func(label string) (line, column int) { return r.FieldPos(max(slices.Index(header, label), 0)) }
		for i, value := range row {
			if i != id && value != "" {
				e.elements[header[i]] = value
			}
		}
		if err := im.add(e); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func csvError(what string, err error) error {
	if err == io.EOF {
		return errors.New("line 1: the file is empty")
	}
	return fmt.Errorf("%s: %w", what, err)
}
