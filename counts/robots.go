package counts

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// robots matches User-Agent fields against all patterns in one pass.
//
// Each pattern is converted to one or more sequences, which are lists of sets of bytes. The word of
// a sequence is its longest part in which each set is a single character in upper and lower case.
// An automaton (Aho and Corasick, 1975) finds the words of all sequences in one pass. At each
// occurrence of a word, the rest of its sequence is compared.
type robots struct {
	sets      []byteSet // the different sets of all sequences
	sequences []sequence
	wordless  []int // sequences without a word, which are compared with every field

	classes [256]uint8 // class of each byte: bytes that no word contains have class 0
	width   int        // number of classes
	next    []uint16   // next state, by state and class
	found   [][]uint16 // the sequences whose word ends in a state
}

type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 == 1 }

func (s *byteSet) addFolded(c byte) {
	s.add(ascii.Lower(c))
	s.add(ascii.Upper(c))
}

// A sequence is a pattern without alternatives.
type sequence struct {
	sets       []uint8 // indexes in robots.sets
	begin, end bool    // the pattern is anchored
	after      int     // number of sets up to the end of the word
	word       string  // in lower case
}

// Limits of a list of patterns.
const (
	maxSets      = 255
	maxSequences = 4096
	maxStates    = 1 << 15
	maxPattern   = 512 // length of a pattern in bytes
	maxVariants  = 8   // number of sequences of one pattern
)

// readRobots reads a list of patterns. Lines that begin with "#" are comments.
func readRobots(text string) (*robots, error) {
	r := &robots{}
	line := 0
	for pattern := range strings.Lines(text) {
		line++
		pattern = strings.TrimRight(pattern, "\r\n")
		if pattern == "" || pattern[0] == '#' {
			continue
		}
		if err := r.add(pattern); err != nil {
			return nil, fmt.Errorf("counts: list of robots: line %d: pattern %.80q: %w", line, pattern, err)
		}
	}
	return r, r.build()
}

func (r *robots) add(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("longer than %d bytes", maxPattern)
	}
	variants, err := readPattern(pattern)
	if err != nil {
		return err
	}
	for _, v := range variants {
		s := sequence{begin: v.begin, end: v.end}
		for _, set := range v.sets {
			i, err := r.intern(set)
			if err != nil {
				return err
			}
			s.sets = append(s.sets, i)
		}
		s.findWord(r.sets)
		if len(r.sequences) == maxSequences {
			return fmt.Errorf("more than %d sequences", maxSequences)
		}
		r.sequences = append(r.sequences, s)
	}
	return nil
}

func (r *robots) intern(set byteSet) (uint8, error) {
	for i, known := range r.sets {
		if known == set {
			return uint8(i), nil
		}
	}
	if len(r.sets) == maxSets {
		return 0, fmt.Errorf("more than %d different sets of characters", maxSets)
	}
	r.sets = append(r.sets, set)
	return uint8(len(r.sets) - 1), nil
}

// character returns the character of a set that has a single character, in lower case.
func (s *byteSet) character() (byte, bool) {
	for i := range 256 {
		c := ascii.Lower(byte(i))
		if s.has(byte(i)) {
			var one byteSet
			one.addFolded(c)
			return c, one == *s
		}
	}
	return 0, false
}

func (s *sequence) findWord(sets []byteSet) {
	var word []byte
	for i := 0; i <= len(s.sets); i++ {
		if i < len(s.sets) {
			if c, ok := sets[s.sets[i]].character(); ok {
				word = append(word, c)
				continue
			}
		}
		if len(word) > len(s.word) {
			s.word, s.after = string(word), i
		}
		word = word[:0]
	}
}

func (r *robots) build() error {
	r.width = 1
	for _, s := range r.sequences {
		for _, c := range []byte(s.word) {
			if r.classes[c] == 0 {
				r.classes[c] = uint8(r.width)
				r.classes[ascii.Upper(c)] = uint8(r.width)
				r.width++
			}
		}
	}
	r.next, r.found = make([]uint16, r.width), make([][]uint16, 1)
	for i, s := range r.sequences {
		if s.word == "" {
			r.wordless = append(r.wordless, i)
			continue
		}
		state := 0
		for _, c := range []byte(s.word) {
			to := &r.next[state*r.width+int(r.classes[c])]
			if *to == 0 {
				if len(r.found) == maxStates {
					return fmt.Errorf("counts: list of robots: more than %d states", maxStates)
				}
				*to = uint16(len(r.found))
				state = int(*to)
				r.next, r.found = append(r.next, make([]uint16, r.width)...), append(r.found, nil)
				continue
			}
			state = int(*to)
		}
		r.found[state] = append(r.found[state], uint16(i))
	}
	r.link()
	return nil
}

// link completes the automaton with the transitions to shorter words, in the order of the lengths.
func (r *robots) link() {
	shorter := make([]uint16, len(r.found)) // for each state, the state of its longest proper suffix
	queue := []int{}
	for c := range r.width {
		if to := int(r.next[c]); to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		suffix := int(shorter[state])
		r.found[state] = append(r.found[state], r.found[suffix]...)
		for c := range r.width {
			to := &r.next[state*r.width+c]
			by := r.next[suffix*r.width+c]
			if *to == 0 {
				*to = by
				continue
			}
			shorter[*to] = by
			queue = append(queue, int(*to))
		}
	}
}

func (r *robots) match(agent string) bool {
	for _, i := range r.wordless {
		s := &r.sequences[i]
		for at := 0; at+len(s.sets) <= len(agent); at++ {
			if r.matchAt(s, agent, at) {
				return true
			}
			if s.begin {
				break
			}
		}
	}
	state := 0
	for i := 0; i < len(agent); i++ {
		state = int(r.next[state*r.width+int(r.classes[agent[i]])])
		for _, n := range r.found[state] {
			if s := &r.sequences[n]; r.matchAt(s, agent, i+1-s.after) {
				return true
			}
		}
	}
	return false
}

func (r *robots) matchAt(s *sequence, agent string, at int) bool {
	if at < 0 || s.begin && at > 0 || at+len(s.sets) > len(agent) || s.end && at+len(s.sets) < len(agent) {
		return false
	}
	for i, set := range s.sets {
		if !r.sets[set].has(agent[at+i]) {
			return false
		}
	}
	return true
}
