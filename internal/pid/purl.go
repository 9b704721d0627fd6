package pid

import "strings"

// A PURLType contains the rules for one type of package URL.
type PURLType struct {
	Name       string
	FoldSpace  bool   // the namespace ignores case
	FoldName   bool   // the name ignores case
	FoldHash   bool   // a version that is a Git commit hash ignores case
	Databricks bool   // the name ignores case in repositories of Databricks
	Hyphens    bool   // "_" in the name means "-"
	Space      bool   // a namespace is required
	NoSpace    bool   // a namespace is not allowed
	NotInName  string // text that names must not contain
	Qualifier  string // key of a required qualifier
}

// purlTypes are the registered types (package-url/purl-spec, purl-types-index.json), with the rules
// about names in their definitions.
var purlTypes = [...]PURLType{
	{Name: "alpm", FoldSpace: true, FoldName: true, Space: true},
	{Name: "apk", FoldSpace: true, FoldName: true, Space: true},
	{Name: "bazel"},
	{Name: "bitbucket", FoldSpace: true, FoldName: true, Space: true},
	{Name: "bitnami", FoldName: true, NoSpace: true},
	{Name: "cargo", NoSpace: true},
	{Name: "cocoapods", NoSpace: true},
	{Name: "composer", FoldSpace: true, FoldName: true, Space: true},
	{Name: "conan"},
	{Name: "conda", NoSpace: true},
	{Name: "cpan", Space: true, NotInName: "::"},
	{Name: "cran", NoSpace: true},
	{Name: "deb", FoldSpace: true, FoldName: true, Space: true},
	{Name: "docker"},
	{Name: "gem", NoSpace: true},
	{Name: "generic"},
	{Name: "github", FoldSpace: true, FoldName: true, Space: true},
	{Name: "golang", FoldSpace: true, FoldName: true},
	{Name: "hackage", NoSpace: true},
	{Name: "hex", FoldSpace: true, FoldName: true},
	{Name: "huggingface", FoldHash: true},
	{Name: "julia", NoSpace: true, Qualifier: "uuid"},
	{Name: "luarocks"},
	{Name: "maven", Space: true},
	{Name: "mlflow", NoSpace: true, Databricks: true},
	{Name: "npm"},
	{Name: "nuget", NoSpace: true},
	{Name: "oci", FoldName: true, NoSpace: true},
	{Name: "opam", NoSpace: true},
	{Name: "otp", FoldName: true, NoSpace: true},
	{Name: "pear"},
	{Name: "pub", FoldName: true, NoSpace: true},
	{Name: "pypi", FoldName: true, Hyphens: true, NoSpace: true},
	{Name: "qpkg", Space: true},
	{Name: "rpm", FoldSpace: true},
	{Name: "swid"},
	{Name: "swift", Space: true},
	{Name: "yocto"},
}

// LookupPURLType returns the registered type with a name. Letter case is ignored.
func LookupPURLType(name string) (PURLType, bool) {
	for _, t := range purlTypes {
		if strings.EqualFold(t.Name, name) {
			return t, true
		}
	}
	return PURLType{}, false
}
