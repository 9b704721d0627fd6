package admin

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store"
)

// query returns the parameters of a request. It returns an error if a parameter is not among the
// allowed ones.
func (c *call) query(allowed ...string) (url.Values, error) {
	q := c.r.URL.Query()
	for key := range q {
		if !slices.Contains(allowed, key) {
			return nil, &adminapi.RequestError{Field: key, Message: "unknown parameter"}
		}
	}
	return q, nil
}

func flag(q url.Values, key string) (bool, error) {
	v := q.Get(key)
	if v == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(v)
	if err != nil {
		return false, &adminapi.RequestError{Field: key, Message: fmt.Sprintf("must be 1 or 0, not %q", v)}
	}
	return on, nil
}

type flagOf struct {
	key  string
	into *bool
}

func flags(q url.Values, all ...flagOf) (err error) {
	for _, f := range all {
		if *f.into, err = flag(q, f.key); err != nil {
			return err
		}
	}
	return nil
}

func statuses(q url.Values) ([]nomen.Status, error) {
	var all []nomen.Status
	for _, v := range q["status"] {
		switch st := nomen.Status(v); st {
		case nomen.Reserved, nomen.Active, nomen.Retired:
			all = append(all, st)
		default:
			return nil, &adminapi.RequestError{Field: "status", Message: fmt.Sprintf("must be reserved, active or retired, not %q", v)}
		}
	}
	return all, nil
}

func revisionTag(n uint64) string { return `"` + strconv.FormatUint(n, 10) + `"` }

// An intent has the parameters that all requests for changes share.
type intent struct {
	why         string
	expected    uint64 // expected revision
	conditional bool   // report a conflict as status 412
	strict      bool
}

// intent reads the parameter "why" and the expected revision of a change. The request may also have
// the parameters in names. If these include "strict", intent reads it too.
func (c *call) intent(names ...string) (in intent, err error) {
	q, err := c.query(append(names, "why", "expected")...)
	if err != nil {
		return in, err
	}
	if in.strict, err = flag(q, "strict"); err != nil {
		return in, err
	}
	in.why = q.Get("why")
	in.expected, in.conditional, err = c.expectation(q)
	return in, err
}

// expectation returns the expected revision of a change. This is in the parameter "expected", in
// If-Match with a single tag, or in If-None-Match with "*". If the revision is in a header field,
// conditional is true, and the status of a conflict is 412.
func (c *call) expectation(q url.Values) (revision uint64, conditional bool, err error) {
	ifMatch, ifNone := c.r.Header.Get("If-Match"), c.r.Header.Get("If-None-Match")
	text, field := q.Get("expected"), "expected"
	switch {
	case ifNone != "" && strings.TrimSpace(ifNone) != "*":
		return 0, false, &adminapi.RequestError{Field: "If-None-Match", Message: `must be "*"`}
	case ifNone != "":
		return 0, true, nil
	case ifMatch != "":
		text, field, conditional = strings.Trim(strings.TrimSpace(ifMatch), `"`), "If-Match", true
	case text == "":
		return store.AnyRevision, false, nil
	}
	revision, err = strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, conditional, &adminapi.RequestError{Field: field, Message: "must be the number of a revision, as in the ETag of GET"}
	}
	return revision, conditional, nil
}

// preconditioned converts a conflict of a conditional request to a failed precondition (RFC 9110,
// 13.1.1). It returns other errors unchanged.
func preconditioned(err error, conditional bool) error {
	var conflict *store.ConflictError
	if conditional && errors.As(err, &conflict) {
		return &adminapi.PreconditionError{Conflict: conflict}
	}
	return err
}
