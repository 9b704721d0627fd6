package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/fetch"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

const fetchLong = `Fetch follows a name or URL to the resource and prints that, or with -o saves it.

It speaks http, https, ftp, gopher, news, snews, nntp, whois and data, and opens
file and afs on this machine. Directories, menus and groups come as lists. A name
(urn, ark, doi, hdl, info, tag) goes to its resolver first, which is found as 'nomen
discover' shows, and leads to the first of its locations that can be had. Any other
scheme is had through a gateway that --gateway gives. A telnet, rlogin or tn3270
URL is a session: it is handed to the program that --session gives, or else told.

--dialect takes the generation of the standard by which to read what you type. In
2012, of urn:example:book?s=I2R&c=ToC, the directive c names a component of the
resource; s names the service, which is always the one for the resource here.

What you type may be on this machine or in a private network, and may have a
password in it. What it leads to may not, unless --allow-private says so: neither
a redirection nor a location that a resolver tells. Nobody leads to files of this
machine, or makes you send a password elsewhere.

With -o the file appears when all of it has come. Until then it is FILE.part,
with a note in FILE.part.json; -c goes on from there if the server can tell that
the resource is still the same, and begins anew otherwise. A file that is there
is not replaced, unless --force says so.

With --json one line describes what has been saved, or, without -o, what would
be fetched: the resource itself is not printed then.

Requests travel unencrypted, except to https and snews; -v says each step. The
exit status is 1 if there is no such resource, or it is refused, and 3 if the
network or a server failed.`

// A fetching is one run of the command.
type fetching struct {
	*cli
	*dialects
	asker    client.Options
	find     finderFlags
	options  fetch.Options
	request  fetch.Request
	save     fetch.SaveOptions
	output   string
	span     string
	size     string
	menu     bool
	gateways []string
	sessions []string

	launchers map[string]scheme.Launcher
}

func (c *cli) fetchCommand() *cobra.Command {
	r := &fetching{cli: c}
	cmd := &cobra.Command{
		Use:   "fetch NAME-OR-URL",
		Short: "the resource itself",
		Long:  fetchLong,
		Example: `  nomen fetch urn:ietf:rfc:2648
  nomen fetch -o rfc.txt --via localhost:4500 urn:ietf:rfc:2648
  nomen fetch -c -o image.iso https://www.example.org/image.iso
  nomen fetch --range 0-99 ftp://ftp.example.org/pub/data.bin
  nomen fetch --menu gopher://gopher.example.org/
  nomen fetch --gateway 'wais=http://wais.example.org/?{uri}' 'wais://quake.example.org/drafts?urn'
  nomen fetch --session 'telnet=telnet [-l {user}] {host} [{port}]' telnet://guest@library.example.org
  nomen fetch --json https://www.example.org/`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args[0]) },
	}
	r.dialects = addDialects(cmd)
	f := cmd.Flags()
	f.StringVarP(&r.output, "output", "o", "", "file to save to; - for standard output")
	f.BoolVarP(&r.save.Continue, "continue", "c", false, "go on with what an interrupted fetch has left")
	f.BoolVar(&r.save.Replace, "force", false, "replace the file")
	f.StringVar(&r.span, "range", "", "FIRST-LAST bytes, or FIRST- for all from there on (default all)")
	f.BoolVar(&r.menu, "menu", false, "print a Gopher menu as URLs and titles")
	f.StringVar(&r.request.Accept, "accept", "", "media types wanted, as in an Accept field (default any)")
	f.StringVar(&r.request.Languages, "language", "", "languages wanted, as in an Accept-Language field (default any)")
	f.StringVar(&r.options.UserAgent, "user-agent", "", "sent over HTTP (default none)")
	f.StringVar(&r.asker.Via, "via", "", "HOST:PORT or URL of the resolver of names (default as discover finds)")
	f.Uint16Var(&r.asker.Port, "port", 0, "of resolvers of urn:dns names (default 4500)")
	f.StringArrayVar(&r.gateways, "gateway", nil, "SCHEME=URL with {uri}, {+uri} or {rest}; x-* and * for many schemes")
	f.BoolVar(&r.options.ProposedGateways, "proposed-gateways", false, "also those that the catalogue of schemes proposes")
	f.StringArrayVar(&r.sessions, "session", nil, "SCHEME=PROGRAM with {host}, {port}, {user}; what is in [brackets] goes if that is not known")
	f.StringVar(&r.options.Client.NewsServer, "news-server", "", "HOST:PORT asked for news that name no server")
	f.StringVar(&r.options.Client.Mail, "mail-address", "", "password of anonymous FTP")
	f.StringSliceVar(&r.options.Schemes, "scheme", nil, "schemes that may be followed (default all)")
	f.BoolVar(&r.options.AllowPrivate, "allow-private", false, "let strangers lead to private addresses")
	f.StringVar(&r.size, "max-size", "", "bytes at most, as 500M; 0 for no limit (default 1G)")
	f.DurationVar(&r.options.Timeout, "timeout", fetch.DefaultTimeout, "without a sign of the other side")
	f.DurationVar(&r.options.MaxTime, "max-time", fetch.DefaultMaxTime, "for all of it")
	f.IntVar(&r.options.MaxRedirects, "max-redirects", fetch.DefaultMaxRedirects, "how many to follow; negative for none")
	r.find.register(f)
	return cmd
}

func (r *fetching) run(ctx context.Context, arg string) error {
	if err := r.prepare(); err != nil {
		return err
	}
	asker, guarded, end, err := openAndGuarded(r.asker)
	if err != nil {
		return err
	}
	defer end()
	r.options.Resolver, r.options.Guarded = asker, guarded
	f, err := fetch.New(r.options)
	if err != nil {
		return usageError{err}
	}
	defer f.Close()
	id, err := r.dialects.readAbsolute(strings.TrimPrefix(strings.TrimSpace(arg), "URL:"))
	location := id.uri
	if port, ok := location.Port(); ok && port != "" && !isPort(port) {
		return usagef("%s: a port is a number from 1 to 65535, not %q", location.Redacted(), port)
	}
	if err == nil {
		err = r.follow(ctx, f, location)
	}
	var session *fetch.SessionError
	if errors.As(err, &session) {
		return r.converse(ctx, session)
	}
	return r.told(err)
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// openAndGuarded returns a client that asks about names of the user, and one that
// asks about those of strangers, not inside.
func openAndGuarded(o client.Options) (open, guarded *client.Client, end func(), err error) {
	if open, err = client.New(o); err != nil {
		return nil, nil, nil, usageError{err}
	}
	o.Guard = true
	if guarded, err = client.New(o); err != nil {
		return nil, nil, nil, usageError{errors.Join(err, open.Close())}
	}
	return open, guarded, func() { _, _ = open.Close(), guarded.Close() }, nil
}

// prepare reads the options that have a syntax of their own.
func (r *fetching) prepare() (err error) {
	r.request.Trusted, r.request.URN = true, r.dialects.urn
	for _, g := range r.gateways {
		name, template, ok := strings.Cut(g, "=")
		if !ok {
			return usagef("--gateway %q: want SCHEME=URL", g)
		}
		if r.options.Gateways, err = r.options.Gateways.With(name, template); err != nil {
			return usagef("--gateway: %w", err)
		}
	}
	r.launchers = map[string]scheme.Launcher{}
	for _, s := range r.sessions {
		name, words, _ := strings.Cut(s, "=")
		l, err := parseLauncher(words)
		if err != nil {
			return usagef("--session %q: %w", s, err)
		}
		r.launchers[strings.ToLower(name)] = l
	}
	if r.size != "" {
		if r.options.MaxSize, err = parseSize(r.size); err != nil {
			return usagef("--max-size: %w", err)
		}
		if r.options.MaxSize == 0 {
			r.options.MaxSize = -1
		}
	}
	if r.output == "-" {
		r.output = ""
	}
	if r.request.Offset, r.request.Length, err = parseSpan(r.span); err != nil {
		return usagef("--range: %w", err)
	}
	switch {
	case r.output == "" && (r.save.Continue || r.save.Replace):
		return usagef("--continue and --force are for --output")
	case r.output != "" && r.span != "":
		return usagef("a range is not saved, as the file would look like the whole: print it")
	case r.menu && r.output != "":
		return usagef("--menu prints: --output does not go with it")
	}
	if r.verbose {
		trace := func(step string) { fmt.Fprintln(r.err, "nomen: "+printable(step)) }
		r.asker.Trace, r.options.Trace = trace, trace
	}
	r.asker.Timeout = r.options.Timeout
	if err := r.find.complete(&r.asker); err != nil {
		return err
	}
	r.options.DNS, err = r.find.hosts() // of locators too
	return err
}

// follow prints or saves what is found.
func (r *fetching) follow(ctx context.Context, f *fetch.Fetcher, location uri.URI) error {
	if r.output != "" {
		return r.keep(ctx, f, location)
	}
	o, err := f.Open(ctx, location, r.request)
	if err != nil {
		return err
	}
	defer o.Body.Close()
	switch {
	case r.json && r.menu:
		return r.showMenu(o)
	case r.json:
		return r.printJSON(describe(location, o))
	case r.menu:
		return r.showMenu(o)
	case !isScreen(r.out):
		_, err = io.Copy(r.out, o.Body)
		return err
	case !isTextType(o.Type):
		return usagef("%s is not text, and this is a terminal: save it with --output FILE", o.Type)
	}
	return showText(r.out, o.Body)
}

// showText copies text to a terminal, without what the terminal would obey.
func showText(to io.Writer, from io.Reader) error {
	w := shown.NewWriter(to)
	_, err := io.Copy(w, from)
	return errors.Join(err, w.Close())
}

// keep saves to a file, and shows how that goes.
func (r *fetching) keep(ctx context.Context, f *fetch.Fetcher, location uri.URI) error {
	show, end := r.progress()
	r.save.Progress = show
	saved, err := f.Save(ctx, location, r.request, r.output, r.save)
	end()
	var part *fetch.PartError
	switch {
	case errors.As(err, &part) && part.Usable:
		fmt.Fprintf(r.err, "nomen: %d bytes are in %s; go on with --continue\n", part.Bytes, part.File)
	case errors.As(err, &part):
		fmt.Fprintf(r.err, "nomen: %d bytes are in %s; the server does not let anybody go on from there\n", part.Bytes, part.File)
	case errors.Is(err, fs.ErrExist) && r.save.Continue:
		return usagef("%w: --force replaces it", err)
	case errors.Is(err, fs.ErrExist):
		return usagef("%w: --force replaces it, --continue goes on with a part", err)
	case errors.Is(err, fetch.ErrNoFile):
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if r.save.Continue && saved.Resumed == 0 {
		fmt.Fprintln(r.err, "nomen: begun anew: there was nothing to go on with, or the resource is not the same")
	}
	if r.json {
		d := describe(location, &saved.Object)
		d.File, d.Bytes, d.Resumed = r.output, &saved.Bytes, saved.Resumed
		return r.printJSON(d)
	}
	fmt.Fprintf(r.err, "nomen: %d bytes of %s in %s\n", saved.Bytes, saved.Type, r.output)
	return nil
}

// progress shows bytes, their rate and the time left, on terminals.
func (r *fetching) progress() (show func(done, total int64), end func()) {
	if !isTerminal(r.err) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	show = func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(r.err), progressbar.OptionShowBytes(true),
				progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
			bar.Describe(r.output)
		}
		_ = bar.Set64(done)
	}
	return show, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}

// A fetched is what is told of a resource in JSON.
type fetched struct {
	Input    string     `json:"input"`
	URL      string     `json:"url"`
	Type     string     `json:"type"`
	Size     *int64     `json:"size,omitempty"`
	Modified *time.Time `json:"modified,omitempty"`
	Fragment string     `json:"fragment,omitempty"`
	Chain    []string   `json:"chain"`
	File     string     `json:"file,omitempty"`
	Bytes    *int64     `json:"bytes,omitempty"`
	Resumed  int64      `json:"resumed,omitempty"`
}

func describe(location uri.URI, o *fetch.Object) *fetched {
	d := &fetched{Input: location.Redacted(), URL: o.URL, Type: o.Type, Fragment: o.Fragment, Chain: o.Chain}
	if o.Size >= 0 {
		d.Size = &o.Size
	}
	if !o.Modified.IsZero() {
		d.Modified = &o.Modified
	}
	return d
}

// A menuItem is an item of a menu in JSON.
type menuItem struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// showMenu prints the items of a Gopher menu: locator, tab, title.
func (r *fetching) showMenu(o *fetch.Object) error {
	if o.Type != fetch.TypeMenu {
		return usagef("%s is of type %s, and no Gopher menu", o.URL, o.Type)
	}
	out := bufio.NewWriter(r.out)
	for item, err := range fetch.ReadMenu(o.Body) {
		if errors.Is(err, scheme.ErrGopherItem) {
			fmt.Fprintln(r.err, "nomen: "+printable(err.Error()))
			continue
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		m := menuItem{Type: string(rune(item.Type)), Title: item.Display}
		if at, err := item.Locator(); err == nil {
			m.URL = at.String()
		}
		if !r.json {
			fmt.Fprintf(out, "%s\t%s\n", m.URL, printable(m.Title))
			continue
		}
		if err := r.printJSON(m); err != nil {
			return err
		}
	}
	return out.Flush()
}

// converse opens a session for the user, or tells how. Only what he has typed
// himself starts a program.
func (r *fetching) converse(ctx context.Context, e *fetch.SessionError) error {
	s := e.Session
	if s.User != "" {
		fmt.Fprintf(r.err, "nomen: log in as %s\n", printable(s.User))
	}
	if s.Password != "" {
		fmt.Fprintf(r.err, "nomen: the password is %s\n", printable(s.Password))
	}
	launchers := r.launchers
	_, known := launchers[s.Scheme]
	if !known {
		launchers = scheme.UsualLaunchers()
	}
	program, args, err := s.Command(launchers)
	if err != nil {
		return r.told(err)
	}
	if !known || !e.Trusted {
		fmt.Fprintf(r.err, "nomen: this is a %s session, and nothing to fetch; open it with: %s\n", s.Scheme, printable(strings.Join(append([]string{program}, args...), " ")))
		return errNo
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.in, r.out, r.err
	return cmd.Run()
}

// told says what went wrong, and returns what the exit status is to be.
func (r *fetching) told(err error) error {
	var usage usageError
	var garbled *fetch.FormatError
	switch {
	case err == nil, errors.As(err, &usage):
		return err
	case isRefusal(err) && !errors.As(err, &garbled):
		fmt.Fprintln(r.err, "nomen: "+printable(err.Error())+advice(err))
		return errNo
	}
	fmt.Fprintln(r.err, "nomen: "+printable(err.Error()))
	return errFailed
}

// advice returns what the user can do about an error, if it is not plain.
func advice(err error) string {
	var address *guard.AddressError
	switch {
	case errors.As(err, &address):
		return "; --allow-private lets others lead there"
	case errors.Is(err, scheme.ErrNoAlgorithm):
		return "; --gateway SCHEME=URL names a gateway"
	}
	return ""
}

// isRefusal reports whether err says that there is nothing to be had, or that it
// must not: no failure of the network or a server.
func isRefusal(err error) bool {
	var no *nomen.Error
	var refused *fetch.RefusedError
	var status *fetch.StatusError
	var size *fetch.SizeError
	var bad uri.InputError
	return errors.As(err, &no) || errors.As(err, &refused) || errors.As(err, &size) || errors.As(err, &bad) ||
		errors.As(err, &status) && status.No() ||
		slices.ContainsFunc([]error{scheme.ErrNotAvailable, scheme.ErrNoAlgorithm, scheme.ErrNotLocator, scheme.ErrUndefined, scheme.ErrHost, scheme.ErrUnsafeSession, scheme.ErrNoLauncher},
			func(target error) bool { return errors.Is(err, target) })
}

// isTextType reports whether a media type can be shown on a terminal.
func isTextType(mediatype string) bool {
	t, _, _ := strings.Cut(strings.ToLower(mediatype), ";")
	t = strings.TrimSpace(t)
	return strings.HasPrefix(t, "text/") || strings.HasPrefix(t, "message/") || strings.HasSuffix(t, "json") || strings.HasSuffix(t, "xml") || t == fetch.TypeMenu
}

// parseLauncher reads a program with its arguments. Words are parted by white
// space alone; those in square brackets belong together.
func parseLauncher(words string) (scheme.Launcher, error) {
	var l scheme.Launcher
	var group []string
	open := false
	for i, word := range strings.Fields(words) {
		switch {
		case i == 0:
			l.Program = word
			continue
		case strings.HasPrefix(word, "[") && !open:
			open, word = true, word[1:]
		}
		end := open && strings.HasSuffix(word, "]")
		word = strings.TrimSuffix(word, map[bool]string{true: "]"}[end])
		if word != "" {
			group = append(group, word)
		}
		if open && !end {
			continue
		}
		l.Args, group, open = append(l.Args, group), nil, false
	}
	switch {
	case l.Program == "":
		return l, errors.New("want SCHEME=PROGRAM and its arguments")
	case open:
		return l, errors.New("a bracket is not closed")
	}
	return l, nil
}

// parseSize reads a number of bytes with K, M, G or T after it, which are powers
// of 1024.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(strings.ToUpper(s), "KMGTIB")
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s)[len(digits):], "B"), "I")]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("%q is no number of bytes, such as 1000, 500M or 2G", s)
	}
	return n << shift, nil
}

// parseSpan reads FIRST-LAST or FIRST-, counted from 0 and inclusive.
func parseSpan(s string) (offset, length int64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	first, last, ok := strings.Cut(s, "-")
	from, err := strconv.ParseInt(first, 10, 63)
	if !ok || err != nil || from < 0 {
		return 0, 0, fmt.Errorf("%q: want FIRST-LAST or FIRST-", s)
	}
	if last == "" {
		return from, 0, nil
	}
	to, err := strconv.ParseInt(last, 10, 62)
	if err != nil || to < from {
		return 0, 0, fmt.Errorf("%q: want FIRST-LAST or FIRST-", s)
	}
	return from, to - from + 1, nil
}
