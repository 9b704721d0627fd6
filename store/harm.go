package store

// Runs reports whether a browser that follows a link of this scheme, given in
// lower case, runs or shows what the link itself holds, or opens its own insides:
// no place where a resource could be.
func Runs(scheme string) bool {
	switch scheme {
	case "javascript", "data", "vbscript", "livescript", "mocha", "jscript",
		"blob", "filesystem", "about", "view-source", "jar", "chrome",
		"chrome-extension", "moz-extension", "resource", "res", "mhtml", "ms-its", "mk":
		return true
	}
	return false
}
