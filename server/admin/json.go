package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func (s *API) problem(w http.ResponseWriter, err error) {
	p := adminapi.NewProblem(err)
	away := new(store.AwayError)
	isAway := errors.As(err, &away)
	switch {
	case isAway || p.Status == http.StatusInsufficientStorage:
		w.Header().Set("Retry-After", away.RetryAfter())
	case p.RetryAfter > 0:
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	if !isAway && !isTurnedOff(err) && p.Status >= http.StatusInternalServerError && !(p.Status == http.StatusInsufficientStorage && store.ConditionOf(s.store).NoWrites) {
		s.log.Error("admin request failed", "err", err)
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="nomen"`)
	}
	b, err := adminapi.Encode(p)
	if err != nil {
		http.Error(w, p.Title, p.Status)
		return
	}
	describe(w.Header(), "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(b) // after an error, the client has disconnected
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	b, err := adminapi.Encode(v)
	if err != nil {
		return err
	}
	describe(w.Header(), "application/json")
	w.WriteHeader(status)
	_, err = w.Write(b)
	return ignored(err)
}

func describe(h http.Header, mediaType string) {
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// ignored ignores an error of writing to a client, which means that the client has disconnected.
func ignored(error) error { return nil }

func readJSON(c *call, v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, adminapi.MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &store.LimitError{What: "body", Size: adminapi.MaxBody + 1, Limit: adminapi.MaxBody}
	case err != nil:
		return &adminapi.RequestError{Message: "request body truncated"}
	}
	if string(bytes.TrimSpace(body)) == "null" { // null would leave v unchanged
		return positionError(body, 0, "", "must be an object, not null")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return jsonError(body, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return positionError(body, d.InputOffset(), "", "unexpected data after the object")
	}
	return nil
}

func jsonError(body []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var bad *name.Error
	switch {
	case errors.As(err, &bad):
		return bad
	case errors.As(err, &syntax):
		return positionError(body, syntax.Offset, "", syntax.Error())
	case errors.As(err, &kind):
		return positionError(body, kind.Offset, strings.TrimPrefix(kind.Field, "Policy."), fmt.Sprintf("must be %s, not %s", jsonType(kind.Type), kind.Value))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return positionError(body, int64(len(body)), "", "the object is truncated")
	}
	return positionError(body, offset, "", strings.TrimPrefix(err.Error(), "json: "))
}

// jsonType returns the JSON type for a Go type.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "an object"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	}
	return "a whole number"
}

func positionError(body []byte, offset int64, field, message string) error {
	before := body[:min(max(offset-1, 0), int64(len(body)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return &adminapi.RequestError{Line: line, Column: column, Field: field, Message: message}
}

// isTurnedOff reports whether an error means that a feature is disabled in the configuration, such
// as the checks of links.
func isTurnedOff(err error) bool {
	var status *adminapi.StatusError
	if !errors.As(err, &status) {
		return false
	}
	switch status.Kind {
	case adminapi.KindNoLinks, adminapi.KindNoArchive, adminapi.KindNoReports:
		return true
	}
	return false
}
