package scheme

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nomen-project/nomen/uri"
)

// Why nothing is retrieved.
var (
	// ErrInteractive: a session for a person; see [InteractiveError].
	ErrInteractive = errors.New("interactive: a session, and not an object")

	// ErrUndefined: no document says how names of the scheme are looked up.
	ErrUndefined = errors.New("the mapping is undefined")

	// ErrNotLocator: the identifier does not say where anything is.
	ErrNotLocator = errors.New("not a locator")

	// ErrNoAlgorithm: nothing is known of the scheme, or this client does not
	// speak it, and no gateway is configured.
	ErrNoAlgorithm = errors.New("no retrieval algorithm")

	// ErrNotAvailable: the object cannot be had now, such as an article that
	// has expired. No other place is guessed.
	ErrNotAvailable = errors.New("not available")

	// ErrTooManySteps: locators lead to locators, and so on.
	ErrTooManySteps = errors.New("too many steps")

	// ErrOutcome: a step has returned neither locators nor an object.
	ErrOutcome = errors.New("neither locators nor an object")
)

// A Resource is an object that has been retrieved.
//
// It is what the locator located then: there is no guarantee that the same
// locator leads to the same object at another time (1993, Security
// considerations). Whoever keeps one has to keep the time with it, and to ask
// again.
type Resource struct {
	URI       uri.URI       // the locator that has led to it
	Format    string        // media type
	Retrieved time.Time     // when
	Body      io.ReadCloser // for the caller to close
}

// An Outcome is what a retrieval algorithm produces: a set of locators that lead
// to the object, or the object (1993, Registration of naming schemes).
type Outcome struct {
	Locators []uri.URI
	Resource *Resource
}

// A Step does what a Request asks for. An object that is not there is an error
// that wraps [ErrNotAvailable].
type Step func(ctx context.Context, r Request) (Outcome, error)

// A Retriever is the retrieval algorithm of all schemes, with the steps that
// touch the world injected. The zero Retriever knows the standard catalogue and
// can fetch nothing.
type Retriever struct {
	Catalogue *Catalogue      // nil is the standard one
	Client    Client          // what the user has configured
	Steps     map[string]Step // by the name of the scheme in lower case

	// Local is asked before the step of an ftp locator, to use local access
	// where that is equivalent (1993, FTP). It is off unless it is set. An
	// error that wraps ErrNotAvailable leads on to the step.
	Local Step

	// Gateways are used for schemes that have no step, and before the step for
	// those that the user has named there: what is configured comes first, the
	// protocol of the scheme last (1997, 1.3).
	Gateways Gateways

	// ProposedGateways also uses those that the catalogue says for its
	// schemes: the proposer of a scheme then learns what is retrieved.
	ProposedGateways bool

	Now func() time.Time // nil leaves the time of a Resource to the step
}

// MaxSteps bounds how often [Retriever.Follow] goes from a locator to locators.
const MaxSteps = 8

// Retrieve takes one step from a locator: to the object, or to locators that
// lead there. A partial form is refused, as it means nothing here.
//
// The error is the [Finding] of a rule that u breaks, wraps one of the errors
// above, or is that of the step.
func (r *Retriever) Retrieve(ctx context.Context, u uri.URI) (Outcome, error) {
	name, ok := u.Scheme()
	if !ok {
		return Outcome{}, fmt.Errorf("scheme: %q is not a full form: %w", u.Redacted(), ErrNotLocator)
	}
	s, _ := r.catalogue().Lookup(name)
	step := r.step(name)
	if step == nil || r.Gateways.has(name) {
		return r.throughGateway(ctx, &s, u)
	}
	request, err := s.Request(u, r.Client)
	if s.Rules.Request == nil && isUnanswered(err) {
		request, err = Request{URI: u.WithoutFragment(), Length: -1}, nil // the step knows
	}
	if err != nil {
		return Outcome{}, err
	}
	return r.take(ctx, step, request)
}

// isUnanswered reports whether an error only says that the scheme does not say
// how to retrieve. Whoever gives a step or a gateway for it has said so.
func isUnanswered(err error) bool {
	return errors.Is(err, ErrNoAlgorithm) || errors.Is(err, ErrNotLocator) || errors.Is(err, ErrUndefined)
}

func (r *Retriever) catalogue() *Catalogue {
	if r.Catalogue == nil {
		return &standard
	}
	return r.Catalogue
}

// step returns the step of a scheme in any case, or nil.
func (r *Retriever) step(name string) Step {
	for own, step := range r.Steps {
		if equalFold(own, name) {
			return step
		}
	}
	return nil
}

// throughGateway retrieves what this client does not speak, if a gateway is
// configured for it.
func (r *Retriever) throughGateway(ctx context.Context, s *Scheme, u uri.URI) (Outcome, error) {
	if s.Name != "" {
		if err := s.mayRequest(u); err != nil && !isUnanswered(err) {
			return Outcome{}, err // broken, or a session
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
		return Outcome{}, fmt.Errorf("scheme: the gateway %s: %w", at.Redacted(), ErrNoAlgorithm)
	}
	gateway, _ := r.catalogue().Lookup(name)
	request, err := gateway.Request(at, r.Client)
	if err != nil {
		return Outcome{}, err
	}
	return r.take(ctx, step, request)
}

// gatewayLocator returns where to fetch u: from the gateway of the user, or from
// that of the catalogue if that is wanted.
func (r *Retriever) gatewayLocator(s *Scheme, u uri.URI) (uri.URI, bool, error) {
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

// whyNot says why there is neither a step nor a gateway.
func (r *Retriever) whyNot(s *Scheme, u uri.URI) error {
	if s.Name == "" {
		name, _ := u.Scheme()
		return fmt.Errorf("scheme: %q is not known: %w", name, ErrNoAlgorithm)
	}
	if err := s.mayRequest(u); err != nil {
		return err
	}
	return fmt.Errorf("scheme: %s is not spoken here, and has no gateway: %w", s.Name, ErrNoAlgorithm)
}

// take does what is asked for, locally if that is wanted and can be.
func (r *Retriever) take(ctx context.Context, step Step, request Request) (Outcome, error) {
	if name, _ := request.URI.Scheme(); r.Local != nil && equalFold(name, "ftp") {
		out, err := r.Local(ctx, request)
		if !errors.Is(err, ErrNotAvailable) {
			return r.completed(out, request, err)
		}
	}
	out, err := step(ctx, request)
	return r.completed(out, request, err)
}

// completed checks what a step has returned, and says when and from where an
// object is.
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
				return Outcome{}, fmt.Errorf("scheme: %q is not a full form: %w", u, ErrOutcome)
			}
		}
		return out, nil
	}
	return Outcome{}, fmt.Errorf("scheme: %s: %w", request.URI.Redacted(), ErrOutcome)
}

// Follow retrieves until there is an object: of locators the first that leads to
// one, in their order. It takes at most [MaxSteps] steps, and none twice.
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
		if taken++; taken > MaxSteps {
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
		first = fmt.Errorf("scheme: %s leads in a circle: %w", u.Redacted(), ErrTooManySteps)
	}
	return nil, first
}
