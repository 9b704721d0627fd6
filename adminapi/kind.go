package adminapi

// The kinds of problems.
const (
	kindMalformedName = "malformed-name"
	kindBadRequest    = "bad-request"
	kindRefused       = "refused"
	kindUnauthorized  = "unauthorized"
	kindDenied        = "not-permitted"
	kindNotFound      = "not-found"
	kindConflict      = "conflict"
	kindHead          = "unknown-head"
	kindState         = "state"
	kindLimit         = "limit"
	kindFull          = "disk-full"
	kindBroken        = "broken-off"
	kindBadLine       = "bad-line"
	kindUnavailable   = "unavailable"
	kindAway          = "storage-away"
	kindUnknown       = "outcome-unknown"
	kindReadOnly      = "read-only"
	kindFailure       = "failure"
)

// Explain returns the title of a kind of problem, and what it means and what to do about
// it. It returns false for an unknown kind.
func Explain(kind string) (title, meaning string, ok bool) {
	switch kind {
	case kindMalformedName:
		return "The name is malformed", "A name breaks a rule of its scheme. The response gives the rule, and the offset of the error in bytes from 0.", true
	case kindBadRequest:
		return "The request is invalid", "The server cannot understand the body or the query. The response gives the field, or the line and column of the body.", true
	case kindRefused:
		return "The change breaks a rule", "The server understands the request, but what it would store is not allowed. The response gives the field and the rule. Nothing was changed.", true
	case kindUnauthorized:
		return "A valid token is required", "Send a token of this server that is not revoked or expired: Authorization: Bearer TOKEN. The administrator's token is in the file admin.token of the data directory.", true
	case kindDenied:
		return "Permission denied", "The token is valid, but its role or its prefixes do not permit this request. The response gives the role or the prefix that is required.", true
	case kindNotFound:
		return "Not found", "This server has no such name, authority or token.", true
	case kindConflict:
		return "The record was modified concurrently", "The change expected another revision than the current one. Read the record again and repeat the change.", true
	case kindHead:
		return "The log does not begin with that head", "The log of the store is shorter than the given head, or its hash over the same changes differs. Either the head belongs to another store, or earlier changes were altered. Verify the whole store.", true
	case kindState:
		return "Names are never deleted or reassigned", "A name that was once active or retired cannot be deleted or reserved again. Retire it instead; its readers will see the reason.", true
	case kindLimit:
		return "Too large", "Something exceeds a limit of this server. The response gives what, its size and the limit.", true
	case kindFull:
		return "The disk of the server is full", "Earlier acknowledged changes are safe, and names are still answered. Of this request nothing was stored, or only what the response says. Free some space on the disk named in the response, then send the request again; the server need not be restarted.", true
	case kindBroken:
		return "The request body was truncated", "The records before the given line were imported, as the summary says. Send the whole file again; records that are already imported do not change.", true
	case kindBadLine:
		return "The first line of the table is invalid", "The first line of CSV and TSV must name the columns. The response gives the line, column and field of the error. Nothing was imported.", true
	case kindUnavailable:
		return "The server is shutting down", "Nothing is wrong with the request. Send it again later.", true
	case kindAway:
		return "The storage of the server is unavailable", "The server cannot use the disk or the database with its names at the moment. Nothing of the request was carried out, or only what the response says. Send it again after the time in Retry-After; the server need not be restarted.", true
	case kindUnknown:
		return "It is unknown whether the change was made", "The connection to the database was lost during the commit. The change was made completely or not at all. Read the name again, or send the same change again with the revision that it expected.", true
	case kindReadOnly:
		return "The server is read-only", "The server was started with --read-only. It answers names but accepts no changes. Send changes to a server that does.", true
	case kindFailure:
		return "The server failed", "The cause is in the log of the server. The request may be correct.", true
	}
	return "", "", false
}
