package adminapi

import "testing"

// Each kind says what happened and what to do, once.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		title, meaning, ok := Explain(k.Name)
		if k.Name == "" || seen[k.Name] || len(k.Statuses) == 0 || k.Cause == "" || k.Remedy == "" || title != k.Title || meaning != k.Cause+" "+k.Remedy || !ok {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
	}
	if title, _, ok := Explain("other"); ok || title != "" {
		t.Errorf("an unknown kind is explained: %q", title)
	}
	Kinds()[0].Name = "changed"
	if got := Kinds()[0].Name; got != kindMalformedName {
		t.Errorf("a caller changed the table: %q", got)
	}
	if n := testing.AllocsPerRun(10, func() { find(kindFailure) }); n != 0 {
		t.Errorf("finding a kind allocates %v times", n)
	}
}
