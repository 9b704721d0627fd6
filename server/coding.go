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

// minCoded is the size in bytes from which a body is compressed. Compressing smaller bodies saves
// nothing.
const minCoded = 1400

// codingFor returns the coding that an Accept-Encoding field prefers (RFC 9110, 12.5.3). If several
// codings have the highest weight, it returns the first of zstd, gzip and identity. If the field
// accepts zstd or gzip and does not name identity, it returns zstd or gzip. If the field is empty
// or excludes all three codings, it returns identity.
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

// codingQ returns the weight of a coding in a field. For gzip it also accepts the older name x-gzip
// (RFC 9110, 8.4.1.3).
func codingQ(f *accept.Field, c coding) int {
	p := f.Token(string(c))
	if c == codingGzip && !named(p) {
		if old := f.Token("x-gzip"); named(old) {
			p = old
		}
	}
	return p.Q
}

// named reports whether a field contains a value by name, and not only by "*".
func named(p accept.Preference) bool { return p.Specificity > 1 }

// refusesIdentity reports whether a field excludes uncompressed bodies: it gives identity or "*" a
// weight of 0 (RFC 9110, 12.5.3).
func refusesIdentity(field string) bool {
	if !accept.Mentions(field, "identity") && strings.IndexByte(field, '*') < 0 {
		return false
	}
	var f accept.Field
	f.ReadTokens(field)
	return f.Token("identity").Q == 0
}

// isCodable reports whether bodies of a media type become smaller when they are compressed.
func isCodable(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "jsonl") ||
		kind == format.TypeLinkset || kind == typeLinkFormat
}

// coders holds encoders for reuse.
type coders struct{ gzip, zstd sync.Pool }

// A coder is the common interface of the two compression libraries.
type coder interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// get returns an encoder that writes to w. The caller must return it with put.
func (c *coders) get(how coding, w io.Writer) coder {
	pool := c.pool(how)
	if e, ok := pool.Get().(coder); ok {
		e.Reset(w)
		return e
	}
	if how == codingGzip {
		return gzip.NewWriter(w)
	}
	const window = 1 << 20 // bytes; a decoder needs as much memory as this
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

// coded returns a body compressed with a coding.
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

// A codedStream compresses a stream.
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

// flush flushes w if it has a method for that.
func flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// codeStream compresses a stream with the coding that the client prefers.
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
