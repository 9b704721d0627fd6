package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/fetch"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/uri"
)

const fetchLong = `Fetch follows a name or URL to the resource and prints it, or saves it with -o.

Fetch supports http, https, ftp, gopher, news, snews, nntp, whois and data, and reads file
and afs URLs on this machine. Directories, Gopher menus and newsgroups are printed as lists.
For a name (urn, ark, doi, hdl, info, tag), fetch asks the resolver that 'nomen discover'
shows, and fetches the first location that works. Other schemes need a gateway, given by
--gateway. A telnet, rlogin or tn3270 URL opens a session: fetch starts the program given by
--session, or prints the command to run.

--dialect selects the version of the standard by which the name or URL is read. In the
dialect 2012, a URN can end with directives. In urn:example:book?s=I2R&c=ToC, c names a
component of the resource. The service s has no effect, because fetch always fetches the
resource.

A URL that you type may point to this machine or to a private network, and may contain a
password. Redirects and the locations from a resolver may never point to files of this
machine. They may point to private networks only with --allow-private. Your password is
never sent to another server.

With -o the file appears when the download is complete. Until then the data is in
FILE.part, with details in FILE.part.json. -c resumes an interrupted download if the
server can tell that the resource is unchanged; otherwise it starts over. An existing file
is not replaced without --force.

With --json, fetch does not print the resource. It prints one line that describes what was
saved or, without -o, what would be fetched.

Requests are unencrypted, except to https and snews; -v shows each step. The exit status
is 1 if the resource does not exist or fetching it is not allowed, and 3 if the network
or a server failed.`

type fetching struct {
	*cli
	*dialects
	client   client.Options
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

	launchers map[string]plan.Launcher
}

func (c *cli) fetchCommand() *cobra.Command {
	r := &fetching{cli: c}
	cmd := &cobra.Command{
		Use:   "fetch NAME-OR-URL",
		Short: "fetch the resource of a name or URL",
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
	f.StringVarP(&r.output, "output", "o", "", "file to save the resource to; - for standard output")
	f.BoolVarP(&r.save.Continue, "continue", "c", false, "resume an interrupted fetch")
	f.BoolVar(&r.save.Replace, "force", false, "replace an existing file")
	f.StringVar(&r.span, "range", "", "bytes to fetch: FIRST-LAST, or FIRST- for FIRST and all after it (default all)")
	f.BoolVar(&r.menu, "menu", false, "print a Gopher menu as URLs and titles")
	preferenceOptions(f, &r.request.Accept, &r.request.Languages)
	f.StringVar(&r.options.UserAgent, "user-agent", "", "User-Agent to send over HTTP (default none)")
	f.StringVar(&r.client.Via, "via", "", "HOST:PORT or URL of the resolver of names (default as found by discover)")
	portOption(f, &r.client.Port)
	f.StringArrayVar(&r.gateways, "gateway", nil, "gateway for a scheme: SCHEME=URL, where URL contains {uri} (the whole URI, escaped), {+uri} (the URI as spelled) or {rest} (what follows the scheme, escaped); SCHEME can be x-* for all schemes that begin with x-, or * for all schemes without another gateway")
	f.BoolVar(&r.options.ProposedGateways, "proposed-gateways", false, "also use the gateways that the catalogue of schemes proposes")
	f.StringArrayVar(&r.sessions, "session", nil, "program for a scheme: SCHEME=PROGRAM with arguments, which can contain {host}, {port} and {user}; arguments in [brackets] are omitted if the URL lacks the value")
	f.StringVar(&r.options.Client.NewsServer, "news-server", "", "HOST:PORT of the server for news URLs that do not name a server")
	f.StringVar(&r.options.Client.Mail, "mail-address", "", "mail address to send as the password of anonymous FTP")
	f.StringSliceVar(&r.options.Schemes, "scheme", nil, "scheme that fetch may use (default all)")
	f.BoolVar(&r.options.AllowPrivate, "allow-private", false, "allow redirects and locations to reach private networks")
	f.StringVar(&r.size, "max-size", "", "maximum number of bytes, such as 500M; 0 for no limit (default 1G)")
	f.DurationVar(&r.options.Timeout, "timeout", fetch.DefaultTimeout, "maximum time without data from the server")
	f.DurationVar(&r.options.MaxTime, "max-time", fetch.DefaultMaxTime, "maximum total time")
	notNegative(f, "timeout", "max-time")
	f.IntVar(&r.options.MaxRedirects, "max-redirects", fetch.DefaultMaxRedirects, "maximum number of redirects; -1 to follow none")
	r.find.register(f)
	return cmd
}

func (r *fetching) run(ctx context.Context, arg string) error {
	if err := r.prepare(); err != nil {
		return err
	}
	open, guarded, end, err := openAndGuarded(r.client)
	if err != nil {
		return err
	}
	defer end()
	r.options.Resolver, r.options.Guarded = open, guarded
	f, err := fetch.New(r.options)
	if err != nil {
		return usageError{err}
	}
	defer f.Close()
	id, err := r.dialects.readAbsolute(strings.TrimPrefix(strings.TrimSpace(arg), "URL:"))
	location := id.uri
	if port, ok := location.Port(); ok && port != "" && !isPort(port) {
		return usagef("%s: invalid port %q: must be from 1 to 65535", location.Redacted(), port)
	}
	if err == nil {
		err = r.follow(ctx, f, location)
	}
	var session *fetch.SessionError
	if errors.As(err, &session) {
		return r.startSession(ctx, session)
	}
	return r.report(err)
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// openAndGuarded returns two clients. The client open is for names that the user has specified. The
// client guarded is for names from untrusted sources, and does not connect to private networks.
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

func (r *fetching) prepare() (err error) {
	r.request.Trusted, r.request.URN = true, r.dialects.urn
	if err := r.readPrograms(); err != nil {
		return err
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
		return usagef("--continue and --force need --output")
	case r.output != "" && r.span != "":
		return usagef("--range cannot be combined with --output, because the file would look complete")
	case r.menu && r.output != "":
		return usagef("--menu cannot be combined with --output")
	}
	r.client.Trace, r.options.Trace = r.trace(), r.trace()
	r.client.Timeout = r.options.Timeout
	if err := r.find.complete(&r.client); err != nil {
		return err
	}
	r.options.DNS, err = r.find.hosts() // the hosts of URLs are looked up in the same way
	return err
}

func (r *fetching) readPrograms() (err error) {
	for _, g := range r.gateways {
		name, template, ok := strings.Cut(g, "=")
		if !ok {
			return usagef("--gateway %q: must be SCHEME=URL", g)
		}
		if r.options.Gateways, err = r.options.Gateways.With(name, template); err != nil {
			return usagef("--gateway: %w", err)
		}
	}
	r.launchers = map[string]plan.Launcher{}
	for _, s := range r.sessions {
		name, words, _ := strings.Cut(s, "=")
		if r.launchers[strings.ToLower(name)], err = parseLauncher(words); err != nil {
			return usagef("--session %q: %w", s, err)
		}
	}
	return nil
}

// startSession starts the program for a session, or prints the command that starts it. For
// security, it starts a program only if the user has specified the URL.
func (r *fetching) startSession(ctx context.Context, e *fetch.SessionError) error {
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
		launchers = plan.UsualLaunchers()
	}
	program, args, err := s.Command(launchers)
	if err != nil {
		return r.report(err)
	}
	if !known || !e.Trusted {
		fmt.Fprintf(r.err, "nomen: this is a %s session, not a resource to fetch; to open it, run: %s\n", s.Scheme, printable(strings.Join(append([]string{program}, args...), " ")))
		return errNo
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.in, r.out, r.err
	return cmd.Run()
}

func (r *fetching) report(err error) error {
	switch {
	case err == nil, errors.As(err, new(usageError)):
		return err
	case isRefusal(err) && !errors.As(err, new(*fetch.FormatError)):
		fmt.Fprintln(r.err, "nomen: "+words(err)+advice(err)+caretOn(r.err, err))
		return errNo
	}
	fmt.Fprintln(r.err, "nomen: "+words(err)+caretOn(r.err, err))
	return errFailed
}

func advice(err error) string {
	var address *guard.AddressError
	switch {
	case errors.As(err, &address):
		return "; --allow-private allows it"
	case errors.Is(err, plan.ErrNoAlgorithm):
		return "; --gateway SCHEME=URL sets a gateway"
	}
	return ""
}

// isRefusal reports whether err means that the resource does not exist or must not be fetched. It
// returns false for failures of the network or a server.
func isRefusal(err error) bool {
	var no *nomen.Error
	var refused *fetch.RefusedError
	var status *fetch.StatusError
	var size *fetch.SizeError
	var bad uri.InputError
	return errors.As(err, &no) || errors.As(err, &refused) || errors.As(err, &size) || errors.As(err, &bad) ||
		errors.As(err, &status) && status.No() ||
		slices.ContainsFunc([]error{plan.ErrNotAvailable, plan.ErrNoAlgorithm, plan.ErrNotLocator, plan.ErrUndefined, plan.ErrHost, plan.ErrUnsafeSession, plan.ErrNoLauncher},
			func(target error) bool { return errors.Is(err, target) })
}

// parseLauncher parses a command line: a program and its arguments, separated by white space.
// Arguments in square brackets form a group.
func parseLauncher(words string) (plan.Launcher, error) {
	var l plan.Launcher
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
		return l, errors.New("must be SCHEME=PROGRAM and its arguments")
	case open:
		return l, errors.New("missing closing bracket")
	}
	return l, nil
}

// parseSize parses a number of bytes. The suffixes K, M, G and T are powers of 1024.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(strings.ToUpper(s), "KMGTIB")
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s)[len(digits):], "B"), "I")]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("invalid size %q: must be a number of bytes such as 1000, 500M or 2G", s)
	}
	return n << shift, nil
}

// parseSpan parses a range of bytes: FIRST-LAST or FIRST-, counted from 0, with LAST included.
func parseSpan(s string) (offset, length int64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	first, last, ok := strings.Cut(s, "-")
	from, err := strconv.ParseInt(first, 10, 63)
	if !ok || err != nil || from < 0 {
		return 0, 0, fmt.Errorf("invalid range %q: must be FIRST-LAST or FIRST-", s)
	}
	if last == "" {
		return from, 0, nil
	}
	to, err := strconv.ParseInt(last, 10, 62)
	if err != nil || to < from {
		return 0, 0, fmt.Errorf("invalid range %q: must be FIRST-LAST or FIRST-", s)
	}
	return from, to - from + 1, nil
}
