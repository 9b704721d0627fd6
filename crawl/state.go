package crawl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/flock"
)

// StateVersion is the version of the file of a [State].
//
//	1  a line {"crawl":1,"first":AUTHORITY}, then a [Node] a line, each written when its authority has been asked
//	2  the first line also has "relations": what the authorities were asked about; version 1 is read as one of both
const StateVersion = 2

// maxStateLine bounds a line of the file, in bytes.
const maxStateLine = 64 << 20

// A State keeps what a walk has learnt in a file, so that another can go on. A
// line that a crash has cut off is dropped; nothing else is. One process at a time
// has it open.
type State struct {
	file  *os.File
	head  stateHead // zero in a new file
	nodes []*Node
}

// A stateHead is the first line of the file.
type stateHead struct {
	Crawl     int      `json:"crawl"`
	First     string   `json:"first"`
	Relations []string `json:"relations,omitempty"`
}

// stateSign is how every file begins.
const stateSign = `{"crawl":`

// A StateError is returned for a file that is no state of this walk.
type StateError struct {
	File    string
	Line    int // from 1; 0 for the whole
	Message string
}

func (e *StateError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("crawl: %s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("crawl: %s: line %d: %s", e.File, e.Line, e.Message)
}

// OpenState opens the file of a walk, or makes a new one.
func OpenState(path string) (*State, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	s := &State{file: f}
	if err := flock.Try(f); err != nil {
		f.Close()
		return nil, &StateError{path, 0, err.Error()}
	}
	whole, err := s.read(f, path)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// read reads whole lines and returns their length.
func (s *State) read(r io.Reader, path string) (whole int64, err error) {
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := stateLine(in)
		switch {
		case err == io.EOF && number == 1 && !strings.HasPrefix(string(line), stateSign[:min(len(line), len(stateSign))]):
			err = errors.New("not the file of a crawl")
		case err == io.EOF: // and perhaps the beginning of a line
			return whole, nil
		case err == nil:
			err = s.take(line, number)
		}
		if err != nil {
			return 0, &StateError{path, number, err.Error()}
		}
		whole += int64(len(line))
	}
}

// stateLine returns the next line with its end.
func stateLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxStateLine:
			return nil, fmt.Errorf("longer than %d bytes", maxStateLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		return line, err
	}
}

// take reads one line.
func (s *State) take(line []byte, number int) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if number == 1 {
		var h stateHead
		if err := d.Decode(&h); err != nil {
			return fmt.Errorf("not the file of a crawl: %w", err)
		}
		first, ok := Authority(h.First)
		if h.Crawl < 1 || h.Crawl > StateVersion || !ok || first != h.First {
			return fmt.Errorf("version %d of a crawl from %q, want version %d", h.Crawl, h.First, StateVersion)
		}
		if h.Crawl == 1 {
			h.Relations = relations(Options{})
		}
		s.head = h
		return nil
	}
	n := &Node{}
	if err := d.Decode(n); err != nil {
		return err
	}
	if a, ok := Authority(n.Authority); !ok || a != n.Authority || n.Depth < 0 {
		return fmt.Errorf("authority %q at depth %d", n.Authority, n.Depth)
	}
	s.nodes = append(s.nodes, n)
	return nil
}

// Known returns how many authorities the file had when it was opened.
func (s *State) Known() int { return len(s.nodes) }

// relations returns what authorities are asked about.
func relations(o Options) []string {
	all := []string{}
	if !o.NoParents {
		all = append(all, Parent)
	}
	if !o.NoChildren {
		all = append(all, Child)
	}
	return all
}

// begin hands over what is known of a walk from an authority; to retry, without
// those that failed.
func (s *State) begin(first string, o Options, known map[string]*Node) error {
	if s == nil {
		return nil
	}
	asked := relations(o)
	switch {
	case s.head.First == "":
		s.head = stateHead{StateVersion, first, asked}
		return s.write(s.head)
	case s.head.First != first:
		return &StateError{s.file.Name(), 0, fmt.Sprintf("it is of a crawl from %s, not from %s; give another file", s.head.First, first)}
	case !slices.Equal(s.head.Relations, asked):
		return &StateError{s.file.Name(), 0, fmt.Sprintf("it is of a crawl that asked about %q, not %q; give another file", s.head.Relations, asked)}
	}
	for _, n := range s.nodes { // a later line about an authority holds
		if known[n.Authority] = n; o.Retry && len(n.Errors) > 0 {
			delete(known, n.Authority)
		}
	}
	return nil
}

// add keeps a node.
func (s *State) add(n *Node) error {
	if s == nil {
		return nil
	}
	return s.write(n)
}

// write appends a line in one piece.
func (s *State) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.file.Write(append(text, '\n'))
	return err
}

// Close writes what there is to disk.
func (s *State) Close() error { return errors.Join(s.file.Sync(), s.file.Close()) }
