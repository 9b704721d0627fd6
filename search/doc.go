// Package search implements full-text search for the records of a store. It finds names by words in
// the name, in the metadata, such as the title, and in the URLs, and by status.
//
// An [Index] is a database in its own directory, for a store of any kind. It contains no data of
// its own, so it can be deleted and built again at any time. The index follows the log of changes
// of the store. It knows how many changes are not indexed yet.
//
// The index divides the names into segments. A segment contains the names in a range of keys. Every
// name in a segment has a number. For each word, the segment stores the set of the numbers of the
// names that contain the word. A search goes through the segments in order, and intersects the sets
// for the words of the query. The cost of a search therefore depends on the number of segments, and
// not on how common the words are. The results are sorted by key.
//
// When a record changes, the name gets an additional number; the old number remains until the
// segment is rebuilt. A set can therefore contain outdated numbers. For this reason, a search
// compares each candidate with the present record in the store. A search never returns content that
// was changed, deleted or redacted, even if the change is not indexed yet.
package search
