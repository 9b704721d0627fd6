package extract

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// transfer returns a feed that decodes the content transfer encoding of lines
// (RFC 2045, 6). It returns false if the encoding is unknown.
func transfer(lines feed, encoding string) (feed, bool) {
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

// A lineFeed decodes line by line.
type lineFeed struct {
	src    feed
	decode func(line piece, out *mapped, end bool)
	out    mappedFeed
	ended  bool
}

func (f *lineFeed) next() (piece, bool) {
	for {
		if p, ok := f.out.next(); ok || f.ended {
			return p, ok
		}
		line, ok := f.src.next()
		f.ended = !ok
		f.out.reset()
		f.decode(line, &f.out.mapped, f.ended)
	}
}

// quotedPrintable decodes a line (RFC 2045, 6.7): a line that ends in "="
// continues on the next, and trailing white space is removed. An invalid escape
// is kept.
func quotedPrintable(line piece, out *mapped, _ bool) {
	b := line.text
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
		out.add(line.slice(n+eol, len(b)))
	}
}

// quoted decodes the escapes in octets i to j of an unencoded piece. In an
// encoded word (RFC 2047, 4.2), "_" is a space.
func quoted(p piece, i, j int, out *mapped, word bool) {
	for i < j {
		n := 0
		for i+n < j && p.text[i+n] != '=' && !(word && p.text[i+n] == '_') {
			n++
		}
		out.add(p.slice(i, i+n))
		if i += n; i == j {
			return
		}
		at := p.at + int64(i)
		switch {
		case p.text[i] == '_':
			out.add(unit([]byte{' '}, at, at+1))
			i++
		case i+2 < j && isHex(p.text[i+1]) && isHex(p.text[i+2]):
			out.add(unit([]byte{unhex(p.text[i+1])<<4 | unhex(p.text[i+2])}, at, at+3))
			i += 3
		default:
			out.add(p.slice(i, i+1))
			i++
		}
	}
}

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}

// slice returns part of a piece that is not encoded.
func (p piece) slice(i, j int) piece { return literal(p.text[i:j], p.at+int64(i)) }

// A base64Decoder decodes base64 (RFC 2045, 6.8). Groups may cross lines, and
// characters outside the alphabet are skipped.
type base64Decoder struct {
	group [4]byte
	n     int   // octets in group
	start int64 // offset of the group in the file
	end   int64
	buf   []byte
}

func (d *base64Decoder) line(line piece, out *mapped, end bool) {
	b := bytes.TrimRight(line.text, " \t\r\n")
	if d.n == 0 && len(b) > 0 && len(b)%4 == 0 && b[len(b)-1] != '=' {
		d.buf = append(d.buf[:0], make([]byte, len(b)/4*3)...)
		if n, err := base64.StdEncoding.Decode(d.buf, b); err == nil {
			out.add(piece{text: d.buf[:n], at: line.at, in: 4, out: 3})
			return
		}
	}
	for i, c := range b {
		d.octet(c, line.at+int64(i), out)
	}
	if end {
		d.flush(out)
	}
}

func (d *base64Decoder) octet(c byte, at int64, out *mapped) {
	if c == '=' {
		if d.n > 0 {
			d.end = at + 1
		}
		d.flush(out)
		return
	}
	if !isLetter(c) && !isDigit(c) && c != '+' && c != '/' {
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

// flush decodes an incomplete group. It discards a single octet.
func (d *base64Decoder) flush(out *mapped) {
	var text [3]byte
	n, _ := base64.RawStdEncoding.Decode(text[:], d.group[:d.n])
	if d.n > 1 && d.end-d.start == 4 {
		out.add(piece{text: text[:n], at: d.start, in: 4, out: 3})
	} else if d.n > 1 {
		out.add(unit(text[:n], d.start, d.end))
	}
	d.n = 0
}
