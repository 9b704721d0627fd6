// Package sbom writes a software bill of materials, which lists the modules that a program is built
// from. It is a CycloneDX 1.6 document in JSON, which scanners for vulnerabilities and licences
// read.
package sbom

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/nomen-project/nomen/internal/tsv"
)

//go:generate go run -C ../.. ./scripts/release -licences internal/sbom/licences.tsv

// licences has the SPDX licence expression of each module that a build can link.
//
//go:embed licences.tsv
var licences string

// Licences maps the path of each module that a build can link to its SPDX licence expression. The
// standard library has the path "std".
func Licences() map[string]string {
	of := map[string]string{}
	for row := range tsv.Rows(licences) {
		of[row[0]] = row[1]
	}
	return of
}

// Write writes the document about a program. The document depends only on the parameters, so it is
// reproducible.
func Write(w io.Writer, name, version string, info *debug.BuildInfo) error {
	doc := document{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Components: []component{},
	}
	of := Licences()
	program := describe("application", debug.Module{Path: info.Main.Path, Version: version}, of)
	program.Name = name
	program.Licences = []licence{{Licence: &licenceID{ID: "Apache-2.0"}}}
	program.Properties = properties(info)
	doc.Metadata.Component = program
	doc.Metadata.Timestamp = setting(info, "vcs.time")
	uses := dependency{Ref: program.Ref, DependsOn: []string{}}
	modules := append([]*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...)
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		c := describe("library", *m, of)
		doc.Components = append(doc.Components, c)
		doc.Dependencies = append(doc.Dependencies, dependency{Ref: c.Ref})
		uses.DependsOn = append(uses.DependsOn, c.Ref)
	}
	doc.Dependencies = append([]dependency{uses}, doc.Dependencies...)
	return doc.write(w)
}

// write encodes the document. The serial number is derived from a hash of the rest of the document.
func (d *document) write(w io.Writer) error {
	content, err := json.Marshal(d)
	if err != nil {
		return err
	}
	h := sha256.Sum256(content)
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8, and the variant of RFC 9562
	d.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(d)
}

func describe(kind string, m debug.Module, of map[string]string) component {
	c := component{Type: kind, Name: m.Path, Version: m.Version, Scope: "required", Purl: purl(m)}
	c.Ref = c.Purl
	if l := of[m.Path]; strings.Contains(l, " ") {
		c.Licences = []licence{{Expression: l}}
	} else if l != "" {
		c.Licences = []licence{{Licence: &licenceID{ID: l}}}
	}
	// The hash in go.sum is a SHA-256 of the names and hashes of the files.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == sha256.Size {
		c.Hashes = []hash{{Algorithm: "SHA-256", Content: hex.EncodeToString(sum)}}
	}
	return c
}

// purl returns the package URL of a module (ECMA-427), whose namespace and name are in lower case.
// The standard library is called stdlib, as in vulnerability databases.
func purl(m debug.Module) string {
	path := m.Path
	if path == "std" {
		path = "stdlib"
	}
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(url.QueryEscape(cmp.Or(m.Version, "unknown")), "+", "%20")
}

// properties returns the build settings that change what the program contains.
func properties(info *debug.BuildInfo) (p []property) {
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "vcs.revision", "vcs.modified"} {
		if value := setting(info, key); value != "" {
			p = append(p, property{"nomen:build:" + strings.TrimPrefix(key, "-"), value})
		}
	}
	return p
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

type document struct {
	Schema   string `json:"$schema"`
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Serial   string `json:"serialNumber,omitempty"`
	Version  int    `json:"version"`
	Metadata struct {
		Timestamp string    `json:"timestamp,omitempty"`
		Component component `json:"component"`
	} `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Scope      string     `json:"scope"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	Purl       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

// A licence has either the identifier of an SPDX licence or an expression.
type licence struct {
	Licence    *licenceID `json:"license,omitempty"`
	Expression string     `json:"expression,omitempty"`
}

type licenceID struct {
	ID string `json:"id"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}
