// Package search finds names by what people remember of them: words of the name, of the title and
// other metadata, of URLs, and the status.
//
// An [Index] is a database in a directory of its own, beside a store of any kind. It contains
// nothing that the store does not have, so it can be deleted at any time, and is then built again.
// It follows the log of changes of the store, and knows how far behind it is.
//
// The index divides the names, in the order of their keys, into segments. In each segment the names
// have numbers, and each word has the set of the numbers of the names that contain it. A search
// visits the segments in order and intersects the sets of its words. So the cost of a search depends
// on the number of segments, not on how frequent its words are, and the results have the order of
// their keys.
//
// A name that changes gets another number, and its former one remains until the segment is built
// again. So the sets can contain too much, and a search compares each candidate with the current
// record in the store before it returns it. Content that was changed, deleted or redacted is
// therefore not found from that moment on, even if the index is behind.
package search
