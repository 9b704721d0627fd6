// Package cache keeps the answers of resolvers, as draft-ietf-uri-yaurn-00, 5 describes it.
// Before each use the cache asks the resolver whether the answer is still current, with
// If-Modified-Since and If-None-Match (Y95-66, Y95-67). A cache therefore saves the transfer
// of the body, not the request. It does not keep errors, or answers without a modification
// date.
//
// [Cache] is a [nomen.Resolver] over any [Source], such as [client.Client]. It keeps the answers
// in a [Storage]: [Memory] for one program, or [Disk] for all programs of one user.
//
// An answer is found by its question: the name in canonical form, and everything else in the
// question that can change the answer (2012, 5: the purpose of caches). The fragment does not
// belong to the question.
//
// [Cache.Past] answers without asking the resolver, for use offline, and returns when the answer
// was last confirmed.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package cache
