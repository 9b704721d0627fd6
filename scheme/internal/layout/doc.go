// Package layout has the functions that the rules of all schemes need. They find the components of
// a URI, collect its parts, and create findings.
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package layout
