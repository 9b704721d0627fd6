package adminapi

import "testing"

// Each kind says what happened and what to do, once.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		found, ok := KindOf(k.Name)
		if k.Name == "" || seen[k.Name] || len(k.Statuses) == 0 || k.Cause == "" || k.Remedy == "" || found.Title != k.Title || !ok {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
	}
	if k, ok := KindOf("other"); ok || k.Title != "" {
		t.Errorf("an unknown kind is found: %+v", k)
	}
	Kinds()[0].Name = "changed"
	if got := Kinds()[0].Name; got != kindMalformedName {
		t.Errorf("a caller changed the table: %q", got)
	}
	if n := testing.AllocsPerRun(10, func() { KindOf(kindFailure) }); n != 0 {
		t.Errorf("finding a kind allocates %v times", n)
	}
}
