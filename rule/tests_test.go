package rule

import (
	"errors"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// TestRunTests: all tests are run, and exactly those pass that Compile accepts.
func TestRunTests(t *testing.T) {
	p := name.MustParsePrefix("urn:x-t")
	set := Set{
		{Match: "a{rest:*}", Locations: []nomen.Location{{URL: "https://a.example/{rest}"}}, Tests: []Test{
			{From: "urn:x-t:a1", To: []string{"https://a.example/1"}},
			{From: "urn:x-t:a2", To: []string{"https://a.example/wrong"}},
			{From: "urn:x-t:b1", To: []string{"https://b.example/1"}}, // of the other rule
			{From: "urn:x-t:c1"},
			{From: "urn:x-t:a3"},
			{From: "urn:x-t:c1", To: []string{"https://a.example/1"}},
		}},
		{Match: "b{rest:*}", Locations: []nomen.Location{{URL: "https://b.example/{rest}"}}, Tests: []Test{{From: "urn:x-t:b1", To: []string{"https://b.example/1"}}}},
	}
	all, err := set.RunTests(p)
	if err != nil || len(all) != 7 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []struct {
		passed  bool
		matched int
		got     string
	}{{true, 0, "https://a.example/1"}, {false, 0, "https://a.example/2"}, {false, 1, "https://b.example/1"}, {true, -1, ""}, {false, 0, "https://a.example/3"}, {false, -1, ""}, {true, 1, "https://b.example/1"}} {
		got := ""
		if len(all[i].Got) > 0 {
			got = all[i].Got[0]
		}
		if all[i].Passed != want.passed || all[i].Matched != want.matched || got != want.got {
			t.Errorf("test %d: %+v, want %+v", i, all[i], want)
		}
	}
	for _, bad := range []Set{{{Match: "{"}}, {{Match: "a", SameAs: []string{"urn:x-t:b"}, Tests: []Test{{From: "urn:x-other:a"}}}}} {
		if _, err := bad.RunTests(p); !errors.As(err, new(*IndexError)) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
