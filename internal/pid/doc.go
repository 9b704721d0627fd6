// Package pid lists the schemes of persistent identifiers. For the schemes other than urn it
// has the syntax rules of their documents, and folds the spellings that these documents
// consider equivalent.
//
// Packages name and scheme share it, so that the key of a name and the
// canonical form of its URI cannot diverge.
package pid
