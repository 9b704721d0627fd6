// Package browsertest opens web pages in Chromium, and finds accessibility problems. Its files have
// the build tags clients and attack, as do the tests that use it.
package browsertest
