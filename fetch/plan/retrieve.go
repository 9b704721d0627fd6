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

// The reasons why a retrieval fails.
var (
	// ErrInteractive means that the locator opens an interactive session; see [InteractiveError].
	ErrInteractive = errors.New("interactive session, nothing to retrieve")

	// ErrUndefined means that no document says how to resolve names of the scheme.
	ErrUndefined = errors.New("the mapping is undefined")

	// ErrNotLocator means that the identifier does not locate anything.
	ErrNotLocator = errors.New("not a locator")

	// ErrNoAlgorithm means that the scheme is unknown or not supported by this client, and that
	// there is no gateway for it.
	ErrNoAlgorithm = errors.New("no retrieval algorithm")

	// ErrNotAvailable means that the object is not available, such as an expired article.
	ErrNotAvailable = errors.New("not available")

	// ErrTooManySteps means that too many locators led to other locators.
	ErrTooManySteps = errors.New("too many steps")

	// ErrOutcome means that a step returned neither locators nor an object.
	ErrOutcome = errors.New("step returned neither locators nor an object")
)

// A Resource is an object that was retrieved.
//
// The same locator may lead to a different object later (1993, Security considerations). If you
// store the object, also store the time, and retrieve it again when you need a current copy.
type Resource struct {
	URI       uri.URI       // the locator from which it was retrieved
	Format    string        // media type
	Retrieved time.Time     // time of retrieval
	Body      io.ReadCloser // the caller must close it
}

// An Outcome is the result of a step, which is either an object, or locators that lead to it (1993,
// Registration of naming schemes).
type Outcome struct {
	Locators []uri.URI
	Resource *Resource
}

// A Step executes a Request. If the object does not exist, the error wraps [ErrNotAvailable].
type Step func(ctx context.Context, r Request) (Outcome, error)

// A Retriever retrieves the objects of locators. The caller supplies the steps that need the
// network. The zero Retriever uses the catalogue of package scheme/extra, and has no steps.
type Retriever struct {
	Catalogue *scheme.Catalogue // nil means the catalogue of package scheme/extra
	Client    Client            // settings of the user
	Steps     map[string]Step   // by scheme, in lower case

	// Local is tried before the step for ftp, to use local access if that is equivalent (1993,
	// FTP). If its error wraps ErrNotAvailable, the step is used. Local may be nil.
	Local Step

	// Gateways are used for schemes without a step. A gateway for the scheme itself, instead of for
	// a wildcard, is used even if there is a step, because the user's configuration takes
	// precedence (1997, 1.3).
	Gateways Gateways

	// ProposedGateways also uses gateways in the catalogue. Each was proposed by the authors of a
	// scheme, who can see which locators are retrieved through it.
	ProposedGateways bool

	Now func() time.Time // if nil, the step must set Resource.Retrieved
}

const maxSteps = 8

// Retrieve takes one step from a locator, to the object or to locators that lead to it. The locator
// must be absolute.
//
// The error is the [scheme.Finding] for a rule that u violates, wraps one of the errors above, or
// is the error of the step.
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
		request, err = Request{URI: u.WithoutFragment(), Length: -1}, nil // the step knows what to do
	}
	if err != nil {
		return Outcome{}, err
	}
	return r.take(ctx, step, request)
}

// isUnanswered reports whether err only means that the scheme does not say how to retrieve its
// objects. A step or a gateway may still be configured.
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

// throughGateway retrieves u through a gateway, because this client does not support the scheme. It
// returns an error if no gateway is configured.
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

// gatewayLocator returns the locator for u at the user's gateway, or otherwise at the gateway in
// the catalogue if ProposedGateways is set.
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

// take executes a request. For ftp it tries Local first.
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

// Follow retrieves the object of a locator. If a step leads to several locators, Follow tries them
// in order, each with all locators to which it leads, until it finds an object. It takes at most 8
// steps and tries no locator twice.
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
