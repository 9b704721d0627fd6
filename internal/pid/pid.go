package pid

import "github.com/nomen-project/nomen/uri"

// A Scheme is a scheme whose URIs are persistent identifiers.
type Scheme struct {
	Name string // in lower case

	// Resolved is true if resolvers answer requests for identifiers of the scheme.
	Resolved bool

	// Prefix is true if the scheme alone is a prefix, which covers all its identifiers.
	Prefix bool

	// Path is true if an identifier ends before a query, because the query is for the resolver or
	// the resource.
	Path bool
}

// schemes are all schemes of persistent identifiers. This is the only list of them in the module.
var schemes = [...]Scheme{
	{Name: "swh", Prefix: true},
	{Name: "urn", Resolved: true},
	{Name: "ark", Resolved: true, Prefix: true, Path: true},
	{Name: "doi", Resolved: true, Prefix: true, Path: true},
	{Name: "hdl", Resolved: true, Prefix: true, Path: true},
	{Name: "info", Resolved: true, Prefix: true, Path: true},
	{Name: "tag", Resolved: true},
}

// Schemes returns the names of all schemes.
func Schemes() []string { return names(func(Scheme) bool { return true }) }

// Resolved returns the names of the schemes for which resolvers answer requests.
func Resolved() []string { return names(func(s Scheme) bool { return s.Resolved }) }

func names(want func(Scheme) bool) []string {
	all := make([]string, 0, len(schemes))
	for _, s := range schemes {
		if want(s) {
			all = append(all, s.Name)
		}
	}
	return all
}

// Lookup returns the scheme with a name, which must be in lower case, or the zero Scheme.
func Lookup(name string) Scheme {
	for _, s := range schemes {
		if s.Name == name {
			return s
		}
	}
	return Scheme{}
}

// Rules for the equivalence of http and https URLs (RFC 9110, 4.2.3). They apply to names such as
// PURLs.
var (
	HTTP  = uri.SchemeRules{Scheme: "http", DefaultPort: "80", RootPath: true}
	HTTPS = uri.SchemeRules{Scheme: "https", DefaultPort: "443", RootPath: true}
)
