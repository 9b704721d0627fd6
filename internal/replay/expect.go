package replay

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// An ExpectError means that a file of expected answers is invalid.
type ExpectError struct {
	Line int
	Err  error
}

func (e *ExpectError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *ExpectError) Unwrap() error { return e.Err }

var (
	errColumns  = errors.New(`the first line must name the columns: request, status, and if needed location and accept`)
	errExpected = errors.New(`want a request such as "/a" or "HEAD /a" and a status from 200 to 599`)
	errTwice    = errors.New("this request has another answer in an earlier line")
	errTooMuch  = fmt.Errorf("the file is longer than %d MiB; split it", maxBytes>>20)
)

// An Expected contains the answers that requests should get.
type Expected struct{ answers map[Request]Answer }

type expectedLine struct {
	Request  string `json:"request"`
	Status   int    `json:"status"`
	Location string `json:"location"`
	Accept   string `json:"accept"`
}

// ReadExpected reads a file of expected answers, which is CSV with a line of column names, or JSON
// Lines. The columns or members are request, status, location and accept. A request is a path with
// an optional query. A method may precede the path.
func ReadExpected(r io.Reader) (*Expected, error) { return readExpected(r, maxBytes) }

func readExpected(r io.Reader, most int) (*Expected, error) {
	in := bufio.NewReader(&bounded{r, most})
	e := &Expected{map[Request]Answer{}}
	if head, _ := in.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	if head, _ := in.Peek(1); bytes.Equal(head, []byte("{")) {
		return e, e.readJSON(in)
	}
	return e, e.readCSV(in)
}

// bounded wraps a reader, and returns an error after a number of bytes.
type bounded struct {
	r    io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (e *Expected) readJSON(in *bufio.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var one expectedLine
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		err := d.Decode(&one)
		if err == nil {
			err = e.add(one)
		}
		if err != nil {
			return &ExpectError{n, err}
		}
	}
	if err := lines.Err(); err != nil {
		return &ExpectError{n, err}
	}
	return nil
}

func (e *Expected) readCSV(in *bufio.Reader) error {
	table := csv.NewReader(in)
	table.ReuseRecord = true
	first, err := table.Read()
	columns := slices.Clone(first)
	for i, c := range columns {
		columns[i] = strings.ToLower(strings.TrimSpace(c))
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && !(slices.Contains(columns, "request") && slices.Contains(columns, "status")):
		return &ExpectError{1, errColumns}
	case err != nil:
		return csvFault(err)
	}
	for {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvFault(err)
		}
		one := expectedOf(columns, row)
		if err := e.add(one); err != nil {
			line, _ := table.FieldPos(0)
			return &ExpectError{line, err}
		}
	}
}

func csvFault(err error) error {
	var fault *csv.ParseError
	if errors.As(err, &fault) {
		return &ExpectError{fault.Line, fault.Err}
	}
	return err
}

// expectedOf returns a row of a table. A status that is not a number becomes 0, which the method
// add rejects.
func expectedOf(columns, row []string) expectedLine {
	var one expectedLine
	for i, value := range row {
		value = strings.TrimSpace(value)
		switch columns[i] {
		case "request":
			one.Request = value
		case "status":
			one.Status, _ = strconv.Atoi(value)
		case "location":
			one.Location = value
		case "accept":
			one.Accept = value
		}
	}
	return one
}

func (e *Expected) add(l expectedLine) error {
	r := Request{Method: "GET", Target: l.Request, Accept: l.Accept}
	if method, target, ok := strings.Cut(l.Request, " "); ok {
		r.Method, r.Target = method, target
	}
	entry, err := newEntry(r, l.Status, l.Location)
	if err != nil || l.Status < 200 || l.Status > 599 {
		return errExpected
	}
	a := Answer{Status: l.Status, Location: strings.Clone(l.Location)}
	if known, ok := e.answers[entry.Request]; ok && known != a {
		return errTwice
	}
	e.answers[entry.Request] = a
	return nil
}

// of returns the expected answer to a request. If the file does not contain the request, the method
// looks for the same request with GET, and then for both requests without Accept.
func (e *Expected) of(r Request) (Answer, bool) {
	get := r
	get.Method = "GET"
	for _, try := range []Request{r, get, {Method: r.Method, Target: r.Target}, {Method: "GET", Target: r.Target}} {
		if a, ok := e.answers[try]; ok {
			return a, true
		}
	}
	return Answer{}, false
}

// Log returns a log with each expected request once.
func (e *Expected) Log() *Log {
	l := &Log{MaxRequests: len(e.answers) + 1}
	for r := range e.answers {
		l.Lines++
		l.add(Entry{Request: r})
	}
	return l
}
