// Package misses counts failed lookups by name, so that publishers see which links are broken and
// which names were probably meant.
//
// It keeps names, counts and suggestions, but nothing about clients: no address and no user agent.
// Times are kept only to the hour.
//
// # Which names are kept
//
// Clients can invent any number of names. A [Counter] therefore holds at most Options.Names names, in
// at most Options.Bytes of memory. Each name has a strength, which grows by one with every request for
// the name. When the Counter is full, a new name competes with an old name: the weakest of a few
// names chosen at random. The old name then loses a unit of strength with some probability. For
// stronger names this probability is lower. If no strength is left, the old name is removed. So
// frequent names stay. Names that are requested only once mainly replace one another, even if there
// are many of them. The idea comes from HeavyKeeper (Gong and others, USENIX ATC 2018), with samples
// instead of hashed rows.
//
// Requests of robots count for names that are in the list. They do not add names to it, and do not
// make a name stronger, so that robots that try many names do not fill the list.
//
// A count is exact since First, the hour in which the name was added. A name that was removed
// and comes back starts from zero. [Totals] are exact: they include the requests for names that were
// removed or never added.
//
// # The file
//
// A Counter with a file saves its counts periodically, and when it is closed. It writes a new file.
// When the new file is on disk, it replaces the old file. A crash loses the counts since the last
// save. docs/reference/files.md describes the format. [Load] reads a file, and [Merge] merges the
// files of several servers.
package misses
