package main

import (
	"bufio"
	"context"
	"errors"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// answerNames calls f for each name in args, and for "-" it calls f for each line of standard input
// instead. The function f prints its own errors, so answerNames continues after an error about a
// name, and returns a failure at the end.
func (c *cli) answerNames(ctx context.Context, args []string, f func(*answers, string) error) error {
	failed := false
	err := c.answerEach(ctx, args, func(a *answers, arg string) {
		if ctx.Err() == nil {
			failed = exitStatus(f(a, arg)) == exitFailure || failed
		}
	})
	return judge(ctx, failed, err)
}

// judge returns the error for the exit status of a command that printed answers. The parameter err
// is what stopped the command, if anything did. The parameter failed says that an answer was a
// failure.
func judge(ctx context.Context, failed bool, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed && (err == nil || errors.Is(err, errNo)):
		return errFailed
	}
	return err
}

// answerStored is answerNames for functions that need the store. If the names come from standard
// input, it opens the store only when the first input arrives, because the command at the other end
// of the pipe may still have the store open.
func (c *cli) answerStored(ctx context.Context, how access, args []string, f func(*answers, backend, string) error) error {
	if slices.Contains(args, "-") {
		in := bufio.NewReader(c.in)
		begun := make(chan struct{})
		go func() { // in a goroutine, so that the command can be interrupted while it waits
			_, _ = in.Peek(1) // the next read returns the same error
			close(begun)
		}()
		select {
		case <-begun:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		c.in = in
	}
	return c.withStore(ctx, how, func(b backend) error {
		return c.answerNames(ctx, args, func(a *answers, arg string) error {
			err := f(a, b, arg)
			if err != nil {
				a.refuse(err, badName{arg, explainAnswer(err)})
			}
			return err
		})
	})
}

type badName struct {
	Name  string        `json:"name"`
	Error *resolveError `json:"error"`
}

// codeFailure is the code in JSON for an error that is not about the name, such as one of the
// network.
const codeFailure = "failure"

// explainAnswer returns the JSON form of an error. The code is the kind of a [nomen.Error], and
// codeFailure for other errors.
func explainAnswer(err error) *resolveError {
	var no *nomen.Error
	var bad *name.Error
	switch {
	case errors.As(err, &no):
		e := &resolveError{Code: no.Kind.String(), Rule: no.Rule, Message: no.Message, Suggestions: no.Suggestions}
		if no.Kind == nomen.Malformed {
			e.Offset = &no.Offset
		}
		return e
	case errors.As(err, &bad):
		return &resolveError{Code: codeMalformed, Offset: &bad.Offset, Rule: bad.Rule, Message: bad.Message}
	case errors.Is(err, store.ErrNotFound):
		return &resolveError{Code: nomen.Unknown.String(), Message: words(err)}
	}
	return &resolveError{Code: codeFailure, Message: words(err)}
}
