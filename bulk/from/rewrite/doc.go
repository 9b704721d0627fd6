// Package rewrite converts redirects of web servers to rules. A redirect is a Perl-compatible
// regular expression with a target, which can contain numbered groups ("$1"). Package rewrite also
// makes the tests that each rule needs.
package rewrite
