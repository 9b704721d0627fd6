package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/uri"
)

const (
	streamHelp = `With "-", identifiers are read from standard input, one per line. Each line is answered as
soon as it is read. For an invalid line, nomen prints an empty line on standard output,
and the line number and the reason on standard error. With --json it prints an object with
the error instead of the empty line. Then nomen continues with the next line.`

	pairHelp = `With "-" as the only argument, two identifiers per line are read from standard input,
separated by a tab. With "-" as the second argument, one identifier per line is read, and
paired with the first argument. Each line is answered as soon as it is read. For an invalid
line, nomen prints an empty line on standard output, and the line number and the reason on
standard error. With --json it prints an object with the error instead of the empty line.
Then nomen continues with the next line.`
)

// These are the maximum lengths of input lines, in bytes without the line break.
const (
	maxLine = uri.MaxLength
	maxPair = 2*uri.MaxLength + 1
)

// pieceSize is the size of the buffer for reading standard input, in bytes.
const pieceSize = 128 << 10

// answerEach calls f for each argument. The argument "-" stands for the lines of standard input.
// answerEach returns errNo if an answer was "no".
func (c *cli) answerEach(ctx context.Context, args []string, f func(*answers, string)) error {
	return c.answerAll(ctx, args, maxLine, f)
}

func pairArguments(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && args[0] == "-":
			return nil
		case len(args) > 1 && args[0] == "-":
			return usagef(`%s: if the first argument is "-", it must be the only one`, cmd.Name())
		}
		return arguments(2, most)(cmd, args)
	}
}

// answerPairs calls f for the first argument with each of the other arguments. If "-" is the only
// argument, it calls f for each line of standard input. Each line contains two identifiers,
// separated by a tab.
func (c *cli) answerPairs(ctx context.Context, args []string, f func(a *answers, first, second string)) error {
	if len(args) > 1 {
		return c.answerEach(ctx, args[1:], func(a *answers, second string) { f(a, args[0], second) })
	}
	return c.answerAll(ctx, args, maxPair, func(a *answers, line string) {
		first, second, ok := strings.Cut(line, "\t")
		if !ok || strings.IndexByte(second, '\t') >= 0 {
			a.refuseLine(line, codedError{codePair, fmt.Errorf("expected two identifiers separated by a tab, found %d tabs", strings.Count(line, "\t"))})
			return
		}
		f(a, first, second)
	})
}

// answerAll is like answerEach, with a maximum length of lines in bytes. It writes all pending
// answers before it waits for input.
func (c *cli) answerAll(ctx context.Context, args []string, limit int, f func(*answers, string)) error {
	a := newAnswers(c)
	a.alone = len(args) == 1 && args[0] != "-"
	err := c.eachInput(ctx, args, limit, a.flush, func(in input) error {
		if a.line = in.line; in.err != nil {
			a.refuseLine(in.text, in.err)
		} else {
			f(a, in.text)
		}
		a.flushFull()
		return a.err
	})
	if err != nil {
		a.flush()
		return err
	}
	return a.end()
}

// An input is an argument, or a line of standard input.
type input struct {
	text string
	line int   // the number of the line; 0 for an argument
	err  error // set if the line is too long; text is then only its beginning
}

// eachInput calls f for each argument. The argument "-" stands for the lines of standard input,
// which have at most limit bytes. eachInput calls idle before it waits for a line. It returns when
// f returns an error.
func (c *cli) eachInput(ctx context.Context, args []string, limit int, idle func(), f func(input) error) error {
	for _, arg := range args {
		var err error
		if arg == "-" {
			err = c.eachLine(ctx, limit, idle, f)
		} else {
			err = f(input{text: arg})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) eachLine(ctx context.Context, limit int, idle func(), f func(input) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces := readPieces(ctx, c.in)
	lines, number := lineSplitter{limit: limit}, 0
	var err error
	each := func(text string, tooLong bool) {
		if err != nil {
			return
		}
		number++
		in := input{text: text, line: number}
		if tooLong {
			in.err = codedError{codeTooLong, fmt.Errorf("longer than %d bytes", limit)}
		}
		err = f(in)
	}
	for {
		p, ok := receive(ctx, pieces, idle)
		if !ok {
			return context.Cause(ctx)
		}
		switch lines.split(p.text, each); {
		case err != nil:
			return err
		case p.err == io.EOF:
			lines.end(each)
			return err
		case p.err != nil:
			return fmt.Errorf("standard input: %w", p.err)
		}
	}
}

// receive receives a value from a channel. If receive has to wait, it first calls idle. The result
// ok is false if the channel is closed, or if ctx is done.
func receive[T any](ctx context.Context, from <-chan T, idle func()) (v T, ok bool) {
	select {
	case v, ok = <-from:
		return v, ok
	default:
		idle()
	}
	select {
	case v, ok = <-from:
	case <-ctx.Done():
	}
	return v, ok
}

// A piece is the result of one read from standard input.
type piece struct {
	text string
	err  error
}

// readPieces reads r in a goroutine until an error occurs, and sends the pieces to the channel. The
// caller can therefore stop waiting even while a read blocks.
func readPieces(ctx context.Context, r io.Reader) <-chan piece {
	pieces := make(chan piece)
	go func() {
		buf := make([]byte, pieceSize)
		for {
			n, err := r.Read(buf)
			select {
			case pieces <- piece{string(buf[:n]), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return pieces
}

// A lineSplitter splits pieces into lines that end with LF or CR LF. It copies a line only if the
// line extends over several pieces.
type lineSplitter struct {
	limit   int
	rest    []byte // the beginning of the current line
	tooLong bool   // rest is truncated
}

// split calls f for each line that ends in a piece. If a line is longer than the limit, tooLong is
// true, and line is only the beginning of the line.
func (l *lineSplitter) split(text string, f func(line string, tooLong bool)) {
	for {
		i := strings.IndexByte(text, '\n')
		switch {
		case i < 0:
			l.keep(text)
			return
		case len(l.rest) == 0 && i <= l.limit:
			f(strings.TrimSuffix(text[:i], "\r"), false)
		default:
			l.keep(text[:i])
			l.finish(f)
		}
		text = text[i+1:]
	}
}

func (l *lineSplitter) keep(text string) {
	if room := l.limit + 1 - len(l.rest); len(text) > room { // one byte more than the limit, for a CR
		text, l.tooLong = text[:room], true
	}
	l.rest = append(l.rest, text...)
}

func (l *lineSplitter) finish(f func(line string, tooLong bool)) {
	line := strings.TrimSuffix(string(l.rest), "\r")
	f(line, l.tooLong || len(line) > l.limit)
	l.rest, l.tooLong = l.rest[:0], false
}

func (l *lineSplitter) end(f func(line string, tooLong bool)) {
	if len(l.rest) > 0 {
		l.finish(f)
	}
}
