// Package registry shows the registries of identifiers to people and programs:
// URN namespaces, SchemeIDs of 1995, URI schemes, resolution services and query
// keywords. It takes the entries from the packages namespace, scheme and urn and
// from a file of a site's own entries, and writes them as text, HTML, XML and JSON
// (draft-ietf-urnbis-rfc2141bis-urn-03, 9.1 and 9.2).
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package registry
