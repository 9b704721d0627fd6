package client

import (
	"context"

	"github.com/nomen-project/nomen/internal/trace"
)

// WithTraceparent returns a context for questions that belong to a trace. A [Client] adds the
// header field traceparent with this value to all requests for such a question (W3C Trace Context),
// also to other resolvers after a redirect. Simple-Requests have no header, and so cannot have it.
// If the value is invalid, WithTraceparent returns ctx and false.
func WithTraceparent(ctx context.Context, value string) (context.Context, bool) {
	p, ok := trace.Parse(value)
	return trace.With(ctx, p), ok
}

func traced(ctx context.Context) []field {
	p := trace.From(ctx)
	return fields(field{trace.Header, p.String()}, field{trace.StateHeader, p.State()})
}
