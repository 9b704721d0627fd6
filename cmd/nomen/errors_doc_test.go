package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/problempage"
	"github.com/nomen-project/nomen/uri"
)

// TestErrorsDocument checks that the references of errors and rules are up to date;
// -update-docs writes them.
func TestErrorsDocument(t *testing.T) {
	for file, want := range map[string]string{
		"../../docs/reference/errors.md": errorsReference(),
		"../../docs/reference/rules.md":  rulesReference(t),
	} {
		got, err := os.ReadFile(file)
		if string(got) == want {
			continue
		}
		if !*updateDocs {
			t.Fatalf("%s is not up to date (%v): go test ./cmd/nomen -run TestErrorsDocument -update-docs", file, err)
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const generatedErrors = "<!-- Generated from the tables of the code: go test ./cmd/nomen -run TestErrorsDocument -update-docs -->\n\n"

// errorsReference returns the reference of errors as Markdown.
func errorsReference() string {
	var b strings.Builder
	exit := strings.Split(rootLong, "\n\n")[1]
	_, exit, _ = strings.Cut(exit, "standard error. ")
	b.WriteString(generatedErrors + `# Errors

A message says what is wrong, quotes the value, and says what to do: ` + "`--head \"x\": must be SIZE:HASH, as printed by verify`" + `. Offsets are in bytes from 0, lines and columns from 1. On a terminal a caret is below the invalid character.

| you see | read |
| --- | --- |
| a message of the command ` + "`nomen`" + ` | [Errors of commands](#errors-of-commands) |
| an error page, or an HTTP status from 400, for a name | [Responses to requests for names](#responses-to-requests-for-names) |
| ` + "`application/problem+json`" + ` from the admin API | [Problems of the admin API](#problems-of-the-admin-api) |
| a response of the protocol of 1995 | [The protocol of 1995](#the-protocol-of-1995) |
| the name of a rule, such as ` + "`check-digit`" + ` | [Rules](rules.md) |
| a fault of the disk or the database | [Failures](failures.md) |

## Errors of commands

` + strings.ReplaceAll(exit, "\n", " ") + " If a remedy below is in quotation marks, the command appends it to the message.\n\n| error | exit status | cause | what to do |\n| --- | --- | --- | --- |\n")
	for _, f := range failures() {
		remedy := f.remedy
		if f.add != "" {
			remedy = strings.TrimSpace("\"" + f.add + "\" " + remedy)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", f.title, f.status, cell(f.cause), cell(remedy))
	}
	b.WriteString("\n## Responses to requests for names\n\nThese responses come from the public listener and from the gateway. A response in `application/problem+json` has a URI in `type` that ends with the type below. The server has a page about each type at `/-/problems/TYPE`.\n\n")
	writeKinds(&b, problempage.Kinds())
	b.WriteString("\n## Problems of the admin API\n\nThe server has a page about each type at `/-/problems/TYPE`.\n\n")
	writeKinds(&b, adminapi.Kinds())
	b.WriteString("\n## The protocol of 1995\n\nThe statuses are those of [requests for names](#responses-to-requests-for-names), with other reason phrases. A request without a version (`GET alb002`) gets only the body, which begins with the problem.\n\n| type | reason phrase |\n| --- | --- |\n")
	for k := nomen.Malformed; k <= nomen.Denied; k++ {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k, cmp.Or(k.Phrase(), "the reason phrase of the status"))
	}
	return b.String()
}

// writeKinds writes a table of kinds of problems.
func writeKinds(b *strings.Builder, kinds []adminapi.Kind) {
	b.WriteString("| status | type | title | cause | what to do |\n| --- | --- | --- | --- | --- |\n")
	for _, k := range kinds {
		var statuses []string
		for _, s := range k.Statuses {
			statuses = append(statuses, strconv.Itoa(s))
		}
		kind := ""
		if k.Name != "" {
			kind = "`" + k.Name + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", strings.Join(statuses, ", "), kind, cell(k.Title), cell(k.Cause), cell(k.Remedy))
	}
}

var documentNamed = regexp.MustCompile(`docs/(\w+)/([\w-]+)\.md`)

// cell returns text for a cell of a table, with links for the names of documents.
func cell(text string) string {
	text = documentNamed.ReplaceAllStringFunc(text, func(s string) string {
		m := documentNamed.FindStringSubmatch(s)
		target := "../" + m[1] + "/" + m[2] + ".md"
		if m[1] == "reference" {
			target = m[2] + ".md"
		}
		return "[" + strings.ReplaceAll(m[2], "-", " ") + "](" + target + ")"
	})
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}

// constructors are the functions that make errors about rules, by directory: the indices of
// the rule and of the message among the arguments; -1 if it has none.
var constructors = []struct {
	dir, title string
	calls      map[string][2]int
}{
	{"urn", "URNs (RFC 8141, RFC 2141, the draft of 2012)", map[string][2]int{"fail": {2, 3}}},
	{"name", "Names and prefixes", map[string][2]int{"newError": {2, 3}}},
	{"internal/pid", "ark, doi, hdl, info and tag", map[string][2]int{"flaw": {2, 3}}},
	{"namespace", "Namespaces of URNs", map[string][2]int{"broken": {2, 3}, "wrongCheck": {1, -1}, "wrongByte": {2, 3}}},
	{"scheme", "Schemes of URIs in the five drafts", map[string][2]int{"Broken": {2, 3}, "Refuse": {2, 3}}},
	{"scheme/extra", "Other schemes of URIs", map[string][2]int{"Broken": {2, 3}, "Refuse": {2, 3}}},
	{"scheme/internal/layout", "Checks that several schemes share", map[string][2]int{"Broken": {2, 3}, "Refuse": {2, 3}}},
	{"registrar", "Fields of records and authorities", map[string][2]int{"faultf": {1, 2}}},
	{"rule", "Patterns and templates of rules", map[string][2]int{"Error": {2, 3}}},
	{"mint", "Templates of new names", map[string][2]int{"fault": {1, 2}}},
	{"discover", "DNS rules and tables", map[string][2]int{"refuse": {2, 3}}},
}

// anyRule stands for rules that the source has in a variable.
const anyRule = "*several rules*"

// rulesReference returns the reference of rules as Markdown.
func rulesReference(t *testing.T) string {
	var b strings.Builder
	b.WriteString(generatedErrors + `# Rules

An error about an identifier, a template or a field of a record names the rule that the input violates, such as ` + "`NID`" + `. A rule is a production of an RFC or of another document, with the name that it has there, or a rule of nomen. See also [Errors](errors.md).

In a message below, ` + "`...`" + ` stands for a value from the input. A message without a subject, such as "begins with a hyphen", is about the part of the input that the rule describes, or about the field. Semicolons separate the messages of a rule. The row *several rules* has messages of more than one rule. A message can end with "did you mean" and a correction.

## Syntax of URIs

The rules are the productions of RFC 3986, and for IRIs those of RFC 3987. With ` + "`--dialect`" + `, they are the productions of the [document of the dialect](../glossary.md#documents): ` + "`rfc6874`" + `, ` + "`2003`" + `, ` + "`1997`" + ` or ` + "`1993`" + `. The messages:

| message |
| --- |
`)
	for c := uri.CodeNone + 1; !strings.HasPrefix(c.String(), "code "); c++ {
		fmt.Fprintf(&b, "| %s |\n", cell(c.String()))
	}
	for _, c := range constructors {
		rules := rulesIn(t, c.dir, c.calls)
		if len(rules) == 0 {
			t.Errorf("%s: no rules found", c.dir)
		}
		fmt.Fprintf(&b, "\n## %s\n\n| rule | message |\n| --- | --- |\n", c.title)
		var names []string
		for rule := range rules {
			names = append(names, rule)
		}
		slices.Sort(names)
		for _, rule := range names {
			slices.Sort(rules[rule])
			fmt.Fprintf(&b, "| %s | %s |\n", cell(rule), cell(strings.Join(slices.Compact(rules[rule]), "; ")))
		}
	}
	return b.String()
}

// rulesIn returns the messages of each rule in the sources of a package.
func rulesIn(t *testing.T, dir string, calls map[string][2]int) map[string][]string {
	t.Helper()
	rules := map[string][]string{}
	files := sourcesOf(t, filepath.Join("../..", filepath.FromSlash(dir)))
	global, constants := map[string]string{}, map[string]string{}
	for _, f := range files {
		for _, d := range f.Decls {
			if _, ok := d.(*ast.GenDecl); ok {
				addConstants(global, d)
			}
		}
	}
	add := func(function string, args []ast.Expr) {
		at, ok := calls[function]
		if !ok || len(args) <= max(at[0], at[1]) {
			return
		}
		rule, message := literal(args[at[0]], constants), "is ..., should be ..."
		if at[1] >= 0 {
			message = literal(args[at[1]], constants)
		}
		if function == "wrongByte" && message != "" && message != "..." {
			message = "expected " + message
		}
		if rule == "" || rule == "..." {
			rule = anyRule
		}
		if message != "" && message != "..." {
			rules[rule] = append(rules[rule], message)
		}
	}
	inspect := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch fn := n.Fun.(type) {
			case *ast.Ident:
				add(fn.Name, n.Args)
			case *ast.SelectorExpr:
				add(fn.Sel.Name, n.Args)
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && len(n.Elts) == 4 {
				add(id.Name, n.Elts)
			}
		}
		return true
	}
	for _, f := range files {
		for _, d := range f.Decls { // constants of a function are not visible in others
			constants = maps.Clone(global)
			addConstants(constants, d)
			ast.Inspect(d, inspect)
		}
	}
	return rules
}

// addConstants adds the strings that n declares to constants.
func addConstants(constants map[string]string, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for i := range min(len(v.Names), len(v.Values)) {
				if s := literal(v.Values[i], nil); s != "" && s != "..." {
					constants[v.Names[i].Name] = s
				}
			}
		}
		return true
	})
}

// sourcesOf parses the sources of a package, except its tests.
func sourcesOf(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: no sources: %v", dir, err)
	}
	for _, file := range all {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := goparser.ParseFile(token.NewFileSet(), file, nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name != "main" {
			files = append(files, f)
		}
	}
	return files
}

var verb = regexp.MustCompile(`%[-+#.0-9]*[a-zA-Z]`)

// literal returns the text of an expression, with ... for what is not constant.
func literal(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return strings.ReplaceAll(verb.ReplaceAllString(s, "..."), "%%", "%")
		}
	case *ast.Ident:
		if s := constants[e.Name]; s != "" {
			return s
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return strings.ReplaceAll(literal(e.X, constants)+literal(e.Y, constants), "......", "...")
		}
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return literal(e.Args[0], constants)
		}
	}
	return "..."
}

// unseen are errors of libraries that users of the command cannot cause, or that a command
// turns into its own message.
var unseen = map[string]string{
	"uri.InputError":     "an interface; its types have rows",
	"store.ChangeError":  "a fault of the caller",
	"gateway.LimitError": "the server answers 429 or 503",
}

// TestErrorsHaveRows checks that each exported error type and sentinel of the libraries which
// the command uses has a row in the table of failures.
func TestErrorsHaveRows(t *testing.T) {
	rows := map[string]bool{}
	for _, f := range failures() {
		if f.title == "" || f.cause == "" || f.add == "" && f.remedy == "" {
			t.Errorf("%+v: a row without cause or remedy", f)
		}
		for _, of := range f.of {
			typ := reflect.TypeOf(of)
			if typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			rows[path.Base(typ.PkgPath())+"."+typ.Name()] = true
			rows[of2text(of)] = true
		}
	}
	found := 0
	for _, dir := range []string{".", "uri", "iri", "urn", "name", "namespace", "rule", "store", "store/pebblestore", "store/pgstore", "registrar", "bulk", "bulk/from/ezid", "bulk/from/noid", "adminapi", "client", "client/cache", "discover", "fetch", "crawl", "mint", "mint/reserve", "format", "extract", "conform", "gateway", "internal/replay"} {
		for _, f := range sourcesOf(t, filepath.Join("../..", filepath.FromSlash(dir))) {
			for _, d := range f.Decls {
				decl, ok := d.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, s := range decl.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && !s.Assign.IsValid() && s.Name.IsExported() && strings.HasSuffix(s.Name.Name, "Error") {
						found++
						if id := f.Name.Name + "." + s.Name.Name; !rows[id] && unseen[id] == "" {
							t.Errorf("%s has no row in failures (cmd/nomen/remedy.go)", id)
						}
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d types of errors found", found)
	}
}

// of2text returns the text of a sentinel, "" for a nil pointer.
func of2text(of error) string {
	if v := reflect.ValueOf(of); v.Kind() == reflect.Pointer && v.IsNil() {
		return ""
	}
	if errors.As(of, new(usageError)) {
		return ""
	}
	return of.Error()
}

var statusNamed = regexp.MustCompile(`http\.(Status[A-Z]\w+)`)

// TestStatusesHaveRows checks that each HTTP status of an error in the sources of the servers
// is in a table of kinds.
func TestStatusesHaveRows(t *testing.T) {
	public, admin := statusesOf(problempage.Kinds()), statusesOf(adminapi.Kinds())
	for dir, known := range map[string]map[int]bool{"server": public, "gateway": public, "internal/wire": public, "format": public, "server/admin": admin, "adminapi": admin} {
		files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range statusNamed.FindAllStringSubmatch(string(source), -1) {
				if s := statusNumber(m[1]); s >= 400 && !known[s] {
					t.Errorf("%s: %s has no row", file, m[1])
				}
			}
		}
	}
}

// statusNumber returns the number of a constant of net/http, 0 if it is unknown.
func statusNumber(constant string) int {
	for s := 100; s < 600; s++ {
		if text := http.StatusText(s); text != "" && "Status"+strings.NewReplacer(" ", "", "-", "").Replace(text) == constant {
			return s
		}
	}
	return 0
}

func statusesOf(kinds []adminapi.Kind) map[int]bool {
	all := map[int]bool{}
	for _, k := range kinds {
		for _, s := range k.Statuses {
			all[s] = true
		}
	}
	return all
}
