package rule

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// costly returns a set of n rules that are tried for names of any length. The last one matches
// "x".
func costly(n, groups int) Set {
	set := make(Set, n)
	for i := range set {
		end := fmt.Sprintf("-%03d", i)
		if i == n-1 {
			end = "x"
		}
		set[i] = Rule{
			Regexp:    strings.Repeat("(.*)", groups) + end,
			Locations: []nomen.Location{{URL: "https://h.example/"}},
			Tests:     []Test{{From: "urn:x-t:" + end, To: []string{"https://h.example/"}}},
		}
	}
	return set
}

func TestCost(t *testing.T) {
	at := name.MustParsePrefix("urn:x-t")
	literal := func(n int) Set {
		set := costly(n, 4)
		for i := range set {
			set[i].Match, set[i].Regexp = fmt.Sprintf("lit%03d-{a:*}{b:*}{c:*}{d:*}", i), ""
			set[i].Tests[0].From = fmt.Sprintf("urn:x-t:lit%03d-x", i)
		}
		return set
	}
	bounded := costly(256, 1)
	for i := range bounded {
		bounded[i].Match, bounded[i].Regexp = fmt.Sprintf("{a:d1-5}{b:a2}/%d", i), ""
		bounded[i].Tests[0].From = fmt.Sprintf("urn:x-t:1ab/%d", i)
	}
	dropped := literal(1)
	dropped[0].Parts = map[string]Part{"a": {Drop: strings.Repeat("-", maxDrop+1)}}
	tested := costly(20, 2)
	for range maxTests - 1 {
		for i := range tested {
			tested[i].Tests = append(tested[i].Tests, Test{From: "urn:x-t:" + strings.Repeat("y", 1500)})
		}
	}
	for _, tt := range []struct {
		title string
		set   Set
		what  string // "" if it is accepted
	}{
		{"some rules for anything", costly(50, 4), ""},
		{"too many rules for anything", costly(maxRules, 4), "match"},
		{"as many that begin with literal text", literal(maxRules), ""},
		{"the same and one for everything", append(literal(maxRules-1), costly(1, 1)...), ""},
		{"as many of bounded parts", bounded, ""},
		{"one of too many groups", costly(1, maxGroups+1), "match"},
		{"one with a long list of what is dropped", dropped, "parts"},
		{"too many tests of long names", tested, "tests"},
	} {
		_, err := tt.set.Check(at)
		var e *IndexError
		if tt.what == "" && err != nil || tt.what != "" && (!errors.As(err, &e) || e.What != tt.what) {
			t.Errorf("%s: %v, want %q", tt.title, err, tt.what)
		}
		if tt.title == "one with a long list of what is dropped" {
			continue
		}
		if _, err := tt.set.Compile(at); err != nil { // it may have been stored before the limits existed
			t.Errorf("%s: Compile: %v", tt.title, err)
		}
	}
}

// TestStoredCost uses a stored set that is no longer accepted. Names that would take too long
// have no location; others have theirs.
func TestStoredCost(t *testing.T) {
	c, err := costly(maxRules, 16).Compile(name.MustParsePrefix("urn:x-t"))
	if err != nil {
		t.Fatal(err)
	}
	if r, ok, _ := c.Apply(name.MustParse("urn:x-t:abcx"), Request{}); !ok || len(r.Locations) != 1 {
		t.Errorf("a short name: %+v, %t", r, ok)
	}
	long := name.MustParse("urn:x-t:" + strings.Repeat("y", 2000))
	r, ok, steps := c.apply(long, Request{})
	if !ok || len(r.Locations) != 0 || len(r.Left) != 1 || !strings.Contains(r.Left[0], "too long") {
		t.Errorf("a long name: %+v, %t", r, ok)
	}
	if most := maxSteps + c.rules[0].pattern.steps(strings.Repeat("y", 2000)); steps.steps > most {
		t.Errorf("%d steps, want at most %d", steps.steps, most)
	}
}

// TestExpansionsAreBounded expands one name many times.
func TestExpansionsAreBounded(t *testing.T) {
	set := Set{{Match: "{a:*}", Tests: []Test{{From: "urn:x-t:1"}}}}
	for i := range maxLocations / 2 {
		set[0].Locations = append(set[0].Locations, nomen.Location{URL: fmt.Sprintf("https://h.example/%d/", i) + strings.Repeat("{a}", 30+i)})
		set[0].SameAs = append(set[0].SameAs, fmt.Sprintf("urn:x-s:%d", i)+strings.Repeat("{a}", 30))
		set[0].Tests[0].To = append(set[0].Tests[0].To, fmt.Sprintf("https://h.example/%d/", i)+strings.Repeat("1", 30+i))
	}
	c, err := set.Check(name.MustParsePrefix("urn:x-t"))
	if err != nil {
		t.Fatal(err)
	}
	r, ok, _ := c.Apply(name.MustParse("urn:x-t:"+strings.Repeat("y", 2000)), Request{})
	total := 0
	for _, l := range r.Locations {
		total += len(l.URL)
	}
	if !ok || total > maxExpanded+maxExpansion || len(r.Locations)+len(r.Left) != maxLocations/2 || len(r.SameAs) > 0 {
		t.Errorf("%d locations of %d bytes, %d names, %d left", len(r.Locations), total, len(r.SameAs), len(r.Left))
	}
}

// TestBeginningsAndLengths checks that patterns are never excluded wrongly without matching.
func TestBeginningsAndLengths(t *testing.T) {
	for _, tt := range []struct {
		regexp string
		fold   bool
		begin  string
		most   int
	}{
		{"abc", false, "abc", 3},
		{"abc", true, "ABC", 12},
		{"a(b|bc)?d{2,3}", false, "a", 6},
		{"ab*", false, "a", -1},
		{"a|ab", false, "a", 2},
		{"a|b", false, "", 4},
		{"(?:)", false, "", 0},
		{"(?P<x>[0-9]{4})-[0-9]{4}", false, "", 33},
		{"\u00e9x", false, "\u00e9x", 3},
		{"(?i:k)x", false, "K", 5},
		{"(a(bc))d", false, "a", 4},
		{"x(?m:^y)", false, "x", 2},
		{".{1000}", false, "", -1},
		{"(?:[a-z]{100}){10}", false, "", -1},
	} {
		p, err := ParseRegexp(tt.regexp, tt.fold)
		if err != nil {
			t.Fatal(err)
		}
		if p.begin != tt.begin || p.most != tt.most {
			t.Errorf("%q: begins with %q, at most %d bytes; want %q, %d", tt.regexp, p.begin, p.most, tt.begin, tt.most)
		}
	}
}

// BenchmarkWorst applies the worst accepted set to the longest name.
func BenchmarkWorst(b *testing.B) {
	at := name.MustParsePrefix("urn:x-t")
	long := name.MustParse("urn:x-t:" + strings.Repeat("y", name.MaxLength-len("urn:x-t:")))
	for _, groups := range []int{2, 4, 16, 32, maxGroups} {
		n := 1
		for ; n < maxRules; n++ {
			if _, err := costly(n+1, groups).Check(at); err != nil {
				break
			}
		}
		c, err := costly(n, groups).Check(at)
		if err != nil {
			continue // not accepted
		}
		b.Run(fmt.Sprintf("rules=%d,groups=%d", n, groups), func(b *testing.B) {
			for b.Loop() {
				c.Apply(long, Request{})
			}
		})
	}
}
