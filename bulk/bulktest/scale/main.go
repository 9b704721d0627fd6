//go:build unix

// Scale imports very many names into an embedded store, and measures what a publisher
// of that size can expect: the time, memory and disk space of the import, the time to
// open the store, and random lookups with cold and warm caches.
//
//	go run ./bulk/bulktest/scale -n 68000000 -dir DIR
//	go run ./bulk/bulktest/scale -n 68000000 -dir DIR -contents contents.tsv -subs 7
//
// The directory must not exist. It is kept after the run, so that you can inspect it.
// The options change what is measured:
//
//   - -open imports nothing, and measures the store of an earlier run with the same -n,
//     -contents and -subs.
//   - -tidy first compacts the store, as the store itself does after a minute without
//     writes.
//   - -nomen PROGRAM also starts PROGRAM as a server of the store, and measures its
//     memory and the time from its start to its first answer.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/bulk/bulktest"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store/pebblestore"
)

func main() {
	r := run{forget: forget}
	flag.Uint64Var(&r.n, "n", 100_000, "number of names")
	flag.StringVar(&r.dir, "dir", "", "directory of the store; it must not exist, except with -open")
	flag.StringVar(&r.contents, "contents", "", "file with a list of paths and packages to use as names (default invented names)")
	flag.IntVar(&r.subs, "subs", 1, "number of authorities for the names of -contents")
	flag.IntVar(&r.samples, "samples", 20_000, "number of names to look up")
	flag.BoolVar(&r.open, "open", false, "measure an existing store; import nothing")
	flag.BoolVar(&r.tidy, "tidy", false, "compact the store first, as it does itself after a minute without writes")
	flag.StringVar(&r.nomen, "nomen", "", "program to start as a server of the store (default none)")
	flag.Parse()
	if err := r.all(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "scale: "+err.Error())
		os.Exit(1)
	}
}

type run struct {
	n             uint64
	dir, contents string
	subs, samples int
	open, tidy    bool
	nomen         string
	forget        func()      // drops the file cache of the machine
	names         []name.Name // names to look up
	random        *rand.Rand
	seen          uint64
}

func (r *run) all(ctx context.Context) error {
	if r.dir == "" {
		return errors.New("-dir is missing")
	}
	if _, err := os.Stat(r.dir); !r.open && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s already exists", r.dir)
	}
	r.random = rand.New(rand.NewPCG(1, 2))
	prepare := r.load
	if r.open {
		prepare = func(context.Context) error { return r.write(io.Discard) }
	}
	if err := prepare(ctx); err != nil {
		return err
	}
	if r.tidy {
		if err := r.tidyUp(ctx); err != nil {
			return err
		}
	}
	size, err := diskUsage(r.dir)
	if err != nil {
		return err
	}
	fmt.Printf("on disk: %d bytes, %.1f a name\n", size, float64(size)/float64(r.n))
	if r.nomen != "" {
		if err := r.serve(ctx); err != nil {
			return err
		}
	}
	r.forget()
	began := time.Now()
	s, err := pebblestore.Open(pebblestore.Options{Dir: r.dir})
	if err != nil {
		return err
	}
	if _, err := s.Get(ctx, r.names[0], time.Time{}); err != nil {
		return errors.Join(err, s.Close())
	}
	fmt.Printf("start to the first answer: %.1f ms\n", seconds(began)*1e3)
	for _, pass := range []string{"cold", "warm"} {
		if err := r.measure(ctx, s, pass); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	fmt.Printf("memory at its highest: %s\n", status("VmHWM"))
	return s.Close()
}

func (r *run) tidyUp(ctx context.Context) error {
	s, err := pebblestore.Open(pebblestore.Options{Dir: r.dir})
	if err != nil {
		return err
	}
	began := time.Now()
	err = s.Tidy(ctx)
	fmt.Printf("tidying: %.1f s\n", seconds(began))
	return errors.Join(err, s.Close())
}

func (r *run) load(ctx context.Context) error {
	s, err := pebblestore.Open(pebblestore.Options{Dir: r.dir, CacheSize: pebblestore.LoadingCacheSize()})
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as in a large import
	in, out := io.Pipe()
	go func() { out.CloseWithError(r.write(out)) }()
	began := time.Now()
	last := began
	sum, err := bulk.Import(ctx, registrar.New(s, registrar.Options{}), registrar.Operator(), in, bulk.ImportOptions{
		Who: "scale", Why: "loading",
		Progress: func(sum bulk.Summary) {
			if time.Since(last) > 5*time.Second {
				last = time.Now()
				fmt.Fprintf(os.Stderr, "\r%d records, %.0f a second ", sum.Read, float64(sum.Read)/seconds(began))
			}
		},
	})
	_ = in.Close() // closing this end of the pipe cannot fail
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	took := seconds(began)
	fmt.Printf("%d records read, %d created, %d refused in %.1f s: %.0f a second\n", sum.Read, sum.Created, sum.Refused, took, float64(sum.Read)/took)
	fmt.Printf("memory at its highest while loading: %s\n", status("VmHWM"))
	began = time.Now()
	err = s.Close()
	fmt.Printf("closing: %.1f s\n", seconds(began))
	return err
}

// write writes the records, and keeps some of their names as samples.
func (r *run) write(w io.Writer) error {
	sampled := &sampler{run: r, w: w}
	if r.contents == "" {
		_, err := bulktest.NewReader(r.n, bulktest.Options{}).WriteTo(sampled)
		return err
	}
	return bulktest.WriteContents(sampled, r.n, r.subs, func() (io.ReadCloser, error) { return os.Open(r.contents) })
}

// A sampler passes records on to a writer and keeps a random sample of their names.
type sampler struct {
	run  *run
	w    io.Writer
	rest []byte
}

func (s *sampler) Write(p []byte) (int, error) {
	lines := p
	if len(s.rest) > 0 {
		lines = append(s.rest, p...)
	}
	for {
		end := bytes.IndexByte(lines, '\n')
		if end < 0 {
			break
		}
		s.run.sample(lines[:end])
		lines = lines[end+1:]
	}
	s.rest = append(s.rest[:0:0], lines...)
	return s.w.Write(p)
}

func (r *run) sample(line []byte) {
	r.seen++
	place := r.random.Uint64N(r.seen)
	if len(r.names) < r.samples {
		place = uint64(len(r.names))
		r.names = append(r.names, name.Name{})
	}
	if place >= uint64(len(r.names)) {
		return
	}
	const key = `"name":"`
	at := bytes.Index(line, []byte(key)) + len(key)
	spelling, _, _ := bytes.Cut(line[at:], []byte(`"`))
	n, err := name.Parse(string(spelling))
	if err != nil {
		panic("scale: made an invalid name: " + err.Error())
	}
	r.names[place] = n
}

func (r *run) measure(ctx context.Context, s *pebblestore.Store, pass string) error {
	order := slices.Clone(r.names)
	r.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	times := make([]time.Duration, len(order))
	asked0, read0 := s.BlocksRead()
	began := time.Now()
	for i := range order {
		start := time.Now()
		if _, err := s.Get(ctx, order[i], time.Time{}); err != nil {
			return fmt.Errorf("%s: %w", order[i], err)
		}
		times[i] = time.Since(start)
	}
	took := seconds(began)
	slices.Sort(times)
	asked, read := s.BlocksRead()
	n := float64(len(order))
	fmt.Printf("%d random look-ups, %s: p50 %v, p99 %v, %.0f a second; blocks a look-up: %.2f, from files %.2f\n",
		len(order), pass, times[len(times)/2], times[len(times)*99/100], n/took, float64(asked-asked0)/n, float64(read-read0)/n)
	return nil
}

func seconds(since time.Time) float64 { return time.Since(since).Seconds() }

func diskUsage(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	return size, err
}

// forget drops the file cache of the operating system, if that is permitted.
func forget() {
	syscall.Sync() // first, because the next reads would wait for the writes of the import
	if err := dropCaches(); err != nil {
		fmt.Printf("the caches of the machine cannot be dropped: %v\n", err)
	}
}

// dropCaches makes the system drop its file cache, which usually only root may do.
func dropCaches() error { return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0o200) }

func status(word string) string { return statusOf("self", word) }

// statusOf returns the line with a word from /proc/PROCESS/status, or "?" on other systems.
func statusOf(process, word string) string {
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return "?"
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), word+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return "?"
}
