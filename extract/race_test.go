//go:build race

package extract

// scale divides the size of tests whose only purpose is a large input.
const scale = 8
