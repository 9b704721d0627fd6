package problempage

import "testing"

// The table of kinds is made once, because clients can cause any number of problems.
func TestKindsOnce(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { find(KindFailed) }); n != 0 {
		t.Errorf("finding a kind allocates %v times", n)
	}
	first := Kinds()[0].Name
	Kinds()[0].Name = "changed"
	if _, ok := find(first); !ok {
		t.Errorf("a caller changed the table: %q is not found", first)
	}
}
