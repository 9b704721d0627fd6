// Package browsertest opens web pages in Chromium, and finds what some people could not use. It is
// empty without the build tags clients and attack, which its users have too.
package browsertest
