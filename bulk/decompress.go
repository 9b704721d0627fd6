package bulk

import (
	"bufio"
	"io"
)

// Decompressed is the content of a file that may be compressed with gzip or zstd.
type Decompressed struct {
	io.Reader
	Compressed bool // the file is compressed
	closing    func()
}

// Decompress returns the content of r, whose compression it detects from the first bytes. The
// caller must close the result, which does not close r.
func Decompress(r io.Reader) (*Decompressed, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	c := guess(in)
	plain, closing, err := decompress(in, c)
	if err != nil {
		return nil, &BrokenError{Line: 1, Err: err}
	}
	return &Decompressed{plain, c != Plain, closing}, nil
}

// Close releases the memory of the decompression.
func (d *Decompressed) Close() { d.closing() }
