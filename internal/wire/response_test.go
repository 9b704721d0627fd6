package wire

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReason checks the phrases of status lines.
func TestReason(t *testing.T) {
	const urn = "urn:dns:new.example:alb003"
	long := strings.Repeat("x", MaxReason)
	tests := []struct{ name, in, phrase, want string }{
		{"HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", urn, "HTTP/1.0 301 " + urn},
		{"HTTP/1.1", "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", urn, "HTTP/1.1 301 " + urn},
		{"mended", "GET a HTTP/1.0\r\n\r\n", urn, "HTTP/1.0 301 " + urn},
		{"none", "GET a HTTP/1.0\r\n\r\n", "", "HTTP/1.0 301 Moved Permanently"},
		{"other than GET", "POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\na", urn, "HTTP/1.1 301 " + urn},
		{"line end Y95-72", "GET a HTTP/1.0\r\n\r\n", "a\r\nSet-Cookie: b\x00\x7f", "HTTP/1.0 301 a  Set-Cookie: b"},
		{"nothing but controls", "GET a HTTP/1.0\r\n\r\n", "\r\n", "HTTP/1.0 301 Moved Permanently"},
		{"UTF-8", "GET a HTTP/1.0\r\n\r\n", "verzogen nach Köln", "HTTP/1.0 301 verzogen nach Köln"},
		{"long", "GET a HTTP/1.0\r\n\r\n", long, "HTTP/1.0 301 " + long},
		{"too long", "GET a HTTP/1.0\r\n\r\n", long + "x", "HTTP/1.0 301 Moved Permanently"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			address := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
				SetReason(w, r, "to be replaced")
				SetReason(w, r, tt.phrase)
				w.Header()["Date"] = nil
				w.WriteHeader(http.StatusMovedPermanently)
			})
			c := dial(t, address)
			send(t, c, tt.in)
			got, _, _ := strings.Cut(receive(t, c), "\r\n")
			if got != tt.want {
				t.Errorf("Y95-42: got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestReasonLeavesNoTrace checks a whole response, with a phrase and a head that
// is larger than net/http's buffers, and bodies that look like heads.
func TestReasonLeavesNoTrace(t *testing.T) {
	body := strings.Repeat("HTTP/1.0 200 OK\r\nConnection: x\r\n\r\n", 1000)
	big := strings.Repeat("b", 9000)
	address := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", date)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Header().Set("X-Big", big)
		SetReason(w, r, "Found It")
		io.WriteString(w, body)
	})
	const fields = "%s\r\nContent-Length: %d\r\nContent-Type: text/plain\r\nDate: %s\r\nX-Big: %s\r\n%s\r\n%s"
	tests := []struct{ name, in, want string }{
		{
			"keep-alive", strings.Repeat("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", 3),
			strings.Repeat(fmt.Sprintf(fields, "HTTP/1.1 200 Found It", len(body), date, big, "", body), 3),
		},
		{"mended", "GET a HTTP/1.0\r\n\r\n", fmt.Sprintf(fields, "HTTP/1.0 200 Found It", len(body), date, big, "Connection: close\r\n", body)},
		{"Simple-Request", "GET a\r\n", body},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, address)
			send(t, c, tt.in)
			c.CloseWrite()
			if diff := cmp.Diff(receive(t, c), tt.want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

// TestInterimResponses checks that a phrase belongs to the final response, and
// that HTTP/1.0 clients get no other.
func TestInterimResponses(t *testing.T) {
	address := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		SetReason(w, r, "Found It")
		w.WriteHeader(http.StatusEarlyHints)
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	const early, final = "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 204 Found It\r\n\r\n"
	tests := []struct{ name, in, want string }{
		{"HTTP/1.1", strings.Repeat("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", 2), early + final + early + final},
		{"100", "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na", early + "HTTP/1.1 100 Continue\r\n\r\n" + final},
		{"mended", "GET a HTTP/1.0\r\n\r\n", "HTTP/1.0 204 Found It\r\nConnection: close\r\n\r\n"},
		{"Simple-Request", "GET a\r\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, address)
			send(t, c, tt.in)
			c.CloseWrite()
			if got := receive(t, c); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestLateReason checks that SetReason does no harm after the response has begun,
// even if the body looks like a head.
func TestLateReason(t *testing.T) {
	bodies := []string{
		"HTTP/1.1 200 OK\r\nConnection: x\r\n\r\nmore",
		"HTTP/1.\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 200 OK\r\nReason-Abc: x\r\n\r\n",
		"H", "any text",
	}
	for _, body := range bodies {
		address := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", date)
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			http.NewResponseController(w).Flush()
			SetReason(w, r, "Too Late")
			io.WriteString(w, body)
		})
		c := dial(t, address)
		answered := bufio.NewReader(c)
		for range 2 { // the second response shows that the first has done no harm
			send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
			response, err := http.ReadResponse(answered, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := receive(t, response.Body); got != body || response.Status != "200 OK" {
				t.Errorf("got %q and %q, want 200 OK and %q", response.Status, got, body)
			}
		}
	}
}

// TestSimpleResponse checks that a Simple-Request gets the body alone, be it long,
// an error, or nothing at all (Y95-32; RFC 1945, 6).
func TestSimpleResponse(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 100_000)
	address := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		switch Target(r) {
		case "flushed":
			for chunk := range slices.Chunk([]byte(body), 9999) {
				w.Write(chunk)
				http.NewResponseController(w).Flush()
			}
		case "large":
			io.WriteString(w, body)
		case "missing":
			http.Error(w, "no such name", http.StatusNotFound)
		case "unmodified":
			w.WriteHeader(http.StatusNotModified)
		}
	})
	tests := []struct{ target, want string }{
		{"large", body},
		{"flushed", body},
		{"missing", "no such name\n"},
		{"unmodified", ""},
		{"empty", ""},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			c := dial(t, address)
			send(t, c, "GET "+tt.target+"\r\n")
			if got := receive(t, c); got != tt.want {
				t.Errorf("got %d bytes %.80q, want %d bytes %.80q", len(got), got, len(tt.want), tt.want)
			}
		})
	}
}

// TestLargeHead checks that a head which is too large to be held back is not sent
// with what should have been taken out of it.
func TestLargeHead(t *testing.T) {
	address := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Big", strings.Repeat("b", maxResponseHead))
		SetReason(w, r, "Found It")
	})
	for _, in := range []string{"GET a\r\n", "GET a HTTP/1.0\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n"} {
		c := dial(t, address)
		send(t, c, in)
		if got := receive(t, c); got != "" {
			t.Errorf("got %d bytes %.80q, want none", len(got), got)
		}
	}
}
