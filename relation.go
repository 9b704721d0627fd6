package nomen

import "strings"

// A Relation is how near a location is to the resource itself.
type Relation uint8

// The relations, the nearest first.
const (
	Itself Relation = iota
	Copied          // a copy that is kept elsewhere
	About           // a description, or a relation that only its author knows
	Beside          // another thing: a licence, an author, a collection
)

// RelationOf returns what link relation types (RFC 8288, 2.1), separated by spaces,
// come to: the nearest of them.
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
	if strings.Contains(rel, ":") { // an extension relation is a URI
		return About
	}
	return Beside
}

// String says it in words.
func (r Relation) String() string {
	return [...]string{Itself: "the thing itself", Copied: "a copy of it", About: "about it", Beside: "another thing"}[r]
}
