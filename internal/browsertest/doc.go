// Package browsertest opens web pages in Chromium and looks for what some people could not use.
// Only tests with the build tags clients and attack use it; without them it is empty.
package browsertest
