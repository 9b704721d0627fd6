package replay

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// logLine returns a line in the common format.
func logLine(request string, status int) string {
	return fmt.Sprintf("192.0.2.7 - jim [20/Nov/2026:12:00:00 +0000] %q %d 12\n", request, status)
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLog(t *testing.T) {
	text := logLine("GET /a HTTP/1.1", 302) + "\n" + logLine("POST /a HTTP/1.1", 200) + "nothing\r\n" +
		strings.Repeat("x", 3*maxLine) + "\n" + logLine("GET /a HTTP/1.1", 404) + logLine("GET /a HTTP/1.1", 304) +
		logLine("GET /b HTTP/1.1", 503) + strings.TrimSuffix(logLine("GET /c HTTP/1.1", 206), "\n")
	want := Counts{Lines: 8, Methods: 1, Malformed: 1, TooLong: 1, FirstFaulty: 3}
	for name, in := range map[string][]byte{
		"plain":        []byte(text),
		"gzip":         zipped(t, text),
		"gzip members": append(zipped(t, text[:100]), zipped(t, text[100:])...),
	} {
		var l Log
		if err := l.Read(t.Context(), bytes.NewReader(in), nil); err != nil || l.Counts != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, l.Counts, err, want)
		}
		var got []string
		for _, s := range l.sorted() {
			got = append(got, fmt.Sprint(s.Target, " ", s.count, " ", s.Status, " ", s.varied))
		}
		if got, want := strings.Join(got, ", "), "/a 3 404 true, /b 1 0 false, /c 1 200 false"; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestLogFaults(t *testing.T) {
	text := strings.Repeat(logLine("GET /a HTTP/1.1", 302), 5000)
	whole := zipped(t, text)
	var bad *LogError
	if err := new(Log).Read(t.Context(), bytes.NewReader(whole[:len(whole)-9]), nil); !errors.As(err, &bad) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a gzip file cut short: got %v", err)
	}
	if err := new(Log).Read(t.Context(), strings.NewReader("\x1f\x8b\x00"), nil); !errors.As(err, &bad) {
		t.Errorf("a damaged gzip file: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := new(Log).Read(ctx, strings.NewReader(text), func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got %v", err)
	}
}

// The memory for a log is bounded, whatever the number of requests and the Locations are.
func TestLogBounds(t *testing.T) {
	l := Log{MaxRequests: 10}
	for i := range 100 {
		l.line(strings.TrimSuffix(logLine(fmt.Sprintf("GET /%d HTTP/1.1", i%20), 302), "\n"))
	}
	if len(l.all) != 10 || l.Cut != 50 {
		t.Errorf("got %d requests, %d cut; want 10 and 50", len(l.all), l.Cut)
	}
	l = Log{bytes: maxBytes - overhead - 20}
	location := strings.Repeat("x", 30)
	l.add(Entry{Request{"GET", "/", ""}, 302, location})
	l.add(Entry{Request{"GET", "/a", ""}, 302, location})
	if len(l.all) != 1 || l.Cut != 1 || l.bytes > maxBytes || l.sorted()[0].Location != "" {
		t.Errorf("with little memory: got %d requests, %d bytes too many, %+v", len(l.all), l.bytes-maxBytes, l.sorted()[0])
	}
	l.bytes -= 100
	l.add(Entry{Request{"GET", "/", ""}, 302, location})
	l.add(Entry{Request{"GET", "/", ""}, 302, ""})
	if before := l.bytes; l.sorted()[0].Location != "" || before != maxBytes-20-100+4 {
		t.Errorf("got %+v, %d bytes", l.sorted()[0], before-maxBytes)
	}
}
