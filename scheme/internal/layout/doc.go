// Package layout has what the rules of all schemes share: the offsets of the
// components of a URI, the collection of its parts, and findings.
package layout
