// Command mutate measures how good the tests are: it changes the program in small ways, one at a
// time, and counts how many of the changes the tests of the changed package notice.
//
//	go run ./scripts/mutate [-seed N] [-n N] [-state FILE] [-again] [PACKAGE...]
//
// An operator is a kind of small change, and a mutation is an operator at one place in the code.
// Mutate draws the mutations from all places in the packages where an operator applies: the same
// number from each package, and from each operator in turn. The draw depends only on the seed and
// on the text of each place, so editing other code does not affect it. Mutate passes a mutation to
// the compiler as an overlay, so no file in the tree changes. A mutation that does not compile is
// replaced by the next one of the package.
//
// Mutate leaves out places on which no test should depend: generated files, text for people
// (strings with a space, arguments of errors and of log lines, messages), calls of a logger, sizes
// of buffers (arguments of make), durations in units of time (30*time.Second), and declarations
// that only the compiler checks.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// packages are the packages to measure if none are named.
var packages = []string{"client", "server", "gateway", "resolve", "urn", "rule"}

// A mutation replaces the bytes from Start to End of a file.
type mutation struct {
	File     string
	Line     int
	Operator string
	Old, New string
	Place    string // the line of the file that contains the old text
	Again    int    // how many equal mutations precede it in the file

	start, end int
}

func (m mutation) String() string { return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.change()) }

func (m mutation) change() string {
	return fmt.Sprintf("%s: %s -> %s", m.Operator, brief(m.Old), brief(m.New))
}

// key identifies the mutation in a way that survives changes of line numbers.
func (m mutation) key() string {
	return fmt.Sprintf("%s: %s in %s #%d", m.File, m.change(), brief(m.Place), m.Again)
}

func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "(nothing)"
	}
	if len(s) > 80 {
		s = s[:77] + "..."
	}
	return s
}

// The outcomes of a mutation.
const (
	killed     = "killed"
	survived   = "survived"
	broken     = "does not compile"
	equivalent = "equivalent"
)

// A result is one line of the state file: a mutation and its outcome.
type result struct {
	Mutation, Outcome, By string
	Seconds               float64
}

func main() {
	seed := flag.Uint64("seed", 1995, "the draw")
	n := flag.Int("n", 60, "how many mutations, over all packages")
	state := flag.String("state", "", "a `file` that keeps results, so that a run can go on where it ended")
	again := flag.Bool("again", false, "test the survivors of the state file again")
	timeout := flag.Duration("timeout", 5*time.Minute, "of the tests of one package; a mutation that makes them last longer is killed")
	list := flag.Bool("list", false, "list the draw and test nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		packages = flag.Args()
	}
	if err := run(*seed, *n, *state, *again, *list, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(seed uint64, n int, state string, again, list bool, timeout time.Duration) error {
	known, err := readState(state, again)
	if err != nil {
		return err
	}
	var survivors []mutation
	count := map[string]int{}
	for i, dir := range packages {
		want := n / len(packages)
		if i < n%len(packages) {
			want++
		}
		all, err := draw(dir, seed)
		if err != nil {
			return err
		}
		for _, m := range all {
			if want == 0 {
				break
			}
			if list {
				fmt.Println(m)
				want--
				continue
			}
			r, ok := known[m.key()]
			if reason := equivalents[m.key()]; reason != "" {
				r = result{Mutation: m.key(), Outcome: equivalent, By: reason}
			} else if !ok {
				if r, err = test(dir, m, timeout); err != nil {
					return err
				}
				if err := keep(state, r); err != nil {
					return err
				}
			}
			fmt.Printf("%-16s %5.1fs %s %s\n", r.Outcome, r.Seconds, m, r.By)
			count[r.Outcome]++
			if r.Outcome == survived {
				survivors = append(survivors, m)
			}
			if r.Outcome == killed || r.Outcome == survived {
				want--
			}
		}
	}
	if list {
		return nil
	}
	fmt.Printf("\n%d mutations: %d killed, %d survived (%d more did not compile, %d more change nothing)\n",
		count[killed]+count[survived], count[killed], count[survived], count[broken], count[equivalent])
	for _, m := range survivors {
		fmt.Println("survived:", m.key())
	}
	return nil
}

// draw returns the mutations of a package in the order in which to try them. It takes one of each
// operator in turn, at shuffled places.
func draw(dir string, seed uint64) ([]mutation, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("no Go files in %s: run it at the root of the module", dir))
	}
	byOperator := map[string][]mutation{}
	for _, file := range files { // Glob has sorted them
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(src, []byte("// Code generated ")) {
			continue
		}
		found, err := sites(file, src)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			byOperator[m.Operator] = append(byOperator[m.Operator], m)
		}
	}
	rank := func(s string) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, s))
		return string(sum[:])
	}
	operators := slices.SortedFunc(maps.Keys(byOperator), func(a, b string) int { return cmp.Compare(rank(dir+a), rank(dir+b)) })
	for _, all := range byOperator {
		slices.SortFunc(all, func(a, b mutation) int { return cmp.Compare(rank(a.key()), rank(b.key())) })
	}
	var order []mutation
	for i := 0; ; i++ {
		before := len(order)
		for _, operator := range operators {
			if i < len(byOperator[operator]) {
				order = append(order, byOperator[operator][i])
			}
		}
		if len(order) == before {
			return order, nil
		}
	}
}

// test builds and tests a package with one mutation.
func test(dir string, m mutation, timeout time.Duration) (result, error) {
	r := result{Mutation: m.key()}
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(tmp)
	src, err := os.ReadFile(m.File)
	if err != nil {
		return r, err
	}
	whole, err := filepath.Abs(m.File)
	if err != nil {
		return r, err
	}
	changed := filepath.Join(tmp, "changed.go")
	overlay := filepath.Join(tmp, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {whole: changed}})
	if err != nil {
		return r, err
	}
	text := slices.Concat(src[:m.start], []byte(m.New), src[m.end:])
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return r, err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return r, err
	}
	start := time.Now()
	if err := exec.Command("go", "build", "-p", "1", "-overlay", overlay, "./"+dir).Run(); err != nil {
		r.Outcome = broken
		return r, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-p", "1", "-vet=off", "-count=1", "-failfast", "-timeout", timeout.String(), "-overlay", overlay, "./"+dir)
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	r.Seconds = time.Since(start).Seconds()
	r.Outcome = survived
	if err != nil {
		r.Outcome, r.By = killed, by(string(out))
	}
	return r, nil
}

// by finds the first test that failed in the output of go test.
func by(out string) string {
	for line := range strings.Lines(out) {
		for _, begin := range []string{"--- FAIL: ", "panic: ", "fatal error: "} {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), begin); ok {
				return "by " + brief(rest)
			}
		}
	}
	return ""
}

// readState reads the results of earlier runs. With retry, it leaves out the mutations that no test
// noticed, so that they run again. A missing file is empty.
func readState(file string, retry bool) (map[string]result, error) {
	known := map[string]result{}
	if file == "" {
		return known, nil
	}
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if known[r.Mutation] = r; retry && r.Outcome == survived {
			delete(known, r.Mutation)
		}
	}
	return known, nil
}

// keep appends a result to the state file.
func keep(file string, r result) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Close()
}

// sites returns all possible mutations of a file, in the order of the source.
func sites(file string, src []byte) ([]mutation, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	v := &visitor{file: file, src: src, set: set}
	for _, decl := range f.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && (d.Tok == token.IMPORT || asserts(d)) {
			continue
		}
		ast.Inspect(decl, v.visit)
	}
	return v.all, nil
}

// asserts reports whether a declaration is only for the compiler, for example to check that a type
// implements an interface.
func asserts(d *ast.GenDecl) bool {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok {
			return false
		}
		for _, n := range v.Names {
			if n.Name != "_" {
				return false
			}
		}
	}
	return true
}

type visitor struct {
	file string
	src  []byte
	set  *token.FileSet
	all  []mutation
}

func (v *visitor) text(n ast.Node) string {
	return string(v.src[v.set.Position(n.Pos()).Offset:v.set.Position(n.End()).Offset])
}

func (v *visitor) add(operator string, from, to token.Pos, replacement string) {
	start, end := v.set.Position(from), v.set.Position(to)
	line := v.src[start.Offset-start.Column+1:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	m := mutation{
		File: v.file, Line: start.Line, Operator: operator,
		Old: string(v.src[start.Offset:end.Offset]), New: replacement, Place: string(line),
		start: start.Offset, end: end.Offset,
	}
	for _, other := range v.all {
		if other.change() == m.change() && other.Place == m.Place {
			m.Again++
		}
	}
	v.all = append(v.all, m)
}

// equivalents has the mutations without effect outside their package, by key, with the reasons.
var equivalents = map[string]string{
	`rule/template.go: off by one: 0 -> 1 in return 0, &Error{s, i, "literals", "contains " + strconv.QuoteToASCII(s[i:i+1... #0`: "the number beside an error is not used",
	"urn/production.go: off by one: 1 -> 2 in const anyNumber = -1 #0":                                                            "any number below 0 does",
	"client/exchange.go: off by one: 0 -> 1 in stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) }) #0":   "any time that is past does",
}

// comparisons maps each comparison operator to its replacement.
var comparisons = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
}

// visit collects the mutations of a node. It returns false to skip the nodes inside, if the node
// has only text for people.
func (v *visitor) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if v.isForPeople(n) {
			return false
		}
		if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "make" {
			return false
		}
		if len(n.Args) == 1 && !n.Ellipsis.IsValid() {
			v.add("drop call", n.Pos(), n.End(), "("+v.text(n.Args[0])+")")
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Message" || key.Name == "Note" || key.Name == "Help" || key.Name == "Title") {
			return false
		}
	case *ast.Field: // do not change its tag
		return n.Tag == nil
	case *ast.IfStmt:
		v.add("negate condition", n.Cond.Pos(), n.Cond.End(), "!("+v.text(n.Cond)+")")
		if n.Else == nil && n.Init == nil && !v.logs(n.Body) {
			v.add("delete statement", n.Pos(), n.End(), "")
		}
	case *ast.BinaryExpr:
		if unit, ok := n.Y.(*ast.SelectorExpr); ok && n.Op == token.MUL && v.text(unit.X) == "time" {
			return false
		}
		end := n.OpPos + token.Pos(len(n.Op.String()))
		switch other := comparisons[n.Op]; {
		case other != "":
			v.add("change comparison", n.OpPos, end, other)
		case n.Op == token.LAND:
			v.add("swap && and ||", n.OpPos, end, "||")
		case n.Op == token.LOR:
			v.add("swap && and ||", n.OpPos, end, "&&")
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !v.isForPeople(call) {
			v.add("delete statement", n.Pos(), n.End(), "")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			v.add("delete statement", n.Pos(), n.End(), "")
		}
	case *ast.BasicLit:
		v.literal(n)
	}
	return true
}

// literal adds the mutations of a literal: it increases a number by one, or alters a string that is
// not for people.
func (v *visitor) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			v.add("off by one", n.Pos(), n.End(), strconv.FormatInt(i+1, 10))
		}
	case token.STRING:
		s, err := strconv.Unquote(n.Value)
		if err == nil && s != "" && strings.TrimSpace(s) == s && !strings.Contains(s, " ") {
			v.add("alter string", n.Pos(), n.End(), strconv.Quote(s+"x"))
		}
	}
}

// isForPeople reports whether the arguments of a call are for people, because the call makes an
// error, writes a log line or panics.
func (v *visitor) isForPeople(call *ast.CallExpr) bool {
	name := v.text(call.Fun)
	_, method, _ := strings.Cut(name, ".")
	switch name {
	case "panic", "errors.New", "fmt.Errorf", "fmt.Sprintf", "fmt.Sprint":
		return true
	}
	receiver := strings.ToLower(name)
	return strings.Contains(receiver, "log.") || strings.HasPrefix(receiver, "slog.") || strings.HasSuffix(receiver, "errorf") || method == "WithText"
}

// logs reports whether a block does nothing but write to a log.
func (v *visitor) logs(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		if call, ok := e.X.(*ast.CallExpr); !ok || !v.isForPeople(call) {
			return false
		}
	}
	return true
}
