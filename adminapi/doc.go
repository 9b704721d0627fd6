// Package adminapi is what the admin listener and those who use it agree on: the
// JSON of its requests and answers, its errors in both directions, and a
// [Client] in Go.
//
// # Resources
//
// Below [Root], each with an Authorization field "Bearer TOKEN":
//
//	GET    version                the program and the rules of names
//	GET    names                  records; prefix, after, limit, status, only=keys
//	POST   names                  a [Batch] of changes
//	GET    names/{name}           a record; its revision is the ETag; at
//	PUT    names/{name}           replaces it; If-Match, If-None-Match: *
//	DELETE names/{name}           removes a reserved name; If-Match
//	POST   names/{name}/retire    makes it a tombstone: a [Retirement]
//	GET    names/{name}/history   its [Revision]s, the newest first; format=jsonl for all
//	POST   names/{name}/redact    removes content of earlier revisions: a [Redaction]
//	POST   import                 JSON Lines, CSV or TSV in, a stream of [Event]s out;
//	                              format, on_conflict, dry_run, changes, as, compression
//	GET    export                 format, prefix, status, at, revisions, compression
//	GET    changes                a stream of [Entry]s in their one order; after, limit, wait
//	GET    head                   the [Head] of that order; size, since for a proof
//	GET    find                   a stream of [Place]s; location, after_url, after_name, limit
//	POST   relocate               a [Relocation]; a stream of [Report]s
//	POST   verify                 checks the store; a stream of [Report]s
//	POST   backup                 a [BackupRequest]; a stream of [Report]s
//	GET    authorities            all of them
//	GET    authorities/{prefix}   one; its revision is the ETag
//	PUT    authorities/{prefix}   replaces it; If-Match, If-None-Match: *
//	GET    resolve                what the public is answered, and why: name, s and the
//	                              other parts of a question, explain
//	GET    misses                 the names asked for in vain: [Misses]; prefix, limit
//	DELETE misses                 forgets them
//	POST   tokens                 a new token, whose secret is shown this once
//	DELETE tokens/{id}            revokes a token
//
// Every change takes "why" in the query or body, for the history.
//
// # Names in paths
//
// A name stands in a path as it is, its escapes are its own:
// names/urn:ietf:rfc:2648, names/ark:12345/x. A name can also be escaped as a
// whole, colons included ([EscapeName]), and has to be where it ends in
// "/retire", "/redact" or "/history".
//
// # Errors
//
// They are problem details (RFC 9457) with the members of [Problem].
// [NewProblem] and [Problem.Err] are one table in two directions, so that a
// program that works through the client sees the errors that it would see when it
// had the store open.
package adminapi
