// Package layout has what the rules of all schemes share: the offsets of the
// components of a URI, the collection of its parts, and findings.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package layout
