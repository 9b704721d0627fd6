package fetch

import (
	"fmt"
	"io"
)

// bound limits the body of an object to the requested range and the maximum size.
func (j *retrieval) bound(o *Object) error {
	r, limit := j.request, j.fetcher.o.MaxSize
	if limit > 0 && r.Length == 0 && o.Size > limit {
		return &SizeError{URL: o.URL, Limit: limit}
	}
	b := &body{in: o.Body, watch: j.watch, url: o.URL, at: o.Offset, limit: limit, end: -1, size: o.Size}
	if r.Validator == "" && o.Offset < r.Offset {
		b.skip = r.Offset - o.Offset
		o.Offset = r.Offset
	}
	if r.Length > 0 {
		b.end = o.Offset + r.Length
	}
	o.Body = b
	return nil
}

// A body is the body of an object, limited to the requested range and the maximum size.
type body struct {
	in    io.ReadCloser
	watch *watch
	url   string
	skip  int64 // bytes to skip before the requested part
	at    int64 // offset in the object of the next byte
	end   int64 // end of the requested part; -1 means the end of the object
	size  int64 // size of the object; -1 if unknown
	limit int64 // maximum of at, if positive
	err   error
}

func (b *body) Read(p []byte) (int, error) {
	for b.skip > 0 && b.err == nil {
		var scratch [4096]byte
		n := b.read(scratch[:min(b.skip, int64(len(scratch)))])
		b.skip -= int64(n)
	}
	if b.err != nil {
		return 0, b.err
	}
	if b.end >= 0 {
		if b.at >= b.end {
			b.err = io.EOF
			return 0, io.EOF
		}
		p = p[:min(int64(len(p)), b.end-b.at)]
	}
	n := b.read(p)
	if n > 0 {
		return n, nil
	}
	return 0, b.err
}

func (b *body) read(p []byte) int {
	b.watch.resume()
	n, err := b.in.Read(p)
	b.watch.pause()
	b.at += int64(n)
	switch {
	case b.limit > 0 && b.at > b.limit:
		n -= int(min(b.at-b.limit, int64(n)))
		b.err = &SizeError{URL: b.url, Limit: b.limit}
	case err == io.EOF && b.wanted() > b.at:
		b.err = fmt.Errorf("fetch: %s: received %d of %d bytes: %w", b.url, b.at, b.wanted(), io.ErrUnexpectedEOF)
	case err == io.EOF:
		b.err = io.EOF
	case err != nil:
		b.err = b.watch.explain(b.url, err)
	}
	return n
}

func (b *body) wanted() int64 {
	if b.end >= 0 {
		return min(b.end, b.size)
	}
	return b.size
}

func (b *body) Close() error {
	err := b.in.Close()
	b.watch.end()
	return err
}
