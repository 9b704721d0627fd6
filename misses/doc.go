// Package misses counts failed lookups by name, so that publishers see which links are broken and
// which names were probably meant.
//
// It keeps names, counts and suggestions, but nothing about clients: no address and no user agent.
// Times are kept only to the hour.
//
// # Which names are kept
//
// Clients can invent any number of names. A [Counter] therefore holds at most Options.Names of
// them, in at most Options.Bytes. Each name has a strength, which grows by one with every
// request for it. When the Counter is full, a new name competes with an old name: the weakest
// of a few names chosen at random. The old name then loses a unit of strength with some
// probability: the stronger the name, the lower the probability. If no strength is left, the
// old name is removed. So names that are requested once each, even in large numbers, mainly
// replace one another, and frequent names stay. The idea is that of HeavyKeeper (Gong and
// others, USENIX ATC 2018), with samples instead of hashed rows.
//
// A count is exact since First, the hour in which the name was added. A name that was removed
// and comes back starts from zero. [Totals] are exact, because they include the requests for
// names that were removed or never added.
//
// # The file
//
// A Counter with a file saves its counts periodically, and when it is closed. It writes a new
// file, which replaces the old file once the new one is on disk. A crash loses the counts
// since the last save. The format is in docs/reference/files.md. [Load] reads it, and [Merge]
// merges the files of several servers.
package misses
