package mint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A source returns random characters.
type source struct{ in *bufio.Reader }

const sourceSize = 256

func newSource(r io.Reader) source { return source{bufio.NewReaderSize(r, sourceSize)} }

// maxDraws is the maximum number of consecutive random bytes that are unsuitable for the alphabet.
// With a working random source, this number is never reached.
const maxDraws = 1000

var errNotRandom = errors.New("mint: the source of randomness is not random")

// append appends n random characters of an alphabet of at most 256 characters.
func (s source) append(b []byte, alphabet string, n int) ([]byte, error) {
	fair := 256 - 256%len(alphabet)
	for draws := 0; n > 0; draws++ {
		c, err := s.in.ReadByte()
		switch {
		case err != nil:
			return b, fmt.Errorf("mint: random source: %w", err)
		case int(c) < fair:
			b = append(b, alphabet[int(c)%len(alphabet)])
			n, draws = n-1, 0
		case draws == maxDraws:
			return b, errNotRandom
		}
	}
	return b, nil
}

func (s source) read(b []byte) error {
	if _, err := io.ReadFull(s.in, b); err != nil {
		return fmt.Errorf("mint: random source: %w", err)
	}
	return nil
}
