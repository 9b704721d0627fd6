// Package cache caches the answers of resolvers, as draft-ietf-uri-yaurn-00, 5 describes. Before it
// uses a cached answer, it asks the resolver whether the answer is still current, with
// If-Modified-Since and If-None-Match (Y95-66, Y95-67). The cache therefore saves the transfer of
// the answer, but not the request. It stores neither errors nor answers without a date.
//
// A [Cache] is a [nomen.Resolver] that uses a [Source], such as a [client.Client]. It keeps answers
// in a [Storage], which is a [Memory] for one program or a [Disk] that all programs of a user
// share.
//
// The key of an answer consists of the canonical form of the name and everything else in the
// question that affects the answer (2012, 5: the purpose of caches). The fragment is not part of
// the key.
//
// [Cache.Past] returns a cached answer without asking the resolver, for use offline, and the time
// at which this answer was last known to be current.
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package cache
