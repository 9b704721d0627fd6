package uri

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A slow and readable interpreter of ABNF, taken directly from the documents: a
// rule runs on a set of offsets in the input and returns the set of offsets where
// it may end. The files are in abnf.

// maxSlow is the length of the longest input for the slow recognisers.
const maxSlow = 255

// places is a set of offsets from 0 to maxSlow.
type places [4]uint64

func (p *places) add(i int)      { p[i>>6] |= 1 << (i & 63) }
func (p *places) has(i int) bool { return p[i>>6]>>(i&63)&1 == 1 }
func (p *places) empty() bool    { return *p == places{} }

func (p *places) union(q places) (grown bool) {
	old := *p
	for i := range p {
		p[i] |= q[i]
	}
	return *p != old
}

// A node is a piece of a grammar.
type node interface {
	run(s string, from places) places
	generate(r *rand.Rand, depth int) string
}

type (
	alternatives []node
	sequence     []node
	repetition   struct {
		node        node
		least, most int
	}
	literalText struct {
		grammar *slowGrammar
		text    string
	}
	octetRange struct {
		grammar   *slowGrammar
		low, high byte
	}
	ruleRef struct {
		grammar *slowGrammar
		name    string
	}
)

func (n alternatives) run(s string, from places) (to places) {
	for _, a := range n {
		to.union(a.run(s, from))
	}
	return to
}

func (n sequence) run(s string, at places) places {
	for _, a := range n {
		at = a.run(s, at)
	}
	return at
}

func (n repetition) run(s string, at places) places {
	for range n.least {
		at = n.node.run(s, at)
	}
	to := at
	for i := n.least; i < n.most && !at.empty(); i++ {
		at = n.node.run(s, at)
		if !to.union(at) {
			break
		}
	}
	return to
}

func (n literalText) run(s string, from places) (to places) {
	n.grammar.reach(s, from, n.text)
	for i := 0; i+len(n.text) <= len(s); i++ {
		if from.has(i) && strings.EqualFold(s[i:i+len(n.text)], n.text) {
			to.add(i + len(n.text))
		}
	}
	return to
}

func (n octetRange) run(s string, from places) (to places) {
	n.grammar.reach(s, from, "?")
	for i := range len(s) {
		if from.has(i) && n.low <= s[i] && s[i] <= n.high {
			to.add(i + 1)
		}
	}
	return to
}

func (n ruleRef) run(s string, from places) places {
	if from.empty() {
		return from
	}
	if n.name == "other" { // 1993: schemes without their own form
		return n.otherSchemes(s, from)
	}
	return n.grammar.rule(n.name).run(s, from)
}

func (n ruleRef) otherSchemes(s string, from places) places {
	if !from.has(0) {
		return places{}
	}
	for _, known := range []string{"ftp", "afs", "wais", "prospero", "gopher", "telnet", "rlogin", "tn3270"} {
		if len(s) > len(known) && s[len(known)] == ':' && strings.EqualFold(s[:len(known)], known) {
			return places{}
		}
	}
	return n.grammar.rule("scheme").run(s, from)
}

func (n alternatives) generate(r *rand.Rand, depth int) string {
	return n[r.IntN(len(n))].generate(r, depth+1)
}

func (n sequence) generate(r *rand.Rand, depth int) string {
	var b strings.Builder
	for _, a := range n {
		b.WriteString(a.generate(r, depth+1))
	}
	return b.String()
}

func (n repetition) generate(r *rand.Rand, depth int) string {
	times := n.least
	if depth < 60 {
		times += r.IntN(min(n.most-n.least, 4) + 1)
	}
	var b strings.Builder
	for range times {
		b.WriteString(n.node.generate(r, depth+1))
	}
	return b.String()
}

func (n literalText) generate(*rand.Rand, int) string { return n.text }

func (n octetRange) generate(r *rand.Rand, _ int) string {
	return string(rune(int(n.low) + r.IntN(int(n.high)-int(n.low)+1)))
}

func (n ruleRef) generate(r *rand.Rand, depth int) string {
	return n.grammar.rule(n.name).generate(r, depth+1)
}

// A slowGrammar is a complete grammar.
type slowGrammar struct {
	names []string
	rules map[string]node

	reached bool // the input ended where a terminal was expected
}

// reach records whether the end of s is a place where a text could continue.
func (g *slowGrammar) reach(s string, from places, text string) {
	for i := max(0, len(s)-len(text)+1); i <= len(s); i++ {
		if from.has(i) && strings.EqualFold(s[i:], text[:min(len(s)-i, len(text))]) {
			g.reached = true
		}
	}
}

// viable reports whether s is the beginning of a string that matches a rule.
func (g *slowGrammar) viable(rule, s string) bool {
	g.reached = false
	return g.matches(rule, s) || g.reached
}

func (g *slowGrammar) rule(name string) node {
	n, ok := g.rules[name]
	if !ok {
		panic("no rule " + name)
	}
	return n
}

// matches reports whether the whole of s matches a rule.
func (g *slowGrammar) matches(rule, s string) bool {
	var from places
	from.add(0)
	to := g.rule(rule).run(s, from)
	return to.has(len(s))
}

// loadABNF reads the grammar of a dialect.
func loadABNF(t testing.TB, d Dialect) *slowGrammar {
	t.Helper()
	data, err := os.ReadFile("abnf/" + d.String() + ".abnf")
	if err != nil {
		t.Fatal(err)
	}
	g := &slowGrammar{rules: map[string]node{}}
	var name, body string
	flush := func() {
		if name != "" {
			p := abnfParser{g, body}
			g.names = append(g.names, name)
			g.rules[name] = p.alternatives()
		}
	}
	for line := range strings.Lines(string(data)) {
		if before, after, ok := strings.Cut(line, "="); ok && line[0] != ';' && line[0] != ' ' {
			flush()
			name, body = strings.TrimSpace(before), after
		} else if line[0] != ';' {
			body += line
		}
	}
	flush()
	return g
}

type abnfParser struct {
	grammar *slowGrammar
	text    string
}

func (p *abnfParser) peek() byte {
	p.text = strings.TrimLeft(p.text, " \n")
	if p.text == "" {
		return 0
	}
	return p.text[0]
}

func (p *abnfParser) alternatives() node {
	out := alternatives{p.sequence()}
	for p.peek() == '/' {
		p.text = p.text[1:]
		out = append(out, p.sequence())
	}
	return out
}

func (p *abnfParser) sequence() node {
	var out sequence
	for c := p.peek(); c != 0 && c != '/' && c != ')' && c != ']'; c = p.peek() {
		out = append(out, p.element())
	}
	return out
}

func (p *abnfParser) element() node {
	p.peek()
	least, hasLeast := p.number()
	most := maxSlow + 1
	star := p.text[0] == '*'
	if star {
		p.text = p.text[1:]
		if n, ok := p.number(); ok {
			most = n
		}
	} else if hasLeast {
		most = least
	}
	n := p.primary()
	if star || hasLeast {
		return repetition{n, least, most}
	}
	return n
}

func (p *abnfParser) number() (int, bool) {
	n := 0
	for n < len(p.text) && isDigitB(p.text[n]) {
		n++
	}
	v, err := strconv.Atoi(p.text[:n])
	p.text = p.text[n:]
	return v, err == nil
}

func (p *abnfParser) primary() node {
	switch p.text[0] {
	case '(', '[':
		closing, optional := map[byte]byte{'(': ')', '[': ']'}[p.text[0]], p.text[0] == '['
		p.text = p.text[1:]
		n := p.alternatives()
		if p.peek() != closing {
			panic("unbalanced: " + p.text)
		}
		p.text = p.text[1:]
		if optional {
			return repetition{n, 0, 1}
		}
		return n
	case '"':
		text, rest, _ := strings.Cut(p.text[1:], `"`)
		p.text = rest
		return literalText{p.grammar, text}
	case '%':
		return p.octets()
	default:
		n := 0
		for n < len(p.text) && (isAlphanum(p.text[n]) || p.text[n] == '-' || p.text[n] == '_') {
			n++
		}
		name := p.text[:n]
		p.text = p.text[n:]
		return ruleRef{p.grammar, name}
	}
}

func (p *abnfParser) octets() node {
	n := len("%x")
	for n < len(p.text) && (isHexB(p.text[n]) || p.text[n] == '-') {
		n++
	}
	low, high, isRange := strings.Cut(p.text[len("%x"):n], "-")
	p.text = p.text[n:]
	if !isRange {
		high = low
	}
	out := octetRange{grammar: p.grammar}
	if _, err := fmt.Sscanf(low+" "+high, "%x %x", &out.low, &out.high); err != nil {
		panic(err)
	}
	return out
}
