package nomen_test

import (
	"testing"

	"github.com/nomen-project/nomen"
)

func TestRelationOf(t *testing.T) {
	for rel, want := range map[string]nomen.Relation{
		"": nomen.Itself, "item": nomen.Itself, "ITEM": nomen.Itself, "alternate": nomen.Itself, "archive": nomen.Copied, "describedby": nomen.About, "https://example.org/rel": nomen.About,
		"license": nomen.Beside, "author": nomen.Beside, "collection": nomen.Beside, "up": nomen.Beside, "no-such-relation": nomen.Beside,
		"license item": nomen.Itself, "archive describedby": nomen.Copied, "license author": nomen.Beside, "describedby license": nomen.About,
	} {
		if got := nomen.RelationOf(rel); got != want {
			t.Errorf("RelationOf(%q) = %v, want %v", rel, got, want)
		}
	}
}
