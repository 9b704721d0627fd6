// Package pid lists the schemes of persistent identifiers. For the schemes other than urn, it has
// the syntax rules of their documents, and converts spellings that these documents consider
// equivalent to one spelling.
//
// The packages name and scheme both use it, so that the key of a name and the canonical form of its
// URI are always consistent.
package pid
