package bulk

import "strings"

type column struct {
	title   string
	bit     int    // identifies a member of a record or a location
	element string // element of metadata in the cells, or ""

	separator string // separator of the values in a cell; "" for a bar, in cells that may have escapes
	ignored   bool   // the column is skipped
}

// elementColumn is the prefix of column titles for metadata elements. All other titles are names of
// members of a record or a location.
const elementColumn = "dc:"

func titles() []string {
	all := []string{
		"name", "status", "url", "type", "lang", "rel", "priority", "weight", "country", "component",
		"charset", "valid_from", "valid_until", "down", "note", "reason", "show_locations", "successors", "same_as",
	}
	for _, e := range elements() {
		all = append(all, elementColumn+e)
	}
	return append(all, "index", "attributes", "values")
}

// elements returns the elements of metadata (RFC 5013), in the order of their columns.
func elements() []string {
	return []string{
		"title", "creator", "subject", "description", "publisher", "contributor", "date", "type",
		"format", "identifier", "source", "language", "relation", "coverage", "rights",
	}
}

func parseColumn(title string) column {
	c := column{title: title, ignored: title == errorColumn}
	if e, ok := strings.CutPrefix(title, elementColumn); ok {
		for _, known := range elements() {
			if e == known {
				c.bit, c.element = isMetadata, e
			}
		}
		return c
	}
	switch c.bit = recordBit(title); c.bit {
	case isLocations, isMetadata, isModified, isRevision:
		c.bit = isUnknown // a cell cannot contain a value of this member
	case isUnknown:
		c.bit = locationBit(title)
	}
	return c
}
