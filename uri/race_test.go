//go:build race

package uri

// raceEnabled shortens slow tests.
const raceEnabled = true
