package rewrite

import (
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strconv"
)

// An Expression is a parsed regular expression from a web server configuration.
type Expression struct {
	tree *syntax.Regexp
	fold bool
}

// Parse parses a regular expression. If fold is true, the expression ignores case. Groups 1 to 9
// get names that consist of the prefix and the number. Parse returns an error for unsupported
// syntax, such as back-references and look-around assertions.
func Parse(s string, fold bool, prefix string) (*Expression, error) {
	flags := syntax.Perl
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(s, flags)
	if err != nil {
		return nil, fmt.Errorf("unsupported regular expression: %w", err)
	}
	rename(tree, prefix)
	return &Expression{tree, fold}, nil
}

// rename names the groups 1 to 9, and removes the names of all other groups.
func rename(t *syntax.Regexp, prefix string) {
	if t.Op == syntax.OpCapture {
		t.Name = ""
		if t.Cap <= maxGroup {
			t.Name = prefix + strconv.Itoa(t.Cap)
		}
	}
	for _, sub := range t.Sub {
		rename(sub, prefix)
	}
}

const maxGroup = 9 // the last group to which targets can refer

// Groups returns the number of groups in the expression.
func (e *Expression) Groups() int { return e.tree.MaxCap() }

// Anywhere returns the expression in the form for a condition of a rule. A condition may match
// anywhere in a value.
func (e *Expression) Anywhere() string { return e.tree.String() }

// Whole returns the expression in the form for a rule, whose expression must match the whole
// element of a name. If group is not "", the match of the original expression becomes a group with
// this name.
func (e *Expression) Whole(group string) string {
	t := clone(e.tree)
	before, after := ".*?", ".*"
	if cutBegin(t) {
		before = ""
	}
	if cutEnd(t) {
		after = ""
	}
	s := t.String()
	switch {
	case group != "":
		s = "(?P<" + group + ">" + s + ")"
	case t.Op == syntax.OpAlternate:
		s = "(?:" + s + ")"
	}
	if s = before + s + after; s == "" || s == "(?:)" {
		return "^$" // a rule needs an expression
	}
	return s
}

func clone(t *syntax.Regexp) *syntax.Regexp {
	c := *t
	c.Sub = make([]*syntax.Regexp, len(t.Sub))
	for i, sub := range t.Sub {
		c.Sub[i] = clone(sub)
	}
	c.Rune = slices.Clone(t.Rune)
	return &c
}

// cutBegin removes "^" from the beginning of an expression. It returns false if not all
// alternatives begin with "^".
func cutBegin(t *syntax.Regexp) bool { return cut(t, syntax.OpBeginText, 0) }

// cutEnd removes "$" from the end of an expression. It returns false if not all alternatives end
// with "$".
func cutEnd(t *syntax.Regexp) bool { return cut(t, syntax.OpEndText, -1) }

// cut removes an assertion at the beginning (side 0) or the end (side -1) of an expression.
func cut(t *syntax.Regexp, op syntax.Op, side int) bool {
	if !has(t, op, side) {
		return false
	}
	drop(t, op, side)
	return true
}

func has(t *syntax.Regexp, op syntax.Op, side int) bool {
	switch t.Op {
	case op:
		return true
	case syntax.OpConcat:
		return has(t.Sub[at(t, side)], op, side)
	case syntax.OpCapture:
		return has(t.Sub[0], op, side)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(t.Sub, func(sub *syntax.Regexp) bool { return !has(sub, op, side) })
	}
	return false
}

func drop(t *syntax.Regexp, op syntax.Op, side int) {
	switch t.Op {
	case op:
		*t = syntax.Regexp{Op: syntax.OpEmptyMatch}
	case syntax.OpConcat:
		i := at(t, side)
		if drop(t.Sub[i], op, side); t.Sub[i].Op == syntax.OpEmptyMatch {
			t.Sub = slices.Delete(t.Sub, i, i+1)
		}
		switch len(t.Sub) {
		case 0:
			*t = syntax.Regexp{Op: syntax.OpEmptyMatch}
		case 1:
			*t = *t.Sub[0]
		}
	case syntax.OpCapture, syntax.OpAlternate:
		for _, sub := range t.Sub {
			drop(sub, op, side)
		}
	}
}

func at(t *syntax.Regexp, side int) int {
	if side == 0 {
		return 0
	}
	return len(t.Sub) - 1
}

// MatchesAll reports whether the expression is certain to match every nonempty text.
func (e *Expression) MatchesAll() bool {
	t := clone(e.tree)
	begins := cutBegin(t)
	ends := cutEnd(t)
	for t.Op == syntax.OpCapture {
		t = t.Sub[0]
	}
	switch t.Op {
	case syntax.OpEmptyMatch:
		return !begins || !ends
	case syntax.OpStar, syntax.OpPlus:
		return t.Sub[0].Op == syntax.OpAnyChar || t.Sub[0].Op == syntax.OpAnyCharNotNL
	}
	return false
}

// BeginsWithSlash reports whether the expression matches only texts that begin with a slash. A
// RewriteRule with such a pattern in an .htaccess file never matches.
func (e *Expression) BeginsWithSlash() bool {
	first := e.first()
	return first != nil && first.Op == syntax.OpLiteral && first.Rune[0] == '/'
}

// MayMatchAfter reports whether the expression could match a text that begins with a prefix.
func (e *Expression) MayMatchAfter(prefix string) bool {
	prog, err := syntax.Compile(e.tree.Simplify())
	if err != nil {
		return true
	}
	states := map[uint32]bool{}
	matched := follow(prog, states, uint32(prog.Start), true, prefix == "")
	for at, r := range prefix {
		end := at+len(string(r)) == len(prefix)
		next := map[uint32]bool{}
		for pc := range states {
			if i := &prog.Inst[pc]; isRune(i) && i.MatchRune(r) {
				matched = follow(prog, next, i.Out, false, end) || matched
			}
		}
		// A match can begin anywhere, unless the expression prevents it.
		matched = follow(prog, next, uint32(prog.Start), false, end) || matched
		states = next
	}
	return matched || slices.ContainsFunc(slices.Collect(maps.Keys(states)), func(pc uint32) bool { return isRune(&prog.Inst[pc]) })
}

func isRune(i *syntax.Inst) bool {
	return i.Op == syntax.InstRune || i.Op == syntax.InstRune1 || i.Op == syntax.InstRuneAny || i.Op == syntax.InstRuneAnyNotNL
}

// follow adds the instructions that a program reaches from pc without reading a character. It
// reports whether the program matches. The parameters begin and end say whether the text begins or
// could end here.
func follow(prog *syntax.Prog, states map[uint32]bool, pc uint32, begin, end bool) bool {
	if states[pc] {
		return false
	}
	states[pc] = true
	switch i := &prog.Inst[pc]; i.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		first := follow(prog, states, i.Out, begin, end)
		return follow(prog, states, i.Arg, begin, end) || first
	case syntax.InstCapture, syntax.InstNop:
		return follow(prog, states, i.Out, begin, end)
	case syntax.InstEmptyWidth:
		switch needs := syntax.EmptyOp(i.Arg); {
		case needs&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0 && !begin:
		case needs&(syntax.EmptyEndText|syntax.EmptyEndLine) != 0 && !end:
		default:
			return follow(prog, states, i.Out, begin, end)
		}
	}
	return false
}

// Never reports whether the expression matches no text at all, such as "a$1", in which text follows
// the end.
func (e *Expression) Never() bool {
	prog, err := syntax.Compile(e.tree.Simplify())
	if err != nil {
		return false
	}
	type state struct {
		pc         uint32
		begun, end bool // a character was read; the end of the text was required
	}
	seen := map[state]bool{}
	open := []state{{uint32(prog.Start), false, false}, {uint32(prog.Start), true, false}} // a match can begin anywhere
	for len(open) > 0 {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		switch i := &prog.Inst[s.pc]; {
		case i.Op == syntax.InstMatch:
			return false
		case i.Op == syntax.InstAlt, i.Op == syntax.InstAltMatch:
			open = append(open, state{i.Out, s.begun, s.end}, state{i.Arg, s.begun, s.end})
		case i.Op == syntax.InstCapture, i.Op == syntax.InstNop:
			open = append(open, state{i.Out, s.begun, s.end})
		case i.Op == syntax.InstEmptyWidth:
			needs := syntax.EmptyOp(i.Arg)
			if s.begun && needs&syntax.EmptyBeginText != 0 {
				continue
			}
			open = append(open, state{i.Out, s.begun, s.end || needs&syntax.EmptyEndText != 0})
		case isRune(i) && !s.end:
			open = append(open, state{i.Out, true, false})
		}
	}
	return true
}

// Literal returns the only text that the expression matches, if it matches a whole text.
func (e *Expression) Literal() (string, bool) {
	t := clone(e.tree)
	begins := cutBegin(t)
	ends := cutEnd(t)
	for t.Op == syntax.OpCapture {
		t = t.Sub[0]
	}
	switch {
	case !begins || !ends || t.Flags&syntax.FoldCase != 0:
	case t.Op == syntax.OpEmptyMatch:
		return "", true
	case t.Op == syntax.OpLiteral:
		return string(t.Rune), true
	}
	return "", false
}

// first returns the part after "^" if the expression matches only at the beginning of a text, and
// otherwise nil.
func (e *Expression) first() *syntax.Regexp {
	t := clone(e.tree)
	if !cutBegin(t) {
		return nil
	}
	for t.Op == syntax.OpConcat || t.Op == syntax.OpCapture {
		t = t.Sub[0]
	}
	return t
}
