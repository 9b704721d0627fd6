// Package attacks plays hostile clients against a real server on loopback. It holds tests
// only, behind the build tag attack: run them with `make attack`. Each test is one
// attack, bounded in time and size, and says what everybody else must still get.
//
// Behind the build tag soak there is the opposite, ordinary load for many minutes: run it
// with `make soak`.
package attacks
