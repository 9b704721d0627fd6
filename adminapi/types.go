package adminapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// The limits of one request.
const (
	MaxBody  = 16 << 20 // maximum size of a body in bytes, except for imports
	MaxBatch = 10_000   // maximum number of requests in a batch
	MaxPage  = 1000     // maximum number of records on a page

	MaxRefusals = 100 // maximum number of records listed as not representable in the format of an export
)

// Version is the response to GET version.
type Version struct {
	Version string `json:"version"` // of the program
	Rules   int    `json:"rules"`   // of names: [name.RulesVersion]

	// Instance identifies the process of the server, like the field Nomen-Instance of its health
	// checks. It may be "".
	Instance string `json:"instance,omitempty"`

	SecondPerson SecondPerson `json:"second_person"`
}

// A Page is the response to GET names.
type Page struct {
	Names []*store.Record `json:"names"`          // empty if only keys were requested
	Keys  []string        `json:"keys,omitempty"` // keys of the names, if requested
	Next  string          `json:"next,omitempty"` // value of "after" for the next page; "" at the end
}

// A Batch is the body of POST names. Invalid requests are rejected. All valid requests are applied
// together.
type Batch struct {
	Requests []Request `json:"requests"`
	Why      string    `json:"why,omitempty"`
	DryRun   bool      `json:"dry_run,omitempty"`
}

// A Request is the JSON form of a [registrar.Request].
type Request struct {
	Key string `json:"key,omitempty"` // key of the name; absent if the spelling in the record has this key
	registrar.Request
	Expected *uint64 `json:"expected,omitempty"` // expected revision; 0 for a new name; absent if any is accepted
}

// A Results is the response to a batch: an outcome for each request, in the same order.
type Results struct {
	Outcomes []Outcome `json:"outcomes"`
}

// An Outcome is the JSON form of a [registrar.Outcome].
type Outcome struct {
	Key string `json:"key,omitempty"` // key of the name
	registrar.Outcome
	Problem *Problem `json:"problem,omitempty"`
}

// A Retirement is the body of POST names/{name}/retire.
type Retirement struct {
	registrar.Retirement
	Expected *uint64 `json:"expected,omitempty"` // expected revision; absent if any revision is accepted
	Why      string  `json:"why,omitempty"`
}

// An Event is one line of the response to an import. Exactly one of Progress, Refused, Warned,
// Change, Doubts and Summary is set. The last line has Summary, and also Problem if the import
// ended early.
type Event struct {
	Progress *bulk.Summary `json:"progress,omitempty"`
	Refused  *bulk.Refusal `json:"refused,omitempty"`
	Warned   *bulk.Warning `json:"warned,omitempty"`
	Change   *bulk.Change  `json:"change,omitempty"` // if requested
	Doubts   *bulk.Doubts  `json:"doubts,omitempty"` // before the summary, if any
	Summary  *bulk.Summary `json:"summary,omitempty"`
	Problem  *Problem      `json:"problem,omitempty"`
	Complete bool          `json:"complete"` // the import has read the whole file; only with Summary
}

// The trailer fields of an export. They contain its summary, and a [bulk.Refusal] for each of the
// first records that the format cannot represent.
const (
	SummaryTrailer = "Nomen-Summary"
	RefusedTrailer = "Nomen-Refused"
)

// Authorities is the response to GET authorities.
type Authorities struct {
	Authorities []*store.Authority `json:"authorities"`
}

// An AuthorityCheck is the response to POST authorities/{prefix}/check. It describes what would
// happen if the authority were replaced.
type AuthorityCheck struct {
	Created  bool                `json:"created,omitempty"` // there is no authority with this prefix yet
	Problem  *Problem            `json:"problem,omitempty"` // reason for which the change would be rejected
	Warnings []registrar.Warning `json:"warnings,omitempty"`
	Tests    []rule.TestResult   `json:"tests,omitempty"`    // results of the rules' tests; none if a rule is invalid
	Effects  []Effect            `json:"effects,omitempty"`  // names whose answers would differ
	Examined int                 `json:"examined,omitempty"` // names that were compared
	More     bool                `json:"more,omitempty"`     // some names were not compared
}

// An Effect is a name whose answer would differ after a change.
type Effect struct {
	Name   string `json:"name"`
	Before string `json:"before"` // a description for users
	After  string `json:"after"`
}

// A Grant is the body of POST tokens: the rights of a new token.
type Grant struct {
	Who      string   `json:"who"`
	Role     string   `json:"role"`
	Prefixes []string `json:"prefixes,omitempty"` // empty for all names

	Expires time.Time `json:"expires,omitzero"` // zero for never
}

// A Granted is the response to POST tokens.
type Granted struct {
	ID    string `json:"id"`
	Token string `json:"token"` // the token with its secret, which the server does not store
}

// Tokens is the response to GET tokens.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// A Token is a [store.Token] without its secret.
type Token struct {
	ID       string    `json:"id"`
	Who      string    `json:"who"`
	Role     string    `json:"role"`
	Prefixes []string  `json:"prefixes,omitempty"` // empty for all names
	Since    time.Time `json:"since"`
	Revoked  bool      `json:"revoked,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`    // zero for never
	LastUsed string    `json:"last_used,omitempty"` // the day, as in 2026-11-22, UTC; "" if unknown
	Warnings []string  `json:"warnings,omitempty"`  // warnings about the prefixes
}

func newRequest(req registrar.Request) Request {
	r := Request{Request: req, Expected: revisionOrNil(req.Expected)}
	if req.Record == nil || req.Record.Name.IsZero() {
		return r
	}
	if n, err := name.Parse(req.Record.Spelling); err != nil || n != req.Record.Name {
		record := *req.Record
		r.Key, record.Name = record.Name.Key(), name.Name{} // in JSON, Name would be replaced by the spelling
		r.Record = &record
	}
	return r
}

// Registrar converts r to a request of package registrar. The error is a [*RequestError], or the
// error of [name.Parse] for Key.
func (r Request) Registrar() (registrar.Request, error) {
	req := r.Request
	if req.Record == nil {
		return req, &RequestError{Field: "record", Message: "missing"}
	}
	req.Expected = revisionOrAny(r.Expected)
	if r.Key == "" {
		return req, nil
	}
	n, err := name.Parse(r.Key)
	if err != nil {
		return req, err
	}
	record := *req.Record
	record.Name, req.Record = n, &record
	return req, nil
}

func revisionOrNil(n uint64) *uint64 {
	if n == store.AnyRevision {
		return nil
	}
	return &n
}

func revisionOrAny(n *uint64) uint64 {
	if n == nil {
		return store.AnyRevision
	}
	return *n
}

// Registrar converts r to a retirement of package registrar.
func (r Retirement) Registrar() registrar.Retirement {
	t := r.Retirement
	t.Expected = revisionOrAny(r.Expected)
	return t
}

// NewOutcome returns the JSON form of outcome.
func NewOutcome(outcome registrar.Outcome) Outcome {
	o := Outcome{Key: outcome.Name.Key(), Outcome: outcome}
	if outcome.Err != nil {
		o.Problem = NewProblem(outcome.Err)
	}
	return o
}

func (o Outcome) outcome() registrar.Outcome {
	out := o.Outcome
	out.Name = name.FromKey(o.Key)
	if out.Record != nil {
		out.Record.Name = out.Name
	}
	if o.Problem != nil {
		out.Err = o.Problem.err()
	}
	return out
}

// Encode returns v as a line of JSON, without escapes for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("adminapi: %w", err)
	}
	return b.Bytes(), nil
}
