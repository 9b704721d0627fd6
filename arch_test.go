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

// layout says for each package in which layer it is, which packages of this module it may import,
// and which other modules. The reasons are in docs/explanation/design.md. A package that is not in
// the table is an error.
//
// A package may import packages of lower layers, and packages of its own layer that import no
// package of this module. Test files are exempt, and so are packages named main below another
// package (generators).
var layout = []modulePackage{
	{layer: 0, dir: "uri", ours: "internal/ascii"},
	{layer: 0, dir: "internal/ascii"},
	{layer: 0, dir: "internal/tsv"},
	{layer: 0, dir: "internal/wire", ours: "internal/ascii"},
	{layer: 0, dir: "internal/accept", ours: "internal/ascii"},
	{layer: 0, dir: "internal/guard"},
	{layer: 0, dir: "internal/flock"},
	{layer: 0, dir: "internal/durable"},
	{layer: 0, dir: "internal/systemd"},
	{layer: 0, dir: "internal/race"},
	{layer: 0, dir: "internal/trace"},
	{layer: 0, dir: "internal/shown", theirs: "golang.org/x/text"},
	{layer: 0, dir: "internal/testrun"},
	{layer: 0, dir: "internal/browsertest", theirs: "github.com/chromedp/chromedp github.com/chromedp/cdproto"},
	{layer: 0, dir: "internal/country", theirs: "github.com/oschwald/maxminddb-golang/v2"},

	{layer: 0, dir: "internal/paced"},
	{layer: 0, dir: "internal/pacer"},
	{layer: 0, dir: "internal/openfiles"},
	{layer: 0, dir: "internal/quiet"},
	{layer: 0, dir: "internal/rates", theirs: "golang.org/x/time"},
	{layer: 0, dir: "internal/retryafter"},
	{layer: 0, dir: "internal/validator"},
	{layer: 0, dir: "internal/xlsx"},
	{layer: 0, dir: "tlog", theirs: "golang.org/x/mod"},
	{layer: 1, dir: "tlog/witness", ours: "internal/durable internal/flock internal/quiet internal/shown tlog", theirs: "golang.org/x/mod"},
	{layer: 1, dir: "internal/xlsx/xlsxtest", ours: "internal/xlsx"},

	{layer: 1, dir: "internal/chart", ours: "internal/shown"},
	{layer: 1, dir: "internal/messages", ours: "internal/shown", theirs: "golang.org/x/text github.com/pelletier/go-toml/v2"},
	{layer: 2, dir: "internal/messages/messagestest", ours: "internal/messages", theirs: "golang.org/x/text"},
	{layer: 1, dir: "internal/qrcode", ours: "internal/shown", theirs: "rsc.io/qr"},
	{layer: 1, dir: "internal/requestlog", ours: "internal/trace internal/wire internal/ascii"},
	{layer: 1, dir: "internal/anvl", ours: "internal/ascii"},
	{layer: 1, dir: "internal/mail", ours: "internal/guard"},
	{layer: 1, dir: "misses", ours: "internal/durable"},
	{layer: 1, dir: "internal/sbom", ours: "internal/tsv"},
	{layer: 1, dir: "iri", ours: "uri internal/ascii", theirs: "golang.org/x/text golang.org/x/net"},
	{layer: 1, dir: "urn", ours: "internal/ascii internal/tsv uri"},
	{layer: 1, dir: "scheme/internal/layout", ours: "uri internal/ascii"},
	{layer: 1, dir: "internal/pid", ours: "uri internal/ascii"},
	{layer: 2, dir: "scheme", ours: "internal/tsv uri internal/pid internal/ascii scheme/internal/layout"},
	{layer: 3, dir: "scheme/internal/schemetest", ours: "scheme uri"},
	{layer: 3, dir: "scheme/extra", ours: "scheme uri internal/ascii internal/pid scheme/internal/layout"},
	{layer: 2, dir: "internal/location", ours: "uri internal/pid"},
	{layer: 1, dir: "internal/replay", ours: "internal/ascii internal/retryafter internal/shown uri", theirs: "golang.org/x/time"},
	{layer: 2, dir: "conform", ours: "internal/ascii urn uri"},
	{layer: 2, dir: "namespace", ours: "internal/tsv urn uri internal/pid internal/ascii"},
	{layer: 0, dir: "extract/internal/source", theirs: "golang.org/x/net golang.org/x/text"},
	{layer: 1, dir: "extract/mime", ours: "extract/internal/source internal/ascii"},
	{layer: 3, dir: "extract", ours: "extract/internal/source extract/mime uri iri urn scheme namespace internal/pid internal/ascii", theirs: "golang.org/x/net golang.org/x/text"},
	{layer: 3, dir: "name", ours: "internal/ascii namespace urn uri internal/pid"},
	{layer: 4, dir: ".", ours: "name urn uri"},
	{layer: 4, dir: "discover", ours: "internal/race internal/shown name urn uri internal/ascii", theirs: "github.com/miekg/dns"},
	{layer: 4, dir: "discover/dnstest", theirs: "github.com/miekg/dns"},
	{layer: 4, dir: "mint", ours: "name namespace urn uri internal/ascii"},
	{layer: 4, dir: "registry", ours: "site namespace scheme urn internal/shown scheme/extra"},
	{layer: 3, dir: "site", ours: "internal/messages internal/shown"},
	{layer: 5, dir: "format", ours: ". name namespace scheme urn uri internal/shown internal/accept internal/location scheme/extra internal/ascii site", theirs: "golang.org/x/text github.com/fxamacker/cbor/v2"},
	{layer: 5, dir: "rule", ours: ". name uri internal/location internal/ascii"},
	{layer: 5, dir: "internal/question", ours: "internal/ascii . name uri"},
	{layer: 5, dir: "internal/hdl", ours: ". internal/ascii"},
	{layer: 5, dir: "counts", ours: ". internal/ascii internal/pacer"},
	{layer: 6, dir: "counts/countstest", ours: "counts", theirs: "github.com/google/go-cmp pgregory.net/rapid"},
	{layer: 6, dir: "store", ours: ". internal/retryafter rule name urn uri internal/location internal/ascii"},
	{layer: 7, dir: "internal/codec", ours: ". store name"},
	{layer: 7, dir: "internal/ezid", ours: ". internal/anvl internal/ascii name store"},
	{layer: 7, dir: "internal/gate", ours: "store"},
	{layer: 7, dir: "internal/reports", ours: "internal/mail store"},
	{layer: 7, dir: "internal/ledger", ours: "store", theirs: "golang.org/x/mod"},
	{layer: 7, dir: "nomentest", ours: ". store rule name urn uri", theirs: "github.com/google/go-cmp"},
	{layer: 7, dir: "store/pgstore/pgtest"},
	{layer: 7, dir: "internal/rfcindex", ours: "store name", theirs: "github.com/klauspost/compress"},
	{layer: 7, dir: "public", ours: "internal/ascii . name rule store uri"},
	{layer: 7, dir: "resolve", ours: ". store rule name namespace uri urn internal/accept internal/location"},
	{layer: 7, dir: "registrar", ours: ". store rule mint name namespace scheme urn uri internal/location internal/pid scheme/extra internal/ascii internal/pacer"},
	{layer: 7, dir: "value", ours: "internal/ascii . store"},
	{layer: 7, dir: "client", ours: ". format discover name urn uri internal/ascii internal/guard internal/hdl internal/pid internal/race internal/retryafter internal/shown internal/trace", theirs: "golang.org/x/sync golang.org/x/time"},
	{layer: 8, dir: "client/cache", ours: ". client format name uri internal/durable"},
	{layer: 0, dir: "fetch/fetchtest"},
	{layer: 8, dir: "crawl", ours: ". client format name internal/flock internal/shown"},
	{layer: 4, dir: "fetch/plan", ours: "scheme uri scheme/extra internal/ascii"},
	{layer: 7, dir: "fetch", ours: ". discover fetch/plan iri name scheme urn uri internal/durable internal/flock internal/guard internal/location internal/pid internal/race internal/shown scheme/extra", theirs: "github.com/jlaffaye/ftp"},
	{layer: 8, dir: "store/storetest", ours: ". store rule name urn uri internal/codec internal/ledger", theirs: "github.com/google/go-cmp pgregory.net/rapid"},
	{layer: 9, dir: "store/memstore", ours: ". store name internal/check internal/codec internal/ledger internal/reading"},
	{layer: 9, dir: "store/pebblestore", ours: ". store name internal/check internal/codec internal/durable internal/gate internal/ledger internal/quiet internal/reading internal/pacer", theirs: "github.com/cockroachdb/pebble/v2"},
	{layer: 10, dir: "internal/backups", ours: ". internal/durable internal/flock internal/ledger internal/requestlog resolve store store/pebblestore"},
	{layer: 10, dir: "counts/countstore", ours: "counts internal/durable internal/pacer store store/pebblestore", theirs: "github.com/cockroachdb/pebble/v2"},
	{layer: 10, dir: "search", ours: "name . store store/pebblestore internal/pacer", theirs: "github.com/cockroachdb/pebble/v2 golang.org/x/text"},
	{layer: 10, dir: "links", ours: ". discover internal/ascii internal/guard internal/location internal/pacer internal/race internal/retryafter name store store/pebblestore store/pgstore uri", theirs: "github.com/cockroachdb/pebble/v2 golang.org/x/net"},
	{layer: 8, dir: "store/cachestore", ours: "store name", theirs: "github.com/maypok86/otter/v2"},
	{layer: 7, dir: "internal/answercache", ours: "counts store"},
	{layer: 9, dir: "store/pgstore", ours: ". counts store name internal/check internal/codec internal/gate internal/ledger internal/quiet internal/reading internal/pacer", theirs: "github.com/jackc/pgx/v5"},
	{layer: 7, dir: "bulk/bulktest", ours: ". store name"},
	{layer: 8, dir: "internal/check", ours: "store internal/codec internal/ledger internal/pacer"},
	{layer: 7, dir: "internal/reading", ours: "store name"},
	{layer: 8, dir: "tlog/receipt", ours: "internal/codec store tlog", theirs: "golang.org/x/mod"},
	{layer: 9, dir: "tlog/watch", ours: ". format internal/codec internal/durable internal/retryafter internal/shown name store tlog tlog/receipt", theirs: "golang.org/x/mod"},
	{layer: 9, dir: "tlog/publish", ours: ". internal/codec internal/durable internal/ledger internal/quiet name store tlog tlog/receipt tlog/witness", theirs: "golang.org/x/mod"},
	{layer: 8, dir: "internal/audit", ours: "store name internal/codec internal/ledger internal/pacer"},
	{layer: 8, dir: "mint/reserve", ours: "internal/ascii . mint registrar store name"},
	{layer: 8, dir: "bulk", ours: ". internal/ascii internal/ezid internal/hdl registrar rule store name namespace urn uri internal/location internal/pacer internal/xlsx value", theirs: "github.com/klauspost/compress golang.org/x/text"},
	{layer: 9, dir: "bulk/from", ours: ". internal/ascii name store"},
	{layer: 9, dir: "bulk/from/rewrite", ours: "internal/ascii name rule uri"},
	{layer: 10, dir: "bulk/from/htaccess", ours: ". bulk/from bulk/from/rewrite name rule store"},
	{layer: 10, dir: "bulk/from/obo", ours: ". bulk/from bulk/from/rewrite name rule store uri", theirs: "go.yaml.in/yaml/v3"},
	{layer: 10, dir: "bulk/from/ezid", ours: ". bulk/from internal/anvl internal/ezid name store"},
	{layer: 9, dir: "bulk/from/sqldump", ours: "internal/ascii"},
	{layer: 10, dir: "bulk/from/handle", ours: ". bulk/from bulk/from/sqldump internal/ascii internal/hdl name store value"},
	{layer: 10, dir: "bulk/from/links", ours: ". bulk/from bulk/from/sqldump internal/ascii name store"},
	{layer: 10, dir: "bulk/from/noid", ours: ". bulk/from internal/ascii internal/location mint name store"},
	{layer: 8, dir: "internal/health", ours: "internal/requestlog registrar store"},
	{layer: 9, dir: "adminapi", ours: ". bulk internal/ascii internal/retryafter misses registrar store rule name urn uri"},
	{layer: 10, dir: "handover", ours: "adminapi internal/codec internal/ledger name store tlog"},
	{layer: 9, dir: "gateway", ours: ". site internal/paced internal/question internal/rates internal/requestlog internal/retryafter format name namespace scheme store uri urn internal/guard internal/pid internal/race internal/shown internal/location scheme/extra"},
	{layer: 8, dir: "signin", ours: "registrar store", theirs: "github.com/coreos/go-oidc/v3 golang.org/x/oauth2"},
	{layer: 0, dir: "signin/signintest", theirs: "github.com/go-jose/go-jose/v4"},
	{layer: 10, dir: "internal/problempage", ours: ". adminapi format internal/accept"},
	{layer: 10, dir: "dialect", ours: "adminapi counts gateway internal/retryafter name registrar"},
	{layer: 11, dir: "dialect/handle", ours: ". adminapi counts dialect internal/accept internal/ascii internal/hdl internal/retryafter iri name registrar store value"},
	{layer: 11, dir: "server", ours: ". counts dialect internal/answercache site internal/messages internal/qrcode adminapi gateway internal/ascii internal/health internal/openfiles internal/paced internal/problempage internal/question internal/requestlog internal/validator misses registrar registry format store rule name scheme tlog tlog/publish tlog/receipt urn uri internal/accept internal/wire internal/guard internal/pid internal/shown internal/location scheme/extra internal/trace", theirs: "github.com/klauspost/compress golang.org/x/sync"},
	{layer: 11, dir: "server/admin", ours: ". adminapi counts bulk internal/ascii internal/audit internal/durable internal/health internal/paced internal/problempage internal/question internal/rates internal/requestlog internal/retryafter internal/shown internal/validator links mint mint/reserve misses registrar resolve format store name tlog/publish tlog/receipt internal/trace internal/pacer"},
	{layer: 11, dir: "pages", ours: ". adminapi bulk format internal/ascii internal/audit internal/location internal/messages internal/paced internal/requestlog internal/shown misses name namespace registrar rule signin store value internal/chart internal/qrcode"},
	{layer: 11, dir: "dialect/ark", ours: ". adminapi counts dialect internal/accept internal/anvl internal/ezid name store uri"},
	{layer: 11, dir: "dialect/arklet", ours: ". adminapi counts dialect internal/ascii internal/retryafter mint/reserve name registrar store"},
	{layer: 0, dir: "dialect/dialecttest"},
	{layer: 11, dir: "dialect/ezid", ours: ". adminapi counts dialect internal/accept internal/anvl internal/ascii internal/durable internal/ezid internal/location internal/paced internal/pacer internal/retryafter mint/reserve name registrar rule store uri"},
	{layer: 11, dir: "server/metrics", ours: "internal/requestlog store", theirs: "github.com/prometheus/client_golang"},
	{layer: 11, dir: "server/certificates", ours: "internal/retryafter store", theirs: "golang.org/x/crypto"},
	{layer: 5, dir: "server/certificates/acmetest", ours: "discover/dnstest", theirs: "github.com/letsencrypt/pebble/v2"},
	{layer: 11, dir: "server/servertest", ours: ". adminapi name store"},
	{layer: 12, dir: "cmd/nomen", ours: "*", theirs: "*"},
	{layer: 12, dir: "scripts/attacks"},
	{layer: 12, dir: "scripts/faults"},
	{layer: 12, dir: "scripts/ha"},
}

const module = "github.com/nomen-project/nomen"

// A modulePackage is a package and what it may import.
type modulePackage struct {
	layer  int
	dir    string // "." is the root
	ours   string // directories of packages it may import; "*" for all
	theirs string // modules it may import; "*" for all
}

func TestLayers(t *testing.T) {
	for _, fault := range inspect(os.DirFS("."), layout) {
		t.Error(fault)
	}
}

// TestLayersFindsFaults shows that each rule can fail.
func TestLayersFindsFaults(t *testing.T) {
	table := []modulePackage{{layer: 0, dir: "low"}, {layer: 1, dir: "mid", ours: "low", theirs: "example.org/lib"}, {layer: 1, dir: "odd", ours: "mid"}}
	file := func(src string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(src)} }
	good := fstest.MapFS{
		"low/low.go":      file("// Package low is below.\npackage low"),
		"mid/mid.go":      file("// Package mid is above.\npackage mid\nimport _ \"" + module + "/low\"\nimport _ \"example.org/lib/sub\"\nimport _ \"os\""),
		"mid/mid_test.go": file("package mid\nimport _ \"example.org/other\""),
		"odd/odd.go":      file("// Package odd is odd.\npackage odd"),
	}
	if got := inspect(good, table); len(got) != 0 {
		t.Errorf("a correct layout has faults: %q", got)
	}
	for _, tt := range []struct{ name, file, src, want string }{
		{"forbidden package", "low/x.go", "package low\nimport _ \"" + module + "/mid\"", "low may not import " + module + "/mid"},
		{"sibling in the table", "odd/x.go", "package odd\nimport _ \"" + module + "/mid\"", "odd (layer 1) imports mid (layer 1)"},
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
func inspect(tree fs.FS, table []modulePackage) []string {
	packages, faults := readSources(tree)
	known := map[string]modulePackage{}
	for _, r := range table {
		known[r.dir] = r
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p, r := packages[dir], known[dir]
		faults = append(faults, p.faults...)
		if r.dir == "" {
			faults = append(faults, dir+" is not in the table of layers")
			continue
		}
		if !p.commented {
			faults = append(faults, dir+" has no package comment")
		}
		for _, imp := range slices.Sorted(maps.Keys(p.imports)) {
			if fault := judge(r, imp, known); fault != "" {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

// readSources parses every Go file except tests and generators.
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

// usesAsType reports whether a file calls errors.AsType. The module has one way to
// look into an error: errors.As, which can also be a case of a switch and one of
// several conditions, as most uses here are. "go vet" checks the type of its target.
func usesAsType(f *ast.File) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "AsType" {
			pkg, isName := s.X.(*ast.Ident)
			found = found || isName && pkg.Name == "errors"
		}
		return !found
	})
	return found
}

// TestErrorsAs reads every Go file of the module.
func TestErrorsAs(t *testing.T) {
	example, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _, _ = errors.AsType[error](nil)", 0)
	if err != nil || !usesAsType(example) {
		t.Errorf("a use of errors.AsType is not found: %v", err)
	}
	checked := 0
	err = fs.WalkDir(os.DirFS("."), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if checked++; usesAsType(parsed) {
			t.Errorf("%s: errors.AsType: use errors.As", file)
		}
		return nil
	})
	if err != nil || checked < 500 {
		t.Errorf("checked %d files: %v", checked, err)
	}
}

// judge returns what is wrong with an import of a package, or "".
func judge(r modulePackage, imp string, known map[string]modulePackage) string {
	if imp == module || strings.HasPrefix(imp, module+"/") {
		dir := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
		if dir == "" {
			dir = "."
		}
		other := known[dir]
		switch {
		case r.ours == "*":
			return ""
		case !slices.Contains(strings.Fields(r.ours), dir):
			return fmt.Sprintf("%s may not import %s", r.dir, imp)
		case other.layer > r.layer, other.layer == r.layer && other.ours != "":
			return fmt.Sprintf("%s (layer %d) imports %s (layer %d)", r.dir, r.layer, dir, other.layer)
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
