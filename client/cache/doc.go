// Package cache caches the answers of resolvers, as draft-ietf-uri-yaurn-00, 5 describes. Before it
// uses a cached answer, it asks the resolver whether the answer is still current, with
// If-Modified-Since and If-None-Match (Y95-66, Y95-67). So it saves the transfer of the answer, but
// not the request. It caches neither errors nor answers without a date.
//
// A [Cache] is a [nomen.Resolver] that uses a [Source], such as a [client.Client]. It keeps answers
// in a [Storage]. This is a [Memory] for one program, or a [Disk] for all programs of a user.
//
// Answers are stored by question. This is the canonical form of the name, and everything else that
// can change the answer (2012, 5: the purpose of caches), but not the fragment.
//
// [Cache.Past] returns a cached answer without asking the resolver, for use offline, and says when
// it was last known to be current.
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package cache
