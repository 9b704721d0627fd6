//go:build !race

package testrun

// RaceEnabled reports whether the race detector is on.
const RaceEnabled = false
