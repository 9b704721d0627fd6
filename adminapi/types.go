package adminapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// The limits of what is taken in one request.
const (
	MaxBody  = 16 << 20 // bytes of a body, except that of an import
	MaxBatch = 10_000   // requests of a batch
	MaxPage  = 1000     // records of a list

	MaxRefusals = 100 // records that an export could not hold and tells one by one
)

// Version is the answer to GET version.
type Version struct {
	Version string `json:"version"` // of the program
	Rules   int    `json:"rules"`   // of names: [name.RulesVersion]
}

// A Page is the answer to GET names.
type Page struct {
	Names []*store.Record `json:"names"`          // none when only the keys were asked for
	Keys  []string        `json:"keys,omitempty"` // of the names, when asked for
	Next  string          `json:"next,omitempty"` // "after" of the next page; "" at the end
}

// A Batch is the body of POST names. Requests that are refused are left out; the
// others go in together.
type Batch struct {
	Requests []Request `json:"requests"`
	Why      string    `json:"why,omitempty"`
	DryRun   bool      `json:"dry_run,omitempty"`
}

// A Request is a [registrar.Request].
type Request struct {
	Key string `json:"key,omitempty"` // of the name, if the spelling in the record does not tell it
	registrar.Request
	Expected *uint64 `json:"expected,omitempty"` // revision; 0 for a new name; absent for any
}

// A Results is the answer to a batch: an outcome for each request, in order.
type Results struct {
	Outcomes []Outcome `json:"outcomes"`
}

// An Outcome is a [registrar.Outcome].
type Outcome struct {
	Key string `json:"key,omitempty"` // of the name
	registrar.Outcome
	Problem *Problem `json:"problem,omitempty"`
}

// A Retirement is the body of POST names/{name}/retire.
type Retirement struct {
	registrar.Retirement
	Expected *uint64 `json:"expected,omitempty"` // revision; absent for any
	Why      string  `json:"why,omitempty"`
}

// An Event is one line of the answer to an import. Exactly one of Progress,
// Refused, Warned, Change, Doubts and Summary is there; the last line is a summary, with the
// problem that ended the import too early, if one did.
type Event struct {
	Progress *bulk.Summary `json:"progress,omitempty"`
	Refused  *bulk.Refusal `json:"refused,omitempty"`
	Warned   *bulk.Warning `json:"warned,omitempty"`
	Change   *bulk.Change  `json:"change,omitempty"` // if asked for
	Doubts   *bulk.Doubts  `json:"doubts,omitempty"` // before the summary, if there are any
	Summary  *bulk.Summary `json:"summary,omitempty"`
	Problem  *Problem      `json:"problem,omitempty"`
	Complete bool          `json:"complete"` // the whole file was read and brought in: true of the summary alone, if there is no problem
}

// The trailer fields of an export: its summary, and a field for each of the first
// records that the format could not hold, a [bulk.Refusal].
const (
	SummaryTrailer = "Nomen-Summary"
	RefusedTrailer = "Nomen-Refused"
)

// Authorities is the answer to GET authorities.
type Authorities struct {
	Authorities []*store.Authority `json:"authorities"`
}

// A Grant is the body of POST tokens: the rights of a new token.
type Grant struct {
	Who      string   `json:"who"`
	Role     string   `json:"role"`
	Prefixes []string `json:"prefixes,omitempty"` // none for everywhere

	Expires time.Time `json:"expires,omitzero"` // when it ends; zero for never
}

// A Granted is the answer to POST tokens.
type Granted struct {
	ID    string `json:"id"`
	Token string `json:"token"` // what the bearer sends; it is kept nowhere
}

// Tokens is the answer to GET tokens.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// A Token is what may be told of a [store.Token].
type Token struct {
	ID       string    `json:"id"`
	Who      string    `json:"who"`
	Role     string    `json:"role"`
	Prefixes []string  `json:"prefixes,omitempty"` // none for everywhere
	Since    time.Time `json:"since"`
	Revoked  bool      `json:"revoked,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`    // when it ends, or has ended; zero for never
	LastUsed string    `json:"last_used,omitempty"` // the day, as in 2026-11-22, UTC; "" if none is known
	Warnings []string  `json:"warnings,omitempty"`  // about its prefixes, in words
}

// NewRequest returns req as JSON has it.
func NewRequest(req registrar.Request) Request {
	r := Request{Request: req, Expected: revision(req.Expected)}
	if req.Record == nil || req.Record.Name.IsZero() {
		return r
	}
	if n, err := name.Parse(req.Record.Spelling); err != nil || n != req.Record.Name {
		record := *req.Record
		r.Key, record.Name = record.Name.Key(), name.Name{} // JSON would spell the name
		r.Record = &record
	}
	return r
}

// Registrar returns r as the registrar takes it. Its error is a [*RequestError] or
// that of the key.
func (r Request) Registrar() (registrar.Request, error) {
	req := r.Request
	if req.Record == nil {
		return req, &RequestError{Field: "record", Message: "missing"}
	}
	req.Expected = expected(r.Expected)
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

// revision and expected change between the revision that is expected and a
// number that may be absent.
func revision(n uint64) *uint64 {
	if n == store.AnyRevision {
		return nil
	}
	return &n
}

func expected(n *uint64) uint64 {
	if n == nil {
		return store.AnyRevision
	}
	return *n
}

// Registrar returns r as the registrar takes it.
func (r Retirement) Registrar() registrar.Retirement {
	t := r.Retirement
	t.Expected = expected(r.Expected)
	return t
}

// NewOutcome returns out as JSON has it.
func NewOutcome(out registrar.Outcome) Outcome {
	o := Outcome{Key: out.Name.Key(), Outcome: out}
	if out.Err != nil {
		o.Problem = NewProblem(out.Err)
	}
	return o
}

// Registrar returns o as the registrar returned it.
func (o Outcome) Registrar() registrar.Outcome {
	out := o.Outcome
	out.Name = name.FromKey(o.Key)
	if out.Record != nil {
		out.Record.Name = out.Name
	}
	if o.Problem != nil {
		out.Err = o.Problem.Err()
	}
	return out
}

// Encode returns v as a line of JSON, without the escapes that only HTML needs.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("adminapi: %w", err)
	}
	return b.Bytes(), nil
}
