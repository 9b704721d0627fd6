//go:build race

package testrun

// RaceEnabled says whether the race detector is on.
const RaceEnabled = true
