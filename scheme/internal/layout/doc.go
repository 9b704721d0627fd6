// Package layout has functions for the rules of schemes. They find the components of a URI, collect
// the parts of a URI, and create findings.
//
// Comments cite drafts by their year, as in "draft of 1995, section 3.1". The file docs/glossary.md
// lists these drafts.
package layout
