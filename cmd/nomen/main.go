// Command nomen parses, publishes and resolves persistent names.
//
// The package is the only one in the module that reads flags, environment variables and
// configuration files. It connects the other packages with each other. Commands write results to
// standard output, and everything else to standard error. The exit status is 0 for success or the
// answer yes, 1 for the answer no, 2 for wrong usage, and 3 for a failure.
//
// Comments in the code cite Internet drafts by year and section, as in "1995, 3.1". The drafts are
// listed in docs/glossary.md.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(program()) }

// program runs the command line of this process and returns the exit status.
func program() int {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // first: a SIGHUP before this ends the process
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt kills the process
	return runWith(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, hangups)
}

type streams struct {
	in       io.Reader
	out, err io.Writer
}
