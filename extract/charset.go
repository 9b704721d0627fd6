package extract

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

// longestChar is more than the octets of a character in any charset, with the
// escape sequences before it.
const longestChar = 32

// sniffLength is how far HTML is read to find its charset, as browsers do.
const sniffLength = 1024

// inCharset returns text of a charset in UTF-8; the feed itself where that is
// what it is already. It is false for charsets that nobody knows, whose text is
// then taken as it is: what is of US-ASCII is mostly right.
func inCharset(f feed, label string) (feed, bool) {
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

// htmlCharset returns the charset of an HTML document that begins with head: by
// a byte order mark, else what the transport says, else a META in the document
// (the encoding sniffing of the HTML Standard).
func htmlCharset(head []byte, declared string) string {
	contentType := ""
	if declared != "" {
		contentType = "text/html; charset=" + declared
	}
	_, name, certain := charset.DetermineEncoding(head, contentType)
	if !certain && name == "windows-1252" && !bytes.Contains(bytes.ToLower(head), []byte("charset")) {
		return "" // what nobody has said: mostly UTF-8 today
	}
	return name
}

// A charsetFeed is a text in another charset as UTF-8.
type charsetFeed struct {
	src     window
	i       int // src.text[i:] is not decoded yet
	decoder transform.Transformer
	ascii   bool // octets below 0x80 that begin a character are that of US-ASCII
	ended   bool
	out     mapped
	k       int // out.runs[k:] are not handed out yet
}

func newCharsetFeed(f feed, enc encoding.Encoding, name string) *charsetFeed {
	c := &charsetFeed{src: window{feed: f}, decoder: enc.NewDecoder().Transformer, ascii: true}
	switch name {
	case "", "utf-16le", "utf-16be", "iso-2022-jp", "replacement", "hz-gb-2312":
		c.ascii = false
	}
	return c
}

func (c *charsetFeed) next() (piece, bool) {
	for c.k == len(c.out.runs) {
		if !c.decode() {
			return piece{}, false
		}
	}
	c.k++
	return c.out.piece(c.k - 1), true
}

// decode decodes what the source has, which is at least one character unless it
// has ended.
func (c *charsetFeed) decode() bool {
	c.out.reset()
	c.src.drop(c.i)
	c.i, c.k = 0, 0
	if !c.ended {
		c.ended = !c.src.fill()
	}
	for c.i < len(c.src.text) && (c.ended || len(c.src.text)-c.i >= longestChar) {
		if n := c.asciiRun(); n > 0 {
			c.src.pieces(&c.out, c.i, c.i+n)
			c.i += n
			continue
		}
		c.char()
	}
	return len(c.out.runs) > 0 || !c.ended
}

// asciiRun returns how many octets stand for themselves.
func (c *charsetFeed) asciiRun() int {
	if !c.ascii {
		return 0
	}
	rest := c.src.text[c.i:]
	for n, b := range rest {
		if b >= utf8.RuneSelf {
			return n
		}
	}
	return len(rest)
}

// char decodes one character, or a few that come as one. An octet that belongs
// to none is decoded as U+FFFD.
func (c *charsetFeed) char() {
	src := c.src.text[c.i:min(len(c.src.text), c.i+longestChar)]
	var dst [2 * utf8.UTFMax]byte
	for size := 1; size <= len(dst); size++ {
		n, used, err := c.decoder.Transform(dst[:size], src, c.ended && len(src) < longestChar)
		if n == 0 && used > 0 { // an escape sequence alone
			c.i += used
			return
		}
		if n == 0 && err == transform.ErrShortDst {
			continue
		}
		if n == 0 { // an end within a character
			break
		}
		c.emit(dst[:n], used)
		return
	}
	c.emit([]byte("\uFFFD"), 1)
}

func (c *charsetFeed) emit(text []byte, used int) {
	start, end := c.src.span(c.i, c.i+used)
	if used == 1 && len(text) == 1 {
		c.src.text[c.i] = text[0] // keeps the relation of the source
		c.src.pieces(&c.out, c.i, c.i+1)
	} else {
		c.out.add(unit(text, start, end))
	}
	c.i += used
}
