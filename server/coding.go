package server

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
)

// A coding is a content coding of RFC 9110, 8.4.1.
type coding string

// The content codings. The zero value leaves the body unchanged.
const (
	identity   coding = ""
	codingGzip coding = "gzip"
	codingZstd coding = "zstd"
)

// minCoded is the minimum size of a body that is worth compressing, in bytes.
const minCoded = 1400

// codingFor returns the coding that an Accept-Encoding field prefers (RFC 9110, 12.5.3). If the
// weights are equal, it chooses zstd rather than gzip. It returns identity only if the field gives
// identity by name a higher weight, or accepts no other coding.
func codingFor(field string) coding {
	if field == "" {
		return identity
	}
	var f accept.Field
	f.ReadTokens(field)
	best, most := identity, 0
	for _, c := range [...]coding{codingZstd, codingGzip} {
		if q := codingQ(&f, c); q > most {
			best, most = c, q
		}
	}
	if p := f.Token("identity"); named(p) && p.Q > most {
		return identity
	}
	return best
}

// codingQ returns the weight of a coding in a field. The name x-gzip also means gzip (RFC 9110,
// 8.4.1.3).
func codingQ(f *accept.Field, c coding) int {
	p := f.Token(string(c))
	if c == codingGzip && !named(p) {
		if old := f.Token("x-gzip"); named(old) {
			p = old
		}
	}
	return p.Q
}

// named reports whether a preference is for a named value, and not only for "*".
func named(p accept.Preference) bool { return p.Specificity > 1 }

// refusesIdentity reports whether a field excludes bodies without compression, by a weight of 0 for
// identity or "*" (RFC 9110, 12.5.3).
func refusesIdentity(field string) bool {
	if !accept.Mentions(field, "identity") && strings.IndexByte(field, '*') < 0 {
		return false
	}
	var f accept.Field
	f.ReadTokens(field)
	return f.Token("identity").Q == 0
}

func isCodable(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "jsonl") ||
		kind == format.TypeLinkset || kind == typeLinkFormat
}

type coders struct{ gzip, zstd sync.Pool }

// A coder is an encoder of one of the two compression libraries.
type coder interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// get returns an encoder that writes to w. The caller must return the encoder with put.
func (c *coders) get(how coding, w io.Writer) coder {
	pool := c.pool(how)
	if e, ok := pool.Get().(coder); ok {
		e.Reset(w)
		return e
	}
	if how == codingGzip {
		return gzip.NewWriter(w)
	}
	const window = 1 << 20 // bytes of memory that a decoder needs
	e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		panic("server: zstd: " + err.Error()) // cannot happen: the options are constant
	}
	return e
}

func (c *coders) put(how coding, e coder) {
	e.Reset(io.Discard)
	c.pool(how).Put(e)
}

func (c *coders) pool(how coding) *sync.Pool {
	if how == codingGzip {
		return &c.gzip
	}
	return &c.zstd
}

func (c *coders) coded(how coding, body []byte) ([]byte, error) {
	return written(func(w io.Writer) error {
		e := c.get(how, w)
		defer c.put(how, e)
		if _, err := e.Write(body); err != nil {
			return err
		}
		return e.Close()
	})
}

type codedStream struct {
	coder
	under io.Writer
}

// Flush compresses and sends everything that was written before.
func (c codedStream) Flush() error {
	if err := c.coder.Flush(); err != nil {
		return err
	}
	return flush(c.under)
}

func flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

func (s *Server) codeStream(r *request, p *reply) *reply {
	p.vary("Accept-Encoding")
	return s.codeStreamAs(p, codingFor(r.encodings))
}

func (s *Server) codeStreamAs(p *reply, how coding) *reply {
	if how == identity {
		return p
	}
	p.add("Content-Encoding", string(how))
	p.length = -1
	stream := p.stream
	p.stream = func(ctx context.Context, w io.Writer) error {
		e := s.coders.get(how, w)
		defer s.coders.put(how, e)
		if err := stream(ctx, codedStream{e, w}); err != nil {
			return err
		}
		return e.Close()
	}
	return p
}
