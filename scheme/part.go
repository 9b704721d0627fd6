package scheme

import "github.com/nomen-project/nomen/uri"

// A Part is a named piece of a URI.
type Part = uri.Part

// Get returns the value of the first part with the given name. The result is
// false if the part is undefined.
func Get(parts []Part, name string) (string, bool) {
	for i := range parts {
		if parts[i].Name == name {
			return parts[i].Value, true
		}
	}
	return "", false
}

// GetAll returns the values of all parts with the given name.
func GetAll(parts []Part, name string) []string {
	var all []string
	for i := range parts {
		if parts[i].Name == name {
			all = append(all, parts[i].Value)
		}
	}
	return all
}
