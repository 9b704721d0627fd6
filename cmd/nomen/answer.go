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

// answerNames calls f for each name in args. The argument "-" stands for the lines of standard
// input. If f returns an error, which f has already printed, answerNames continues with the next
// name. At the end it returns errFailed if any of these errors was a failure.
func (c *cli) answerNames(ctx context.Context, args []string, f func(*answers, string) error) error {
	failed := false
	err := c.answerEach(ctx, args, func(a *answers, arg string) {
		if ctx.Err() == nil {
			failed = exitStatus(f(a, arg)) == exitFailure || failed
		}
	})
	return judge(ctx, failed, err)
}

// judge returns the error that determines the exit status of a command that prints answers. The
// parameter failed reports whether any answer was a failure. The parameter err is the error that
// stopped the command, or nil.
func judge(ctx context.Context, failed bool, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed && (err == nil || errors.Is(err, errNo)):
		return errFailed
	}
	return err
}

// answerStored is like answerNames, but f can use the store. If the names come from a pipe, the
// command that writes to the pipe may have the store open. answerStored therefore waits for input
// before it opens the store.
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

// codeFailure is the JSON error code for errors that do not concern the name, such as network
// errors.
const codeFailure = "failure"

// explainAnswer returns the JSON form of an error. For a [nomen.Error], the code is the kind of the
// error. For most other errors, it is codeFailure.
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
