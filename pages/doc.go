// Package pages serves web pages on which users find, correct and retire names. The pages do not
// need JavaScript.
//
// The pages call the admin API with the rights of the user who is signed in. All rules, limits and
// error messages are therefore those of the API. A GET request does not change anything. A
// successful POST request redirects (303). A POST request with invalid input shows the same page
// again, with the input (422).
package pages
