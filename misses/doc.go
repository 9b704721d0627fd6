// Package misses counts failed lookups by name. Publishers can see from the counts which links are
// broken, and which names were probably meant.
//
// The package keeps names, counts and suggestions, but nothing about clients. Times are rounded to
// hours.
//
// # Which names are kept
//
// Clients can invent any number of names. A [Counter] therefore has limits on the number of names
// and on memory. Each name has a strength, which grows by one with every request for the name.
//
// When the Counter is full, a new name competes with an old one, which is the weakest of a few
// names chosen at random. The old name loses a unit of strength with a probability that is lower
// for stronger names. If it has none left, the new name replaces it. So frequent names stay, and
// names that are requested once mainly replace each other. The idea comes from HeavyKeeper (Gong
// and others, USENIX ATC 2018), with samples instead of hashed rows.
//
// Requests of robots are counted for names that are already kept. They do not add a name or
// strengthen one, so that robots that try many names cannot fill the list.
//
// The count of a name is exact since First, the hour in which it was added. If the name is removed
// and added again, it starts from zero. [Totals] are exact, because they include requests for names
// that are not kept.
//
// # The file
//
// A Counter with a file saves its counts periodically, and when it is closed. It writes a new file,
// and replaces the old one when the new one is on disk. A crash loses the counts since the last
// save. docs/reference/files.md describes the format. [Load] reads a file, and [Merge] adds up the
// counts of several servers.
package misses
