package extract

import (
	"bytes"
	"io"
	"iter"
	"path"
	"strings"
)

// A Type is a type of document.
type Type uint8

// The types of documents.
const (
	TypeText Type = iota
	TypeHTML
	TypeMIME // a message, or a mailbox
	TypeMarkdown
	types
)

// String returns "text", "html", "mime" or "markdown".
func (t Type) String() string {
	names := [types]string{"text", "html", "mime", "markdown"}
	if t >= types {
		return "unknown"
	}
	return names[t]
}

// ParseType returns the type for a name that [Type.String] returns.
func ParseType(name string) (Type, bool) {
	for t := range types {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// Find returns an iterator over the identifiers in a document of type t. It calls [Text], [HTML],
// [MIME] or [Markdown].
func (t Type) Find(r io.Reader, o Options) iter.Seq2[Finding, error] {
	switch t {
	case TypeHTML:
		return HTML(r, o)
	case TypeMIME:
		return MIME(r, o)
	case TypeMarkdown:
		return Markdown(r, o)
	default:
		return Text(r, o)
	}
}

// SniffSize is how many bytes [Sniff] needs.
const SniffSize = 1024

// TypeOfName returns the type of document that the suffix of a file name indicates. It returns
// false if the suffix indicates no type. This includes ".txt" and similar suffixes, because
// messages are often stored under such names.
func TypeOfName(name string) (Type, bool) {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".xhtml", ".xht":
		return TypeHTML, true
	case ".eml", ".mbox", ".mbx", ".mht", ".mhtml", ".mime":
		return TypeMIME, true
	case ".md", ".markdown", ".mkd":
		return TypeMarkdown, true
	case ".json", ".jsonl", ".csv", ".tsv", ".log", ".c", ".h", ".go", ".py", ".js", ".css":
		return TypeText, true
	}
	return 0, false
}

// Sniff guesses the type of a document from its first bytes. It recognises HTML by the first tag,
// and a message by header fields that are uncommon in other texts.
func Sniff(head []byte) Type {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if isMessage(head) {
		return TypeMIME
	}
	head = bytes.ToLower(bytes.TrimLeft(head, " \t\r\n\f"))
	if rest, ok := bytes.CutPrefix(head, []byte("<?xml")); ok {
		_, rest, _ = bytes.Cut(rest, []byte("?>"))
		head = bytes.TrimLeft(rest, " \t\r\n\f")
		if !bytes.Contains(head, []byte("xhtml")) {
			return TypeText
		}
	}
	for bytes.HasPrefix(head, []byte("<!--")) {
		_, rest, _ := bytes.Cut(head, []byte("-->"))
		head = bytes.TrimLeft(rest, " \t\r\n\f")
	}
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<title", "<body", "<meta", "<base", "<script", "<style", "<link"} {
		if rest, ok := bytes.CutPrefix(head, []byte(tag)); ok && (len(rest) == 0 || !isAlnum(rest[0])) {
			return TypeHTML
		}
	}
	return TypeText
}

// isMessage reports whether a text begins like a mailbox, or with header fields. At least one field
// must be known, and an empty line or the end of the text must follow.
func isMessage(head []byte) bool {
	if line, _, _ := bytes.Cut(head, []byte("\n")); bytes.HasPrefix(line, []byte("From ")) && bytes.IndexByte(line, ':') > 0 && bytes.Contains(line, []byte("@")) {
		return true
	}
	known, fields := false, 0
	for line := range bytes.Lines(head) {
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 || len(line) == len(text) {
			break // the end of the header, or of head
		}
		if text[0] == ' ' || text[0] == '\t' {
			if fields == 0 {
				return false
			}
			continue
		}
		n := bytes.IndexByte(text, ':')
		if n <= 0 || bytes.ContainsAny(text[:n], " \t\"'<>(){}[],;/\\") {
			return false
		}
		switch fields++; string(bytes.ToLower(text[:n])) {
		case "received", "return-path", "message-id", "mime-version", "delivered-to", "content-type", "content-base", "content-location", "dkim-signature":
			known = true
		}
	}
	return known
}
