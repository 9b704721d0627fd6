package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A resolvedName is a name together with its answer. The channel done is closed when the answer is
// available.
type resolvedName struct {
	input
	answer *nomen.Answer
	asOf   time.Time // of an offline answer
	err    error
	done   chan struct{}
}

// resolveNames resolves the names in args. The argument "-" stands for the lines of standard input.
// Several names are resolved concurrently, but the answers are printed in order.
func (c *cli) resolveNames(ctx context.Context, args []string, r *resolving) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if slices.Contains(args, "-") {
		tuneCollector(ctx)
	}
	queue := make(chan *resolvedName, 4*r.jobs)
	work := make(chan *resolvedName, r.jobs)
	for range r.jobs {
		go func() {
			for n := range work {
				n.answer, n.asOf, n.err = r.ask(ctx, n.text)
				close(n.done)
			}
		}()
	}
	read := make(chan error, 1)
	go func() {
		defer close(queue) // after the error is in the channel read, because closing queue ends printAll
		defer close(work)
		read <- c.readNames(ctx, args, queue, work)
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
	default: // a read of standard input may block; do not wait, because the program ends now
	}
	return err
}

// readNames sends each name to the channel queue for printing, and to the channel work for
// resolving. It does not send a line that is too long to work.
func (c *cli) readNames(ctx context.Context, args []string, queue, work chan<- *resolvedName) error {
	return c.eachInput(ctx, args, maxLine, func() {}, func(in input) error {
		in.text = strings.Clone(in.text) // a copy, so that the rest of the text read with it can be freed
		n := &resolvedName{input: in, done: make(chan struct{})}
		to := []chan<- *resolvedName{queue, work}
		if in.err != nil {
			close(n.done)
			to = to[:1]
		}
		for _, c := range to {
			select {
			case c <- n:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
}

// printAll prints the answers in the order of the names. It writes all pending answers before it
// waits for the next one.
func (r *resolving) printAll(ctx context.Context, out *answers, queue <-chan *resolvedName) error {
	failed := false
	for {
		n, ok := receive(ctx, queue, out.flush)
		if !ok {
			break
		}
		if _, ok := receive(ctx, n.done, out.flush); !ok && ctx.Err() != nil {
			break
		}
		out.line = n.line
		if n.input.err != nil {
			out.refuseLine(n.text, n.input.err)
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

func (r *resolving) ignored(out *answers, arg string) {
	inspector := urn.Inspector{Keywords: urn.Keywords2012(), Services: urn.Services2012()}
	inner, _ := uri.Undelimit(arg)
	for _, f := range inspector.Inspect(r.dialect, inner) {
		if f.Code == urn.FindingDirective {
			out.warn(arg + ": " + f.Message)
		}
	}
}

func (r *resolving) print(out *answers, n *resolvedName) error {
	if r.dialect == urn.Draft2012 && n.err == nil {
		r.ignored(out, n.text)
	}
	if out.json == nil && n.answer != nil {
		if !n.asOf.IsZero() {
			fmt.Fprintf(out.log, "nomen: %s: from the cache (offline), last confirmed at %s\n", printable(n.text), n.asOf.Format(time.RFC3339))
		}
		if err := out.answer(n.answer); err != nil {
			return err
		}
	}
	switch {
	case n.err != nil:
		out.refuse(n.err, resolved(n.text, r.serviceOf(n.text), n.answer, n.err, r.via))
	case out.json != nil:
		object := resolved(n.text, r.serviceOf(n.text), n.answer, nil, r.via)
		if !n.asOf.IsZero() {
			object.AsOf = &n.asOf
		}
		out.object(object)
	}
	return n.err
}
