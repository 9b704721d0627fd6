// Package obo imports the redirects of the OBO Foundry from
// https://github.com/OBOFoundry/purl.obolibrary.org. The redirects of each ontology are in a YAML
// file.
//
// # What is imported
//
// The entries (exact, prefix and regex) become rules of the authority for base_url, such as
// http://purl.obolibrary.org/obo/go. The products, the terms and base_redirect become rules of its
// parent authority, http://purl.obolibrary.org/obo, which all files share. If a file is imported
// again, rules with the same patterns are replaced. The tests in the file become tests of the
// rules. The import also generates tests from example_terms and from the paths of entries.
//
// The rules behave as in the service of the OBO Foundry. All patterns except regex and terms ignore
// case. Entries are tried in order. The default status is 302.
package obo
