// Package adminapi defines the admin API: the JSON of its requests and responses, its
// errors, converted in both directions, and a [Client] in Go.
//
// # Resources
//
// All resources are below [Root] and require the field "Authorization: Bearer TOKEN". What
// follows a semicolon in this table are query parameters and header fields:
//
//	GET    version                version of the program and of the rules of names
//	GET    names                  records; prefix, after, limit, status, only=keys
//	POST   names                  a [Batch] of changes
//	GET    names/{name}           a record; its revision is the ETag; at
//	PUT    names/{name}           creates or replaces it; If-Match, If-None-Match: *, strict
//	DELETE names/{name}           removes a reserved name; If-Match
//	POST   names/{name}/retire    makes it a tombstone: a [Retirement]; If-Match
//	GET    names/{name}/history   its [Revision]s, newest first; format=jsonl for all
//	POST   names/{name}/redact    removes content of earlier revisions: a [Redaction]; If-Match
//	POST   mint                   makes and reserves names: a [Minting]; a stream of [Report]s
//	POST   import                 JSON Lines, CSV or TSV in, a stream of [Event]s out;
//	                              format, on_conflict, dry_run, changes, retired, strict,
//	                              map_resolvers, encoding, delimiter, map, split,
//	                              spreadsheet, as, compression
//	GET    export                 records as a file; format, prefix, status, at, revisions,
//	                              spreadsheet, compression
//	GET    changes                the log of changes as a stream of [Entry]s; after, limit, wait
//	GET    head                   the [Head] of the log; size, since for a proof
//	GET    find                   a stream of [Place]s; location, after_url, after_name, limit
//	POST   relocate               a [registrar.Relocation]; a stream of [Report]s
//	POST   undo                   a [registrar.Undoing]; a stream of [Report]s
//	POST   verify                 verifies the store; a stream of [Report]s; since
//	POST   backup                 a [BackupRequest]; a stream of [Report]s
//	GET    jobs                   the [Jobs] that the token may see, newest first
//	GET    jobs/{id}              a [Job]
//	DELETE jobs/{id}              cancels a job
//	GET    authorities            all authorities
//	GET    authorities/{prefix}   an authority; its revision is the ETag
//	PUT    authorities/{prefix}   creates or replaces it; If-Match, If-None-Match: *
//	GET    authorities/{prefix}/history  its [Revision]s, as for a name
//	POST   authorities/{prefix}/redact   removes content of earlier revisions, as for a name
//	GET    resolve                the public answer, and the reasons for it: name, s and the
//	                              other parts of the question, explain
//	GET    misses                 failed lookups: [Misses]; prefix, limit
//	DELETE misses                 resets them
//	GET    tokens                 all [Tokens], without their secrets
//	POST   tokens                 creates a token; its secret is shown only in the response
//	DELETE tokens/{id}            revokes a token
//
// Every change of records and authorities accepts "why" in the query or body: the reason that
// the history shows. A redaction has the member "reason" instead.
//
// # Names in paths
//
// A name is written in a path unchanged, with its own escapes: names/urn:ietf:rfc:2648,
// names/ark:12345/x. A name can also be escaped as a whole, including colons ([EscapeName]).
// It must be escaped as a whole if it ends in "/retire", "/redact" or "/history".
//
// # Errors
//
// Errors are problem details (RFC 9457) with the members of [Problem]. [NewProblem] converts
// an error to a problem, and the [Client] converts it back. So a program gets the same errors
// from the client as from a store that it has opened itself.
package adminapi
