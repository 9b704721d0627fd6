// Package misses counts failed lookups by name. The counts show publishers which links are broken,
// and which names the links were probably meant to have.
//
// The package stores names, counts and suggestions, but no data about clients. Times are rounded to
// hours.
//
// # Which names are kept
//
// Clients can invent any number of names. A [Counter] therefore has limits on the number of names
// and on memory. Each name has a strength, which grows by one with every request for the name.
//
// When the Counter is full, a new name competes with the weakest of a few names chosen at random.
// That name loses a unit of strength with a probability that is lower for stronger names. A name
// without strength is replaced by the new name. Therefore, frequent names stay, and names that are
// requested once mainly replace each other. The algorithm is that of HeavyKeeper (Gong and others,
// USENIX ATC 2018), with random samples instead of hashed rows.
//
// Requests by robots are counted for names that are already in the list. They do not add names or
// increase their strength, so robots that try many names cannot fill the list.
//
// The count of a name is exact since First, the hour in which it was added. If the name is removed
// and added again, it starts from zero. [Totals] are exact. They include requests for names that
// are not in the list.
//
// # The file
//
// A Counter with a file saves its counts periodically, and when it is closed. It writes a new file,
// which replaces the old file when it is complete and on disk. A crash loses the counts since the
// last save. docs/reference/files.md describes the format. [Load] reads such a file, and [Merge]
// adds up the counts of several servers.
package misses
