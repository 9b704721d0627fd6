//go:build race

package uri

// raceEnabled makes the tests that only take long smaller.
const raceEnabled = true
