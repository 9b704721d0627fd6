package handle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/store"
)

// Formats returns the formats of files with handles.
func Formats() []from.Format {
	return []from.Format{
		{Name: "handle-batch", What: "batch files of Handle.Net servers", Convert: readBatch, Complete: true},
		{Name: "handle-json", What: "responses of the JSON API of Handle.Net servers", Convert: readJSON, Complete: true},
		{Name: "handle-sql", What: "dumps of the SQL storage of Handle.Net servers", Convert: readSQL, Complete: true},
	}
}

// A batch reads a batch file. Each line that is not blank counts as a directive.
type batch struct {
	*window
	line    int
	op      string // operation whose lines are being read; "" after a blank line
	current *state // handle of the operation; nil if its lines are skipped
	why     string // reason why lines are skipped

	open     string // a line with a value whose data are on the next line, or ""
	openLine int
}

func readBatch(ctx context.Context, in *from.Input, out *from.Output) error {
	b := &batch{window: newWindow(ctx, in, out)}
	err := eachLine(in, func(line int, text string, tooLong bool) error {
		b.line = line
		if tooLong {
			out.RefuseAt(line, 1, "", fmt.Sprintf("the line is longer than %d bytes", maxLine))
			return nil
		}
		return errors.Join(b.read(text), ctx.Err())
	})
	b.refuseOpen()
	return errors.Join(err, b.flush())
}

// The lines of these operations are skipped.
const (
	authenticate = "AUTHENTICATE" // its next line has a secret
	session      = "SESSIONSETUP"
)

// maxLine is the maximum length of a line, in bytes.
const maxLine = 4 << 20

// eachLine calls f with each line of a file. If a line is longer than maxLine, tooLong is true and
// text is "".
func eachLine(r io.Reader, f func(line int, text string, tooLong bool) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for line := 1; ; line++ {
		long = long[:0]
		size := 0
		part, err := in.ReadSlice('\n')
		for size = len(part); errors.Is(err, bufio.ErrBufferFull); size += len(part) {
			if size <= maxLine {
				long = append(long, part...)
			}
			part, err = in.ReadSlice('\n')
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case size == 0:
			return nil
		case size > maxLine:
			part = nil
		case len(long) > 0:
			part = append(long, part...)
		}
		if err := f(line, strings.TrimRight(string(part), "\r\n"), size > maxLine); err != nil {
			return err
		}
	}
}

func (b *batch) read(text string) error {
	if b.line == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	if b.op == authenticate { // a line with a secret may look like anything
		b.op = session
		return nil
	}
	if strings.TrimSpace(text) == "" {
		b.refuseOpen()
		b.op, b.current, b.why = "", nil, ""
		return nil
	}
	word, argument, _ := strings.Cut(strings.TrimSpace(text), " ")
	word = strings.ToUpper(word)
	if slices.Contains([]string{"CREATE", "DELETE", "ADD", "REMOVE", "MODIFY", "HOME", "UNHOME", authenticate, session}, word) {
		b.refuseOpen()
		return b.operation(word, strings.TrimSpace(argument))
	}
	return b.valueLine(text)
}

func (b *batch) operation(word, argument string) error {
	b.op, b.current, b.why = word, nil, "the operation was not imported"
	switch word {
	case authenticate:
		b.out.RefuseAt(b.line, 1, word, "not imported: give clients tokens of nomen")
		return nil
	case "HOME", "UNHOME", session:
		b.why = ""
		b.out.RefuseAt(b.line, 1, word, "not imported: it is about the Handle server, not about handles")
		return nil
	}
	indexes := ""
	if word == "REMOVE" {
		var ok bool
		if indexes, argument, ok = strings.Cut(argument, ":"); !ok {
			b.refuse(word+" "+indexes, "want REMOVE INDEXES:HANDLE, such as REMOVE 5,6:20.500.9999/abc")
			return nil
		}
	}
	return b.start(word, argument, indexes)
}

func (b *batch) refuse(text, reason string) { b.out.RefuseAt(b.line, 1, text, reason) }

func (b *batch) start(word, handle, indexes string) error {
	empty, err := b.empty(handle)
	if err != nil {
		b.refuse(word+" "+handle, err.Error())
		return nil
	}
	if word == "CREATE" {
		return b.create(handle, empty)
	}
	s, err := b.get(b.line, empty)
	switch {
	case err != nil:
		return err
	case !s.exists && (word != "DELETE" || s.record.Status != nomen.Retired && !s.gone):
		b.refuse(word+" "+handle, "the handle does not exist, or was deleted")
		return nil
	case word == "DELETE":
		s.gone, s.exists, s.values = s.exists || s.gone, false, nil
		b.why = "DELETE has no values"
	case word == "REMOVE":
		return b.remove(s, indexes)
	default:
		b.current = s
	}
	b.out.Handled(1)
	return nil
}

func (b *batch) create(handle string, empty *store.Record) error {
	s, err := b.fresh(b.line, empty)
	switch {
	case err != nil:
		return err
	case s.exists:
		b.refuse("CREATE "+handle, fmt.Sprintf("the handle exists since line %d", s.line))
		return nil
	}
	s.exists, s.gone, s.values = true, false, nil
	b.current = s
	b.out.Handled(1)
	return nil
}

// remove deletes the values with the given indexes from a handle. It ignores indexes for which the
// handle has no value.
func (b *batch) remove(s *state, indexes string) error {
	b.why = "REMOVE has no values"
	var all []int
	for text := range strings.SplitSeq(indexes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			b.refuse("REMOVE "+indexes, fmt.Sprintf("invalid index %.20q", text))
			return nil
		}
		all = append(all, n)
	}
	s.values = slices.DeleteFunc(s.values, func(v nomen.Value) bool { return slices.Contains(all, v.Index) })
	b.out.Handled(1)
	return nil
}

func (b *batch) valueLine(text string) error {
	switch {
	case b.op == "HOME" || b.op == "UNHOME" || b.op == session:
		return nil
	case b.current == nil && b.why != "":
		b.refuse(firstWords(text), b.why)
		return nil
	case b.current == nil:
		b.refuse(firstWords(text), "unknown operation: want CREATE, DELETE, ADD, REMOVE or MODIFY")
		return nil
	}
	before := b.open
	if b.open = ""; before != "" {
		before += " "
		text = before + strings.TrimSpace(text)
	}
	v, open, err := hdl.ParseLine(text)
	var bad *hdl.LineError
	switch {
	case isSecret(v.Type):
		b.refuse(firstWords(text), secretReason)
	case errors.As(err, &bad):
		bad.Column = max(bad.Column-len(before), 1)
		b.out.RefuseAt(b.line, bad.Column, firstWords(text), bad.Reason)
	case open:
		b.open, b.openLine = text, b.line
	default:
		b.value(text, v)
	}
	return nil
}

func (b *batch) value(text string, v nomen.Value) {
	has := slices.ContainsFunc(b.current.values, func(have nomen.Value) bool { return have.Index == v.Index })
	if b.op == "MODIFY" && !has {
		b.refuse(firstWords(text), "the handle has no value with this index")
		return
	}
	if err := b.put(b.current, v, b.op == "MODIFY"); err != nil {
		b.refuse(firstWords(text), err.Error())
		return
	}
	b.out.Handled(1)
}

// refuseOpen refuses a value whose data are missing. The data of a value may be on the next line.
func (b *batch) refuseOpen() {
	if b.open != "" {
		b.out.RefuseAt(b.openLine, 1, firstWords(b.open), "the data are missing")
		b.open = ""
	}
}

// firstWords returns the index and the type in a line with a value, for a message. If the line has
// a different form, the result is "...", because the line may contain a secret.
func firstWords(text string) string {
	parts := strings.SplitN(strings.TrimSpace(text), " ", 3)
	if len(parts) < 3 || !ascii.All(parts[0], ascii.IsDigit) {
		return "..."
	}
	return parts[0] + " " + parts[1] + " ..."
}
