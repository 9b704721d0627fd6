package messagestest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/nomen-project/nomen/internal/messages"
)

// uses are the places where keys are used in templates and code.
type uses map[string][]use

// A use is a place where a key is used, and the number of arguments there, or -1 if unknown.
type use struct {
	file      string
	arguments int
}

// faults returns keys without a text, texts without a use, and uses with a wrong number of
// arguments.
func (u uses) faults(c *messages.Catalogue, o Options) (faults []string) {
	for _, key := range slices.Sorted(maps.Keys(u)) {
		for _, use := range u[key] {
			switch n := c.Arguments(key); {
			case c.Forms(key) == nil:
				faults = append(faults, fmt.Sprintf("%s: %s%s.toml has no text %q", use.file, o.Prefix, c.Tag(), key))
			case use.arguments >= 0 && use.arguments != n:
				faults = append(faults, fmt.Sprintf("%s: %q has %d arguments, found %d", use.file, key, n, use.arguments))
			}
		}
	}
	for _, key := range c.Keys() {
		if len(u[key]) == 0 && !strings.HasPrefix(key, "format.") {
			faults = append(faults, fmt.Sprintf("%s%s.toml: %s is not used", o.Prefix, c.Tag(), key))
		}
	}
	return faults
}

// readUses reads templates, in which {{t "key" arguments}} is a use, and Go files, in which each
// string that looks like a key in a section of c is a use.
func readUses(files []string, c *messages.Catalogue) (uses, error) {
	r := reader{uses: uses{}, sections: map[string]bool{}}
	for _, key := range c.Keys() {
		section, _, _ := strings.Cut(key, ".")
		r.sections[section] = true
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		r.file = file
		switch {
		case strings.HasSuffix(file, "_test.go"):
			continue
		case strings.HasSuffix(file, ".go"):
			err = r.code(b)
		default:
			err = r.template(string(b))
		}
		if err != nil {
			return nil, err
		}
	}
	return r.uses, nil
}

// A reader finds the uses in a file.
type reader struct {
	uses     uses
	sections map[string]bool
	file     string
}

func (r *reader) add(key string, arguments int) {
	r.uses[key] = append(r.uses[key], use{r.file, arguments})
}

func (r *reader) isKey(s string) bool {
	section, name, ok := strings.Cut(s, ".")
	isFile := slices.Contains([]string{"csv", "html", "json", "jsonl", "tsv", "toml", "txt", "xlsx"}, name)
	return ok && r.sections[section] && messages.IsWord(name) && !isFile
}

func (r *reader) code(src []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), r.file, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	called := map[ast.Expr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if key, ok := r.literal(n); ok && isText(n.Fun) {
				called[n.Args[0]] = true
				r.add(key, countArguments(n))
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && !called[n] && r.isKey(s) {
				r.add(s, -1)
			}
		}
		return true
	})
	return nil
}

// literal returns the first argument of a call if it is a key.
func (r *reader) literal(call *ast.CallExpr) (string, bool) {
	if len(call.Args) == 0 {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	key, err := strconv.Unquote(lit.Value)
	section, name, _ := strings.Cut(key, ".")
	return key, err == nil && messages.IsWord(section) && messages.IsWord(name)
}

func isText(fun ast.Expr) bool {
	s, ok := fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"text", "Text", "Lookup", "T", "t", "say"}, s.Sel.Name)
}

// countArguments returns the number of arguments after the key.
func countArguments(call *ast.CallExpr) int {
	if call.Ellipsis.IsValid() {
		return -1
	}
	return len(call.Args) - 1
}

func (r *reader) template(src string) error {
	t := parse.New(r.file)
	t.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := t.Parse(src, "", "", trees); err != nil {
		return err
	}
	for _, tree := range trees {
		r.node(tree.Root)
	}
	return nil
}

func (r *reader) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, sub := range n.Nodes {
			r.node(sub)
		}
	case *parse.ActionNode:
		r.pipe(n.Pipe)
	case *parse.TemplateNode:
		r.pipe(n.Pipe)
	case *parse.IfNode:
		r.branch(&n.BranchNode)
	case *parse.WithNode:
		r.branch(&n.BranchNode)
	case *parse.RangeNode:
		r.branch(&n.BranchNode)
	case *parse.PipeNode:
		r.pipe(n)
	case *parse.CommandNode:
		r.command(n)
	}
}

func (r *reader) branch(n *parse.BranchNode) {
	r.pipe(n.Pipe)
	r.node(n.List)
	r.node(n.ElseList)
}

func (r *reader) pipe(n *parse.PipeNode) {
	if n == nil {
		return
	}
	for _, c := range n.Cmds {
		r.node(c)
	}
}

// command finds a call of the function t, or of the method T, with a key and its arguments.
func (r *reader) command(n *parse.CommandNode) {
	if isTextFunction(n.Args[0]) && len(n.Args) > 1 {
		if key, ok := n.Args[1].(*parse.StringNode); ok {
			r.add(key.Text, len(n.Args)-2)
		}
	}
	for _, a := range n.Args {
		r.node(a)
	}
}

// isTextFunction reports whether a node is the function t, or a method T such as $.T.
func isTextFunction(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.IdentifierNode:
		return n.Ident == "t"
	case *parse.FieldNode:
		return n.Ident[len(n.Ident)-1] == "T"
	case *parse.VariableNode:
		return n.Ident[len(n.Ident)-1] == "T"
	}
	return false
}
