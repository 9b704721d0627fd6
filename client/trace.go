package client

import (
	"context"

	"github.com/nomen-project/nomen/internal/trace"
)

// WithTraceparent returns a context for questions that belong to a trace. For such a question, a
// [Client] sends the header field traceparent with this value in all requests (W3C Trace Context),
// including requests to other resolvers after a redirect. Simple-Requests have no header fields and
// cannot belong to a trace. If the value is invalid, WithTraceparent returns ctx and false.
func WithTraceparent(ctx context.Context, value string) (context.Context, bool) {
	p, ok := trace.Parse(value)
	return trace.With(ctx, p), ok
}

func traced(ctx context.Context) []field {
	p := trace.From(ctx)
	return fields(field{trace.Header, p.String()}, field{trace.StateHeader, p.State()})
}
