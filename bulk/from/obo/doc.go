// Package obo imports the redirects of the OBO Foundry,
// https://github.com/OBOFoundry/purl.obolibrary.org, which are YAML files, one for each ontology.
//
// # What is imported
//
// The entries (exact, prefix and regex) become rules of the authority of base_url, such as
// http://purl.obolibrary.org/obo/go. The products, the terms and base_redirect become rules of the
// authority above it, http://purl.obolibrary.org/obo, which all files share. A later import of a
// file replaces the rules with the same patterns. The tests in the files become tests of the rules,
// and the import makes others from example_terms and the paths of entries.
//
// As in the service of the OBO Foundry, all patterns but regex and terms ignore case, entries are
// tried in order, and the status is 302 unless the entry says otherwise.
package obo
