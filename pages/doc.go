// Package pages serves web pages on which people find, correct and retire names, without a shell
// and without JavaScript.
//
// The pages are a client of the admin API, which they call with the rights of the person who is
// signed in. All rules, limits and error messages are therefore those of the API. A GET changes
// nothing. A POST that succeeds redirects (303). A POST with invalid input shows the same page
// again, with what was entered (422).
package pages
