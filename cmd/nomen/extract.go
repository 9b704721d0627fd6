package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
is in force there: BASE, Content-Base, Content-Location, or --base, which is from
where the document was retrieved.

It prints one identifier a line, with the name of the file if there are several.
As JSON it also tells where and as what it stands there; start and end are byte
offsets into the file.

As for grep, the exit status is 1 if nothing is found, and 3 if a file cannot be
read; the others are read nevertheless.`

func (c *cli) extractCommand() *cobra.Command {
	e := &extractor{cli: c}
	cmd := &cobra.Command{
		Use:   "extract [FILE...]",
		Short: "find identifiers in documents",
		Long:  extractLong,
		Example: `  nomen extract rfc3986.txt
  curl -s https://www.example.org/a/ | nomen extract --type html --base https://www.example.org/a/
  nomen extract --abbreviated --mail notes.txt
  nomen extract --json letters.mbox | jq -r 'select(.kind == "urn").uri'`,
		Args: arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&e.typ, "type", "", "text, html or mime (default by name and content)")
	f.StringVar(&e.base, "base", "", "URI from which the document was retrieved")
	f.BoolVar(&e.options.Abbreviated, "abbreviated", false, "find www.example.org/a and example.org too")
	f.BoolVar(&e.options.Mail, "mail", false, "find addresses of mail too")
	f.BoolVar(&e.options.IRI, "iri", false, "let identifiers have letters beyond ASCII")
	complete(cmd, "type", []string{extract.TypeText.String(), extract.TypeHTML.String(), extract.TypeMIME.String()})
	return cmd
}

// An extractor is one run of the command.
type extractor struct {
	*cli
	typ, base string
	options   extract.Options

	forced   bool // --type was given
	as       extract.Type
	several  bool
	found    bool
	failed   bool
	answered *answers
}

// An extracted is one finding in JSON.
type extracted struct {
	File     string  `json:"file,omitempty"`
	Text     string  `json:"text"`
	URI      *string `json:"uri,omitempty"`
	Other    string  `json:"other,omitempty"`
	Kind     string  `json:"kind"`
	Start    int64   `json:"start"`
	End      int64   `json:"end"`
	Base     string  `json:"base,omitempty"`
	BaseRule string  `json:"base_rule,omitempty"`
	Where    string  `json:"where,omitempty"`
}

func (e *extractor) run(ctx context.Context, args []string) error {
	if e.typ != "" {
		if e.as, e.forced = extract.ParseType(e.typ); !e.forced {
			return usagef("--type: %q is none of text, html, mime", e.typ)
		}
	}
	if e.base != "" {
		base, err := uri.Parse(e.base)
		if err != nil {
			return usagef("--base: %w", err)
		}
		e.options.Base = base
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	e.several = len(args) > 1
	e.answered = newAnswers(e.cli)
	for _, name := range args {
		if err := e.file(ctx, name); err != nil {
			if ctx.Err() != nil || e.answered.err != nil {
				e.answered.flush()
				return err
			}
			e.answered.flush()
			fmt.Fprintln(e.err, "nomen: "+printable(err.Error()))
			e.failed = true
		}
	}
	err := e.answered.end()
	switch {
	case err != nil:
		return err
	case e.failed:
		return errFailed
	case !e.found:
		return errNo
	}
	return nil
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
	for f, err := range typ.Find(r, e.options) {
		if err != nil {
			return fmt.Errorf("%s: %w", sourceName(name), withoutPath(err))
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		e.found = true
		e.show(name, f)
		if e.answered.flushFull(); e.answered.err != nil {
			return e.answered.err
		}
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
func (e *extractor) show(name string, f extract.Finding) {
	if e.json {
		r := extracted{
			Text: f.Text, URI: defined(f.Target.String(), f.Target.IsValid()), Other: f.Other,
			Kind: f.Kind.String(), Start: f.Start, End: f.End, Base: f.Base, BaseRule: f.BaseRule, Where: f.Where,
		}
		if name != "-" || e.several {
			r.File = name
		}
		e.answered.object(r)
		return
	}
	line := f.Target.String()
	if !f.Target.IsValid() {
		line = f.Spelling
	}
	if e.several {
		line = name + ": " + line
	}
	e.answered.text(printable(line))
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
