// Package attacks simulates hostile clients of a real server on loopback. It contains
// only tests, behind the build tag attack: run them with `make attack`. Each test is one
// attack, bounded in time and size, and states which service other clients must still
// get.
//
// The build tag soak enables a test with ordinary load for many minutes: run it with
// `make soak`.
package attacks
