package nomen

import "strings"

// A Relation is the relation of a location to the resource, by closeness.
type Relation uint8

// The relations, closest first.
const (
	Itself Relation = iota
	Copied          // a copy elsewhere
	About           // a description, or an unknown extension relation
	Beside          // something else, such as a licence or an author
)

// RelationOf returns the closest of the relations in a space-separated list of link relation types
// (RFC 8288, section 2.1).
func RelationOf(rel string) Relation {
	if rel == "" || rel == "item" {
		return Itself
	}
	nearest := Beside
	for r := range strings.FieldsSeq(rel) {
		nearest = min(nearest, relationOf(strings.ToLower(r)))
	}
	return nearest
}

func relationOf(rel string) Relation {
	switch rel {
	case "item", "self", "canonical", "alternate", "edit", "current", "latest-version":
		return Itself
	case "archive", "archives", "memento", "original", "duplicate", "mirror", "preservation":
		return Copied
	case "describedby":
		return About
	}
	if strings.Contains(rel, ":") { // extension relations are URIs
		return About
	}
	return Beside
}

// String describes the relation for people.
func (r Relation) String() string {
	return [...]string{Itself: "the thing itself", Copied: "a copy of it", About: "about it", Beside: "another thing"}[r]
}
