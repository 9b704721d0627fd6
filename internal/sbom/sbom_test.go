package sbom

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

func exampleInfo() *debug.BuildInfo {
	return &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "github.com/nomen-project/nomen", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "github.com/RaduBerinde/axisds", Version: "v0.1.0", Sum: "h1:YItk/RmU5nvlsv/awo2Fjx97Mfpt4JfgtEVAGPrLdz8="},
			{Path: "github.com/klauspost/compress", Version: "v1.20.3", Sum: "h1:zWNoFqq/lSuYQRim3dUXlXeA0IqwuZGicdG5ZTfY5j4="},
			{Path: "example.org/Old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0+incompatible"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}, {Key: "vcs.time", Value: "2026-11-23T06:00:00Z"}, {Key: "-trimpath", Value: "true"}},
	}
}

// The document agrees with a file that was compared with the specification by hand:
// https://cyclonedx.org/docs/1.6/json/.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "nomen", "v1.2.3", exampleInfo()); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/example.cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got %s", got)
	}
}

// The document has the fields that the schema of CycloneDX 1.6 requires, in its forms.
func TestSchema(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "nomen", "v1.2.3", exampleInfo()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		BomFormat, SpecVersion, SerialNumber string
		Version                              int
		Metadata                             struct{ Component map[string]any }
		Components                           []map[string]any
		Dependencies                         []struct {
			Ref       string
			DependsOn []string
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.BomFormat != "CycloneDX" || doc.SpecVersion != "1.6" || doc.Version != 1 {
		t.Errorf("got %q %q %d", doc.BomFormat, doc.SpecVersion, doc.Version)
	}
	if serial := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`); !serial.MatchString(doc.SerialNumber) {
		t.Errorf("serial number %q", doc.SerialNumber)
	}
	refs := map[string]bool{}
	for _, c := range append(doc.Components, doc.Metadata.Component) {
		for _, field := range []string{"type", "name", "version", "bom-ref", "purl"} {
			if text, _ := c[field].(string); text == "" {
				t.Errorf("%v: no %s", c, field)
			}
		}
		ref := c["bom-ref"].(string)
		if refs[ref] {
			t.Errorf("%s is there twice", ref)
		}
		refs[ref] = true
		if p := c["purl"].(string); !strings.HasPrefix(p, "pkg:golang/") || strings.ContainsAny(p[4:], ":+ ") {
			t.Errorf("package URL %q", p)
		}
	}
	if len(doc.Dependencies) != len(refs) {
		t.Errorf("got dependencies of %d components, want %d", len(doc.Dependencies), len(refs))
	}
	for _, d := range doc.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !refs[ref] {
				t.Errorf("unknown reference %q", ref)
			}
		}
	}
}
