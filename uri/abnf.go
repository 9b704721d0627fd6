package uri

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/internal/ascii"
)

// An abnf is a grammar in ABNF (RFC 5234). Its rules must not be recursive.
type abnf struct {
	names []string          // the names of the rules, in the order of the document
	rules map[string]string // the text after the equals sign

	mu       sync.Mutex
	machines map[string]*machine
}

// notInDocument is a comment line in a grammar file. The rules after this line are used by the
// document, but defined elsewhere.
const notInDocument = "; Not in the document:"

func newABNF(text string) *abnf {
	g := &abnf{rules: map[string]string{}, machines: map[string]*machine{}}
	own, name := true, ""
	for line := range strings.Lines(text) {
		switch before, after, ok := strings.Cut(line, "="); {
		case line[0] == ';':
			own = own && !strings.HasPrefix(line, notInDocument)
		case ok && line[0] != ' ':
			name = strings.TrimSpace(before)
			g.rules[name] = after
			if own {
				g.names = append(g.names, name)
			}
		default:
			g.rules[name] += line
		}
	}
	return g
}

// match reports whether all of s matches a rule. If not, end is the offset of the first octet at
// which s can no longer match.
func (g *abnf) match(rule, s string) (end int, ok bool) {
	g.mu.Lock()
	m := g.machines[rule]
	if m == nil {
		m = g.compile(rule)
		g.machines[rule] = m
	}
	g.mu.Unlock()
	return m.run(s)
}

// A machine is a nondeterministic finite automaton. It starts in state 0.
type machine struct {
	states []state
	last   int // the state that the machine must be in after the whole input
}

// A state has two kinds of transitions. The machine can move to the states in next without reading
// an octet. It can follow a step if the next octet is in the range of the step.
type state struct {
	next  []int
	steps []step
}

type step struct {
	low, high byte
	to        int
}

func (m *machine) run(s string) (end int, ok bool) {
	entered := make([]int, len(m.states)) // for each state, 1 + the offset at which it was last entered
	now, then := m.enter(nil, entered, 0, 0), []int(nil)
	for i := range len(s) {
		then = then[:0]
		for _, from := range now {
			for _, step := range m.states[from].steps {
				if step.low <= s[i] && s[i] <= step.high {
					then = m.enter(then, entered, step.to, i+1)
				}
			}
		}
		if len(then) == 0 {
			return i, false
		}
		now, then = then, now
	}
	return len(s), slices.Contains(now, m.last)
}

// enter adds to list a state and all states that the machine can reach from this state without
// reading an octet. It skips states that were already entered at this offset.
func (m *machine) enter(list, entered []int, state, offset int) []int {
	if entered[state] > offset {
		return list
	}
	entered[state] = offset + 1
	n := len(list)
	for list = append(list, state); n < len(list); n++ {
		for _, to := range m.states[list[n]].next {
			if entered[to] <= offset {
				entered[to] = offset + 1
				list = append(list, to)
			}
		}
	}
	return list
}

func (g *abnf) compile(rule string) *machine {
	c := compiler{grammar: g}
	c.last = c.rule(c.state(), rule)
	return &c.machine
}

// A compiler translates the text of a rule into states. Each method compiles one part of the rule.
// Its argument is the state in which the machine begins to match the part, and its result is the
// state in which the match ends.
type compiler struct {
	machine
	grammar *abnf
	text    string
}

// state adds a state that can be reached from the given states without reading an octet.
func (c *compiler) state(from ...int) int {
	c.states = append(c.states, state{})
	for _, s := range from {
		c.states[s].next = append(c.states[s].next, len(c.states)-1)
	}
	return len(c.states) - 1
}

func (c *compiler) rule(from int, name string) int {
	text, ok := c.grammar.rules[name]
	if !ok {
		panic(fmt.Sprintf("uri: internal error: no rule %q", name))
	}
	rest := c.text
	c.text = text
	to := c.alternatives(from)
	c.text = rest
	return to
}

func (c *compiler) alternatives(from int) int {
	to := c.state(c.sequence(from))
	for c.peek() == '/' {
		c.text = c.text[1:]
		end := c.sequence(from)
		c.states[end].next = append(c.states[end].next, to)
	}
	return to
}

func (c *compiler) sequence(from int) int {
	for strings.IndexByte("/)]\x00", c.peek()) < 0 {
		from = c.repetition(from)
	}
	return from
}

// repetition reads an element with an optional count: *element, 1*element,
// 2*4element or 3element.
func (c *compiler) repetition(from int) int {
	least, counted := c.number()
	most, limited := least, counted
	if c.peek() == '*' {
		c.text = c.text[1:]
		most, limited = c.number()
	} else if !counted {
		return c.element(from)
	}
	text := c.text
	for range least {
		c.text = text
		from = c.element(from)
	}
	if !limited {
		loop := c.state(from)
		c.text = text
		end := c.element(loop)
		c.states[end].next = append(c.states[end].next, loop)
		return c.state(loop)
	}
	for range most - least {
		c.text = text
		from = c.state(from, c.element(from))
	}
	return from
}

// element reads a group, an option, a literal, a range of octets or the name of
// a rule.
func (c *compiler) element(from int) int {
	switch first := c.peek(); first {
	case '(', '[':
		c.text = c.text[1:]
		to := c.alternatives(from)
		c.text = c.text[1:] // the closing parenthesis or bracket
		if first == '[' {
			c.states[from].next = append(c.states[from].next, to)
		}
		return to
	case '"':
		literal, rest, _ := strings.Cut(c.text[1:], `"`)
		c.text = rest
		for i := range len(literal) {
			from = c.letter(from, literal[i])
		}
		return from
	case '%':
		c.text = c.text[len("%x"):]
		low, high, isRange := strings.Cut(c.take(func(b byte) bool { return ascii.IsHex(b) || b == '-' }), "-")
		if !isRange {
			high = low
		}
		return c.octets(from, hexOctet(low), hexOctet(high))
	default:
		return c.rule(from, c.take(func(b byte) bool { return ascii.IsLetter(b) || ascii.IsDigit(b) || b == '-' || b == '_' }))
	}
}

func hexOctet(s string) byte {
	n, err := strconv.ParseUint(s, 16, 8)
	if err != nil {
		panic("uri: internal error: " + err.Error())
	}
	return byte(n)
}

func (c *compiler) letter(from int, octet byte) int {
	to := c.octets(from, octet, octet)
	if ascii.IsLetter(octet) {
		c.states[from].steps = append(c.states[from].steps, step{octet ^ 0x20, octet ^ 0x20, to})
	}
	return to
}

func (c *compiler) octets(from int, low, high byte) int {
	to := c.state()
	c.states[from].steps = append(c.states[from].steps, step{low, high, to})
	return to
}

func (c *compiler) peek() byte {
	if c.text = strings.TrimLeft(c.text, " \n"); c.text == "" {
		return 0
	}
	return c.text[0]
}

func (c *compiler) take(kind func(byte) bool) string {
	n := 0
	for n < len(c.text) && kind(c.text[n]) {
		n++
	}
	taken := c.text[:n]
	c.text = c.text[n:]
	return taken
}

func (c *compiler) number() (n int, ok bool) {
	c.peek()
	n, err := strconv.Atoi(c.take(ascii.IsDigit))
	return n, err == nil
}
