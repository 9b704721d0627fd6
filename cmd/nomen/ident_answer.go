package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// flushSize is how many bytes of answers are written at once.
const flushSize = 64 << 10

// maxEcho bounds how much of a line that is too long its answer repeats.
const maxEcho = 80

// answers writes the answers of one command in the order of the inputs, and
// remembers whether one of them was no.
type answers struct {
	out, log io.Writer
	json     *json.Encoder // into buf; nil for text
	colour   bool
	buf      []byte // not written yet
	line     int    // of standard input; 0 for arguments
	alone    bool   // there is one argument: an empty line would hold the place of nothing
	no       bool
	err      error // of writing
}

func newAnswers(c *cli) *answers {
	a := &answers{out: c.out, log: c.err, colour: isTerminal(c.out), buf: make([]byte, 0, 2*flushSize)}
	if c.json {
		a.json = jsonTo(a)
	}
	return a
}

// Write takes what the JSON encoder writes.
func (a *answers) Write(p []byte) (int, error) {
	a.buf = append(a.buf, p...)
	return len(p), nil
}

// object answers with a JSON object.
func (a *answers) object(v any) {
	if err := a.json.Encode(v); err != nil {
		a.err = err
	}
}

// text answers with a line.
func (a *answers) text(s string) {
	a.buf = append(a.buf, s...)
	a.buf = append(a.buf, '\n')
}

// refuse answers that there is no answer: with a JSON object, or an empty line
// and the reason on standard error.
func (a *answers) refuse(err error, object any) {
	a.no = true
	if a.json != nil {
		a.object(object)
		return
	}
	a.tell(words(err) + caretOn(a.log, err))
	if !a.alone {
		a.text("")
	}
}

// warn says on standard error what is odd about an answer that follows.
func (a *answers) warn(message string) { a.tell("warning: " + printable(message)) }

// tell writes a line to standard error, with the number of the line that is
// answered.
func (a *answers) tell(message string) {
	a.flush() // what goes to the same terminal stays in order
	where := ""
	if a.line > 0 {
		where = fmt.Sprintf("line %d: ", a.line)
	}
	fmt.Fprintln(a.log, "nomen: "+where+message)
}

// A badLine is the answer to a line that could not even be split.
type badLine struct {
	Input string        `json:"input"`
	Error *resolveError `json:"error"`
}

// refuseLine refuses a whole line, of which a long one is cut.
func (a *answers) refuseLine(line string, err error) {
	if len(line) > maxEcho {
		line = line[:maxEcho] + "..."
	}
	a.refuse(err, badLine{line, explain(err)})
}

// flushFull writes the answers if there are many.
func (a *answers) flushFull() {
	if len(a.buf) >= flushSize {
		a.flush()
	}
}

// flush writes the answers.
func (a *answers) flush() {
	if len(a.buf) == 0 || a.err != nil {
		return
	}
	_, a.err = a.out.Write(a.buf)
	a.buf = a.buf[:0]
}

// end writes what is left and returns how it went.
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

// The colours of terminals.
const (
	colourRed    = "31"
	colourGreen  = "32"
	colourYellow = "33"
	colourFaint  = "2"
)

// paint gives a text a width and, on a terminal, a colour.
func (a *answers) paint(colour, s string, width int) string {
	pad := strings.Repeat(" ", max(width-len(s), 0))
	if !a.colour || colour == "" {
		return s + pad
	}
	return "\x1b[" + colour + "m" + s + "\x1b[m" + pad
}
