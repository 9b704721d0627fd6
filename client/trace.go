package client

import (
	"context"

	"github.com/nomen-project/nomen/internal/trace"
)

// WithTraceparent returns a context for the questions of a trace. All requests of a [Client] for
// such a question have the header field traceparent with this value (W3C Trace Context), also
// those to other resolvers to which a resolver redirects. Simple-Requests have no header. If the
// value is invalid, WithTraceparent returns ctx and false.
func WithTraceparent(ctx context.Context, value string) (context.Context, bool) {
	p, ok := trace.Parse(value)
	return trace.With(ctx, p), ok
}

// traced returns the fields that pass on the trace of a context, none if it has no trace. They
// are not part of the identity of a request.
func traced(ctx context.Context) []field {
	p := trace.From(ctx)
	return fields(field{trace.Header, p.String()}, field{trace.StateHeader, p.State()})
}
