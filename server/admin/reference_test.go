package admin

import (
	"bytes"
	"encoding/json"
	stdflag "flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
)

var updateDocs = stdflag.Bool("update-docs", false, "write the generated documents")

const referenceDocument = "../../docs/reference/admin-api.md"

// TestReferenceDocument checks that the reference of the admin API is up to date. With
// -update-docs it writes the reference.
func TestReferenceDocument(t *testing.T) {
	s, _ := newTestAPI(t, nil)
	want := newReference(t).document(t, s.operations())
	got, err := os.ReadFile(referenceDocument)
	if string(got) == want {
		return
	}
	if !*updateDocs {
		t.Fatalf("%s is not up to date (%v): go test ./server/admin -run TestReferenceDocument -update-docs", referenceDocument, err)
	}
	if err := os.WriteFile(referenceDocument, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

const referenceHead = `<!-- Generated from adminapi/openapi.json: go test ./server/admin -run TestReferenceDocument -update-docs -->

# Admin API

The admin listener serves this API. The server describes it for programs at ` + "`/-/openapi.json`" + `, with the fields of all types.

| subject | rule |
| --- | --- |
| base | All paths below are relative to ` + "`" + adminapi.Root + "`" + `. |
| token | Every request needs a [token](../howto/give-access.md), as ` + "`Authorization: Bearer TOKEN`" + `. |
| role | The role that the token must have. A role includes all roles before it: ` + "`reader`, `editor`, `owner`, `administrator`" + `. |
| administrator of all names | An administrator whose token has no prefixes. |
| name in a path | Send it unescaped, or percent-encode all of it. |
| change | It adds a revision to the history, with time, author and reason. |
| errors | The response is ` + "`application/problem+json`, with one of [these types](errors.md#problems-of-the-admin-api)" + `. |
| ` + "`POST import`, `relocate`, `undo`, `verify`, `backup`" + ` | They start a [job](jobs.md). |

`

// A reference has what adminapi/openapi.json says, as far as the document shows it.
type reference struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]referenceParameter
	}
}

type referenceParameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
}

type referenceOperation struct {
	Tags                 []string
	Summary, Description string
	Parameters           []referenceParameter
	RequestBody          struct{ Content map[string]referenceMedia }
	Responses            map[string]struct {
		Description string
		Content     map[string]referenceMedia
		Headers     map[string]any
	}
}

type referenceMedia struct {
	Schema struct {
		Ref string `json:"$ref"`
	}
	Example json.RawMessage
}

func newReference(t *testing.T) reference {
	t.Helper()
	var r reference
	if err := json.Unmarshal(adminapi.OpenAPI, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// document returns the reference of all operations as Markdown, in a section for each tag.
func (r reference) document(t *testing.T, operations []operation) string {
	t.Helper()
	sections := map[string]string{}
	slices.SortStableFunc(operations, func(a, b operation) int { return strings.Compare(a.path, b.path) })
	for _, op := range operations {
		var o referenceOperation
		if err := json.Unmarshal(r.Paths[adminapi.Root+op.path][strings.ToLower(op.method)], &o); err != nil {
			t.Fatalf("%s %s: %v", op.method, op.path, err)
		}
		if len(o.Tags) != 1 || o.Summary == "" || len(strings.Fields(o.Summary)) > 15 {
			t.Errorf("%s %s: must have one tag and a summary of at most 15 words", op.method, op.path)
			continue
		}
		sections[o.Tags[0]] += r.section(op, o)
	}
	document := referenceHead
	for _, tag := range slices.Sorted(maps.Keys(sections)) {
		document += "## " + tag + "\n\n" + sections[tag]
	}
	return strings.TrimSpace(document) + "\n"
}

// section returns the section about one operation.
func (r reference) section(op operation, o referenceOperation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n%s. Role: `%s`.\n", op.method, op.path, o.Summary, op.role)
	if o.Description != "" {
		b.WriteString("\n" + o.Description + "\n")
	}
	b.WriteString(r.parameters(o) + responses(o) + "\n")
	return b.String()
}

// parameters returns the table of the parameters and the body of a request.
func (r reference) parameters(o referenceOperation) string {
	var rows strings.Builder
	for _, p := range o.Parameters {
		if _, name, ok := strings.Cut(p.Ref, "#/components/parameters/"); ok {
			p = r.Components.Parameters[name]
		}
		where := ""
		if p.In == "header" {
			where = "field "
		}
		fmt.Fprintf(&rows, "| %s`%s` | %s |\n", where, p.Name, referenceCell(p.Description))
	}
	if content := media(o.RequestBody.Content); content != "" {
		fmt.Fprintf(&rows, "| body | %s |\n", referenceCell(content))
	}
	if rows.Len() == 0 {
		return ""
	}
	return "\n| parameter | meaning |\n| --- | --- |\n" + rows.String()
}

// responses returns the table of the responses other than errors that any request can get.
func responses(o referenceOperation) string {
	var b strings.Builder
	b.WriteString("\n| response | type | content |\n| --- | --- | --- |\n")
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		answer := o.Responses[status]
		if answer.Description == "" {
			continue // the problem of any request
		}
		content, types := answer.Description, ""
		if status < "300" {
			types = media(answer.Content)
		}
		if fields := slices.Sorted(maps.Keys(answer.Headers)); len(fields) > 0 {
			content += " Fields: `" + strings.Join(fields, "`, `") + "`."
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", status, types, referenceCell(content))
	}
	return b.String()
}

// media returns the media types of a body, with the type and the example of a body in JSON.
func media(content map[string]referenceMedia) string {
	var all []string
	for _, mediaType := range slices.Sorted(maps.Keys(content)) {
		shown := "`" + mediaType + "`"
		if _, schema, ok := strings.Cut(content[mediaType].Schema.Ref, "#/components/schemas/"); ok {
			shown += " (" + schema + ")"
		}
		if example := content[mediaType].Example; example != nil {
			shown += " such as `" + compacted(example) + "`"
		}
		all = append(all, shown)
	}
	return strings.Join(all, ", ")
}

// referenceCell returns a text that can be in a table.
func referenceCell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}

// compacted returns a value in JSON on one line.
func compacted(value json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return string(value)
	}
	return b.String()
}
