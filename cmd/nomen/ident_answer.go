package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

const flushSize = 64 << 10

// maxEcho is the maximum number of bytes of a rejected line that the answer repeats.
const maxEcho = 80

// answers writes the answers of a command in the order of the inputs. It records whether any answer
// was "no".
type answers struct {
	out, log io.Writer
	json     *json.Encoder // writes into buf; nil if answers are text
	colour   bool
	buf      []byte // answers that are not written yet
	line     int    // number of the line of standard input; 0 for arguments
	alone    bool   // there is only one argument: after an error, refuse writes no empty line
	no       bool
	err      error // the first write error
}

func newAnswers(c *cli) *answers {
	a := &answers{out: c.out, log: c.err, colour: isTerminal(c.out), buf: make([]byte, 0, 2*flushSize)}
	if c.json {
		a.json = jsonTo(a)
	}
	return a
}

// Write implements [io.Writer] by appending p to the buffer. It never fails.
func (a *answers) Write(p []byte) (int, error) {
	a.buf = append(a.buf, p...)
	return len(p), nil
}

func (a *answers) object(v any) {
	if err := a.json.Encode(v); err != nil {
		a.err = err
	}
}

func (a *answers) text(s string) {
	a.buf = append(a.buf, s...)
	a.buf = append(a.buf, '\n')
}

// say adds an answer. It writes the object with --json, and otherwise the text.
func (a *answers) say(object any, text string) {
	if a.json != nil {
		a.object(object)
	} else {
		a.text(text)
	}
}

// refuse adds the answer for an invalid input. With --json, it writes the object. Otherwise it
// writes an empty line, and prints the error to standard error.
func (a *answers) refuse(err error, object any) {
	a.no = true
	if a.json != nil {
		a.object(object)
		return
	}
	a.report(words(err) + caretOn(a.log, err))
	if !a.alone {
		a.text("")
	}
}

// warn prints a warning about the next answer to standard error.
func (a *answers) warn(message string) { a.report("warning: " + printable(message)) }

// report writes a message to standard error. If the input is a line of standard input, the message
// begins with the number of the line.
func (a *answers) report(message string) {
	a.flush() // keep the order if standard output and standard error are the same terminal
	where := ""
	if a.line > 0 {
		where = fmt.Sprintf("line %d: ", a.line)
	}
	fmt.Fprintln(a.log, "nomen: "+where+message)
}

type badLine struct {
	Input string        `json:"input"`
	Error *resolveError `json:"error"`
}

func (a *answers) refuseLine(line string, err error) {
	a.refuse(err, badLine{ascii.Head(line, maxEcho), explain(err)})
}

func (a *answers) flushFull() {
	if len(a.buf) >= flushSize {
		a.flush()
	}
}

func (a *answers) flush() {
	if len(a.buf) == 0 || a.err != nil {
		return
	}
	_, a.err = a.out.Write(a.buf)
	a.buf = a.buf[:0]
}

// end writes the remaining answers. It returns the error that determines the exit status.
func (a *answers) end() error {
	a.flush()
	switch {
	case a.err != nil:
		return a.err
	case a.no:
		return errNo
	default:
		return nil
	}
}

const (
	colourRed    = "31"
	colourGreen  = "32"
	colourYellow = "33"
	colourFaint  = "2"
)

func (a *answers) paint(colour, s string, width int) string {
	pad := strings.Repeat(" ", max(width-len(s), 0))
	if !a.colour || colour == "" {
		return s + pad
	}
	return "\x1b[" + colour + "m" + s + "\x1b[m" + pad
}
