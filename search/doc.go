// Package search finds names by what people remember of them: words of the name, of the title and
// other metadata, of URLs, and the status.
//
// An [Index] is a database in a directory of its own, beside a store of any kind. The index contains
// only data that the store has, too. So it can be deleted at any time, and is then built again. The
// index follows the log of changes of the store, and knows how many changes it does not have yet.
//
// The index divides the names into segments. Each segment has a range of keys. In a segment each
// name has a number. For each word the segment has a set: the numbers of the names that contain the
// word. A search visits the segments in order, and intersects the sets of its words. So the cost of
// a search depends on the number of segments, not on the frequency of the words. The results are
// sorted by key.
//
// A name that changes gets another number. Its former number remains until the segment is built
// again, so the sets can contain too many numbers. A search therefore compares each candidate with
// the current record in the store. Content that was changed, deleted or redacted is not found from
// the moment of the change on, even if the index does not have the change yet.
package search
