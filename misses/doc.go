// Package misses counts failed lookups by name, so that publishers see which links are broken and
// which names were probably meant.
//
// It keeps names, counts and suggestions, but nothing about clients: no address and no user agent.
// Times are kept only to the hour.
//
// # Which names are kept
//
// Clients can invent any number of names. A [Counter] therefore holds at most Options.Names of
// them, in at most Options.Bytes. Each has a strength, which grows by one with every request for
// it. When the Counter is full, a new name competes with the weakest of a few others, chosen at
// random. That one loses a unit of strength with a probability that is lower the stronger it is,
// and is removed when none is left. A flood of names that are requested once each therefore
// replaces mainly other such names, and frequent names stay. The idea is that of HeavyKeeper (Gong
// and others, USENIX ATC 2018), with samples instead of hashed rows.
//
// A count is exact since First, the hour in which the name was added. A name that was removed and
// comes back starts from zero. [Totals] are exact: they cover the counts and Other.
//
// # The file
//
// A Counter with a file saves it periodically, and when it is closed: it writes a new file, which
// replaces the old one when it is on disk. A crash loses the counts since the last save. The format
// is in docs/reference/files.md. [Load] reads it, and [Merge] merges the files of several servers.
package misses
