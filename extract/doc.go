// Package extract finds identifiers in documents: in running text, in HTML and
// in mail, as a careful human would.
package extract
