package source

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/transform"
)

// longestChar is greater than the length in bytes of any character in any charset, including
// preceding escape sequences.
const longestChar = 32

// SniffLength is the number of bytes that [HTMLCharset] needs, as in browsers.
const SniffLength = 1024

// InCharset returns a feed that converts f from the labelled charset to UTF-8. If f is already in
// UTF-8, it returns f. If the charset is unknown, it returns f and false. The ASCII characters in f
// are probably still correct.
func InCharset(f Feed, label string) (Feed, bool) {
	label = strings.ToLower(strings.TrimSpace(label))
	switch label {
	case "", "utf-8", "utf8", "us-ascii", "ascii", "unknown-8bit", "x-unknown":
		return f, true
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		if enc, err = ianaindex.MIME.Encoding(label); err != nil || enc == nil {
			return f, false
		}
	}
	name, err := htmlindex.Name(enc)
	if err == nil && name == "utf-8" {
		return f, true
	}
	return newCharsetFeed(f, enc, name), true
}

// HTMLCharset returns the charset of an HTML document that begins with head. A byte order mark
// takes precedence over the charset that the transport declared. The declared charset takes
// precedence over a META element (encoding sniffing algorithm of the HTML Standard).
func HTMLCharset(head []byte, declared string) string {
	contentType := ""
	if declared != "" {
		contentType = "text/html; charset=" + declared
	}
	_, name, certain := charset.DetermineEncoding(head, contentType)
	if !certain && name == "windows-1252" && !bytes.Contains(bytes.ToLower(head), []byte("charset")) {
		return "" // most such documents are in UTF-8
	}
	return name
}

type charsetFeed struct {
	src     Window
	i       int // src.text[i:] is still to be decoded
	decoder transform.Transformer
	ascii   bool // bytes below 0x80 at the start of a character are ASCII
	ended   bool
	out     MappedFeed
}

func newCharsetFeed(f Feed, enc encoding.Encoding, name string) *charsetFeed {
	c := &charsetFeed{src: Window{Feed: f}, decoder: enc.NewDecoder().Transformer, ascii: true}
	switch name {
	case "", "utf-16le", "utf-16be", "iso-2022-jp", "replacement", "hz-gb-2312":
		c.ascii = false
	}
	return c
}

func (c *charsetFeed) Next() (Piece, bool) {
	for {
		if p, ok := c.out.Next(); ok || !c.decode() {
			return p, ok
		}
	}
}

func (c *charsetFeed) decode() bool {
	c.out.Reset()
	c.src.Drop(c.i)
	c.i = 0
	if !c.ended {
		c.ended = !c.src.Fill()
	}
	for c.i < len(c.src.Text) && (c.ended || len(c.src.Text)-c.i >= longestChar) {
		if n := c.asciiRun(); n > 0 {
			c.src.Pieces(&c.out.Mapped, c.i, c.i+n)
			c.i += n
			continue
		}
		c.char()
	}
	return len(c.out.runs) > 0 || !c.ended
}

func (c *charsetFeed) asciiRun() int {
	if !c.ascii {
		return 0
	}
	rest := c.src.Text[c.i:]
	for n, b := range rest {
		if b >= utf8.RuneSelf {
			return n
		}
	}
	return len(rest)
}

// char decodes one character, or several characters that can only be decoded together. It decodes
// an invalid byte as U+FFFD.
func (c *charsetFeed) char() {
	src := c.src.Text[c.i:min(len(c.src.Text), c.i+longestChar)]
	var dst [2 * utf8.UTFMax]byte
	for size := 1; size <= len(dst); size++ {
		n, used, err := c.decoder.Transform(dst[:size], src, c.ended && len(src) < longestChar)
		if n == 0 && used > 0 { // an escape sequence without a character
			c.i += used
			return
		}
		if n == 0 && err == transform.ErrShortDst {
			continue
		}
		if n == 0 { // truncated character
			break
		}
		c.emit(dst[:n], used)
		return
	}
	c.emit([]byte("\uFFFD"), 1)
}

func (c *charsetFeed) emit(text []byte, used int) {
	start, end := c.src.Span(c.i, c.i+used)
	if used == 1 && len(text) == 1 {
		c.src.Text[c.i] = text[0] // keeps offsets in the file exact
		c.src.Pieces(&c.out.Mapped, c.i, c.i+1)
	} else {
		c.out.Add(Unit(text, start, end))
	}
	c.i += used
}
