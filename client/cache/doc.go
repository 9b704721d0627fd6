// Package cache keeps answers of resolvers for later, as draft-ietf-uri-yaurn-00,
// 5 has it: whatever is used again was confirmed before by the resolver itself, with
// If-Modified-Since and If-None-Match (Y95-66, Y95-67). What a cache saves is the
// body, not the question. An answer without a date of modification is not kept,
// nor is an error.
//
// [Cache] is a [nomen.Resolver] over any [Source], which [client.Client] is. The
// answers are in a [Keeper]: [Memory] for one program, [Disk] for all of one user.
//
// Answers are found by what was asked: the name, whatever its spelling, and all of
// the question that may change the answer (2012, 5: the purpose of caches). The
// fragment is none of it.
//
// [Cache.Past] answers without asking anybody, as somebody who has no connection
// wants it, and tells since when the answer has not been confirmed.
package cache
