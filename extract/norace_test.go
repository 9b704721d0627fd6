//go:build !race

package extract

// scale is by what the tests that only take long are made smaller.
const scale = 1
