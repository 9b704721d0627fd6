// Package rewrite converts redirects in web server configurations to rules. A redirect consists of
// a Perl-compatible regular expression and a target, which can refer to groups by number, such as
// "$1". The package also generates the tests that each rule needs.
package rewrite
