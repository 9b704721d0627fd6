package bulk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// ExportOptions say what is exported and how. The zero ExportOptions are all
// records as they are now, in JSON Lines, not compressed.
type ExportOptions struct {
	Format      Format
	Compression Compression
	Prefix      string           // of keys, in bytes
	Statuses    []nomen.Status   // none for all
	At          time.Time        // as of then; zero for now
	Now         func() time.Time // the clock of Seconds; time.Now if nil
	Progress    func(Summary)    // called now and then, if not nil
}

// Export writes records to w in the order of names, as of one moment.
func Export(ctx context.Context, s store.Reader, w io.Writer, o ExportOptions) (sum Summary, err error) {
	if o.Format != JSONLines {
		return sum, fmt.Errorf("bulk: unknown format %d", o.Format)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	start := o.Now()
	packed, err := compress(w, o.Compression)
	if err != nil {
		return sum, err
	}
	out := bufio.NewWriterSize(packed, bufferSize)
	sum.Read, err = export(ctx, s, out, o, start)
	err = errors.Join(err, out.Flush(), packed.Close())
	sum.Seconds = o.Now().Sub(start).Seconds()
	return sum, err
}

// export returns how many records it has written.
func export(ctx context.Context, s store.Reader, out *bufio.Writer, o ExportOptions, start time.Time) (n int64, err error) {
	for rec, err := range s.List(ctx, store.Scan{Prefix: o.Prefix, At: o.At}) {
		if err != nil {
			return n, err
		}
		if len(o.Statuses) > 0 && !slices.Contains(o.Statuses, rec.Status) {
			continue
		}
		line, err := rec.MarshalJSON()
		if err != nil {
			return n, err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return n, err
		}
		if n++; n%BatchSize == 0 && o.Progress != nil {
			o.Progress(Summary{Read: n, Seconds: o.Now().Sub(start).Seconds()})
		}
	}
	return n, nil
}

// compress returns a writer whose Close does not close w.
func compress(w io.Writer, c Compression) (io.WriteCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return plain{w}, nil
}

// plain writes to a writer that it does not close.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }
