package registrar

import (
	"slices"

	"github.com/nomen-project/nomen/store"
)

// A schemeRule says what a location of a scheme has to keep.
type schemeRule struct {
	scheme string
	host   bool // it names a host
	line   bool // a client sends decoded parts of it as lines of commands
}

// locationSchemes are the schemes of places where a resource is, or of names
// that lead on to it. The first ten are those of RFC 1738 without file and
// prospero.
func locationSchemes() []schemeRule {
	return []schemeRule{
		{scheme: "http", host: true},
		{scheme: "https", host: true},
		{scheme: "ftp", host: true, line: true},
		{scheme: "gopher", host: true, line: true},
		{scheme: "mailto"},
		{scheme: "news", line: true},
		{scheme: "nntp", host: true, line: true},
		{scheme: "telnet", host: true, line: true},
		{scheme: "tn3270", host: true, line: true},
		{scheme: "wais", host: true, line: true},
		{scheme: "ftps", host: true, line: true},
		{scheme: "sftp", host: true},
		{scheme: "rsync", host: true, line: true},
		{scheme: "git", host: true, line: true},
		{scheme: "gemini", host: true, line: true},
		{scheme: "rtsp", host: true, line: true},
		{scheme: "ldap"},
		{scheme: "ldaps"},
		{scheme: "z39.50r", host: true},
		{scheme: "z39.50s", host: true},
		{scheme: "ipfs"},
		{scheme: "ipns"},
		{scheme: "magnet"},
		{scheme: "swh"},
		{scheme: "urn"},
		{scheme: "ark"},
		{scheme: "doi"},
		{scheme: "hdl"},
		{scheme: "info"},
		{scheme: "tag"},
	}
}

// DefaultSchemes returns the schemes that a location may have.
func DefaultSchemes() []string {
	var all []string
	for _, r := range locationSchemes() {
		all = append(all, r.scheme)
	}
	return all
}

// schemeTable returns the rules of the schemes that are allowed.
func schemeTable(allowed []string) map[string]schemeRule {
	known := locationSchemes()
	table := make(map[string]schemeRule, len(known))
	for _, r := range known {
		if allowed == nil || slices.Contains(allowed, r.scheme) {
			table[r.scheme] = r
		}
	}
	for _, s := range allowed {
		if _, ok := table[s]; !ok && !store.Runs(s) {
			table[s] = schemeRule{scheme: s}
		}
	}
	return table
}
