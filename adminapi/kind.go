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

// Explain returns what a kind of problem is called, and what it means and what to
// do about it.
func Explain(kind string) (title, meaning string, ok bool) {
	switch kind {
	case kindMalformedName:
		return "The name is not well formed", "A name breaks a rule of its scheme. The offset tells where, in bytes from 0, and the rule is named.", true
	case kindBadRequest:
		return "The request is not what the API wants", "The body or the query cannot be understood. The field, or the line and column of the body, tell where.", true
	case kindRefused:
		return "The change breaks a rule", "The request is understood, but what it wants to store is not allowed. The field and the rule are named; nothing of the change was made.", true
	case kindUnauthorized:
		return "A token that is good here is needed", "Send a token that is known here and not revoked: Authorization: Bearer TOKEN. The administrator's is in the file admin.token of the data directory.", true
	case kindDenied:
		return "The token does not allow it", "The token is good, but its role or its prefixes do not reach this far. The answer tells the role or the prefix that is needed.", true
	case kindNotFound:
		return "There is no such thing", "No name, authority or token of this spelling is known here.", true
	case kindConflict:
		return "Somebody changed it in between", "The change expected another revision than the one that is there. Read the record again, and make the change on top of it.", true
	case kindHead:
		return "The log does not begin with that head", "The log of the store is shorter than the head that was given, or its hash over the same changes is another: the head belongs to another store, or what came before it was altered. Verify the whole store.", true
	case kindState:
		return "A name is never forgotten or reassigned", "A name that was once active or retired cannot be deleted or reserved again. Retire it instead: its readers will be told why.", true
	case kindLimit:
		return "It is too large", "Something is larger than this server keeps. The answer tells what, its size and the limit.", true
	case kindFull:
		return "The disk of the server is full", "What was acknowledged before is kept, and names are still answered; of this request nothing, or only what the answer tells, went in. Make room on the disk that it tells of, then send the request again: the server need not be started anew.", true
	case kindBroken:
		return "The input broke off", "The records up to the line that is named were brought in, as the summary tells. Send the whole file again: what is there already stays as it is.", true
	case kindBadLine:
		return "The first line of a table is not good", "The first line of CSV and TSV names the columns. The line, column and field tell what cannot be there; nothing of the file was brought in.", true
	case kindUnavailable:
		return "The server is closing down", "Nothing is wrong with the request. Send it again in a while.", true
	case kindAway:
		return "The storage of the server is away", "The disk or the database on which the server keeps its names cannot be used at the moment. Nothing of the request was carried out, or only what the answer tells. Send it again after the time in Retry-After: the server need not be restarted.", true
	case kindUnknown:
		return "It is not known whether the change was made", "The connection to the database was lost while the change was committed. It was made as a whole or not at all. Read the name again, or send the same change again with the revision that it expected.", true
	case kindReadOnly:
		return "The server is read-only", "The server was started with --read-only: it answers names, and accepts no changes. Send changes to the server that keeps the names.", true
	case kindFailure:
		return "The server failed", "Nothing is known to be wrong with the request. The cause is in the log of the server.", true
	}
	return "", "", false
}
