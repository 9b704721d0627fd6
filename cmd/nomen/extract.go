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

const extractLong = `Extract prints the identifiers in documents: plain text, HTML, Markdown, mail messages and
mailboxes. Nomen detects the type of a document by the suffix of its name or by its first
bytes; --type sets it. Without a file, or for "-", extract reads standard input.

In text, extract finds identifiers with a scheme:

  with ://     any scheme, such as https://www.example.org/
  without ://  known schemes only, such as urn: and mailto:

It leaves out brackets, quotation marks and punctuation around an identifier. It joins
identifiers that are broken over lines. Options make it find more:

  --abbreviated  references without a scheme, such as www.example.org/a
  --mail         mail addresses
  --iri          identifiers with letters beyond ASCII
  --bare         DOIs, ISBNs, ISSNs, ORCID iDs, arXiv, PubMed and PubMed Central numbers
                 that are written without a scheme, such as 10.1000/182

--bare finds only identifiers with the right form and check digit. A plain number, such as
a PubMed number, must follow a word that names its kind. The identifiers are printed as
URIs: doi:10.1000/182, urn:isbn:9780521431088.

Relative references in HTML and in mail headers are resolved. Extract uses the first base
that it finds in this list:

  1. the base in the document: BASE in HTML, Content-Base or Content-Location in mail
  2. the base of the mail message that contains the document
  3. --base
  4. --default-base

--dialect decides where a URN ends. In the dialect 2012 a URN ends before a slash; in
rfc8141 a slash can be part of a URN.

Extract prints one identifier per line. If there are several files, each line begins with
the name of the file. With --json, a line also has the position in bytes (start and end),
the role in the document, and the rule that gave the base.

With --links, extract adds two facts to each identifier. The first is how it is written:

  well-formed  valid
  mended       invalid, but nomen can repair it; the repaired form is printed
  malformed    invalid, and nomen cannot repair it

The second is what happened when the identifier was last retrieved. Extract retrieves
nothing: it reads this from the file given by --history. Each line of that file has three
fields, separated by tabs:

  1. a URI
  2. the time of the last successful retrieval (RFC 3339); empty if none succeeded
  3. the error of the last attempt; empty if that attempt succeeded

With --embed-base, extract prints the document with its base added: a BASE in HTML, a
Content-Location in a message. Relative references then keep their meaning wherever the
document is stored. Absolute references stay unchanged.

The exit status is 1 if nothing was found or a document has an error. It is 3 if a file
cannot be read. Errors are printed with their offset. After an error, the remaining
documents are still read.`

func (c *cli) extractCommand() *cobra.Command {
	e := &extractor{cli: c}
	cmd := &cobra.Command{
		Use:   "extract [FILE...]",
		Short: "find identifiers in documents",
		Long:  extractLong,
		Example: `  nomen extract rfc3986.txt
  curl -s https://www.example.org/a/ | nomen extract --type html --base https://www.example.org/a/
  nomen extract --abbreviated --mail notes.txt
  nomen extract --bare doi,isbn references.txt
  nomen extract --links --history visits.tsv --base https://www.example.org/ index.html
  nomen extract --embed-base --base https://www.example.org/a/ a.html > copy.html
  nomen extract --json letters.mbox | jq -r 'select(.kind == "urn").uri'`,
		Args: arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), args) },
	}
	e.dialect = addURNDialect(cmd)
	f := cmd.Flags()
	f.StringVar(&e.typ, "type", "", "type of the documents: text, html, mime or markdown (default detected by name and content)")
	f.StringVar(&e.base, "base", "", "URI from which the document was retrieved (default none)")
	f.StringVar(&e.defaultBase, "default-base", "", "base for documents that have no other")
	f.BoolVar(&e.embed, "embed-base", false, "print the document with its base embedded")
	f.BoolVar(&e.links, "links", false, "say how identifiers are written and whether they were retrieved")
	f.StringVar(&e.history, "history", "", "file of earlier retrievals, for --links")
	f.BoolVar(&e.options.Abbreviated, "abbreviated", false, "also find references such as www.example.org/a and example.org")
	f.BoolVar(&e.options.Mail, "mail", false, "also find mail addresses")
	f.StringVar(&e.bare, "bare", "", "also find identifiers without a scheme: all, or some of doi,isbn,issn,orcid,arxiv,pmid,pmcid")
	f.BoolVar(&e.options.IRI, "iri", false, "allow letters beyond ASCII in identifiers")
	complete(cmd, "type", []string{extract.TypeText.String(), extract.TypeHTML.String(), extract.TypeMIME.String(), extract.TypeMarkdown.String()})
	return cmd
}

type extractor struct {
	*cli
	typ, base, defaultBase, history, bare string
	embed, links                          bool
	dialect                               *urnDialect
	options                               extract.Options

	forced   bool // --type was given
	as       extract.Type
	visits   visits
	several  bool
	found    bool
	bad      bool // a document has an error
	failed   bool
	answered *answers
}

type extracted struct {
	File     string  `json:"file,omitempty"`
	Text     string  `json:"text"`
	Spelling string  `json:"spelling,omitempty"` // set only if it differs from the text
	URI      *string `json:"uri,omitempty"`
	Other    string  `json:"other,omitempty"`
	Kind     string  `json:"kind"`
	Start    int64   `json:"start"`
	End      int64   `json:"end"`
	Base     string  `json:"base,omitempty"`
	BaseRule string  `json:"base_rule,omitempty"`
	Where    string  `json:"where,omitempty"`

	// These fields are set only with --links.
	Writing   string     `json:"writing,omitempty"`
	State     string     `json:"state,omitempty"`
	Retrieved *time.Time `json:"retrieved,omitempty"`
	Error     string     `json:"error,omitempty"`
}

// prepare checks the options, and parses options such as URIs.
func (e *extractor) prepare(args []string) (err error) {
	if e.typ != "" {
		if e.as, e.forced = extract.ParseType(e.typ); !e.forced {
			return usagef("--type %q: must be text, html, mime or markdown", e.typ)
		}
	}
	e.options.URN = e.dialect.d
	if e.bare != "" {
		if e.options.Bare, err = extract.ParseBareKinds(e.bare); err != nil {
			return usagef("--bare: %w", err)
		}
	}
	if e.options.Base, err = baseFlag("base", e.base); err != nil {
		return err
	}
	if e.options.Default, err = baseFlag("default-base", e.defaultBase); err != nil {
		return err
	}
	switch {
	case e.embed && (e.links || e.json):
		return usagef("--embed-base cannot be combined with --links or --json")
	case e.embed && len(args) > 1:
		return usagef("--embed-base: expected one document, not %d", len(args))
	case e.history != "" && !e.links:
		return usagef("--history needs --links")
	case e.history != "":
		e.visits, err = readVisits(e.history)
	}
	return err
}

func (e *extractor) run(ctx context.Context, args []string) error {
	if err := e.prepare(args); err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	e.several = len(args) > 1
	e.answered = newAnswers(e.cli)
	for _, name := range args {
		if err := e.file(ctx, name); err != nil {
			e.answered.flush()
			if ctx.Err() != nil || e.answered.err != nil || errors.As(err, new(usageError)) {
				return err
			}
			fmt.Fprintln(e.err, "nomen: "+words(err))
			e.failed = true
		}
	}
	switch err := e.answered.end(); {
	case err != nil:
		return err
	case e.failed:
		return errFailed
	case e.bad || !e.found:
		return errNo
	}
	return nil
}

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

func (e *extractor) complain(name string, err error) {
	e.answered.flush()
	fmt.Fprintln(e.err, "nomen: "+printable(sourceName(name))+": "+words(err)+caretOn(e.err, err))
	e.bad = true
}

// embedded prints a document after inserting its base URI.
func (e *extractor) embedded(name string, typ extract.Type, r io.Reader) error {
	embed := extract.EmbedBase
	switch typ {
	case extract.TypeText, extract.TypeMarkdown:
		return usagef("--embed-base: %s: plain text cannot hold a base", sourceName(name))
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
		return usagef("--embed-base: %w; pass --base", err)
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

func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

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

// inPast describes the result of an earlier attempt to retrieve the target of a link.
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

// visits contains the results of earlier attempts to retrieve resources. The keys are the URIs of
// the resources without fragments.
type visits map[string]extract.Visit

func (v visits) of(target uri.URI) extract.Visit { return v[target.WithoutFragment().String()] }

// readVisits reads the file for --history. If the file has several lines for a resource, the last
// line applies.
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
				return nil, fmt.Errorf("--history: %s:%d: invalid time %q: must be as in RFC 3339, such as 2006-01-02T15:04:05Z", name, n, fields[1])
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

// An awaited reads the input of a command. Before Read waits for more input, it prints the answers
// that the command has ready. Read returns if ctx is done, even while it waits.
type awaited struct {
	*answers
	ctx    context.Context
	pieces <-chan piece
	rest   strings.Reader
	err    error
}

func (w *awaited) Read(b []byte) (int, error) {
	for w.rest.Len() == 0 {
		if w.err != nil {
			return 0, w.err
		}
		p, ok := receive(w.ctx, w.pieces, w.flush)
		if !ok {
			return 0, context.Cause(w.ctx)
		}
		w.rest.Reset(p.text)
		w.err = p.err
	}
	return w.rest.Read(b)
}
