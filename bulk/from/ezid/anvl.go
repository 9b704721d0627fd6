package ezid

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/anvl"
	"github.com/nomen-project/nomen/internal/ezid"
)

// blockMark begins the first line of a block, which contains an identifier. The elements of the
// identifier are in the following lines.
const blockMark = ":: "

func readANVL(ctx context.Context, in *from.Input, out *from.Output) error {
	im, b := newImporter(in, out), &bounded{Reader: in}
	b.reset()
	r := bufio.NewReader(b)
	var block *entry
	var text strings.Builder
	for line := 1; ctx.Err() == nil; line++ {
		s, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if id, ok := strings.CutPrefix(s, blockMark); ok || err == io.EOF && s == "" {
			if err := im.addBlock(block, text.String()); err != nil {
				return err
			}
			if !ok {
				return nil
			}
			block = &entry{line: line, start: 1, id: strings.TrimSpace(id)}
			text.Reset()
			b.reset()
			continue
		}
		if block == nil {
			if strings.TrimSpace(s) != "" {
				out.RefuseAt(line, 1, strings.TrimSpace(s), "before the first identifier: a block begins with \":: \" and an identifier")
			}
			continue
		}
		if text.Len()+len(s) > maxEntry {
			return errTooLong
		}
		text.WriteString(s)
	}
	return ctx.Err()
}

func (im *importer) addBlock(e *entry, text string) error {
	if e == nil {
		return nil
	}
	all, err := anvl.Parse(text)
	var bad *anvl.Error
	if errors.As(err, &bad) {
		im.out.RefuseAt(e.line+bad.Line, bad.Column, e.id, string(bad.Reason))
		return nil
	}
	e.place = func(label string) (line, column int) {
		if label == ezid.IDColumn {
			return e.line, len(blockMark) + 1
		}
		return lineOf(text, label, e.line), 1
	}
	e.elements = ezid.Elements{}
	for _, el := range all {
		if el.Value != "" {
			e.elements[el.Label] = el.Value
		}
	}
	return im.add(e)
}

// lineOf returns the line number of the element with a label in a block, or 0. The parameter number
// is the number of the line before the text.
func lineOf(text, label string, number int) int {
	for line := range strings.Lines(text) {
		number++
		if all, err := anvl.Parse(strings.TrimRight(line, "\r\n")); err == nil && len(all) == 1 && all[0].Label == label {
			return number
		}
	}
	return 0
}
