// Package adminapi defines the admin API: the JSON of its requests and responses, its
// errors, converted in both directions, and a [Client] in Go.
//
// # Resources
//
// All resources are below [Root] and require the field "Authorization: Bearer TOKEN":
//
//	GET    version                version of the program and of the rules of names
//	GET    names                  records; prefix, after, limit, status, only=keys
//	POST   names                  a [Batch] of changes
//	GET    names/{name}           a record; its revision is the ETag; at
//	PUT    names/{name}           replaces it; If-Match, If-None-Match: *
//	DELETE names/{name}           removes a reserved name; If-Match
//	POST   names/{name}/retire    makes it a tombstone: a [Retirement]
//	GET    names/{name}/history   its [Revision]s, newest first; format=jsonl for all
//	POST   names/{name}/redact    removes content of earlier revisions: a [Redaction]
//	POST   import                 JSON Lines, CSV or TSV in, a stream of [Event]s out;
//	                              format, on_conflict, dry_run, changes, as, compression
//	GET    export                 format, prefix, status, at, revisions, compression
//	GET    changes                the log of changes as a stream of [Entry]s; after, limit, wait
//	GET    head                   the [Head] of the log; size, since for a proof
//	GET    find                   a stream of [Place]s; location, after_url, after_name, limit
//	POST   relocate               a [Relocation]; a stream of [Report]s
//	POST   verify                 verifies the store; a stream of [Report]s
//	POST   backup                 a [BackupRequest]; a stream of [Report]s
//	GET    authorities            all authorities
//	GET    authorities/{prefix}   an authority; its revision is the ETag
//	PUT    authorities/{prefix}   replaces it; If-Match, If-None-Match: *
//	GET    resolve                the public answer, and the reasons for it: name, s and the
//	                              other parts of the question, explain
//	GET    misses                 failed lookups: [Misses]; prefix, limit
//	DELETE misses                 resets them
//	POST   tokens                 creates a token; its secret is shown only in the response
//	DELETE tokens/{id}            revokes a token
//
// Every change accepts "why" in the query or body, a reason for the history.
//
// # Names in paths
//
// A name is put in a path unchanged, with its own escapes: names/urn:ietf:rfc:2648,
// names/ark:12345/x. A name can also be escaped as a whole, including colons
// ([EscapeName]). It must be escaped as a whole if it ends in "/retire", "/redact" or "/history".
//
// # Errors
//
// Errors are problem details (RFC 9457) with the members of [Problem]. [NewProblem] and
// [Problem.Err] convert in both directions, so that a program gets the same errors from
// the client as from an open store.
package adminapi
