package rewrite

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Requirement is a condition on a text: that an expression matches it, or that it does not.
type Requirement struct {
	Expression *Expression
	Before     string // the expression is for this text followed by the text
	Not        bool
}

// Limits of the search for a text.
const (
	maxRequirements = 64
	maxSteps        = 1 << 16 // instructions of expressions for a character
)

// Witness returns a shortest text without control characters that meets all requirements. If it is
// certain that there is no such text, none is true. Otherwise, found is false if the search ended at
// a limit.
func Witness(all []Requirement) (text string, found, none bool) {
	if len(all) > maxRequirements {
		return "", false, false
	}
	var progs []*syntax.Prog
	for _, r := range all {
		prog, err := syntax.Compile(r.Expression.tree.Simplify())
		if err != nil || hasBoundary(prog) {
			return "", false, false
		}
		progs = append(progs, prog)
	}
	type node struct {
		text string
		runs []run
	}
	first := node{"", make([]run, len(all))}
	for i, r := range all {
		first.runs[i] = start(progs[i])
		for _, c := range r.Before {
			first.runs[i] = first.runs[i].next(progs[i], c)
		}
	}
	characters := alphabet(progs)
	seen, steps := map[string]bool{key(first.runs): true}, 0
	for open := []node{first}; len(open) > 0; open = open[1:] {
		n := open[0]
		meets := true
		for i, r := range all {
			meets = meets && n.runs[i].matches() != r.Not
		}
		if meets {
			return n.text, true, false
		}
		for _, c := range characters {
			next := node{n.text + string(c), make([]run, len(all))}
			for i := range all {
				next.runs[i] = n.runs[i].next(progs[i], c)
				if steps += 1 + len(next.runs[i].states); steps > maxSteps {
					return "", false, false
				}
			}
			if k := key(next.runs); !seen[k] {
				seen[k] = true
				open = append(open, next)
			}
		}
	}
	return "", false, true
}

// A run is a program that has read a part of a text.
type run struct {
	states  []uint32
	matched bool // whatever follows
	atEnd   bool // if the text ends here
}

func start(prog *syntax.Prog) run { return newRun(prog, []uint32{uint32(prog.Start)}, true) }

// newRun returns a run that goes on at these instructions.
func newRun(prog *syntax.Prog, from []uint32, begin bool) (r run) {
	states, last := map[uint32]bool{}, map[uint32]bool{}
	for _, pc := range from {
		r.matched = follow(prog, states, pc, begin, false) || r.matched
		r.atEnd = follow(prog, last, pc, begin, true) || r.atEnd
	}
	for pc := range states {
		if isRune(&prog.Inst[pc]) {
			r.states = append(r.states, pc)
		}
	}
	slices.Sort(r.states)
	return r
}

func (r run) matches() bool { return r.matched || r.atEnd }

func (r run) next(prog *syntax.Prog, c rune) run {
	if r.matched {
		return run{matched: true}
	}
	from := []uint32{uint32(prog.Start)} // a match can begin anywhere
	for _, pc := range r.states {
		if i := &prog.Inst[pc]; i.MatchRune(c) {
			from = append(from, i.Out)
		}
	}
	return newRun(prog, from, false)
}

func key(runs []run) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprint(&b, r)
	}
	return b.String()
}

func hasBoundary(prog *syntax.Prog) bool {
	return slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool {
		return i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
	})
}

// alphabet returns characters such that the programs treat each other one like one of these, and no
// two of these alike. The usual ones in names come first.
func alphabet(progs []*syntax.Prog) (all []rune) {
	seen := map[string]bool{}
	add := func(c rune) {
		if !unicode.IsPrint(c) {
			return
		}
		var treated []byte
		for _, prog := range progs {
			for pc := range prog.Inst {
				if i := &prog.Inst[pc]; isRune(i) {
					treated = strconv.AppendBool(treated, i.MatchRune(c))
				}
			}
		}
		if k := string(treated); !seen[k] {
			seen[k] = true
			all = append(all, c)
		}
	}
	for _, c := range "ax7Z/-_" {
		add(c)
	}
	for c := ' '; c < unicode.MaxASCII; c++ {
		add(c)
	}
	add('é')
	for _, prog := range progs {
		for _, i := range prog.Inst {
			for _, c := range i.Rune {
				if c > unicode.MaxASCII {
					add(c - 1)
					add(c)
					add(c + 1)
				}
			}
		}
	}
	return all
}
