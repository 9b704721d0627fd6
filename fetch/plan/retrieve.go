package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// Reasons for which a retrieval can fail.
var (
	// ErrInteractive means that the locator opens an interactive session; see [InteractiveError].
	ErrInteractive = errors.New("interactive session, nothing to retrieve")

	// ErrUndefined means that no document defines how to resolve names of the scheme.
	ErrUndefined = errors.New("the mapping is undefined")

	// ErrNotLocator means that the identifier is a name, or something else that does not locate an
	// object.
	ErrNotLocator = errors.New("not a locator")

	// ErrNoAlgorithm means that the scheme is unknown or not supported, and that no gateway is
	// configured for the scheme.
	ErrNoAlgorithm = errors.New("no retrieval algorithm")

	// ErrNotAvailable means that the object is not available, such as an expired article.
	ErrNotAvailable = errors.New("not available")

	// ErrTooManySteps means that too many locators led to other locators instead of an object.
	ErrTooManySteps = errors.New("too many steps")

	// ErrOutcome means that a step returned neither locators nor an object.
	ErrOutcome = errors.New("step returned neither locators nor an object")
)

// A Resource is an object that was retrieved.
//
// The same locator may lead to a different object later (draft of 1993, section "Security
// considerations"). If you store the object, also store the time, and retrieve it again when you
// need a current copy.
type Resource struct {
	URI       uri.URI       // the locator from which it was retrieved
	Format    string        // media type
	Retrieved time.Time     // time of retrieval
	Body      io.ReadCloser // the caller must close it
}

// An Outcome is the result of a [Step], which is either an object or a list of locators that lead
// to the object (draft of 1993, section "Registration of naming schemes").
type Outcome struct {
	Locators []uri.URI
	Resource *Resource
}

// A Step executes a [Request]. If the object does not exist, the error wraps [ErrNotAvailable].
type Step func(ctx context.Context, r Request) (Outcome, error)

// A Retriever retrieves the objects of locators. The caller supplies a [Step] for each scheme. The
// zero Retriever has no steps, and uses the catalogue of package scheme/extra.
type Retriever struct {
	Catalogue *scheme.Catalogue // nil means the catalogue of package scheme/extra
	Client    Client            // settings of the user
	Steps     map[string]Step   // by scheme, in lower case

	// Local is tried before the step for ftp, for files that are also accessible locally (draft of
	// 1993, section "FTP"). If the error of Local wraps ErrNotAvailable, the step for ftp is used.
	// Local may be nil.
	Local Step

	// Gateways has the gateways for schemes without a step. A gateway for a particular scheme, and
	// not for a wildcard, is used even if the scheme has a step, because the user's configuration
	// takes precedence (draft of 1997, section 1.3).
	Gateways Gateways

	// ProposedGateways permits the gateways that package scheme lists. The authors of a scheme
	// operate its gateway, so they can see which locators are retrieved.
	ProposedGateways bool

	Now func() time.Time // if nil, the step must set Resource.Retrieved
}

const maxSteps = 8

// Retrieve executes one step for a locator. The outcome is the object, or locators that lead to the
// object. The locator must be absolute.
//
// If u is invalid, the error is the [scheme.Finding] about the violation. Otherwise it is the error
// of the step, or wraps an error of this package such as [ErrNoAlgorithm].
func (r *Retriever) Retrieve(ctx context.Context, u uri.URI) (Outcome, error) {
	name, ok := u.Scheme()
	if !ok {
		return Outcome{}, fmt.Errorf("scheme: %q is not in full form: %w", u.Redacted(), ErrNotLocator)
	}
	s, _ := r.catalogue().Lookup(name)
	step := r.step(name)
	if step == nil || r.Gateways.has(name) {
		return r.throughGateway(ctx, &s, u)
	}
	request, err := RequestOf(s, u, r.Client)
	if algorithm(s.Name) == nil && isUnanswered(err) {
		request, err = Request{URI: u.WithoutFragment(), Length: -1}, nil // the step handles the scheme without a plan
	}
	if err != nil {
		return Outcome{}, err
	}
	return r.take(ctx, step, request)
}

// isUnanswered reports whether err only means that the scheme does not have a retrieval algorithm.
// A step or a gateway may still be configured.
func isUnanswered(err error) bool {
	return errors.Is(err, ErrNoAlgorithm) || errors.Is(err, ErrNotLocator) || errors.Is(err, ErrUndefined)
}

func (r *Retriever) catalogue() scheme.Catalogue {
	if r.Catalogue == nil {
		return extra.Catalogue()
	}
	return *r.Catalogue
}

func (r *Retriever) step(name string) Step {
	for own, step := range r.Steps {
		if strings.EqualFold(own, name) {
			return step
		}
	}
	return nil
}

// throughGateway retrieves u through a gateway. It returns an error if no gateway is configured for
// the scheme.
func (r *Retriever) throughGateway(ctx context.Context, s *scheme.Scheme, u uri.URI) (Outcome, error) {
	if s.Name != "" {
		if err := mayRequest(s, u); err != nil && !isUnanswered(err) {
			return Outcome{}, err // u is invalid, or opens an interactive session
		}
	}
	at, ok, err := r.gatewayLocator(s, u)
	if err != nil {
		return Outcome{}, err
	}
	if !ok {
		return Outcome{}, r.whyNot(s, u)
	}
	name, _ := at.Scheme()
	step := r.step(name)
	if step == nil {
		return Outcome{}, fmt.Errorf("scheme: gateway %s: %w", at.Redacted(), ErrNoAlgorithm)
	}
	gateway, _ := r.catalogue().Lookup(name)
	request, err := RequestOf(gateway, at, r.Client)
	if err != nil {
		return Outcome{}, err
	}
	return r.take(ctx, step, request)
}

// gatewayLocator returns the locator by which to retrieve u through the user's gateway. If the user
// has no gateway for the scheme and ProposedGateways is set, it uses the gateway in the catalogue.
func (r *Retriever) gatewayLocator(s *scheme.Scheme, u uri.URI) (uri.URI, bool, error) {
	at, ok, err := r.Gateways.Locator(u)
	if ok || err != nil || !r.ProposedGateways || s.Gateway == "" {
		return at, ok, err
	}
	own, err := Gateways{}.With(s.Name, s.Gateway)
	if err != nil {
		return uri.URI{}, false, err
	}
	return own.Locator(u)
}

func (r *Retriever) whyNot(s *scheme.Scheme, u uri.URI) error {
	if s.Name == "" {
		name, _ := u.Scheme()
		return fmt.Errorf("scheme: unknown scheme %q: %w", name, ErrNoAlgorithm)
	}
	if err := mayRequest(s, u); err != nil {
		return err
	}
	return fmt.Errorf("scheme: unsupported scheme %q, and no gateway is configured: %w", s.Name, ErrNoAlgorithm)
}

// take executes a request. For the scheme ftp, it tries Local first.
func (r *Retriever) take(ctx context.Context, step Step, request Request) (Outcome, error) {
	if name, _ := request.URI.Scheme(); r.Local != nil && strings.EqualFold(name, "ftp") {
		out, err := r.Local(ctx, request)
		if !errors.Is(err, ErrNotAvailable) {
			return r.completed(out, request, err)
		}
	}
	out, err := step(ctx, request)
	return r.completed(out, request, err)
}

// completed checks the result of a step, and sets the time and the locator of an object.
func (r *Retriever) completed(out Outcome, request Request, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	switch {
	case out.Resource != nil && len(out.Locators) == 0:
		o := *out.Resource
		if !o.URI.IsValid() {
			o.URI = request.URI
		}
		if o.Format == "" {
			o.Format = request.Format
		}
		if r.Now != nil {
			o.Retrieved = r.Now()
		}
		return Outcome{Resource: &o}, nil
	case out.Resource == nil && len(out.Locators) > 0:
		for _, u := range out.Locators {
			if u.IsReference() || !u.IsValid() {
				return Outcome{}, fmt.Errorf("scheme: %q is not in full form: %w", u, ErrOutcome)
			}
		}
		return out, nil
	}
	return Outcome{}, fmt.Errorf("scheme: %s: %w", request.URI.Redacted(), ErrOutcome)
}

// Follow retrieves the object of a locator. If a step returns several locators, Follow searches
// depth-first, in their order, until it finds an object. It executes at most 8 steps, and does not
// try a locator twice.
func (r *Retriever) Follow(ctx context.Context, u uri.URI) (*Resource, error) {
	waiting, seen := []uri.URI{u}, map[uri.URI]bool{}
	var first error
	for taken := 0; len(waiting) > 0; {
		next := waiting[0]
		waiting = waiting[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		if taken++; taken > maxSteps {
			return nil, fmt.Errorf("scheme: %s: %w", u.Redacted(), ErrTooManySteps)
		}
		out, err := r.Retrieve(ctx, next)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && first == nil:
			first = err
		case err == nil && out.Resource != nil:
			return out.Resource, nil
		}
		waiting = append(append([]uri.URI(nil), out.Locators...), waiting...)
	}
	if first == nil {
		first = fmt.Errorf("scheme: %s: locators form a loop: %w", u.Redacted(), ErrTooManySteps)
	}
	return nil, first
}
