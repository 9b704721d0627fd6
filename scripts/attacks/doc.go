// Package attacks simulates hostile clients of a real server on loopback. It contains only tests,
// with the build tag attack; run them with `make attack`. Each test is one attack, limited in time
// and size, and checks how well the server still serves other clients meanwhile.
//
// The build tag soak adds a test with ordinary load for many minutes; run it with `make soak`.
package attacks
