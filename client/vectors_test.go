package client

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

// A vector is an entry about clients in the specification's file of vectors.
type vector struct {
	ID          string
	Op          string
	URN         string
	Accept      string
	Connect     string
	Proxy       string
	Request     []string
	NoHeaders   []string `json:"no_headers"`
	Error       string
	First       string
	StatusLine  string `json:"status_line"`
	NextConnect string `json:"next_connect"`
	NextRequest string `json:"next_request"`
}

func vectors(t *testing.T, op string) (found []vector) {
	t.Helper()
	b, err := os.ReadFile("../docs/spec/vectors/urn-resolution-1995.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []json.RawMessage }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for _, raw := range file.Vectors {
		var v vector
		if err := json.Unmarshal(raw, &v); err == nil && v.Op == op {
			found = append(found, v)
		}
	}
	if found == nil {
		t.Fatalf("no vectors for %s", op)
	}
	return found
}

const (
	exampleAddress = "192.0.2.1"
	newAddress     = "192.0.2.2"
	proxyAddress   = "192.0.2.3"
)

// vectorInternet has the hosts of the vectors. addressOf returns the address of "host:port".
func vectorInternet(t *testing.T, answer string) (n *internet, addressOf func(string) string) {
	n = newInternet(t)
	n.host("example.com", exampleAddress, says(answer))
	n.host("new.example", newAddress, says(urc("https://new.example/x")))
	n.hosts["proxy.example"] = []string{proxyAddress}
	n.serve[proxyAddress+":8000"] = says(answer)
	return n, func(hostPort string) string {
		host, port, err := net.SplitHostPort(hostPort)
		if err != nil {
			t.Fatal(err)
		}
		return net.JoinHostPort(n.hosts[strings.ToLower(host)][0], port)
	}
}

// Y95-12, Y95-28 to Y95-30, Y95-33, Y95-38, Y95-72.
func TestVectorsRequest(t *testing.T) {
	for _, v := range vectors(t, "client-request") {
		t.Run(v.ID, func(t *testing.T) {
			n, addressOf := vectorInternet(t, urc("https://example.com/x"))
			q, err := Parse(v.URN)
			if err != nil {
				t.Fatal(err)
			}
			a, err := n.client(Options{Via: v.Proxy, Accept: v.Accept}).Resolve(t.Context(), q)
			if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "https://example.com/x" {
				t.Fatalf("got %+v, %v", a, err)
			}
			if len(n.asked) != 1 || n.asked[0].address != addressOf(v.Connect) || n.asked[0].line != v.Request[0] {
				t.Fatalf("asked %q, want %q at %s", n.asked, v.Request, addressOf(v.Connect))
			}
			for _, field := range v.Request[1:] {
				name, value, _ := strings.Cut(field, ": ")
				if got := n.asked[0].field(name); got != value {
					t.Errorf("%s: got %q, want %q", name, got, value)
				}
			}
			for _, name := range v.NoHeaders {
				if got := n.asked[0].field(name); got != "" {
					t.Errorf("%s: got %q, want none", name, got)
				}
			}
		})
	}
}

// Y95-01, Y95-08, Y95-18.
func TestVectorsError(t *testing.T) {
	for _, v := range vectors(t, "client-error") {
		t.Run(v.ID, func(t *testing.T) {
			n, _ := vectorInternet(t, "")
			q, err := Parse(v.URN)
			if err == nil {
				_, err = n.client(Options{}).Resolve(t.Context(), q)
			}
			if err == nil || !strings.Contains(err.Error(), v.Error) {
				t.Errorf("%s: got %v, want an error that says %q", v.URN, err, v.Error)
			}
			if len(n.asked) != 0 {
				t.Errorf("asked %q", n.asked)
			}
			var e *nomen.Error
			if errors.As(err, &e) && (e.Kind != nomen.Malformed || e.Name != v.URN || e.Rule == "") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestVectorsRedirect(t *testing.T) {
	for _, v := range vectors(t, "redirect") {
		t.Run(v.ID, func(t *testing.T) {
			n, addressOf := vectorInternet(t, v.StatusLine+"\r\n\r\n")
			q, err := Parse(v.First)
			if err != nil {
				t.Fatal(err)
			}
			a, err := n.client(Options{}).Resolve(t.Context(), q)
			if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "https://new.example/x" {
				t.Fatalf("Y95-43: got %+v, %v", a, err)
			}
			if got, want := n.lines()[1], addressOf(v.NextConnect)+" "+v.NextRequest; got != want {
				t.Errorf("asked %q, want %q", got, want)
			}
		})
	}
}

func TestVectorsLoop(t *testing.T) {
	for _, v := range vectors(t, "redirect-loop") {
		t.Run(v.ID, func(t *testing.T) {
			n, _ := vectorInternet(t, v.StatusLine+"\r\n\r\n")
			q, err := Parse(v.First)
			if err != nil {
				t.Fatal(err)
			}
			_, err = n.client(Options{}).Resolve(t.Context(), q)
			var e *RedirectError
			if !errors.As(err, &e) || !e.Loop || !strings.Contains(err.Error(), v.Error) || len(n.asked) != 1 {
				t.Errorf("Y95-44: got %v after %q", err, n.asked)
			}
		})
	}
}
