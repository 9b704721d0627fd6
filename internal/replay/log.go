package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	maxLine = 64 << 10 // bytes of a line; longer lines are skipped
	// DefaultMaxRequests is the default limit on the number of different requests in a Log.
	DefaultMaxRequests = 1_000_000
	maxBytes           = 256 << 20
	overhead           = 160 // approximate memory of a request without its texts
)

// A LogError means that an access log cannot be read to its end.
type LogError struct {
	Line int64 // the last line that was read
	Err  error
}

func (e *LogError) Error() string { return fmt.Sprintf("access log: after line %d: %v", e.Line, e.Err) }
func (e *LogError) Unwrap() error { return e.Err }

// A Log contains the different requests in access logs, and the frequency of each request. It does
// not contain client addresses or times. The zero Log is empty and ready to use.
type Log struct {
	MaxRequests int // number of different requests to keep; 0 means DefaultMaxRequests

	Counts
	bytes int
	all   map[Request]*seen
}

// Counts say how many lines of access logs there were of each kind.
type Counts struct {
	Lines       int64 `json:"lines"`
	Methods     int64 `json:"other_methods"` // requests with other methods than GET and HEAD
	Malformed   int64 `json:"malformed"`
	TooLong     int64 `json:"too_long"`
	Cut         int64 `json:"cut"`                       // requests that were not kept, because there were too many different ones
	FirstFaulty int64 `json:"first_malformed,omitempty"` // number of the first malformed line in all logs
}

// seen is a request and what the logs say about it.
type seen struct {
	Entry
	count  int64
	varied bool // there were several statuses
}

// Read adds the lines of a log, which may be compressed with gzip. It calls progress, which may be
// nil, from time to time with the number of lines.
func (l *Log) Read(ctx context.Context, r io.Reader, progress func(lines int64)) error {
	in, err := unpacked(r)
	if err != nil {
		return &LogError{l.Lines, err}
	}
	for {
		if l.Lines%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(l.Lines)
			}
		}
		line, err := in.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if tooLong {
			l.Lines++
			l.TooLong++
		} else {
			l.line(string(bytes.TrimRight(line, "\r\n")))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &LogError{l.Lines, err}
		}
	}
}

// unpacked returns a reader of lines, decompressed if r begins like a gzip file.
func unpacked(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, maxLine)
	if head, _ := in.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) { // RFC 1952, 2.3.1; the next read returns the error again
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, maxLine), nil
}

func (l *Log) line(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	l.Lines++
	switch e, err := ParseLine(line); {
	case errors.Is(err, ErrMethod):
		l.Methods++
	case err != nil:
		l.Malformed++
		l.FirstFaulty = cmp.Or(l.FirstFaulty, l.Lines)
	default:
		l.add(e)
	}
}

// add counts a request. If a request occurs with several comparable statuses, the last status is
// kept, because names change.
func (l *Log) add(e Entry) {
	e.Status = comparableStatus(e.Status)
	known := l.all[e.Request]
	if known == nil {
		if known = l.admit(e); known == nil {
			l.Cut++
			return
		}
	}
	known.count++
	if e.Status != 0 {
		known.varied = known.varied || known.Status != 0 && known.Status != e.Status
		known.Status = e.Status
		l.locate(known, e.Location)
	}
}

// locate keeps the Location of a response, if there is room.
func (l *Log) locate(known *seen, location string) {
	if location == known.Location {
		return
	}
	l.bytes -= len(known.Location)
	if known.Location = ""; l.bytes+len(location) <= maxBytes {
		known.Location = strings.Clone(location)
		l.bytes += len(location)
	}
}

// admit adds a request, if there is room.
func (l *Log) admit(e Entry) *seen {
	size := overhead + len(e.Method) + len(e.Target) + len(e.Accept)
	if len(l.all) >= cmp.Or(l.MaxRequests, DefaultMaxRequests) || l.bytes+size > maxBytes {
		return nil
	}
	if l.all == nil {
		l.all = map[Request]*seen{}
	}
	// Clone the strings, so that they do not keep the whole line in memory.
	e.Request = Request{strings.Clone(e.Method), strings.Clone(e.Target), strings.Clone(e.Accept)}
	one := &seen{Entry: Entry{Request: e.Request}}
	l.all[e.Request] = one
	l.bytes += size
	return one
}

// comparableStatus returns a status that depends only on the name. It returns 0 for a status that
// depends on the client or on the state of the server, such as 304 or 503.
func comparableStatus(status int) int {
	switch {
	case status == 206:
		return 200
	case status < 200, status == 304, status == 408, status == 416, status == 429, status == 499, status >= 500:
		return 0
	}
	return status
}

// sorted returns the requests, the most frequent first.
func (l *Log) sorted() []*seen {
	list := make([]*seen, 0, len(l.all))
	for _, s := range l.all {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *seen) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Accept, b.Accept))
	})
	return list
}
