package client

import (
	"context"

	"github.com/nomen-project/nomen/internal/trace"
)

// WithTraceparent returns a context for the questions of a trace. If a question has this context,
// all requests that a [Client] sends for it have the header field traceparent with this value (W3C
// Trace Context). This includes requests to other resolvers after a redirection, but not
// Simple-Requests, which have no header. If the value is invalid, WithTraceparent returns ctx and
// false.
func WithTraceparent(ctx context.Context, value string) (context.Context, bool) {
	p, ok := trace.Parse(value)
	return trace.With(ctx, p), ok
}

// traced returns the header fields that pass on the trace of a context, or none if it has no trace.
// These fields are not part of the identity of a request.
func traced(ctx context.Context) []field {
	p := trace.From(ctx)
	return fields(field{trace.Header, p.String()}, field{trace.StateHeader, p.State()})
}
