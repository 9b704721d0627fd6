// Package layout has functions for the rules of schemes. They find the components of a URI, collect
// the parts of a URI, and create findings.
//
// The file docs/glossary.md lists the drafts that comments cite by their year, such as "draft of
// 1995, section 3.1".
package layout
