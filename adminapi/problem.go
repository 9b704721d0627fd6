package adminapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Problem says why a request failed: problem details (RFC 9457). The type decides which
// of the members below Detail are present.
type Problem struct {
	Type   string `json:"type"` // a URI reference that ends in the kind
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`

	Name     string  `json:"name,omitempty"`     // or the prefix
	Field    string  `json:"field,omitempty"`    // such as "locations[2].url"
	Offset   int     `json:"offset,omitempty"`   // in bytes, into the value of the field or the name
	Rule     string  `json:"rule,omitempty"`     // the violated rule
	Line     int     `json:"line,omitempty"`     // of the body, from 1
	Column   int     `json:"column,omitempty"`   // in bytes, from 1
	Expected *uint64 `json:"expected,omitempty"` // revision
	Current  *uint64 `json:"current,omitempty"`  // revision
	Who      string  `json:"who,omitempty"`      // bearer of the denied token
	Role     string  `json:"role,omitempty"`     // role of the token
	Need     string  `json:"need,omitempty"`     // required role
	Size     int     `json:"size,omitempty"`
	Limit    int     `json:"limit,omitempty"`
}

// ProblemPath is the path of the types of problems, to which the kind is appended.
const ProblemPath = "/-/problems/"

// The errors of the API itself.
var (
	// ErrUnauthorized is returned when no token was sent.
	ErrUnauthorized = errors.New("adminapi: missing token: send Authorization: Bearer TOKEN")

	// ErrUnknownToken is returned if the token is unknown or revoked; the error does not
	// say which. It is an ErrUnauthorized.
	ErrUnknownToken error = tokenError("adminapi: invalid token: unknown or revoked")

	// ErrExpiredToken is returned if the token has expired. It is an ErrUnauthorized.
	ErrExpiredToken error = tokenError("adminapi: expired token")

	// ErrUnavailable is returned while the server is shutting down.
	ErrUnavailable = errors.New("adminapi: the server is shutting down")
)

// A tokenError says why a token is invalid.
type tokenError string

func (e tokenError) Error() string { return string(e) }

func (tokenError) Unwrap() error { return ErrUnauthorized }

// A RequestError is returned for an invalid request.
type RequestError struct {
	Line    int    // of the body, from 1; 0 if unknown
	Column  int    // in bytes, from 1
	Field   string // of the body or the query; "" if unknown
	Message string
}

func (e *RequestError) Error() string {
	s := "adminapi: "
	if e.Line > 0 {
		s += fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	}
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + e.Message
}

// A StatusError is returned for a problem that no other error represents.
type StatusError struct {
	Kind   string // such as [KindHost]; "" for a problem that its status explains
	Status int
	Detail string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("adminapi: %d %s: %s", e.Status, http.StatusText(e.Status), e.Detail)
}

func (e *StatusError) problem() *Problem {
	if e.Kind == "" {
		return &Problem{Type: "about:blank", Title: http.StatusText(e.Status), Status: e.Status, Detail: e.Detail}
	}
	p := newProblem(e.Kind, errors.New(e.Detail))
	p.Status = e.Status
	return p
}

// A JobsError is returned if too many jobs are running to start another one.
type JobsError struct {
	Status int // 429 if they are of this token, 503 if they are of all
	Detail string
}

func (e *JobsError) Error() string { return "adminapi: " + e.Detail }

// A DetachedError is returned if the response of a job ended before the job.
type DetachedError struct {
	Job string // ID of the job
	Err error  // what ended the response
}

func (e *DetachedError) Error() string {
	return fmt.Sprintf("%v; job %s continues unless the server has stopped", e.Err, e.Job)
}

func (e *DetachedError) Unwrap() error { return e.Err }

// A FullError is returned if the disk of the server is full. It wraps [syscall.ENOSPC].
type FullError struct{ Detail string }

func (e *FullError) Error() string { return e.Detail }

// Unwrap returns ENOSPC.
func (e *FullError) Unwrap() error { return syscall.ENOSPC }

// A PreconditionError is a conflict with a revision in the header of a request. Its status
// differs from that of other conflicts.
type PreconditionError struct{ Conflict *store.ConflictError }

func (e *PreconditionError) Error() string { return e.Conflict.Error() }

func (e *PreconditionError) Unwrap() error { return e.Conflict }

func newProblem(kind string, err error) *Problem {
	k, _ := find(kind)
	return &Problem{Type: ProblemPath + kind, Title: k.Title, Status: k.Statuses[0], Detail: err.Error()}
}

// NewProblem returns the problem for err. It does not reveal the cause of a failure of the
// server.
func NewProblem(err error) *Problem {
	var (
		badName  *name.Error
		request  *RequestError
		refusal  *registrar.RefusalError
		denied   *registrar.DeniedError
		conflict *store.ConflictError
		state    *store.StateError
		limit    *store.LimitError
		broken   *bulk.BrokenError
		line     *bulk.LineError
		status   *StatusError
		jobs     *JobsError
		full     *FullError
		away     *store.AwayError
		unknown  *store.UnknownError
		token    tokenError
		head     *store.HeadError
	)
	switch {
	case errors.As(err, &broken):
		p := newProblem(kindBroken, broken.Err)
		p.Line = broken.Line
		return p
	case errors.As(err, &line):
		p := newProblem(kindBadLine, errors.New(line.Message))
		p.Line, p.Column, p.Name, p.Field = line.Line, line.Column, line.Name, line.Field
		return p
	case errors.As(err, &refusal):
		p := newProblem(kindRefused, errors.New(refusal.Message))
		p.Name, p.Field, p.Offset, p.Rule = refusal.Name, refusal.Field, refusal.Offset, refusal.Rule
		return p
	case errors.As(err, &badName):
		p := newProblem(kindMalformedName, errors.New(badName.Message))
		p.Name, p.Offset, p.Rule = badName.Input, badName.Offset, badName.Rule
		return p
	case errors.As(err, &request):
		p := newProblem(kindBadRequest, errors.New(request.Message))
		p.Line, p.Column, p.Field = request.Line, request.Column, request.Field
		return p
	case errors.As(err, &denied):
		p := newProblem(kindDenied, errors.New(deniedDetail(denied)))
		p.Name, p.Who, p.Role, p.Need = denied.Name, denied.Who, denied.Role.String(), denied.Need.String()
		return p
	case errors.As(err, &conflict):
		p := newProblem(kindConflict, conflict)
		p.Status = conflictStatus(err)
		p.Name, p.Expected, p.Current = conflict.Key, &conflict.Expected, &conflict.Current
		return p
	case errors.As(err, &head):
		p := newProblem(kindHead, errors.New(head.Reason))
		p.Field = head.Since.String()
		return p
	case errors.As(err, &state):
		p := newProblem(kindState, errors.New(state.Rule))
		p.Name, p.Rule = state.Key, clockRule(state.Clock)
		return p
	case errors.As(err, &limit):
		p := newProblem(kindLimit, err)
		p.Name, p.Field, p.Size, p.Limit = limit.Key, limit.What, limit.Size, limit.Limit
		return p
	case errors.As(err, &full), errors.Is(err, syscall.ENOSPC):
		if full != nil {
			err = full
		}
		return newProblem(kindFull, err)
	case errors.As(err, &unknown):
		return newProblem(kindUnknown, &store.UnknownError{})
	case errors.As(err, &away):
		p := newProblem(kindAway, errors.New(away.Cause))
		p.Rule = clockRule(away.Clock)
		return p
	case errors.Is(err, store.ErrReadOnly):
		return newProblem(kindReadOnly, store.ErrReadOnly)
	case errors.Is(err, store.ErrNotFound):
		return newProblem(kindNotFound, err)
	case errors.As(err, &token):
		return newProblem(kindUnauthorized, token)
	case errors.Is(err, ErrUnauthorized):
		return newProblem(kindUnauthorized, err)
	case errors.Is(err, store.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, ErrUnavailable):
		return newProblem(kindUnavailable, ErrUnavailable)
	case errors.As(err, &jobs):
		p := newProblem(kindJobs, errors.New(jobs.Detail))
		p.Status = jobs.Status
		return p
	case errors.As(err, &status):
		return status.problem()
	}
	return newProblem(kindFailure, errors.New("the cause is in the server's log"))
}

// RuleClock is the rule of a [Problem] with a change that the clock prevents.
const RuleClock = "clock"

func clockRule(clock bool) string {
	if clock {
		return RuleClock
	}
	return ""
}

// deniedDetail says why a request was denied and what it needs.
func deniedDetail(e *registrar.DeniedError) string {
	if e.Why != "" {
		return e.Why + "; " + e.Needs()
	}
	return e.Needs()
}

func conflictStatus(err error) int {
	var precondition *PreconditionError
	if errors.As(err, &precondition) {
		return http.StatusPreconditionFailed
	}
	return http.StatusConflict
}

// err returns the error from which p was made.
func (p *Problem) err() error {
	switch p.Type {
	case ProblemPath + kindBroken:
		return &bulk.BrokenError{Line: p.Line, Err: errors.New(p.Detail)}
	case ProblemPath + kindBadLine:
		return &bulk.LineError{Line: p.Line, Column: p.Column, Name: p.Name, Field: p.Field, Message: p.Detail}
	case ProblemPath + kindRefused:
		return &registrar.RefusalError{Name: p.Name, Field: p.Field, Offset: p.Offset, Rule: p.Rule, Message: p.Detail}
	case ProblemPath + kindMalformedName:
		return &name.Error{Input: p.Name, Offset: p.Offset, Rule: p.Rule, Message: p.Detail}
	case ProblemPath + kindBadRequest:
		return &RequestError{Line: p.Line, Column: p.Column, Field: p.Field, Message: p.Detail}
	case ProblemPath + kindDenied:
		role, _ := registrar.ParseRole(p.Role)
		need, _ := registrar.ParseRole(p.Need)
		e := &registrar.DeniedError{Who: p.Who, Role: role, Need: need, Name: p.Name}
		for _, e.Anywhere = range []bool{true, false} {
			if why, ok := strings.CutSuffix(p.Detail, e.Needs()); ok {
				e.Why = strings.TrimSuffix(why, "; ")
				break
			}
		}
		return e
	case ProblemPath + kindConflict:
		e := &store.ConflictError{Key: p.Name}
		if p.Expected != nil && p.Current != nil {
			e.Expected, e.Current = *p.Expected, *p.Current
		}
		return e
	case ProblemPath + kindHead:
		since, _ := store.ParseHead(p.Field)
		return &store.HeadError{Since: since, Reason: p.Detail}
	case ProblemPath + kindState:
		return &store.StateError{Key: p.Name, Rule: p.Detail, Clock: p.Rule == RuleClock}
	case ProblemPath + kindLimit:
		return &store.LimitError{Key: p.Name, What: p.Field, Size: p.Size, Limit: p.Limit}
	case ProblemPath + kindFull:
		return &FullError{Detail: p.Detail}
	case ProblemPath + kindNotFound:
		return store.ErrNotFound
	case ProblemPath + kindUnauthorized:
		for _, err := range []error{ErrUnknownToken, ErrExpiredToken} {
			if p.Detail == err.Error() {
				return err
			}
		}
		return ErrUnauthorized
	case ProblemPath + kindUnavailable:
		return ErrUnavailable
	case ProblemPath + kindReadOnly:
		return store.ErrReadOnly
	case ProblemPath + kindAway:
		return &store.AwayError{Cause: p.Detail, Clock: p.Rule == RuleClock}
	case ProblemPath + kindUnknown:
		return &store.UnknownError{}
	case ProblemPath + kindJobs:
		return &JobsError{Status: p.Status, Detail: p.Detail}
	}
	kind, _ := strings.CutPrefix(p.Type, ProblemPath)
	if _, ok := find(kind); !ok {
		kind = ""
	}
	return &StatusError{Kind: kind, Status: p.Status, Detail: p.Detail}
}
