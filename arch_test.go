package nomen_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The house: which package stands on which floor, which others of ours it may
// import, and which modules of others. The reasons are in docs/explanation/design.md. A
// package that is not in the table does not belong to the house.
//
// Imports of ours must come from lower floors. Test files are exempt, and so
// are packages named main below another package (generators).
var house = []room{
	{floor: 0, dir: "uri"},
	{floor: 0, dir: "internal/wire"},
	{floor: 0, dir: "internal/accept"},
	{floor: 0, dir: "internal/guard"},
	{floor: 0, dir: "internal/flock"},
	{floor: 0, dir: "internal/durable"},
	{floor: 0, dir: "internal/race"},
	{floor: 0, dir: "internal/shown"},
	{floor: 0, dir: "internal/country", theirs: "github.com/oschwald/maxminddb-golang/v2"},

	{floor: 1, dir: "misses", ours: "internal/durable"},
	{floor: 1, dir: "iri", ours: "uri", theirs: "golang.org/x/text golang.org/x/net"},
	{floor: 1, dir: "urn", ours: "uri"},
	{floor: 1, dir: "scheme", ours: "uri"},
	{floor: 1, dir: "internal/location", ours: "uri"},
	{floor: 2, dir: "conform", ours: "urn uri"},
	{floor: 2, dir: "namespace", ours: "urn uri"},
	{floor: 2, dir: "extract", ours: "uri iri urn scheme", theirs: "golang.org/x/net golang.org/x/text"},
	{floor: 3, dir: "name", ours: "namespace scheme urn uri"},
	{floor: 4, dir: ".", ours: "name urn uri"},
	{floor: 4, dir: "discover", ours: "name urn uri", theirs: "github.com/miekg/dns"},
	{floor: 4, dir: "discover/dnstest", theirs: "github.com/miekg/dns"},
	{floor: 4, dir: "mint", ours: "name namespace urn"},
	{floor: 3, dir: "registry", ours: "namespace scheme urn internal/shown"},
	{floor: 5, dir: "format", ours: ". name namespace scheme urn uri internal/shown internal/accept internal/location", theirs: "golang.org/x/text github.com/fxamacker/cbor/v2"},
	{floor: 5, dir: "rule", ours: ". name uri internal/location"},
	{floor: 6, dir: "store", ours: ". rule name urn uri internal/location"},
	{floor: 7, dir: "internal/codec", ours: ". store name"},
	{floor: 7, dir: "internal/gate", ours: "store"},
	{floor: 7, dir: "internal/ledger", ours: "store", theirs: "golang.org/x/mod"},
	{floor: 7, dir: "nomentest", ours: ". store rule name urn uri", theirs: "github.com/google/go-cmp"},
	{floor: 7, dir: "store/pgstore/pgtest"},
	{floor: 7, dir: "internal/rfcindex", ours: "store name", theirs: "github.com/klauspost/compress"},
	{floor: 7, dir: "public", ours: ". name rule store uri"},
	{floor: 7, dir: "resolve", ours: ". store rule name namespace uri urn internal/accept internal/location"},
	{floor: 7, dir: "registrar", ours: ". store rule mint name namespace urn uri internal/location"},
	{floor: 7, dir: "client", ours: ". format discover name scheme urn uri internal/guard internal/race internal/shown", theirs: "golang.org/x/sync golang.org/x/time"},
	{floor: 8, dir: "client/cache", ours: ". client format name uri internal/durable"},
	{floor: 0, dir: "fetch/fetchtest"},
	{floor: 8, dir: "crawl", ours: ". client format name internal/flock internal/shown"},
	{floor: 7, dir: "fetch", ours: ". discover iri name scheme urn uri internal/durable internal/flock internal/guard internal/location internal/race internal/shown", theirs: "github.com/jlaffaye/ftp"},
	{floor: 8, dir: "store/storetest", ours: ". store rule name urn uri internal/codec internal/ledger", theirs: "github.com/google/go-cmp pgregory.net/rapid"},
	{floor: 8, dir: "store/memstore", ours: ". store name internal/codec internal/ledger"},
	{floor: 8, dir: "store/pebblestore", ours: ". store name internal/codec internal/durable internal/gate internal/ledger", theirs: "github.com/cockroachdb/pebble/v2"},
	{floor: 8, dir: "store/cachestore", ours: "store name", theirs: "github.com/maypok86/otter/v2"},
	{floor: 8, dir: "store/pgstore", ours: ". store name internal/codec internal/gate internal/ledger", theirs: "github.com/jackc/pgx/v5"},
	{floor: 7, dir: "bulk/bulktest", ours: ". store name"},
	{floor: 8, dir: "internal/audit", ours: "store name internal/codec internal/ledger"},
	{floor: 8, dir: "mint/reserve", ours: ". mint registrar store name"},
	{floor: 8, dir: "bulk", ours: ". registrar store name namespace urn uri internal/location", theirs: "github.com/klauspost/compress golang.org/x/text"},
	{floor: 9, dir: "adminapi", ours: ". bulk misses registrar store rule name urn uri"},
	{floor: 9, dir: "gateway", ours: ". client discover format name namespace scheme store uri urn internal/guard internal/race internal/shown internal/location", theirs: "golang.org/x/time"},
	{floor: 10, dir: "server", ours: ". adminapi bulk gateway internal/audit internal/durable mint mint/reserve misses registrar registry format store rule name scheme urn uri internal/accept internal/wire internal/guard internal/shown internal/location", theirs: "github.com/prometheus/client_golang github.com/klauspost/compress golang.org/x/sync golang.org/x/time"},
	{floor: 11, dir: "cmd/nomen", ours: "*", theirs: "*"},
	{floor: 11, dir: "scripts/attacks"},
	{floor: 11, dir: "scripts/faults"},
	{floor: 11, dir: "scripts/ha"},
}

const module = "github.com/nomen-project/nomen"

// A room is one package of the house.
type room struct {
	floor  int
	dir    string // "." is the root
	ours   string // directories of packages it may import; "*" for all
	theirs string // modules it may import; "*" for all
}

func TestHouse(t *testing.T) {
	for _, fault := range inspect(os.DirFS("."), house) {
		t.Error(fault)
	}
}

// TestHouseNoticesFaults shows that each rule can fail.
func TestHouseNoticesFaults(t *testing.T) {
	table := []room{{floor: 0, dir: "low"}, {floor: 1, dir: "mid", ours: "low", theirs: "example.org/lib"}, {floor: 1, dir: "odd", ours: "mid"}}
	file := func(src string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(src)} }
	good := fstest.MapFS{
		"low/low.go":      file("// Package low is below.\npackage low"),
		"mid/mid.go":      file("// Package mid is above.\npackage mid\nimport _ \"" + module + "/low\"\nimport _ \"example.org/lib/sub\"\nimport _ \"os\""),
		"mid/mid_test.go": file("package mid\nimport _ \"example.org/other\""),
		"odd/odd.go":      file("// Package odd is odd.\npackage odd"),
	}
	if got := inspect(good, table); len(got) != 0 {
		t.Errorf("a sound house has faults: %q", got)
	}
	for _, tt := range []struct{ name, file, src, want string }{
		{"forbidden package", "low/x.go", "package low\nimport _ \"" + module + "/mid\"", "low may not import " + module + "/mid"},
		{"sibling in the table", "odd/x.go", "package odd\nimport _ \"" + module + "/mid\"", "odd (floor 1) imports mid (floor 1)"},
		{"forbidden module", "low/x.go", "package low\nimport _ \"example.org/lib\"", "low may not import example.org/lib"},
		{"module with a longer name", "mid/x.go", "package mid\nimport _ \"example.org/library\"", "mid may not import example.org/library"},
		{"package not in the table", "new/x.go", "// Package new is new.\npackage new", "new is not in the table"},
		{"no package comment", "low/low.go", "package low", "low has no package comment"},
		{"init function", "low/x.go", "package low\nfunc init() {}", "low/x.go: init function"},
		{"package called util", "util/x.go", "// Package util is.\npackage util", "util is not in the table"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := maps.Clone(good)
			bad[tt.file] = file(tt.src)
			if got := inspect(bad, table); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, tt.want) }) {
				t.Errorf("got %q, want a fault with %q", got, tt.want)
			}
		})
	}
}

// A found is what the sources of one directory say.
type found struct {
	commented bool
	imports   map[string]bool
	faults    []string
}

// inspect reads the sources of a tree and returns what is wrong by the table.
func inspect(tree fs.FS, table []room) []string {
	packages, faults := readSources(tree)
	rooms := map[string]room{}
	for _, r := range table {
		rooms[r.dir] = r
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p, r := packages[dir], rooms[dir]
		faults = append(faults, p.faults...)
		if r.dir == "" {
			faults = append(faults, dir+" is not in the table of floors")
			continue
		}
		if !p.commented {
			faults = append(faults, dir+" has no package comment")
		}
		for _, imp := range slices.Sorted(maps.Keys(p.imports)) {
			if fault := judge(r, imp, rooms); fault != "" {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

// readSources parses every Go file that is no test and no generator.
func readSources(tree fs.FS) (map[string]*found, []string) {
	packages, faults := map[string]*found{}, []string(nil)
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipDir(tree, file)
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(file)
		if parsed.Name.Name == "main" && !strings.HasPrefix(dir, "cmd/") {
			return nil // a generator
		}
		if packages[dir] == nil {
			packages[dir] = &found{imports: map[string]bool{}}
		}
		packages[dir].read(file, parsed)
		return nil
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	return packages, faults
}

// skipDir passes over other modules, test data and hidden folders.
func skipDir(tree fs.FS, dir string) error {
	base := path.Base(dir)
	if dir == "." {
		return nil
	}
	if _, err := fs.Stat(tree, path.Join(dir, "go.mod")); err == nil || base == "testdata" || strings.HasPrefix(base, ".") {
		return fs.SkipDir
	}
	return nil
}

func (p *found) read(file string, f *ast.File) {
	if f.Doc != nil && strings.HasPrefix(f.Doc.Text(), "Package "+f.Name.Name+" ") || f.Name.Name == "main" && f.Doc != nil {
		p.commented = true
	}
	for _, i := range f.Imports {
		s, _ := strconv.Unquote(i.Path.Value)
		p.imports[s] = true
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			p.faults = append(p.faults, file+": init function")
		}
	}
}

// judge returns what is wrong with an import of a room, or "".
func judge(r room, imp string, rooms map[string]room) string {
	if imp == module || strings.HasPrefix(imp, module+"/") {
		dir := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
		if dir == "" {
			dir = "."
		}
		other := rooms[dir]
		switch {
		case r.ours == "*":
			return ""
		case !slices.Contains(strings.Fields(r.ours), dir):
			return fmt.Sprintf("%s may not import %s", r.dir, imp)
		case other.floor >= r.floor:
			return fmt.Sprintf("%s (floor %d) imports %s (floor %d)", r.dir, r.floor, dir, other.floor)
		}
		return ""
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") || r.theirs == "*" {
		return "" // the standard library
	}
	for _, m := range strings.Fields(r.theirs) {
		if imp == m || strings.HasPrefix(imp, m+"/") {
			return ""
		}
	}
	return fmt.Sprintf("%s may not import %s", r.dir, imp)
}

// TestWords keeps paths of machines out of the sources and documents.
func TestWords(t *testing.T) {
	forbidden := []string{"/" + "work/", "/" + "root/", "/" + "home/"}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base == "bin" || base != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(file) {
		case ".go", ".md", ".json", ".toml", "":
		default:
			return nil
		}
		text, err := os.ReadFile(file)
		for _, w := range forbidden {
			if strings.Contains(string(text), w) && !strings.Contains(string(text), "\x00") {
				t.Errorf("%s contains %q", file, w)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
