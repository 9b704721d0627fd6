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

// answerNames answers every name by f, and for "-" every line of standard input.
// An error of f, which f itself has said, is that of one name: those that follow
// are answered too. If one of them was a failure, so is the whole.
func (c *cli) answerNames(ctx context.Context, args []string, f func(*answers, string) error) error {
	failed := false
	err := c.answerEach(ctx, args, func(a *answers, arg string) {
		if ctx.Err() == nil {
			failed = exitStatus(f(a, arg)) == exitFailure || failed
		}
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed && (err == nil || errors.Is(err, errNo)):
		return errFailed
	}
	return err
}

// answerStored answers names, as answerNames does, from the store. It is opened
// when the first line of standard input is there, if lines are asked for: the
// command that writes them, before the pipe, may have it open until then.
func (c *cli) answerStored(ctx context.Context, how access, args []string, f func(*answers, backend, string) error) error {
	if slices.Contains(args, "-") {
		in := bufio.NewReader(c.in)
		begun := make(chan struct{})
		go func() { // apart, as an interrupt has to reach who waits
			_, _ = in.Peek(1) // the end, or what is wrong, is met again when it is read
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
		return c.answerNames(ctx, args, func(a *answers, arg string) error { return f(a, b, arg) })
	})
}

// A badName is the answer about a name that there is nothing to say about.
type badName struct {
	Name  string        `json:"name"`
	Error *resolveError `json:"error"`
}

// What JSON has as the code of an error that says nothing about the name.
const codeFailure = "failure"

// explainAnswer makes of an error what JSON shows of it: its code is one of the
// kinds of [nomen.Error], or codeFailure.
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
