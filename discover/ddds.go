package discover

import "context"

// A Database is where the rules of DDDS are: DNS (RFC 3403). [Resolver] is one.
// Errors are as there: a [*net.DNSError] with IsNotFound, or a failure.
type Database interface {
	LookupNAPTR(ctx context.Context, name string) ([]NAPTR, error)
	LookupSRV(ctx context.Context, name string) ([]SRV, error)
}
