package scheme

import "github.com/nomen-project/nomen/uri"

// A Part is a part of a URI that the scheme defines, such as the host or a query parameter.
type Part = uri.Part

// Get returns the value of the first part with the given label, such as "host" or "header_subject"
// (see [Part.Label]), and whether there is such a part.
func Get(parts []Part, label string) (string, bool) {
	for i := range parts {
		if parts[i].HasLabel(label) {
			return parts[i].Value, true
		}
	}
	return "", false
}

// GetAll returns the values of all parts with the given label.
func GetAll(parts []Part, label string) []string {
	var all []string
	for i := range parts {
		if parts[i].HasLabel(label) {
			all = append(all, parts[i].Value)
		}
	}
	return all
}
