package server

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/trace"
)

// A valid traceparent reaches the resolver and the access log, through every door with header
// fields. Others are dropped.
func TestTraceIsPassedOn(t *testing.T) {
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	log, lines := logged()
	var mu sync.Mutex
	var got []string
	s, _ := newTestServer(t, func(o *Options) {
		inner := o.Resolver
		o.AccessLog = log
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, trace.From(ctx).String())
			return inner.Resolve(ctx, q)
		})
	})
	l := listen(t, s)
	for _, tt := range []struct{ request, fields, want string }{
		{"GET /urn:ietf:rfc:2648 HTTP/1.1", "traceparent: " + parent, parent},
		{"GET /urn:ietf:rfc:2648?s=I2C HTTP/1.0", "TraceParent: " + parent, parent},
		{"GET urn:ietf:rfc:2648 HTTP/1.0", "traceparent: " + parent, parent},
		{"GET /uri-res/N2L?urn:ietf:rfc:2648 HTTP/1.0", "traceparent: " + parent, parent},
		{"GET /urn:ietf:rfc:2648 HTTP/1.1", "traceparent: " + parent + "x", ""},
		{"GET /urn:ietf:rfc:2648 HTTP/1.1", "traceparent: " + parent + "\r\ntraceparent: " + parent, ""},
		{"GET /urn:ietf:rfc:2648 HTTP/1.1", "tracestate: a=b", ""},
	} {
		got = nil
		exchange(t, l.Public, tt.request+"\r\nHost: localhost\r\nConnection: close\r\n"+tt.fields+"\r\n\r\n")
		mu.Lock()
		if len(got) == 0 || got[0] != tt.want {
			t.Errorf("%s, %q: got %q, want %q", tt.request, tt.fields, got, tt.want)
		}
		mu.Unlock()
	}
	if n := strings.Count(lines.String(), " trace_id="+id); n != 4 {
		t.Errorf("%d lines with the trace:\n%s", n, lines.String())
	}
}
