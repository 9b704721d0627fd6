package nomen

import "testing"

func TestRelationOf(t *testing.T) {
	for rel, want := range map[string]Relation{
		"": Itself, "item": Itself, "ITEM": Itself, "alternate": Itself, "archive": Copied, "describedby": About, "https://example.org/rel": About,
		"license": Beside, "author": Beside, "collection": Beside, "up": Beside, "no-such-relation": Beside,
		"license item": Itself, "archive describedby": Copied, "license author": Beside, "describedby license": About,
	} {
		if got := RelationOf(rel); got != want {
			t.Errorf("RelationOf(%q) = %v, want %v", rel, got, want)
		}
	}
}
