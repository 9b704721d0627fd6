// Package pid lists the schemes of persistent identifiers. For all of them but urn, it checks the
// syntax and converts equivalent spellings to the same spelling. Package name uses it to compute
// keys, and package scheme to compute canonical forms, so that both always agree.
package pid
