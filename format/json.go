package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// WriteJSON writes an answer as a JSON object on one line. The object always has these members, in
// the order of a record: name, status, locations, metadata, same_as, successors, reason, modified,
// revision. The name is spelled as it was registered. Lists are never null. An unknown status, and
// elements of the metadata without values, are omitted.
//
// These members are written if they have a value: key (the canonical form, if it differs from the
// name), service, redirect, max_age (in seconds), same, resource (without its body), why. For an
// unstructured result, the members are content_type, body if the result is text, and body_base64 if
// body does not equal the bytes of the result.
func WriteJSON(w io.Writer, a *nomen.Answer) error { return encode(w, newObject(a)) }

// ReadJSON reads the output of [WriteJSON] without loss, and ignores unknown members. The JSON does
// not contain the body of a resource, so reading the body from the returned answer fails.
func ReadJSON(r io.Reader, asked nomen.Service) (*nomen.Answer, error) {
	var o object
	if err := decode(r, TypeJSON, &o); err != nil {
		return nil, err
	}
	a, err := o.answer()
	if err != nil {
		return nil, err
	}
	if a.Service == "" {
		a.Service = asked
	}
	return a, nil
}

// An object is the JSON form of an answer.
type object struct {
	Name       string         `json:"name"`
	Status     nomen.Status   `json:"status,omitempty"`
	Locations  locations      `json:"locations"`
	Metadata   nomen.Metadata `json:"metadata"`
	SameAs     []string       `json:"same_as"`
	Successors []string       `json:"successors"`
	Reason     string         `json:"reason"`
	Modified   time.Time      `json:"modified,omitzero"`
	Revision   uint64         `json:"revision"`

	Key      string        `json:"key,omitempty"`
	Service  nomen.Service `json:"service,omitempty"`
	Redirect string        `json:"redirect,omitempty"`
	MaxAge   seconds       `json:"max_age,omitempty"`
	Stale    time.Time     `json:"stale_since,omitzero"`
	Same     *bool         `json:"same,omitempty"`
	Resource *resource     `json:"resource,omitempty"`
	Why      []string      `json:"why,omitempty"`

	RawBody
}

type resource struct {
	Type string `json:"type"`
	Size int64  `json:"size"`
	URL  string `json:"url"`
}

func newObject(a *nomen.Answer) *object {
	o := &object{
		Name:       spelling(a),
		Status:     a.Status,
		Locations:  orEmpty(a.Locations),
		Metadata:   withValues(a.Metadata),
		SameAs:     orEmpty(a.Names),
		Successors: keys(a.Successors),
		Reason:     a.Reason,
		Modified:   a.Modified,
		Revision:   a.Revision,
		Service:    a.Service,
		Redirect:   a.Redirect,
		MaxAge:     seconds(a.MaxAge),
		Stale:      a.StaleSince,
		Why:        a.Why,
	}
	if a.Spelling != "" {
		o.Key = a.Name.Key()
	}
	if a.Same || a.Service == nomen.IisI {
		o.Same = &a.Same
	}
	if r := a.Resource; r != nil {
		o.Resource = &resource{r.Type, r.Size, r.URL}
	}
	o.RawBody = NewRawBody(a.Raw)
	return o
}

func (o *object) answer() (*nomen.Answer, error) {
	a := &nomen.Answer{
		Service:   o.Service,
		Status:    o.Status,
		Locations: orNil(o.Locations),
		Metadata:  withValues(o.Metadata),
		Names:     orNil(o.SameAs),
		Reason:    o.Reason,
		Redirect:  o.Redirect,
		MaxAge:    time.Duration(o.MaxAge),

		StaleSince: inUTC(o.Stale),
		Same:       o.Same != nil && *o.Same,
		Modified:   inUTC(o.Modified),
		Revision:   o.Revision,
		Why:        orNil(o.Why),
	}
	if len(a.Metadata) == 0 {
		a.Metadata = nil
	}
	a.Raw = o.raw()
	if r := o.Resource; r != nil {
		a.Resource = &nomen.Resource{Type: r.Type, Size: r.Size, URL: r.URL, Body: absent{}}
	}
	if err := setName(a, o.Name, o.Key); err != nil {
		return nil, jsonError("name", err)
	}
	var err error
	if a.Successors, err = parseNames(o.Successors); err != nil {
		return nil, jsonError("successors", err)
	}
	return a, nil
}

func jsonError(field string, err error) *Error {
	return &Error{Format: TypeJSON, Rule: field, Message: err.Error(), Err: err}
}

func setName(a *nomen.Answer, spelling, key string) error {
	if key == "" {
		key = spelling
	}
	if key == "" {
		return nil
	}
	n, err := name.Parse(key)
	if err != nil {
		return err
	}
	a.Name = n
	if spelling != n.Key() {
		a.Spelling = spelling
	}
	return nil
}

func parseNames(spellings []string) ([]name.Name, error) {
	var names []name.Name
	for _, s := range spellings {
		n, err := name.Parse(s)
		if err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return names, nil
}

func keys(names []name.Name) []string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = n.Key()
	}
	return s
}

func withValues(m nomen.Metadata) nomen.Metadata {
	c := make(nomen.Metadata, len(m))
	for element, values := range m {
		if len(values) > 0 {
			c[element] = slices.Clone(values)
		}
	}
	return c
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	return inUTC(t), err
}

func inUTC(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// absent is the body of a resource that was not sent.
type absent struct{}

func (absent) Read([]byte) (int, error) {
	return 0, errors.New("format: a description does not contain the resource")
}

func (absent) Close() error { return nil }

// locations is a list whose length is limited when it is read. The limit is necessary because a
// Location in memory can be a hundred times larger than its JSON.
type locations []nomen.Location

func (l *locations) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(err, notArray(t))
	}
	for *l = nil; d.More(); {
		if len(*l) == maxItems {
			return fmt.Errorf("more than %d locations", maxItems)
		}
		var location nomen.Location
		if err := d.Decode(&location); err != nil {
			return err
		}
		*l = append(*l, location)
	}
	return nil
}

func notArray(t json.Token) error {
	if t == nil {
		return nil
	}
	return errors.New("locations must be an array")
}

// seconds is a duration whose JSON is a number of seconds, with up to nine decimal places.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// String returns the number of seconds, such as "86400" or "0.5". For a negative duration it
// returns "0".
func (s seconds) String() string {
	whole, fraction := max(s, 0)/seconds(time.Second), max(s, 0)%seconds(time.Second)
	if fraction == 0 {
		return strconv.FormatInt(int64(whole), 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%09d", whole, fraction), "0")
}

func (s *seconds) UnmarshalJSON(b []byte) error {
	d, err := parseSeconds(string(b))
	*s = d
	return err
}

// parseSeconds parses digits, optionally followed by a decimal point and at most nine digits.
func parseSeconds(text string) (seconds, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	const digits = 9
	if len(fraction) > digits {
		return 0, fmt.Errorf("invalid number of seconds %.40q: at most nine decimal places", text)
	}
	n, err := strconv.ParseUint(whole+(fraction + "000000000")[:digits], 10, 63)
	if whole == "" || err != nil {
		return 0, fmt.Errorf("invalid number of seconds %.40q", text)
	}
	return seconds(n), nil
}

// encode writes v as JSON on one line. It escapes control characters, which a terminal would
// interpret. It does not escape characters that are special only in HTML.
func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("format: %w", err)
	}
	_, err := w.Write(shown.JSON(b.Bytes()))
	return err
}

// decode reads one JSON value into v.
func decode(r io.Reader, format string, v any) error {
	b, err := readAll(r, format)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return decodeError(format, err)
	}
	return nil
}

// decodeError returns an error of encoding/json as an Error.
func decodeError(format string, err error) *Error {
	e := &Error{Format: format, Rule: "JSON", Message: err.Error(), Err: err}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		e.Offset = int(syntax.Offset)
	case errors.As(err, &kind):
		e.Offset, e.Rule = int(kind.Offset), kind.Field
	}
	return e
}
