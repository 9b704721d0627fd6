package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/rfcindex"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// rfcStore returns a store of the RFC names on disk.
func rfcStore(b *testing.B) *pebblestore.Store {
	b.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	loadRFCs(b, s)
	return s
}

func loadRFCs(b *testing.B, s *pebblestore.Store) {
	b.Helper()
	reg := registrar.New(s, registrar.Options{})
	if _, err := reg.PutAuthority(b.Context(), registrar.Operator(), rfcindex.Authority(), 0, ""); err != nil {
		b.Fatal(err)
	}
	records, err := rfcindex.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer records.Close()
	if sum, err := bulk.Import(b.Context(), reg, registrar.Operator(), records, bulk.ImportOptions{}); err != nil || sum.Created != rfcindex.Names {
		b.Fatal(sum, err)
	}
}

// serveRFCs serves the RFC names on a free port and returns its address.
func serveRFCs(b *testing.B) string {
	b.Helper()
	s := rfcStore(b)
	srv, err := server.New(server.Options{Resolver: resolve.New(s, resolve.Options{}), Store: s})
	if err != nil {
		b.Fatal(err)
	}
	l, err := srv.Listen(server.Listener{Address: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Shutdown(b.Context()) })
	return l.Public.String()
}

// rfc returns the number of an RFC that exists, another one for each i.
func rfc(i int) string {
	n := 1 + i*7919%9000
	for n == 14 || n == 26 || n == 51 || n == 92 || n == 159 {
		n++
	}
	return strconv.Itoa(n)
}

func BenchmarkResolve(b *testing.B) {
	b.Run("in process", benchmarkInProcess)
	b.Run("protocol of 1995", benchmark1995)
	b.Run("web path", benchmarkWeb)
	b.Run("list", benchmarkList)
}

func benchmarkInProcess(b *testing.B) {
	e := resolve.New(rfcStore(b), resolve.Options{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q := nomen.Question{Name: name.FromKey("urn:ietf:rfc:" + rfc(i)), Service: nomen.I2L}
		if _, err := e.Resolve(b.Context(), q); err != nil && i < 100 {
			b.Log(err) // some numbers were never given
		}
	}
}

// benchmark1995 opens a connection for each name, as the protocol requires.
func benchmark1995(b *testing.B) {
	address := serveRFCs(b)
	for i := 0; b.Loop(); i++ {
		c, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.0\r\n\r\n", rfc(i))
		if n, err := io.Copy(io.Discard, c); err != nil || n < 100 {
			b.Fatal(n, err)
		}
		c.Close()
	}
}

// benchmarkWeb asks for redirects, one after the other on one connection.
func benchmarkWeb(b *testing.B) {
	address := serveRFCs(b)
	c, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	answers := bufio.NewReader(c)
	for i := 0; b.Loop(); i++ {
		fmt.Fprintf(c, "GET /urn:ietf:rfc:%s HTTP/1.1\r\nHost: localhost\r\n\r\n", rfc(i))
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkList resolves a list as the command does, the server in the same process.
func benchmarkList(b *testing.B) {
	address := serveRFCs(b)
	var names strings.Builder
	for i := range b.N {
		names.WriteString("urn:ietf:rfc:" + rfc(i) + "\n")
	}
	var errs strings.Builder
	b.ReportAllocs()
	b.ResetTimer()
	in := streams{strings.NewReader(names.String()), io.Discard, &errs}
	status := run(b.Context(), []string{"resolve", "--json", "--via", "http://" + address + "/", "--service", "I2L", "-"}, in)
	b.StopTimer()
	if status > exitNo { // some numbers were never given
		b.Fatal(status, errs.String())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "names/s")
}

// BenchmarkLoad imports the RFC names into a new store on disk.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		dir, err := os.MkdirTemp(b.TempDir(), "")
		if err != nil {
			b.Fatal(err)
		}
		s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		loadRFCs(b, s)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rfcindex.Names)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkStart opens a store of the RFC names and serves it until it listens.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	loadRFCs(b, s)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		srv, err := server.New(server.Options{Resolver: resolve.New(s, resolve.Options{}), Store: s})
		if err != nil {
			b.Fatal(err)
		}
		l, err := srv.Listen(server.Listener{Address: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := l.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
		b.StartTimer()
	}
}

// BenchmarkMemory states the memory in use after 10,000 resolutions.
func BenchmarkMemory(b *testing.B) {
	e := resolve.New(rfcStore(b), resolve.Options{Refresh: time.Hour})
	for b.Loop() {
		for i := range 10_000 {
			_, _ = e.Resolve(b.Context(), nomen.Question{Name: name.FromKey("urn:ietf:rfc:" + rfc(i)), Service: nomen.I2C})
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-heap")
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-from-system")
}
