package adminapi

import (
	"net/http"
	"slices"
	"sync"
)

// A Kind is a kind of problem. The pages at [ProblemPath] and docs/reference/errors.md are
// generated from the table of kinds.
type Kind struct {
	Name     string // the last part of the problem's type
	Statuses []int  // HTTP statuses; the first is the usual one
	Title    string
	Cause    string // what happened
	Remedy   string // what to do
}

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
	kindJobs          = "too-many-jobs"
	kindRate          = "too-many-requests"
	kindConfig        = "invalid-configuration"
	kindUnavailable   = "unavailable"
	kindAway          = "storage-away"
	kindUnknown       = "outcome-unknown"
	kindReadOnly      = "read-only"
	kindFailure       = "failure"

	KindCrossSite   = "cross-site"         // a page of another site sent the request
	KindHost        = "wrong-host"         // the Host field names another server
	KindMethod      = "method-not-allowed" // the method is not allowed for this path
	KindCoding      = "compression"        // the compression of the body is unknown
	KindUnsupported = "unsupported"        // the store does not support the operation
	KindNoIndex     = "no-index"           // the server has no search index, or it is unavailable
	KindNoLinks     = "no-link-checks"     // the server does not check links
	KindNoArchive   = "no-archive"         // the server does not ask an archive for preserved copies
	KindNoReports   = "no-reports"         // the server sends no reports
	KindLoop        = "delegation-loop"    // resolvers delegate a name to each other
	KindJobEnded    = "job-ended"          // the job ended before it was complete
	KindSecond      = "second-person"      // the caller cannot decide about a job that waits for a second person
)

// Kinds returns the kinds of problems.
func Kinds() []Kind { return slices.Clone(kinds()) }

var kinds = sync.OnceValue(func() []Kind {
	kind := func(name, title, cause, remedy string, statuses ...int) Kind {
		return Kind{Name: name, Statuses: statuses, Title: title, Cause: cause, Remedy: remedy}
	}
	return []Kind{
		kind(kindMalformedName, "The name is malformed",
			"A name breaks a rule of its scheme. The response gives the rule, and the offset of the error in bytes from 0.",
			"Correct the name: docs/reference/rules.md lists the rules.",
			http.StatusBadRequest),
		kind(kindBadRequest, "The request is invalid",
			"The server cannot understand the body or the query. The response gives the field, or the line and column of the body.",
			"Correct that field. The page /-/openapi.json of the server describes all requests.",
			http.StatusBadRequest),
		kind(kindRefused, "The change breaks a rule",
			"The request would store something that a rule does not allow. The response gives the field and the rule. Nothing was changed.",
			"Correct that field of the record.",
			http.StatusUnprocessableEntity),
		kind(kindUnauthorized, "A valid token is required",
			"The request has no token, or its token is unknown, revoked or expired.",
			"Send a valid token of this server: Authorization: Bearer TOKEN. An administrator makes tokens (docs/howto/give-access.md). The administrator's own token is in the file admin.token of the data directory.",
			http.StatusUnauthorized),
		kind(kindDenied, "Permission denied",
			"The token is valid, but its role or its prefixes do not permit this request. The response gives the role or the prefix that is required.",
			"Use another token, or ask an administrator for a token with that role or prefix.",
			http.StatusForbidden),
		kind(kindNotFound, "Not found",
			"This server has no such name, authority, token or job.",
			"Check the spelling.",
			http.StatusNotFound),
		kind(kindConflict, "The record was modified concurrently",
			"The request expected an earlier revision: another request has changed the record since then. The status is 412 if the request had If-Match or If-None-Match.",
			"Read the record again and repeat the change.",
			http.StatusConflict, http.StatusPreconditionFailed),
		kind(kindHead, "The log does not begin with that head",
			"The log of the store is shorter than the given head, or its hash over the same changes differs. Either the head belongs to another store, or earlier changes were altered.",
			"Verify the whole store (docs/howto/verify-the-history.md).",
			http.StatusConflict),
		kind(kindState, "The state of the name does not allow the change",
			"A name that was once active or retired cannot be deleted or reserved again, because names are never reassigned. Or the last change of the name is dated in the future, by the clock of the server (rule clock).",
			"Retire the name instead; its readers will see the reason. If the response has the rule clock, repair the clock (docs/howto/repair-wrong-times.md).",
			http.StatusConflict),
		kind(kindLimit, "Too large",
			"Something in the request exceeds a limit of this server. The response names it, its size and the limit.",
			"Send less: shorten the field, or split the file.",
			http.StatusRequestEntityTooLarge),
		kind(kindFull, "The disk of the server is full",
			"Earlier acknowledged changes are safe, and names are still answered. Nothing in this request was stored, except what the response lists.",
			"Free some space on the disk named in the response, then send the request again; the server need not be restarted.",
			http.StatusInsufficientStorage),
		kind(kindBroken, "The request body was truncated",
			"The connection or the file ended too early. The records before the given line were imported; the summary counts them.",
			"Send the whole file again. For records that are already imported, nothing changes.",
			http.StatusBadRequest),
		kind(kindBadLine, "The first line of the table is invalid",
			"The first line of CSV and TSV must name the columns. The response gives the line, column and field of the error. Nothing was imported.",
			"Name the columns as in docs/reference/record.md.",
			http.StatusBadRequest),
		kind(kindJobs, "Too many jobs",
			"Too many imports, exports and other jobs are running, either for this token (429) or for all tokens together (503).",
			"Wait until a job ends, or cancel a job; /api/v1/jobs lists all jobs.",
			http.StatusTooManyRequests, http.StatusServiceUnavailable),
		kind(kindRate, "Too many requests",
			"The token sends more requests per second than the server allows (limits.token-rate).",
			"Repeat the request after the time in Retry-After. Send many changes in one request (/api/v1/names, /api/v1/import).",
			http.StatusTooManyRequests),
		kind(kindConfig, "The configuration was rejected",
			"The server did not reload: the configuration has errors, or changes an option that needs a restart. The response lists all reasons with file, line and column. The server keeps its previous configuration.",
			"Correct the file, or restart the server.",
			http.StatusUnprocessableEntity),
		kind(kindUnavailable, "The server is shutting down",
			"Nothing is wrong with the request.",
			"Send the request again later.",
			http.StatusServiceUnavailable),
		kind(kindAway, "The storage of the server is unavailable",
			"At the moment the server cannot use the disk or the database with its names, or the clock of the server is wrong (rule clock). Nothing in the request was carried out, except what the response lists.",
			"Send the request again after the time in Retry-After; the server need not be restarted. The operator finds the cause in docs/reference/failures.md.",
			http.StatusServiceUnavailable),
		kind(kindUnknown, "It is unknown whether the change was made",
			"The connection to the database was lost during the commit. The change was made completely or not at all.",
			"Read the record again. Or send the same change again, with the same expected revision.",
			http.StatusInternalServerError),
		kind(kindReadOnly, "The server is read-only",
			"This server answers requests for names but accepts no changes.",
			"Send changes to a server that accepts them.",
			http.StatusForbidden),
		kind(KindCrossSite, "Requests from other sites are not allowed",
			"A page of another site made the browser send the request.",
			"Send the request from a program, or from a page of this server.",
			http.StatusForbidden),
		kind(KindHost, "The Host field names another server",
			"The Host field of a request to the admin API has a name that this server does not have, as in an attack by DNS rebinding.",
			"Use an IP address or localhost, or add the name to the hosts of the server.",
			http.StatusMisdirectedRequest),
		kind(KindMethod, "Method not allowed",
			"The path exists, but not with this method. The field Allow of the response lists the methods.",
			"Use one of these methods. The page /-/openapi.json of the server describes all requests.",
			http.StatusMethodNotAllowed),
		kind(KindCoding, "Unsupported compression",
			"The body or the requested file has a compression that the server does not support.",
			"Use gzip, zstd or none.",
			http.StatusUnsupportedMediaType),
		kind(KindUnsupported, "Not supported by this store",
			"The store of the server cannot do this, such as backing up a database.",
			"Use the tools of the database (docs/howto/back-up-and-restore.md).",
			http.StatusNotImplemented),
		kind(KindNoIndex, "Search index unavailable",
			"The server does not keep an index of words, or the disk with the index has failed. The response says which.",
			"Ask the operator to set search = true in the configuration, or to look at the log of the server. Until then, list the names by prefix.",
			http.StatusServiceUnavailable),
		kind(KindNoLinks, "Links not checked",
			"The server does not check the locations of names.",
			"Set links.check = true in its configuration, and restart it.", http.StatusServiceUnavailable),
		kind(KindNoArchive, "No archive configured",
			"The server asks no web archive for preserved copies of dead locations.",
			"Set links.availability or links.timegate in its configuration, and restart it.", http.StatusServiceUnavailable),
		kind(KindNoReports, "No reports configured",
			"The server sends no reports: its configuration has no recipients of the reports about all names.",
			"Set reports.to or reports.webhook in its configuration, and restart it (docs/howto/report.md).", http.StatusServiceUnavailable),
		kind(KindLoop, "Delegation loop",
			"Too many resolvers passed on the request, because they delegate the name to each other.",
			"Correct the delegation of one of the authorities (docs/howto/delegate-names.md).",
			http.StatusLoopDetected),
		kind(KindJobEnded, "The job ended early",
			"The job was cancelled (409), its token lost the permission (403), or the server was stopped (503). The changes that the job made remain.",
			"Start the job again, or undo its changes. The field next of the job has the commands.",
			http.StatusConflict, http.StatusForbidden, http.StatusServiceUnavailable),
		kind(KindSecond, "A second person must decide",
			"The job waits for a second person, but was requested by the caller (403), or was decided already (409). Or the job was approved and failed: the person who made the request has lost rights for it (403), or what it would change was changed since (409). Two tokens count as one person if they have the same bearer, or if the same user has made them.",
			"Ask another person with the same rights to approve the job, or withdraw it (docs/howto/require-a-second-person.md).",
			http.StatusForbidden, http.StatusConflict),
		kind(kindFailure, "The server failed",
			"The cause is in the log of the server. The request may be correct.",
			"Report the failure to the operator of the server.",
			http.StatusInternalServerError),
	}
})

// KindOf returns the kind with the given name, and whether it exists.
func KindOf(name string) (Kind, bool) {
	i := slices.IndexFunc(kinds(), func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds()[i], true
}
