package mime

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// transfer returns a feed that decodes a content transfer encoding (RFC 2045, section 6). It
// returns false if the encoding is unknown.
func transfer(lines source.Feed, encoding string) (source.Feed, bool) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "7bit", "8bit", "binary", "7-bit", "8-bit":
		return lines, true
	case "quoted-printable":
		return &lineFeed{src: lines, decode: quotedPrintable}, true
	case "base64":
		return &lineFeed{src: lines, decode: new(base64Decoder).line}, true
	}
	return nil, false
}

type lineFeed struct {
	src    source.Feed
	decode func(line source.Piece, out *source.Mapped, end bool)
	out    source.MappedFeed
	ended  bool
}

func (f *lineFeed) Next() (source.Piece, bool) {
	for {
		if p, ok := f.out.Next(); ok || f.ended {
			return p, ok
		}
		line, ok := f.src.Next()
		f.ended = !ok
		f.out.Reset()
		f.decode(line, &f.out.Mapped, f.ended)
	}
}

// quotedPrintable decodes a line (RFC 2045, section 6.7). A line that ends in "=" continues on the
// next line. White space at the end of a line is removed, and an invalid escape is kept.
func quotedPrintable(line source.Piece, out *source.Mapped, _ bool) {
	b := line.Text
	n := len(b)
	if n > 0 && b[n-1] == '\n' {
		n = len(bytes.TrimRight(b, " \t\r\n"))
		if n > 0 && b[n-1] == '=' {
			quoted(line, 0, n-1, out, false)
			return
		}
	}
	quoted(line, 0, n, out, false)
	if eol := bytes.IndexAny(b[n:], "\r\n"); eol >= 0 {
		out.Add(line.Slice(n+eol, len(b)))
	}
}

// quoted decodes the escapes in p.Text[i:j]. In an encoded word, "_" means a space (RFC 2047,
// section 4.2).
func quoted(p source.Piece, i, j int, out *source.Mapped, word bool) {
	for i < j {
		n := 0
		for i+n < j && p.Text[i+n] != '=' && !(word && p.Text[i+n] == '_') {
			n++
		}
		out.Add(p.Slice(i, i+n))
		if i += n; i == j {
			return
		}
		at := p.At + int64(i)
		switch {
		case p.Text[i] == '_':
			out.Add(source.Unit([]byte{' '}, at, at+1))
			i++
		case i+2 < j && ascii.IsHex(p.Text[i+1]) && ascii.IsHex(p.Text[i+2]):
			out.Add(source.Unit([]byte{ascii.Unhex(p.Text[i+1])<<4 | ascii.Unhex(p.Text[i+2])}, at, at+3))
			i += 3
		default:
			out.Add(p.Slice(i, i+1))
			i++
		}
	}
}

// A base64Decoder decodes base64 (RFC 2045, section 6.8). A group of four characters can extend
// across lines. Characters outside the alphabet are skipped.
type base64Decoder struct {
	group [4]byte
	n     int   // octets in group
	start int64 // offset in the file of the first octet in group
	end   int64
	buf   []byte
}

func (d *base64Decoder) line(line source.Piece, out *source.Mapped, end bool) {
	b := bytes.TrimRight(line.Text, " \t\r\n")
	if d.n == 0 && len(b) > 0 && len(b)%4 == 0 && b[len(b)-1] != '=' {
		d.buf = append(d.buf[:0], make([]byte, len(b)/4*3)...)
		if n, err := base64.StdEncoding.Decode(d.buf, b); err == nil {
			out.Add(source.Piece{Text: d.buf[:n], At: line.At, In: 4, Out: 3})
			return
		}
	}
	for i, c := range b {
		d.octet(c, line.At+int64(i), out)
	}
	if end {
		d.flush(out)
	}
}

func (d *base64Decoder) octet(c byte, at int64, out *source.Mapped) {
	if c == '=' {
		if d.n > 0 {
			d.end = at + 1
		}
		d.flush(out)
		return
	}
	if !ascii.IsLetter(c) && !ascii.IsDigit(c) && c != '+' && c != '/' {
		return
	}
	if d.n == 0 {
		d.start = at
	}
	d.group[d.n], d.end = c, at+1
	if d.n++; d.n == 4 {
		d.flush(out)
	}
}

// flush decodes an incomplete group. It discards a group of one character, which does not encode a
// whole octet.
func (d *base64Decoder) flush(out *source.Mapped) {
	var text [3]byte
	n, _ := base64.RawStdEncoding.Decode(text[:], d.group[:d.n])
	if d.n > 1 && d.end-d.start == 4 {
		out.Add(source.Piece{Text: text[:n], At: d.start, In: 4, Out: 3})
	} else if d.n > 1 {
		out.Add(source.Unit(text[:n], d.start, d.end))
	}
	d.n = 0
}
