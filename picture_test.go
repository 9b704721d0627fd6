package nomen_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write the generated parts of documents")

// TestLayersPicture compares the source of the drawing in docs/explanation/design.md with
// the table of packages. With -update-docs it writes the source; 'make pictures' draws it.
func TestLayersPicture(t *testing.T) {
	const file = "docs/pictures/layers.dot"
	want := layersPicture(layout)
	if *updateDocs {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s differs from the table of packages (%v): run go test . -run TestLayersPicture -update-docs, then make pictures", file, err)
	}
}

// layersPicture returns a graph of the packages that other programs can import, and the
// command. An arrow leads to a package that is imported, unless another way leads there too.
func layersPicture(table []modulePackage) string {
	shown := func(p modulePackage) bool {
		return !strings.Contains("/"+p.dir, "/internal/") && !strings.HasPrefix(p.dir, "scripts/") && !strings.HasSuffix(p.dir, "test")
	}
	imports, layers := map[string][]string{}, map[int][]string{}
	for _, p := range table {
		if !shown(p) {
			continue
		}
		layers[p.layer] = append(layers[p.layer], p.dir)
		for dir := range strings.FieldsSeq(p.ours) {
			if i := slices.IndexFunc(table, func(q modulePackage) bool { return q.dir == dir }); dir == "*" {
				for _, q := range table {
					if shown(q) && q.dir != p.dir {
						imports[p.dir] = append(imports[p.dir], q.dir)
					}
				}
			} else if shown(table[i]) {
				imports[p.dir] = append(imports[p.dir], dir)
			}
		}
	}
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(imports[from], func(dir string) bool { return dir == to || reaches(dir, to) })
	}
	label := func(dir string) string {
		if dir == "." {
			return "nomen"
		}
		return dir
	}
	var b strings.Builder
	b.WriteString(`// The packages in their layers, made from the table in arch_test.go.
digraph layers {
	rankdir = TB; ranksep = 0.45; nodesep = 0.15;
	node [shape = box, style = "rounded,filled", fillcolor = "#f4f6f8", color = "#5b6b7b", fontname = "Helvetica", fontsize = 11, height = 0.3, margin = "0.1,0.03"];
	edge [color = "#9aa7b4", arrowsize = 0.5];
`)
	for layer := 20; layer >= 0; layer-- {
		if len(layers[layer]) == 0 {
			continue
		}
		b.WriteString("	{ rank = same;")
		for _, dir := range layers[layer] {
			fmt.Fprintf(&b, " %q;", label(dir))
		}
		b.WriteString(" }\n")
	}
	for _, p := range table {
		for _, dir := range imports[p.dir] {
			if !slices.ContainsFunc(imports[p.dir], func(other string) bool { return other != dir && reaches(other, dir) }) {
				fmt.Fprintf(&b, "	%q -> %q;\n", label(p.dir), label(dir))
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}
