//go:build !race

package testrun

// RaceEnabled says whether the race detector is enabled.
const RaceEnabled = false
