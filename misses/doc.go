// Package misses counts the names that were asked for and are not known, so that
// who publishes names sees which links are broken and what was meant by them.
//
// It keeps names, counts and suggestions, and nothing of who asked: no address,
// no agent, and of the times only the hour.
//
// # What is kept
//
// Names are given by strangers, who can invent as many as they like. So a
// [Counter] holds at most Options.Names of them, in at most Options.Bytes, and
// gives each a strength, which grows by one whenever the name is asked for. When it
// is full, a new name has to get past the weakest of some others that are
// chosen by chance: that one loses one strength, by chance too and the more
// rarely the stronger it is, and makes room when it has none left. A flood of
// names that are each asked for once finds the others of its kind to be the
// weakest, and leaves what is asked for again and again alone. The idea is that
// of HeavyKeeper (Gong and others, USENIX ATC 2018) with samples in place of
// hashed rows.
//
// A count is exact since First, the hour in which the name was taken in; a name
// that had to make room and came back begins anew. [Totals] are exact: all
// questions are those of the counts and Other.
//
// # The file
//
// A Counter with a file writes it from time to time, and when it is closed: to a
// new file that takes the place of the old one when it is on disk. After a crash
// the counts since the last time are lost, which is what they are worth. The
// format is in docs/reference/files.md; [Read] reads it, and [Merge] makes one list of
// the files of several servers.
package misses
