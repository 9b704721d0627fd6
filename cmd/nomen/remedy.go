package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"reflect"
	"strings"
	"syscall"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/bulk/from/noid"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/client/cache"
	"github.com/nomen-project/nomen/conform"
	"github.com/nomen-project/nomen/crawl"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/extract"
	"github.com/nomen-project/nomen/fetch"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/replay"
	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A failure describes a kind of error: the exit status, the text to append to the message, and the
// row in docs/reference/errors.md. The texts mention commands and options. They are therefore
// defined here, and not in the packages that return the errors, because other programs can use
// these packages as well.
type failure struct {
	title  string
	status int
	of     []error          // the errors of this kind: a nil pointer or a zero value stands for all errors of its type, any other value for itself
	when   func(error) bool // if not nil, an error is of this kind only if the function returns true
	add    string           // appended to the message; "" if the message says what to do
	cause  string
	remedy string // what else the user can do; may be ""
}

// failures returns the kinds of errors in the order in which the document lists them. An error
// belongs to the first kind that matches.
func failures() []failure {
	return []failure{
		{"wrong usage", exitUsage, []error{usageError{}}, nil, "", "An argument, an option, an environment variable or a line of the configuration file is invalid.", "The message says which, and what is expected. `nomen COMMAND --help` has examples."},
		{"no store", exitFailure, []error{(*noStoreError)(nil)}, nil, "", "The data directory has no store, and the command only reads.", "Check `--data` and `--store`."},
		{"no space", exitFailure, []error{syscall.ENOSPC, (*adminapi.FullError)(nil), (*pebblestore.FullError)(nil), (*pgstore.FullError)(nil)}, nil, "free some space and repeat; acknowledged changes are safe", "The disk of the store, of the server or of temporary files (`TMPDIR`) is full.", ""},
		{"no file", exitFailure, []error{fs.ErrNotExist}, isPath, "check the path", "A file or directory that an argument or option names does not exist.", "A relative path begins at the current directory."},
		{"no permission", exitFailure, []error{fs.ErrPermission}, isPath, "", "This user may not read or write a file or directory.", "Run the command as the user of the server, or give this user access. Records can be read and changed without access to the files, with a token ([give access](../howto/give-access.md))."},

		{"no answer about a name", exitNo, []error{(*nomen.Error)(nil)}, nil, "", "The name is malformed, unknown, retired, denied, or has no result for the requested service. The message begins with one of these words.", "See [Responses to requests for names](#responses-to-requests-for-names)."},
		{"change breaks a rule", exitNo, []error{(*registrar.RefusalError)(nil), (*registrar.ReachError)(nil)}, nil, "", "A field of the record, authority or user is invalid. Nothing was changed.", "The message has the field and the rule: [records](record.md), [authorities](authority.md), [users](../howto/give-access.md#give-access-to-people), [Rules](rules.md)."},
		{"malformed name", exitNo, []error{(*name.Error)(nil)}, nil, "", "The name breaks a rule of its syntax or scheme. The message has the offset in bytes from 0 and the rule; on a terminal a caret is below the character.", "Correct that character. [Rules](rules.md) lists the rules."},
		{"malformed URI", exitFailure, []error{(*uri.Error)(nil), (*iri.Error)(nil), (*urn.Error)(nil), (*uri.Finding)(nil)}, nil, "", "A URI in a file or in the response of a server breaks a rule of its syntax. (For a URI in an argument, `nomen parse` and similar commands exit with 1.)", "Correct the URI. [Rules](rules.md) lists the rules."},
		{"invalid registry", exitFailure, []error{(*urn.EntryError)(nil)}, nil, "", "An entry in the file of `--registry` breaks a rule.", "Correct the entry that the message names."},
		{"invalid template or rule", exitUsage, []error{(*mint.Error)(nil), (*rule.Error)(nil), (*discover.Error)(nil), (*rule.TestError)(nil), (*rule.IndexError)(nil), (*store.DelegationError)(nil), (*format.Error)(nil)}, nil, "", "A template, pattern, rule, delegation, DNS rule or document breaks its syntax. The message has the offset and the rule.", "Correct the text at this offset: [Rules](rules.md), [authorities](authority.md)."},
		{"names used up", exitFailure, []error{(*mint.ExhaustedError)(nil), (*mint.RunError)(nil), (*mint.RefusedError)(nil), reserve.ErrCrowded}, nil, "", "The template has no free names left, or the scheme rejects the names that the template generates.", "Use a template with more random characters."},
		{"no such template", exitNo, []error{(*reserve.ShoulderError)(nil)}, nil, "", "The authority has no template of new names that begins with the text of `--shoulder`.", "`nomen authority get PREFIX` shows the templates."},
		{"not NOID", exitFailure, []error{noid.ErrNotDatabase, (*noid.UnsupportedError)(nil), (*noid.DamagedError)(nil), (*noid.LineError)(nil)}, nil, "", "The file of `import --format noid` is not a Berkeley DB file of type btree or its dump, or it is damaged.", "Make a dump with the tools of Berkeley DB and import it: `db_dump -p noid.bdb > noid.txt`."},
		{"address not allowed", exitFailure, []error{(*fetch.RefusedError)(nil)}, nil, "", "The URL leads to a private address, or to a scheme or port that fetch does not use.", "The options of [fetch](fetch.md) allow more."},

		{"not found", exitNo, []error{store.ErrNotFound}, nil, "", "The store has no such name, authority, token, user or job.", "Check the spelling: `nomen export --prefix PREFIX` and `nomen authority list` list what exists. With `--at`, the name may not have existed yet."},
		{"permission denied", exitNo, []error{(*registrar.DeniedError)(nil)}, nil, "", "The role or the prefixes of the token or user do not permit the change.", "Ask an administrator for the role or prefix in the message: [give access](../howto/give-access.md). An owner can give roles within the own prefixes to others, but not to himself or herself."},
		{"modified concurrently", exitNo, []error{(*store.ConflictError)(nil), (*adminapi.PreconditionError)(nil)}, nil, "", "Another user changed the record since you read it.", "Read the record again and repeat the change."},
		{"clock", exitNo, []error{(*store.StateError)(nil)}, isClock, remedyClock, "The last change of the record is dated more than a day in the future.", "Set the clock if it is wrong: [repair wrong times](../howto/repair-wrong-times.md)."},
		{"subject of another user", exitNo, []error{(*store.StateError)(nil)}, isUserState, "'nomen user list --json' shows the subjects", "The subject of a user at an identity provider belongs to another user already. The message has the ID of that user. A disabled user keeps the subjects.", "Take the subject from that user first: `nomen user change ID --subject ...`."},
		{"state of the name", exitNo, []error{(*store.StateError)(nil)}, nil, "", "A name that was active or retired is never deleted or reserved again.", "Retire the name: `nomen retire`."},
		{"too large", exitNo, []error{(*store.LimitError)(nil)}, nil, "", "A field or a record exceeds a limit, which the message gives.", "Shorten the field or record."},
		{"head", exitNo, []error{(*store.HeadError)(nil)}, nil, "'nomen verify' lists all faults", "The log does not begin with the given head: changes are missing or altered, or the head is of another store.", "[Verify the history](../howto/verify-the-history.md)."},
		{"first line of a table", exitNo, []error{(*bulk.LineError)(nil), (*bulk.SheetError)(nil)}, nil, "", "The first line of a table does not name its columns, or the file is a native spreadsheet file that is not read (.xls, .ods).", "Name the columns as in [records](record.md); save spreadsheets as .xlsx or CSV."},

		{"clock of the machine", exitFailure, []error{(*store.AwayError)(nil), (*registrar.ClockError)(nil)}, isClock, remedyClock, "The clock is more than a day before the last change of the store, or differs from that of the database.", "Set the clock if it is wrong: [repair wrong times](../howto/repair-wrong-times.md)."},
		{"storage unavailable", exitFailure, []error{(*store.AwayError)(nil), store.ErrClosed}, nil, "", "The disk or the database cannot be used at the moment; the message has the cause.", "Remove the cause and repeat the command: [failures](failures.md)."},
		{"old version of a store", exitFailure, []error{(*store.VersionError)(nil)}, isVersion(store.ConvertInPlace), "run 'nomen rekey'", "The store was made by an earlier version.", "Back up the store first. `nomen rekey` keeps the old store beside the new one."},
		{"old version of a database", exitFailure, []error{(*store.VersionError)(nil)}, isVersion(store.ConvertByCopy), remedyCopy, "The database was made by an earlier version with other rules for names.", ""},
		{"other version", exitFailure, []error{(*store.VersionError)(nil)}, nil, "", "A newer version of the program made the store. Or an older version made the store, and this command cannot convert it because it only reads.", "Use the newest version of the program. A server, or the next command that writes, converts an older store."},
		{"store in use", exitFailure, []error{pebblestore.ErrLocked}, nil, "", "Another process has the store open, and does not answer as its server.", "Wait until the process ends, or stop it. If the process is a server, check `--data`: a command finds the server of its data directory automatically."},
		{"damaged store", exitFailure, []error{(*pebblestore.CorruptError)(nil), (*pebblestore.DamagedError)(nil), (*pebblestore.ManifestError)(nil), (*store.EntryError)(nil)}, nil, "", "Files of the store or of a backup are damaged. (`restore` checks a backup before it restores anything; if it finds damage, it exits with 1.)", "[Restore a backup](../howto/back-up-and-restore.md); `nomen verify` lists what is damaged."},
		{"backup", exitFailure, []error{pebblestore.ErrBackup, pebblestore.ErrNoBackup, pebblestore.ErrNotBackup}, nil, "", "The command expects a store and the directory is a backup, or the command expects a backup and the directory is a store. Or the directory has a backup of another store.", "Give another directory: [backup and restore](../howto/back-up-and-restore.md)."},
		{"outcome unknown", exitFailure, []error{(*store.UnknownError)(nil)}, nil, "", "The connection to the database was lost during the commit.", "Read the record. Repeat the change if it was not made."},
		{"read-only", exitFailure, []error{store.ErrReadOnly}, nil, "", "The store or the server was opened read-only.", "Send the change to a server that accepts it, or remove the cause: [failures](failures.md)."},

		{"expired token", exitFailure, []error{adminapi.ErrExpiredToken}, nil, "'nomen token make' makes a new one", "The token in the data directory (`admin.token`) has expired.", ""},
		{"invalid token", exitFailure, []error{adminapi.ErrUnauthorized}, nil, "", "The server does not know the token, or the token was revoked, or the request had no token.", "Write a valid token to `admin.token` in the data directory. If you have none, ask an administrator for one ([give access](../howto/give-access.md))."},
		{"invalid request", exitFailure, []error{(*adminapi.RequestError)(nil)}, nil, "", "The server does not understand the request. The server and the command may have different versions.", "Use the same version of the program as the server."},
		{"too many jobs", exitFailure, []error{(*adminapi.JobsError)(nil)}, nil, "'nomen jobs list' shows them", "Too many jobs run on the server.", ""},
		{"too many requests", exitFailure, []error{(*adminapi.RateError)(nil)}, nil, "", "The token sends more requests per second than the server allows (`limits.token-rate`), although the command waited between them.", "Send fewer requests at the same time, or import a file."},
		{"configuration rejected", exitNo, []error{(*adminapi.ReloadError)(nil)}, nil, "", "The server did not reload: the configuration has errors, or changes an option that needs a restart. The message lists all errors.", "Correct the file, or restart the server: [configuration](configuration.md#reload)."},
		{"second person", exitFailure, []error{(*adminapi.WaitingError)(nil)}, nil, "", "A second person must approve the request, so the server has changed nothing (`second-person` in its configuration). The message has the ID of the job that waits.", "Ask another person with the same rights to run `nomen jobs approve ID`: [require a second person](../howto/require-a-second-person.md)."},
		{"connection lost", exitFailure, []error{(*adminapi.DetachedError)(nil)}, nil, "'nomen jobs list' shows it", "The connection to the server ended before the job was complete. The job continues.", "`nomen jobs wait ID` shows the result of the job."},
		{"server problem", exitFailure, []error{(*adminapi.StatusError)(nil), adminapi.ErrUnavailable}, nil, "", "The server answered with a problem.", "See [Problems of the admin API](#problems-of-the-admin-api)."},
		{"truncated file", exitFailure, []error{(*bulk.BrokenError)(nil), (*extract.DocumentError)(nil)}, nil, "", "A file ended too early or cannot be read, such as a damaged gzip file.", "Copy the file again and repeat the command. For records that are already imported, nothing changes."},

		{"no resolver", exitFailure, []error{(*client.RouteError)(nil)}, nil, "--via HOST:PORT or --via URL names a resolver", "Neither DNS nor a table names a resolver for the name.", "[How a resolver is found](../explanation/discovery.md)."},
		{"no response", exitFailure, []error{(*client.UnreachableError)(nil), (*client.WaysError)(nil), (*net.OpError)(nil), (*net.DNSError)(nil)}, nil, "", "No server answers at the address: the server is not running, the address is wrong, or a firewall blocks the connection.", "Check the address, and that the server runs. `nomen discover` shows how a resolver is found."},
		{"invalid response", exitFailure, []error{(*client.StatusError)(nil), (*client.FormatError)(nil), (*client.SizeError)(nil), (*client.RedirectError)(nil), (*client.TimeError)(nil), client.ErrUnchanged, cache.ErrNothing, (*discover.RuleError)(nil), nomen.ErrLoop, nomen.ErrUpstream}, nil, "", "The resolver sent an error, a response that cannot be read, or a response that is too long.", "Report this to the operator of the resolver; `nomen conform` tests the resolver. Try another resolver with `--via`."},
		{"cannot fetch", exitFailure, []error{(*fetch.StatusError)(nil), (*fetch.FormatError)(nil), (*fetch.SizeError)(nil), (*fetch.RedirectError)(nil), (*fetch.SessionError)(nil), (*fetch.PartError)(nil), fetch.ErrNoFile, (*plan.InteractiveError)(nil)}, nil, "", "The resource cannot be fetched: the server rejects the request, the resource is too large, or the URL opens a session, such as a telnet URL.", "[Fetching](fetch.md) has the limits and options."},
		{"cannot crawl", exitFailure, []error{(*crawl.ListError)(nil), (*crawl.LimitError)(nil), (*crawl.StateError)(nil), crawl.ErrAuthority}, nil, "", "A naming authority cannot be crawled, or the saved crawl belongs to another authority.", "[Crawl naming authorities](../howto/crawl-authorities.md)."},
		{"cannot test", exitUsage, []error{(*conform.OptionError)(nil), conform.ErrNoNames}, nil, "", "A conformance test needs an option that was not given, such as `--name`. The message names the option.", "[Conformance](conformance.md)."},
		{"expected answers", exitUsage, []error{(*replay.ExpectError)(nil)}, nil, "", "A line of the file of `replay --expect` is invalid, or contradicts an earlier line. The message has the line.", "Correct the line: [replay an access log](../howto/replay-an-access-log.md)."},
		{"access log", exitFailure, []error{(*replay.LogError)(nil)}, nil, "", "An access log for `replay` ended too early or cannot be read, such as a damaged gzip file. The message has the last line that was read.", "Copy the file again and repeat the command."},
		{"server of a replay", exitFailure, []error{(*replay.ServerError)(nil)}, nil, "", "One of the servers of `replay` did not answer 20 requests in a row. The report has the requests that were answered before.", "Check `--server` and `--against`, and that both servers run; `--rate` and `--parallel` reduce the load."},
		{"timeout", exitFailure, []error{context.DeadlineExceeded}, nil, "", "A server took too long.", "Repeat the command; `--timeout` of some commands gives more time."},
	}
}

const (
	remedyClock = "--clock-ok accepts the change; pass it to the server if one is running"
	remedyCopy  = "with the program that made the database, run 'nomen migrate --from postgres://... --to pebble:DIR'; with this program, run 'nomen rekey --store pebble:DIR', then 'nomen migrate --from pebble:DIR --to postgres://...'"
)

func (f *failure) matches(err error) bool {
	for _, of := range f.of {
		if isOf(err, of) && (f.when == nil || f.when(err)) {
			return true
		}
	}
	return false
}

// isOf reports whether err wraps target. If target is a nil pointer or a struct, isOf reports
// whether err wraps any error of the same type.
func isOf(err, target error) bool {
	if v := reflect.ValueOf(target); v.Kind() == reflect.Struct || v.Kind() == reflect.Pointer && v.IsNil() {
		return errors.As(err, reflect.New(v.Type()).Interface())
	}
	return errors.Is(err, target)
}

func failureOf(err error) *failure {
	for _, f := range failures() {
		if f.matches(err) {
			return &f
		}
	}
	return nil
}

// remedyFor returns a remedy for an error, as text to append to the error message. The result is ""
// if the message needs no remedy.
func remedyFor(err error) string {
	var detached *adminapi.DetachedError
	if errors.As(err, &detached) {
		return "; 'nomen jobs show " + detached.Job + "' shows it"
	}
	var waits *adminapi.WaitingError
	if errors.As(err, &waits) {
		return "; another person can run 'nomen jobs approve " + waits.Job.ID + "'"
	}
	if f := failureOf(err); err != nil && f != nil && f.add != "" {
		return "; " + f.add
	}
	return ""
}

// refusalRemedy is like remedyFor, but for a rejected record. A rejected record from a server has
// no Err, but its field Clock can be set.
func refusalRemedy(r bulk.Refusal) string {
	if r.Clock {
		return "; " + remedyClock
	}
	return remedyFor(r.Err)
}

func isPath(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}

// isVersion returns a function that reports whether an error is about an old version of a store
// that requires the given conversion.
func isVersion(how store.Conversion) func(error) bool {
	return func(err error) bool {
		var e *store.VersionError
		return errors.As(err, &e) && e.Found < e.Known && e.How == how
	}
}

func isClock(err error) bool {
	var state *store.StateError
	var away *store.AwayError
	var clock *registrar.ClockError
	return errors.As(err, &state) && state.Clock || errors.As(err, &away) && away.Clock || errors.As(err, &clock)
}

func isUserState(err error) bool {
	var state *store.StateError
	return errors.As(err, &state) && registrar.IsUserID(state.Key)
}

func optionFor(n conform.Need) string {
	switch n {
	case "":
		return ""
	case conform.NeedsNames:
		return "; pass --name twice"
	}
	return "; pass --" + strings.ToLower(string(n))
}

func warningText(w bulk.Warning) string {
	message := strings.TrimPrefix(w.Message, w.Name+": ") // the line already has the name
	return message + warningOption(w.Code)
}

// warningOption returns a hint about the option that resolves a warning with the given code, or "".
func warningOption(code string) string {
	switch code {
	case registrar.WarnRetired:
		return " (--retired changes it)"
	case registrar.WarnReserved:
		return " (nomen put --status active)"
	}
	return ""
}
