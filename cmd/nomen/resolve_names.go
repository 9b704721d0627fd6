package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A resolvedName is a name whose answer is waiting to be printed.
type resolvedName struct {
	arg    string
	line   int
	answer *nomen.Answer
	asOf   time.Time // of an offline answer
	err    error
	bad    bool // the line is not a name: err says why
	done   chan struct{}
}

// resolveNames resolves every name, and for "-" every line of standard input, several at
// a time, and prints the answers in order.
func (c *cli) resolveNames(ctx context.Context, args []string, r *resolving) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if slices.Contains(args, "-") {
		tuneCollector(ctx)
	}
	queue := make(chan *resolvedName, 4*r.jobs)
	work := make(chan *resolvedName, r.jobs)
	var workers sync.WaitGroup
	for range r.jobs {
		workers.Go(func() {
			for n := range work {
				n.answer, n.asOf, n.err = r.ask(ctx, n.arg)
				close(n.done)
			}
		})
	}
	read := make(chan error, 1)
	go func() {
		defer close(queue)
		defer close(work)
		read <- c.readNames(ctx, args, func(n *resolvedName) error {
			n.done = make(chan struct{})
			select {
			case queue <- n:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if n.bad {
				close(n.done)
				return nil
			}
			select {
			case work <- n:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	out := newAnswers(c)
	out.alone = len(args) == 1 && args[0] != "-"
	err := r.printAll(ctx, out, queue)
	cancel()
	if ctxErr := context.Cause(ctx); err == nil && ctxErr != nil && !errors.Is(ctxErr, context.Canceled) {
		err = ctxErr
	}
	select {
	case readErr := <-read:
		if err == nil || errors.Is(err, errNo) || errors.Is(err, errFailed) {
			err = cmp.Or(readErr, err)
		}
	default: // reading standard input blocks; the program is about to end
	}
	return err
}

// readNames calls f for each name. A line that is too long is a bad name.
func (c *cli) readNames(ctx context.Context, args []string, f func(*resolvedName) error) error {
	for _, arg := range args {
		if arg != "-" {
			if err := f(&resolvedName{arg: arg}); err != nil {
				return err
			}
			continue
		}
		if err := readLines(ctx, c.in, f); err != nil {
			return err
		}
	}
	return nil
}

// readLines calls f for each line of standard input.
func readLines(ctx context.Context, in io.Reader, f func(*resolvedName) error) error {
	lines, line := lineSplitter{limit: maxLine}, 0
	pieces := readPieces(ctx, in)
	var err error
	each := func(text string, tooLong bool) {
		line++
		n := &resolvedName{arg: strings.Clone(text), line: line}
		if tooLong {
			n.bad, n.err = true, codedError{codeTooLong, fmt.Errorf("longer than %d bytes", maxLine)}
		}
		if err == nil {
			err = f(n)
		}
	}
	for {
		var p piece
		select {
		case p = <-pieces:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		lines.split(p.text, each)
		switch {
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

// printAll prints the answers in the order of the names. Before it waits for an answer it
// writes all earlier ones.
func (r *resolving) printAll(ctx context.Context, out *answers, queue <-chan *resolvedName) error {
	failed := false
	for {
		n, ok := waitFor(ctx, queue, out)
		if !ok {
			break
		}
		if _, ok := waitFor(ctx, n.done, out); !ok && ctx.Err() != nil {
			break
		}
		out.line = n.line
		if n.bad {
			out.refuseLine(n.arg, n.err)
			continue
		}
		failed = exitStatus(r.print(out, n)) == exitFailure || failed
		out.flushFull()
		if out.err != nil {
			break
		}
	}
	return judge(ctx, failed, out.end())
}

// waitFor receives from a channel. If nothing is ready yet, it first writes the answers so
// far.
func waitFor[T any](ctx context.Context, from <-chan T, out *answers) (T, bool) {
	select {
	case v, ok := <-from:
		return v, ok
	default:
		out.flush()
	}
	select {
	case v, ok := <-from:
		return v, ok
	case <-ctx.Done():
		var zero T
		return zero, false
	}
}

// ignored warns about the directives of a name that are ignored.
func (r *resolving) ignored(out *answers, arg string) {
	inspector := urn.Inspector{Keywords: urn.Keywords2012(), Services: urn.Services2012()}
	inner, _ := uri.Undelimit(arg)
	for _, f := range inspector.Inspect(r.dialect, inner) {
		if f.Code == urn.FindingDirective {
			out.warn(arg + ": " + f.Message)
		}
	}
}

// print prints the answer about one name, or its error.
func (r *resolving) print(out *answers, n *resolvedName) error {
	if r.dialect == urn.Draft2012 && n.err == nil {
		r.ignored(out, n.arg)
	}
	if out.json == nil && n.answer != nil {
		if !n.asOf.IsZero() {
			fmt.Fprintf(out.log, "nomen: %s: from the cache (offline), last confirmed at %s\n", printable(n.arg), n.asOf.Format(time.RFC3339))
		}
		if err := out.answer(n.answer); err != nil {
			return err
		}
	}
	switch {
	case n.err != nil:
		out.refuse(n.err, resolved(n.arg, r.serviceOf(n.arg), n.answer, n.err, r.via))
	case out.json != nil:
		object := resolved(n.arg, r.serviceOf(n.arg), n.answer, nil, r.via)
		if !n.asOf.IsZero() {
			object.AsOf = &n.asOf
		}
		out.object(object)
	}
	return n.err
}
