package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/extract"
	"github.com/nomen-project/nomen/uri"
)

const extractLong = `Extract finds the identifiers in documents: in plain text, in HTML and in mail,
messages as well as mailboxes. What type a document is of is told by the suffix
of its name or else by how it begins, unless --type says it. Without a file, or
for "-", it reads standard input.

In text it finds what has a scheme. Brackets, quotation marks and the punctuation
of the sentence are left out, and identifiers that were broken over lines are put
together. Asked for, it finds more: references without a scheme (--abbreviated),
addresses of mail (--mail), identifiers with letters beyond ASCII (--iri).
References in HTML and in the headers of mail are resolved against the base that
is in force there: BASE, Content-Base, Content-Location, those of the entities
around it, --base, which is from where the document was retrieved, after
redirects, or else --default-base.

Where a URN ends is what --dialect says: in 2012 before a slash, in rfc8141 not. A
URN is no base: against one only fragments and absolute references lead anywhere.

It prints one identifier a line, with the name of the file if there are several.
As JSON it also tells where and as what it stands there, and which rule gave the
base; start and end are byte offsets into the file.

With --links it tells of each how it is written (well-formed, mended, malformed),
and what came of retrieving it, which is read from the file that --history names:
in each line a URI, the time when it was retrieved last (RFC 3339), and what was
wrong when it was tried last, with tabs between; the last two may be empty.
Nothing is retrieved.

With --embed-base it prints the document instead, so that its relative references
mean the same wherever it is kept: HTML with a BASE, a message with a
Content-Location. What is absolute there stays as it is.

As for grep, the exit status is 1 if nothing is found; also if something in a
document is wrong, which standard error tells with its offset; and 3 if a file
cannot be read. What can be read is read nevertheless.`

func (c *cli) extractCommand() *cobra.Command {
	e := &extractor{cli: c}
	cmd := &cobra.Command{
		Use:   "extract [FILE...]",
		Short: "find identifiers in documents",
		Long:  extractLong,
		Example: `  nomen extract rfc3986.txt
  curl -s https://www.example.org/a/ | nomen extract --type html --base https://www.example.org/a/
  nomen extract --abbreviated --mail notes.txt
  nomen extract --links --history visits.tsv --base https://www.example.org/ index.html
  nomen extract --embed-base --base https://www.example.org/a/ a.html > copy.html
  nomen extract --json letters.mbox | jq -r 'select(.kind == "urn").uri'`,
		Args: arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), args) },
	}
	e.dialect = addURNDialect(cmd)
	f := cmd.Flags()
	f.StringVar(&e.typ, "type", "", "text, html or mime (default by name and content)")
	f.StringVar(&e.base, "base", "", "URI from which the document was retrieved (default none)")
	f.StringVar(&e.defaultBase, "default-base", "", "base of documents that have no other")
	f.BoolVar(&e.embed, "embed-base", false, "print the document with its base in it")
	f.BoolVar(&e.links, "links", false, "tell how identifiers are written and what came of retrieving them")
	f.StringVar(&e.history, "history", "", "file of what came of retrieving, for --links")
	f.BoolVar(&e.options.Abbreviated, "abbreviated", false, "find www.example.org/a and example.org too")
	f.BoolVar(&e.options.Mail, "mail", false, "find addresses of mail too")
	f.BoolVar(&e.options.IRI, "iri", false, "let identifiers have letters beyond ASCII")
	complete(cmd, "type", []string{extract.TypeText.String(), extract.TypeHTML.String(), extract.TypeMIME.String()})
	return cmd
}

// An extractor is one run of the command.
type extractor struct {
	*cli
	typ, base, defaultBase, history string
	embed, links                    bool
	dialect                         *urnDialect
	options                         extract.Options

	forced   bool // --type was given
	as       extract.Type
	visits   visits
	several  bool
	found    bool
	bad      bool // something in a document is wrong
	failed   bool
	answered *answers
}

// An extracted is one finding in JSON.
type extracted struct {
	File     string  `json:"file,omitempty"`
	Text     string  `json:"text"`
	Spelling string  `json:"spelling,omitempty"` // where it is not the text
	URI      *string `json:"uri,omitempty"`
	Other    string  `json:"other,omitempty"`
	Kind     string  `json:"kind"`
	Start    int64   `json:"start"`
	End      int64   `json:"end"`
	Base     string  `json:"base,omitempty"`
	BaseRule string  `json:"base_rule,omitempty"`
	Where    string  `json:"where,omitempty"`

	// With --links.
	Writing   string     `json:"writing,omitempty"`
	State     string     `json:"state,omitempty"`
	Retrieved *time.Time `json:"retrieved,omitempty"`
	Error     string     `json:"error,omitempty"`
}

func (e *extractor) run(ctx context.Context, args []string) error {
	if e.typ != "" {
		if e.as, e.forced = extract.ParseType(e.typ); !e.forced {
			return usagef("--type: %q is none of text, html, mime", e.typ)
		}
	}
	e.options.URN = e.dialect.d
	var err error
	if e.options.Base, err = baseFlag("base", e.base); err != nil {
		return err
	}
	if e.options.Default, err = baseFlag("default-base", e.defaultBase); err != nil {
		return err
	}
	switch {
	case e.embed && (e.links || e.json):
		return usagef("--embed-base prints a document: neither --links nor --json goes with it")
	case e.embed && len(args) > 1:
		return usagef("--embed-base: %d documents, want one", len(args))
	case e.history != "" && !e.links:
		return usagef("--history is for --links")
	case e.history != "":
		if e.visits, err = readVisits(e.history); err != nil {
			return err
		}
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	e.several = len(args) > 1
	e.answered = newAnswers(e.cli)
	for _, name := range args {
		if err := e.file(ctx, name); err != nil {
			if ctx.Err() != nil || e.answered.err != nil || errors.As(err, new(usageError)) {
				e.answered.flush()
				return err
			}
			e.answered.flush()
			fmt.Fprintln(e.err, "nomen: "+printable(err.Error()))
			e.failed = true
		}
	}
	err = e.answered.end()
	switch {
	case err != nil:
		return err
	case e.failed:
		return errFailed
	case e.bad || !e.found:
		return errNo
	}
	return nil
}

// baseFlag returns the base that an option gives; a zero URI if it is not given.
func baseFlag(name, value string) (uri.URI, error) {
	if value == "" {
		return uri.URI{}, nil
	}
	base, err := uri.Parse(value)
	if err != nil {
		return uri.URI{}, usagef("--%s: %w", name, err)
	}
	return base, nil
}

// file finds what is in a file, or in standard input.
func (e *extractor) file(ctx context.Context, name string) error {
	in := e.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return e.document(ctx, name, &awaited{answers: e.answered, ctx: ctx, pieces: readPieces(ctx, in)})
}

// document finds what is in a document.
func (e *extractor) document(ctx context.Context, name string, r io.Reader) error {
	typ, known := e.as, e.forced
	if !known {
		typ, known = extract.TypeOfName(name)
	}
	if !known {
		head := make([]byte, extract.SniffSize)
		n, err := io.ReadFull(r, head)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s: %w", sourceName(name), withoutPath(err))
		}
		typ = extract.Sniff(head[:n])
		r = io.MultiReader(bytes.NewReader(head[:n]), r)
	}
	if e.embed {
		return e.embedded(name, typ, r)
	}
	for l, err := range extract.Links(typ.Find(r, e.options), e.visits.of) {
		var wrong *extract.DocumentError
		switch {
		case errors.As(err, &wrong):
			e.complain(name, wrong)
			if !e.links || l.Text == "" {
				continue
			}
		case err != nil:
			return fmt.Errorf("%s: %w", sourceName(name), withoutPath(err))
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		e.found = true
		e.show(name, l)
		if e.answered.flushFull(); e.answered.err != nil {
			return e.answered.err
		}
	}
	return nil
}

// complain says what is wrong in a document.
func (e *extractor) complain(name string, err error) {
	e.answered.flush()
	fmt.Fprintln(e.err, "nomen: "+printable(sourceName(name)+": "+err.Error()))
	e.bad = true
}

// embedded prints a document with its base in it.
func (e *extractor) embedded(name string, typ extract.Type, r io.Reader) error {
	embed := extract.EmbedBase
	switch typ {
	case extract.TypeText:
		return usagef("--embed-base: %s: a plain text has no place for a base", sourceName(name))
	case extract.TypeMIME:
		embed = extract.EmbedBaseMIME
	}
	base := e.options.Base
	if !base.IsValid() {
		base = e.options.Default
	}
	w := bufio.NewWriter(e.out)
	err := embed(w, r, base)
	if err = cmp.Or(err, w.Flush()); errors.Is(err, extract.ErrEmbeddedBase) {
		return usagef("--embed-base: %w: give it by --base", err)
	}
	e.found = err == nil
	if err != nil {
		return fmt.Errorf("%s: %w", sourceName(name), withoutPath(err))
	}
	return nil
}

func sourceName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// withoutPath returns what is wrong with a file, without its name.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// show answers with a finding.
func (e *extractor) show(name string, l extract.Link) {
	if e.json {
		r := extracted{
			Text: l.Text, URI: defined(l.Target.String(), l.Target.IsValid()), Other: l.Other,
			Kind: l.Kind.String(), Start: l.Start, End: l.End, Base: l.Base, BaseRule: l.BaseRule, Where: l.Where,
		}
		if l.Spelling != l.Text {
			r.Spelling = l.Spelling
		}
		if name != "-" || e.several {
			r.File = name
		}
		if e.links {
			r.Writing, r.State = l.Writing.String(), l.State.String()
			if !l.Visit.Retrieved.IsZero() {
				r.Retrieved = &l.Visit.Retrieved
			}
			if l.Visit.Err != nil {
				r.Error = l.Visit.Err.Error()
			}
		}
		e.answered.object(r)
		return
	}
	line := l.Target.String()
	if !l.Target.IsValid() {
		line = l.Spelling
	}
	if e.several {
		line = name + ": " + line
	}
	if e.links {
		line += " (" + l.Writing.String() + ", " + inPast(l) + ")"
	}
	e.answered.text(printable(line))
}

// inPast says what came of retrieving a link.
func inPast(l extract.Link) string {
	s := l.State.String()
	if l.State == extract.RetrievedEarlier {
		s += ": " + l.Visit.Retrieved.Format(time.RFC3339)
	}
	if l.Visit.Err != nil {
		s += ": " + l.Visit.Err.Error()
	}
	return s
}

// visits is what is known of attempts to retrieve resources, by their URIs
// without a fragment.
type visits map[string]extract.Visit

// of returns what is known of a resource.
func (v visits) of(target uri.URI) extract.Visit { return v[target.WithoutFragment().String()] }

// readVisits reads a file for --history. The last line about a resource counts.
func readVisits(name string) (visits, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--history: %w", err)
	}
	defer f.Close()
	all := visits{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxPair)
	n := 0
	for lines.Scan() {
		n++
		if lines.Text() == "" {
			continue
		}
		fields := strings.SplitN(lines.Text(), "\t", 3)
		resource, err := uri.Parse(fields[0])
		if err != nil {
			return nil, fmt.Errorf("--history: %s:%d: %w", name, n, err)
		}
		var visit extract.Visit
		if len(fields) > 1 && fields[1] != "" {
			if visit.Retrieved, err = time.Parse(time.RFC3339, fields[1]); err != nil {
				return nil, fmt.Errorf("--history: %s:%d: the time %q is not as RFC 3339 has it, such as 2006-01-02T15:04:05Z", name, n, fields[1])
			}
		}
		if len(fields) > 2 && fields[2] != "" {
			visit.Err = errors.New(fields[2])
		}
		all[resource.WithoutFragment().String()] = visit
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("--history: %s:%d: %w", name, n+1, withoutPath(err))
	}
	return all, nil
}

// An awaited is a file as a reader. While there is nothing to read, what
// has been answered is written, and an interrupt ends the waiting.
type awaited struct {
	*answers
	ctx    context.Context
	pieces <-chan piece
	rest   strings.Reader
	err    error
}

// Read implements io.Reader.
func (w *awaited) Read(b []byte) (int, error) {
	for w.rest.Len() == 0 {
		if w.err != nil {
			return 0, w.err
		}
		p, err := w.next(w.ctx, w.pieces)
		if err != nil {
			return 0, err
		}
		w.rest.Reset(p.text)
		w.err = p.err
	}
	return w.rest.Read(b)
}
