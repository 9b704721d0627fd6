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

// stateVersion is the version of the file format:
//
//	1  a line {"crawl":1,"first":AUTHORITY}, then one [Node] per line, written when its authority has been queried; in no release
//	2  the first line also has "relations": those that the walk follows
const stateVersion = 2

// maxStateLine is the maximum length of a line in bytes.
const maxStateLine = 64 << 20

// A State stores the results of a walk in a file, from which another walk can continue. If a crash
// has left an incomplete last line, OpenState removes that line. Only one process can have the file
// open.
type State struct {
	file  *os.File
	head  stateHead // zero for a new file
	nodes []*Node
}

type stateHead struct {
	Crawl     int      `json:"crawl"`
	First     string   `json:"first"`
	Relations []string `json:"relations,omitempty"`
}

const stateSign = `{"crawl":`

// A StateError means that a file is not a state of this walk.
type StateError struct {
	File    string
	Line    int // from 1; 0 means the whole file
	Message string
}

func (e *StateError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("crawl: %s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("crawl: %s: line %d: %s", e.File, e.Line, e.Message)
}

// OpenState opens the state file of a walk, or creates it.
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

// read reads the complete lines of the file, and returns their total length.
func (s *State) read(r io.Reader, path string) (whole int64, err error) {
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := stateLine(in)
		switch {
		case err == io.EOF && number == 1 && !strings.HasPrefix(string(line), stateSign[:min(len(line), len(stateSign))]):
			err = errors.New("not a crawl state file")
		case err == io.EOF: // empty, or incomplete
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

func stateLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxStateLine:
			return nil, fmt.Errorf("line exceeds %d bytes", maxStateLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		return line, err
	}
}

func (s *State) take(line []byte, number int) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if number == 1 {
		var h stateHead
		if err := d.Decode(&h); err != nil {
			return fmt.Errorf("not a crawl state file: %w", err)
		}
		first, ok := Authority(h.First)
		if h.Crawl != stateVersion || !ok || first != h.First {
			return fmt.Errorf("state of version %d and first authority %q: want version %d", h.Crawl, h.First, stateVersion)
		}
		s.head = h
		return nil
	}
	n := &Node{}
	if err := d.Decode(n); err != nil {
		return err
	}
	if a, ok := Authority(n.Authority); !ok || a != n.Authority || n.Depth < 0 {
		return fmt.Errorf("invalid authority %q at depth %d", n.Authority, n.Depth)
	}
	s.nodes = append(s.nodes, n)
	return nil
}

// Known returns the number of authorities that the file had when it was opened.
func (s *State) Known() int { return len(s.nodes) }

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

// begin adds the nodes in the file to nodes. It returns an error if the file is the state of a walk
// from another authority or with other relations. If Retry is set, begin omits nodes with errors.
func (s *State) begin(root string, o Options, nodes map[string]*Node) error {
	if s == nil {
		return nil
	}
	asked := relations(o)
	switch {
	case s.head.First == "":
		s.head = stateHead{stateVersion, root, asked}
		return s.write(s.head)
	case s.head.First != root:
		return &StateError{s.file.Name(), 0, fmt.Sprintf("state of a crawl from %s, not from %s; use another file", s.head.First, root)}
	case !slices.Equal(s.head.Relations, asked):
		return &StateError{s.file.Name(), 0, fmt.Sprintf("state of a crawl that followed the relations %q, not %q; use another file", s.head.Relations, asked)}
	}
	for _, n := range s.nodes { // if an authority has several lines, the last line is valid
		if nodes[n.Authority] = n; o.Retry && len(n.Errors) > 0 {
			delete(nodes, n.Authority)
		}
	}
	return nil
}

func (s *State) add(n *Node) error {
	if s == nil {
		return nil
	}
	return s.write(n)
}

// write appends a line to the file in a single write.
func (s *State) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.file.Write(append(text, '\n'))
	return err
}

// Close syncs and closes the file.
func (s *State) Close() error { return errors.Join(s.file.Sync(), s.file.Close()) }
