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

// Decompress returns the decompressed content of r. It detects the compression from the first
// bytes. The caller must close the result. Closing the result does not close r.
func Decompress(r io.Reader) (*Decompressed, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	c := guess(in)
	plain, closing, err := decompress(in, c)
	if err != nil {
		return nil, &BrokenError{Line: 1, Err: err}
	}
	return &Decompressed{plain, c != Plain, closing}, nil
}

// Close releases the resources of the decompressor.
func (d *Decompressed) Close() { d.closing() }
