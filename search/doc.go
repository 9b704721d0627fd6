// Package search finds names by words in the name, the title and other metadata, and URLs, and by
// status.
//
// An [Index] is a database in its own directory, next to a store of any kind. It has only data that
// the store also has, so it can be deleted and built again at any time. It follows the log of
// changes of the store, and knows how many changes it is behind.
//
// The index divides the names into segments, each for a range of keys. In a segment every name has
// a number, and for each word there is the set of numbers of the names with that word. A search
// goes through the segments in order, and intersects the sets of its words. So the cost of a search
// depends on the number of segments, and not on how common the words are. The results are sorted by
// key.
//
// When a name changes, it gets a new number, and the old number remains until the segment is
// rebuilt. The sets can therefore have too many numbers, so a search compares each candidate with
// the present record in the store. For this reason a search never finds content that was changed,
// deleted or redacted, even if the index does not have the change yet.
package search
