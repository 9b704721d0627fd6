package nomentest

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen"
)

// Fetch opens a resource of the fixture. The content of the resource is the URL. The media type is
// text/html if the URL ends in ".html", and otherwise text/plain.
func Fetch(_ context.Context, location string) (*nomen.Resource, error) {
	r := &nomen.Resource{Type: "text/plain", Size: int64(len(location)), URL: location, Body: io.NopCloser(strings.NewReader(location))}
	if strings.HasSuffix(location, ".html") {
		r.Type = "text/html"
	}
	return r, nil
}

// checkResources requests the best resource, all resources, and a resource that must not be fetched
// (RFC 2483, sections 4.3 and 4.4; N12-32).
func checkResources(ctx context.Context, r nomen.Resolver, c Capabilities) error {
	a, err := r.Resolve(ctx, ask(nomen.I2R, fetchable))
	if err != nil {
		return fmt.Errorf("I2R: %w", err)
	}
	if a.Service != nomen.I2R || a.Resource == nil {
		return fmt.Errorf("I2R: got %+v, want a resource", a)
	}
	if err := checkResource(a.Resource, "text/plain", "https://example.org/fetched.txt"); err != nil {
		return fmt.Errorf("I2R: %w", err)
	}
	if a, err = r.Resolve(ctx, ask(nomen.I2Rs, fetchable)); err != nil {
		return fmt.Errorf("I2Rs: %w", err)
	}
	if a.Service != nomen.I2Rs || len(a.Resources) != 2 {
		return fmt.Errorf("I2Rs: got %+v, want two resources", a)
	}
	for i, want := range [...][2]string{{"text/plain", "https://example.org/fetched.txt"}, {"text/html", "https://example.org/fetched.html"}} {
		if err := checkResource(a.Resources[i], want[0], want[1]); err != nil {
			return fmt.Errorf("I2Rs, resource %d: %w", i+1, err)
		}
	}
	if c.Undefaulted {
		return nil
	}
	a, err = r.Resolve(ctx, ask(nomen.I2R, single))
	if err != nil || a.Resource != nil || a.Service == nomen.I2R {
		return fmt.Errorf("I2R where nothing may be fetched: got %+v, %v, want another service", a, err)
	}
	return nil
}

func checkResource(r *nomen.Resource, mediaType, text string) error {
	got, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if err := r.Body.Close(); err != nil {
		return err
	}
	kind, _, _ := strings.Cut(r.Type, ";")
	if kind != mediaType || string(got) != text {
		return fmt.Errorf("got %q of type %q, want %q of type %q", got, r.Type, text, mediaType)
	}
	return nil
}
