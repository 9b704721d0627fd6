// Package pid lists the schemes of persistent identifiers. For those other than urn, it has the
// syntax rules in their documents, and converts equivalent spellings to a single one. Package name
// uses it for keys and package scheme for canonical forms, so that these always agree.
package pid
