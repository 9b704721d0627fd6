package rule

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/name"
)

// Limits on the time for one name. A step is the execution of one instruction of a compiled pattern
// for one byte of the element. A step takes longer if the pattern has many groups, because their
// positions are copied. docs/reference/authority.md says how long the slowest accepted set takes.
const (
	maxSteps     = 8 << 20 // steps of all patterns of a set for one name
	maxTestSteps = 4 * maxSteps
	maxExpanded  = 4 * maxExpansion // bytes that a rule can generate for one name
)

// steps returns the maximum number of steps for matching an element. It returns 0 if the pattern
// obviously does not match.
func (p *Pattern) steps(element string) int {
	if p.most >= 0 && len(element) > p.most || !p.mayBegin(element) {
		return 0
	}
	return p.cost * (len(element) + 1)
}

// mayBegin reports whether s begins with p.begin, as every match does.
func (p *Pattern) mayBegin(s string) bool {
	if p.fold {
		return hasFoldedPrefix(s, p.begin)
	}
	return strings.HasPrefix(s, p.begin)
}

// hasFoldedPrefix reports whether s begins with a text, ignoring case in the way of package regexp.
func hasFoldedPrefix(s, begin string) bool {
	for _, want := range begin {
		got, size := utf8.DecodeRuneInString(s)
		if got != want && !strings.EqualFold(string(got), string(want)) {
			return false
		}
		s = s[size:]
	}
	return true
}

// checkCost returns an error if applying the set to a name can take more than maxSteps.
//
// Each pattern begins with literal text, which may be empty. A pattern is tried only for elements
// that begin with this text. If two patterns are tried for the same element, the literal text of
// one is therefore a prefix of the literal text of the other. For each rule, checkCost adds up the
// cost of that rule and of all rules whose literal text is a prefix of its own.
func (c *Compiled) checkCost() error {
	for i := range c.rules {
		if n := len(c.rules[i].pattern.names) - 1; n > maxGroups {
			return &IndexError{i, "match", fmt.Errorf("%d parts or groups, more than %d", n, maxGroups)}
		}
		if all := c.costWith(&c.rules[i].pattern); all > maxSteps {
			return &IndexError{i, "match", fmt.Errorf("this rule and others tried for the same names take up to %d steps for one name, more than %d: "+
				"begin patterns with literal text, bound their parts as in {n:d1-9}, or use fewer rules or groups", all, maxSteps)}
		}
	}
	if c.tested > maxTestSteps {
		return &IndexError{len(c.rules) - 1, "tests", fmt.Errorf("all tests together take more than %d steps: use fewer tests or shorter names", maxTestSteps)}
	}
	return nil
}

// costWith returns the maximum number of steps for an element that begins with the literal text of
// a pattern. The result includes the cost of each condition of the set once.
func (c *Compiled) costWith(first *Pattern) (all int) {
	for i := range c.conditions {
		all += c.conditions[i].cost * (maxValue + 1)
	}
	for i := range c.rules {
		p := &c.rules[i].pattern
		if !p.mayBegin(first.begin) && !(first.fold && hasFoldedPrefix(first.begin, p.begin)) {
			continue
		}
		length := name.MaxLength
		if p.most >= 0 {
			length = min(length, p.most)
		}
		all += p.cost * (length + 1)
	}
	return all
}

// beginning returns literal text with which every match of an expression begins. The expression
// must begin with "^". If fold is true, the text ignores case.
func beginning(re *syntax.Regexp) (text string, fold bool) {
	for (re.Op == syntax.OpConcat || re.Op == syntax.OpCapture) && len(re.Sub) > 0 {
		next := re.Sub[0]
		if next.Op == syntax.OpBeginText && len(re.Sub) > 1 {
			next = re.Sub[1]
		}
		re = next
	}
	if re.Op == syntax.OpLiteral {
		return string(re.Rune), re.Flags&syntax.FoldCase != 0
	}
	return "", false
}

// unbounded means that the length of a match has no limit.
const unbounded = -1

// longest returns the length in bytes of the longest match of an expression, or unbounded. The
// depth of the recursion is that of the expression, which package syntax limits.
func longest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return utf8.UTFMax * len(re.Rune)
		}
		return len(string(re.Rune))
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpCapture, syntax.OpQuest:
		return longest(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return unbounded
	case syntax.OpRepeat:
		one := longest(re.Sub[0])
		if re.Max < 0 || one < 0 {
			return unbounded
		}
		return bounded(re.Max * one)
	case syntax.OpConcat:
		return longestOf(re.Sub, func(all, n int) int { return bounded(all + n) })
	case syntax.OpAlternate:
		return longestOf(re.Sub, func(all, n int) int { return max(all, n) })
	}
	return 0
}

// longestOf combines the results of longest for the parts of an expression. If one result is
// unbounded, so is the combination.
func longestOf(parts []*syntax.Regexp, combine func(all, n int) int) (all int) {
	for _, part := range parts {
		n := longest(part)
		if n < 0 {
			return unbounded
		}
		if all = combine(all, n); all < 0 {
			return unbounded
		}
	}
	return all
}

// bounded returns n, or unbounded if n exceeds the length of any element.
func bounded(n int) int {
	if n > name.MaxLength {
		return unbounded
	}
	return n
}
