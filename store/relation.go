package store

// A Relation is how near a location is to the thing itself.
type Relation uint8

// The relations, the nearest first.
const (
	Itself  Relation = iota
	Copied           // what is kept elsewhere too
	Related          // what is about it
)

// RelationOf returns what a link relation (RFC 8288) comes to.
func RelationOf(rel string) Relation {
	switch rel {
	case "", "item", "self", "canonical", "alternate", "edit", "current", "latest-version":
		return Itself
	case "archive", "archives", "memento", "original", "duplicate", "mirror", "preservation":
		return Copied
	}
	return Related
}

// String tells it in words.
func (r Relation) String() string {
	return [...]string{Itself: "the thing itself", Copied: "a copy of it", Related: "about it"}[r]
}
