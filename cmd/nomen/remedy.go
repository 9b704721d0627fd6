package main

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/conform"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A remedy is a command or option that helps after an error of a library. Libraries do not
// name commands, because the programs that use them have others.
type remedy struct {
	helps func(err error) bool
	text  string
}

// remedies returns what the command appends to errors. docs/reference/errors.md lists them.
func remedies() []remedy {
	return []remedy{
		{isVersion(store.ConvertInPlace), "run 'nomen rekey'"},
		{isVersion(store.ConvertByCopy), "with the program that made it: 'nomen migrate --from postgres://... --to pebble:DIR'; with this one: 'nomen rekey --store pebble:DIR', then 'nomen migrate --from pebble:DIR --to postgres://...'"},
		{isClock, "--clock-ok accepts the change; pass it to the server if one is running"},
		{is[*client.RouteError], "--via HOST:PORT or --via URL names a resolver"},
		{is[*store.HeadError], "'nomen verify' lists all faults"},
		{is[*adminapi.JobsError], "'nomen jobs list' shows them"},
		{func(err error) bool { return errors.Is(err, adminapi.ErrExpiredToken) }, "'nomen token make' makes a new one"},
	}
}

// remedyFor returns the remedy for an error, to be appended to its text; "" if none is
// known.
func remedyFor(err error) string {
	var detached *adminapi.DetachedError
	if errors.As(err, &detached) {
		return "; 'nomen jobs show " + detached.Job + "' shows it"
	}
	for _, r := range remedies() {
		if r.helps(err) {
			return "; " + r.text
		}
	}
	return ""
}

// is reports whether err is or wraps an error of the type E.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// isVersion returns a test for a store of an earlier version with a conversion.
func isVersion(how store.Conversion) func(error) bool {
	return func(err error) bool {
		var e *store.VersionError
		return errors.As(err, &e) && e.Found < e.Known && e.How == how
	}
}

// isClock reports whether the clock prevented a change.
func isClock(err error) bool {
	var state *store.StateError
	var away *store.AwayError
	return errors.As(err, &state) && state.Clock || errors.As(err, &away) && away.Clock
}

// optionFor returns the option of conform that a case needs.
func optionFor(n conform.Need) string {
	switch n {
	case "":
		return ""
	case conform.NeedsNames:
		return "; pass --name twice"
	}
	return "; pass --" + strings.ToLower(string(n))
}

// warningText returns the text of a warning about a record, with the option that helps.
func warningText(w bulk.Warning) string {
	message := strings.TrimPrefix(w.Message, w.Name+": ") // the line already has the name
	if w.Code == registrar.WarnRetired {
		message += " (--retired changes it)"
	}
	return message
}
