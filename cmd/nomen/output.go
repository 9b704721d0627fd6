package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/value"
)

func isTerminal(w io.Writer) bool {
	return isScreen(w) && os.Getenv("NO_COLOR") == ""
}

// isScreen reports whether a stream is a terminal, with or without colour.
func isScreen(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func newLog(w io.Writer, level slog.Level) *slog.Logger {
	if isTerminal(w) {
		return slog.New(terminalLog(w, level, plainError))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: plainError}))
}

// terminalLog returns a handler that writes log lines in colour. The function replace converts the
// attributes. The handler also escapes terminal control sequences in the values of attributes,
// because package tint does not escape them.
func terminalLog(w io.Writer, level slog.Level, replace func([]string, slog.Attr) slog.Attr) slog.Handler {
	return tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		a = replace(groups, a)
		switch v := a.Value.Any(); a.Value.Kind() {
		case slog.KindString:
			a.Value = slog.StringValue(printable(a.Value.String()))
		case slog.KindAny:
			if _, level := v.(slog.Level); !level {
				a.Value = slog.StringValue(printable(fmt.Sprintf("%+v", v)))
			}
		}
		return a
	}})
}

// plainError converts an attribute of a log line. If the value is an error, it becomes the text
// that [shown.Error] returns.
func plainError(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok && err != nil {
		a.Value = slog.StringValue(shown.Error(err))
	}
	return a
}

// jsonTo returns an encoder that writes each value as a line of JSON. The encoder escapes terminal
// control characters.
func jsonTo(w io.Writer) *json.Encoder {
	e := json.NewEncoder(jsonWriter{w})
	e.SetEscapeHTML(false)
	return e
}

// A jsonWriter escapes control characters in JSON. The argument of each Write must be a complete
// JSON value.
type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	if _, err := j.w.Write(shown.JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *cli) printJSON(v any) error { return jsonTo(c.out).Encode(v) }

// say prints the result of a command. It prints the object with --json, and otherwise the formatted
// text.
func (c *cli) say(object any, format string, args ...any) error {
	if c.json {
		return c.printJSON(object)
	}
	_, err := fmt.Fprintf(c.out, format+"\n", args...)
	return err
}

type missingError struct{ subject, hint string }

func (e *missingError) Error() string { return e.subject + ": not found" + e.hint }
func (e *missingError) Unwrap() error { return store.ErrNotFound }

// named adds the subject to an error that wraps [store.ErrNotFound], so that the message says what
// was not found.
func named(subject string, err error) error { return namedHint(subject, "", err) }

func namedHint(subject, hint string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &missingError{subject, hint}
	}
	return err
}

func namedAuthority(prefix string, err error) error {
	return namedHint("authority "+prefix, "; 'nomen authority list' shows all authorities", err)
}

type argumentError struct {
	argument string // as on the command line
	refusal  *registrar.RefusalError
}

func (e *argumentError) Error() string {
	s := e.argument + ": " + e.refusal.Message
	if e.refusal.Offset > 0 {
		s += fmt.Sprintf(" (offset %d)", e.refusal.Offset)
	}
	return s
}

func (e *argumentError) Unwrap() error { return e.refusal }

// withArgument adds the command line argument to an error about a field of a request. The map
// argumentOf contains the argument that sets each field, such as "--why" for "why". withArgument
// returns all other errors unchanged.
func withArgument(err error, argumentOf map[string]string) error {
	var refusal *registrar.RefusalError
	if !errors.As(err, &refusal) {
		return err
	}
	if s := argumentOf[refusal.Field]; s != "" {
		return &argumentError{s, refusal}
	}
	return err
}

// inside removes the names of packages from error messages, because users do not know the packages.
var inside = strings.NewReplacer(
	": adminapi: ", ": ", ": cache: ", ": ", ": client: ", ": ", ": crawl: ", ": ", ": discover: ", ": ", ": fetch: ", ": ", ": gateway: ", ": ",
	": pebblestore: ", ": ", ": pgstore: ", ": ", ": registrar: ", ": ", ": server: ", ": ",
	"; discover: ", "; ", "; client: ", "; ",
)

func words(err error) string {
	line := strings.NewReplacer("\n\t", " ", "\n", "; ").Replace(strings.TrimSpace(shown.Error(err)))
	line += remedyFor(err)
	var no *nomen.Error
	if errors.As(err, &no) && len(no.Suggestions) > 0 {
		line += "; did you mean " + strings.Join(no.Suggestions, " or ") + "?"
	}
	return printable(strings.TrimPrefix(inside.Replace(": "+line), ": "))
}

func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func (c *cli) showRefused(key string, err error) {
	said := words(err)
	if !strings.Contains(said, key) {
		said = printable(key) + ": " + said
	}
	fmt.Fprintln(c.err, "nomen: "+said)
}

func (c *cli) warn(warnings []registrar.Warning) {
	for _, w := range warnings {
		fmt.Fprintln(c.err, "nomen: warning: "+printable(w.Message+warningOption(w.Code)))
	}
}

func (c *cli) showOutcome(out registrar.Outcome, err error) error {
	if err != nil {
		return err
	}
	c.warn(out.Warnings)
	return c.say(out.Record, "%s", inWords(out))
}

func inWords(out registrar.Outcome) string {
	what := "unchanged"
	switch {
	case out.Created:
		what = "created"
	case out.Result.Changed:
		what = "changed"
	}
	return fmt.Sprintf("%s %s, revision %d", out.Name, what, out.Result.Revision)
}

// rowsOf returns a function that writes table rows for a label and its values. It skips empty
// values. A value with several lines is written to several rows.
func rowsOf(w io.Writer) func(label string, values ...string) {
	return func(label string, values ...string) {
		for _, v := range values {
			if v == "" {
				continue
			}
			label := label
			for line := range strings.SplitSeq(strings.TrimRight(shown.Text(v), "\n"), "\n") {
				fmt.Fprintf(w, "%s\t%s\n", label, strings.ReplaceAll(line, "\t", "    ")) // a tab would start a new column
				label = ""
			}
		}
	}
}

// record prints a record. The map checked contains the results of link checks for its locations, by
// URL.
func (a *answers) record(r *store.Record, checked map[string]adminapi.Link) error {
	if a.json != nil {
		a.object(r)
		return nil
	}
	w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
	rows := rowsOf(w)
	rows("name", r.Spelling)
	if r.Spelling != r.Name.Key() {
		rows("key", r.Name.Key())
	}
	rows("status", string(r.Status))
	if r.Redacted {
		rows("redacted", "content removed from the history")
	}
	rows("reason", r.Reason)
	if r.ShowLocations {
		rows("show", "locations")
	}
	rows("successor", r.Successors...)
	showLocations(rows, r.Locations, checked)
	showMetadata(rows, r.Metadata)
	rows("same as", r.SameAs...)
	showValues(rows, r)
	rows("modified", r.Modified.Format(time.RFC3339))
	rows("revision", fmt.Sprint(r.Revision))
	return w.Flush()
}

// showValues prints the typed values of a record, including values that are derived from its
// locations. It prints nothing if the record stores no typed values.
func showValues(rows func(string, ...string), r *store.Record) {
	if len(r.Values) == 0 {
		return
	}
	for _, v := range value.Of(r) {
		rows("value", fmt.Sprintf("%d %s %s", v.Index, v.Type, v.Data))
		var parts []string
		for _, p := range [...]struct{ label, text string }{{"format ", v.Format}, {"TTL ", string(v.TTL)}, {"permissions ", v.Permissions}, {"changed ", v.Timestamp}, {"references ", v.References}} {
			if p.text != "" {
				parts = append(parts, p.label+p.text)
			}
		}
		rows("", strings.Join(parts, ", "))
	}
}

func showLocations(rows func(string, ...string), all []nomen.Location, checked map[string]adminapi.Link) {
	for _, l := range all {
		rows("location", l.URL+details(l))
		if check, ok := checked[l.URL]; ok {
			rows("", check.Verdict+"; "+checkTimes(&check))
		}
		rows("", l.Note)
	}
}

// showRaw prints an unstructured result. It keeps the lines of a text.
func showRaw(rows func(string, ...string), r *nomen.Raw) {
	if r == nil {
		return
	}
	rows("content type", r.Type)
	if text, ok := format.RawText(r); ok {
		rows("body", text)
		return
	}
	rows("body", fmt.Sprintf("%d bytes, not text; --json shows them", len(r.Body)))
}

func showMetadata(rows func(string, ...string), m nomen.Metadata) {
	for _, element := range slices.Sorted(maps.Keys(m)) {
		rows(element, m[element]...)
	}
}

func details(l nomen.Location) string {
	var parts []string
	for _, s := range []string{l.Type, l.Lang, l.Rel, l.Country, l.Component} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if l.Priority > 0 {
		parts = append(parts, fmt.Sprintf("priority %d", l.Priority))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

// printable returns s as a single line, with terminal control characters escaped.
func printable(s string) string { return shown.Inline(s) }

func (c *cli) showAuthority(a *store.Authority) error {
	if c.json {
		return c.printJSON(a)
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	row := rowsOf(w)
	flag := func(label string, set bool) {
		if set {
			row(label, "yes")
		}
	}
	row("prefix", a.Prefix.String())
	row("description", a.Description)
	row("contact", a.Contact)
	row("owner", a.Owners...)
	row("host", a.Hosts...)
	row("address", a.Addresses...)
	row("parent", a.Parents...)
	row("child", a.Children...)
	row("default service", string(a.Service))
	flag("default", a.Default)
	flag("list", a.List)
	flag("fold case", a.FoldCase)
	if a.Redirect != 0 {
		row("redirect status", fmt.Sprint(a.Redirect))
	}
	if err := showPolicy(row, a); err != nil {
		return err
	}
	row("modified", a.Modified.Format(time.RFC3339))
	row("revision", fmt.Sprint(a.Revision))
	return w.Flush()
}
