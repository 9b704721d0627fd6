// Package registry publishes registries of identifiers, which are URN namespaces, SchemeIDs of
// 1995, URI schemes, resolution services and query keywords (draft-ietf-urnbis-rfc2141bis-urn-03,
// 9.1 and 9.2). The entries come from the packages namespace, scheme and urn, and from a file of a
// site's own entries. They are written as text, HTML, XML or JSON.
//
// The file docs/glossary.md lists the drafts that comments cite by their year, such as "draft of
// 1995, section 3.1".
package registry
