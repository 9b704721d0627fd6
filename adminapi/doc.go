// Package adminapi defines the JSON of the requests and responses of the admin API, converts its
// errors to JSON and back, and provides a [Client].
//
// # Resources
//
// All paths begin with [Root], and all requests require the header field "Authorization: Bearer
// TOKEN". In the following table, a semicolon precedes query parameters and header fields:
//
//	GET    version                version of the program and of the rules of names
//	GET    names                  records; prefix, after, limit, status, only=keys
//	POST   names                  a [Batch] of changes
//	GET    names/{name}           a record, with its revision as ETag; at
//	PUT    names/{name}           creates or replaces it; If-Match, If-None-Match: *, strict
//	DELETE names/{name}           removes a reserved name; If-Match
//	POST   names/{name}/retire    makes it a tombstone: a [Retirement]; If-Match
//	GET    names/{name}/history   its [Revision]s, newest first; format=jsonl for all
//	POST   names/{name}/redact    removes content of earlier revisions: a [Redaction]; If-Match
//	POST   mint                   a [Minting] in, a stream of [Report]s out: makes and reserves names
//	POST   import                 JSON Lines, CSV or TSV in, a stream of [Event]s out;
//	                              format, on_conflict, dry_run, changes, retired, strict,
//	                              map_resolvers, encoding, delimiter, map, split,
//	                              spreadsheet, as, compression
//	GET    export                 records as a file; format, prefix, status, at, revisions,
//	                              spreadsheet, compression
//	GET    changes                the log of changes as a stream of [Entry]s; after, limit, wait
//	GET    head                   the [Head] of the log; size, since (for a proof)
//	GET    find                   a stream of [Place]s; location, after_url, after_name, limit
//	POST   relocate               a [registrar.Relocation] in, a stream of [Report]s out
//	POST   undo                   a [registrar.Undoing] in, a stream of [Report]s out
//	POST   verify                 a stream of [Report]s about the store; since
//	POST   backup                 a [BackupRequest] in, a stream of [Report]s out
//	GET    jobs                   the [Jobs] that the token may see, newest first
//	GET    jobs/{id}              a [Job]
//	DELETE jobs/{id}              cancels a job
//	GET    authorities            all authorities
//	GET    authorities/{prefix}   an authority, with its revision as ETag
//	PUT    authorities/{prefix}   creates or replaces it; If-Match, If-None-Match: *
//	GET    authorities/{prefix}/history  its [Revision]s, as for a name
//	POST   authorities/{prefix}/redact   removes content of earlier revisions, as for a name
//	GET    resolve                the public answer, and the reasons for it: name, s and the
//	                              other parts of the question, explain
//	GET    misses                 failed lookups: [Misses]; prefix, limit
//	DELETE misses                 resets them
//	GET    config                 the [Settings] of the server, without secrets
//	POST   reload                 reads the configuration again: [Reloaded]
//	GET    tokens                 all [Tokens], without their secrets
//	POST   tokens                 creates a token; its secret is shown only in the response
//	DELETE tokens/{id}            revokes a token
//
// Every request that changes records or authorities accepts the parameter "why" in the query or
// body. It is the reason for the change, which the history shows. Redactions have the member
// "reason" instead.
//
// # Names in paths
//
// A path contains a name unchanged, with the percent-encoding that the name itself has:
// names/urn:ietf:rfc:2648, names/ark:12345/x. Clients can also percent-encode the whole name,
// including its colons ([EscapeName]). They must do so for a name that ends in "/retire", "/redact"
// or "/history".
//
// # Errors
//
// Errors are problem details (RFC 9457) with the members of [Problem]. [NewProblem] converts an
// error to a problem, and the [Client] converts the problem back to the error. Therefore, the
// client returns the same errors as the registrar and the store.
package adminapi
