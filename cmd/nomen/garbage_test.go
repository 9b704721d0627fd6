package main

import "testing"

func TestGCPercent(t *testing.T) {
	for _, tt := range []struct {
		live uint64
		want int
	}{
		{0, mostGC},
		{1 << 20, mostGC},
		{16 << 20, 400},
		{64 << 20, 100},
		{128 << 20, 50},
		{2 << 30, 50},
	} {
		if got := gcPercent(tt.live); got != tt.want {
			t.Errorf("gcPercent(%d) = %d, want %d", tt.live, got, tt.want)
		}
	}
}
