// Package registry publishes registries of URN namespaces, URI schemes, resolution services and
// query keywords (draft-ietf-urnbis-rfc2141bis-urn-03, sections 9.1 and 9.2). It also publishes the
// SchemeIDs of draft-ietf-uri-yaurn-00. The entries come from the packages namespace, scheme and
// urn. A site can add entries from a file. Registries can be written as text, HTML, XML or JSON.
//
// Comments cite drafts by their year, as in "draft of 1995, section 3.1". The file docs/glossary.md
// lists these drafts.
package registry
