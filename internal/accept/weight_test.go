package accept

import "testing"

func TestParseWeight(t *testing.T) {
	for in, want := range map[string]int{
		"0": 0, "0.": 0, "0.0": 0, "0.000": 0, "0.001": 1, "0.5": 500, "0.25": 250, "0.999": 999,
		"1": 1000, "1.": 1000, "1.0": 1000, "1.000": 1000,
	} {
		if got, ok := parseWeight(in); !ok || got != want {
			t.Errorf("parseWeight(%q) = %d, %v; want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"", ".", ".5", "2", "00", "0.0000", "1.001", "1.1", "-0", "0.x", "0.5 ", "0,5", "1e0"} {
		if got, ok := parseWeight(in); ok {
			t.Errorf("parseWeight(%q) = %d, want a refusal", in, got)
		}
	}
}
