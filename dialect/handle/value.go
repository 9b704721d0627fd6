package handle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/store"
)

// A jsonValue is a value in the JSON of a response.
type jsonValue struct {
	Index       int      `json:"index"`
	Type        string   `json:"type"`
	Data        jsonData `json:"data"`
	Permissions string   `json:"permissions,omitempty"`
	TTL         any      `json:"ttl"`
	Timestamp   string   `json:"timestamp,omitempty"`
	References  any      `json:"references,omitempty"`
}

type jsonData struct {
	Format string `json:"format"`
	Value  any    `json:"value"`
}

// The formats of data.
const (
	formatString = "string"
	formatBase64 = "base64"
)

// usualPermissions are the default permissions of a value.
const usualPermissions = "1110"

func shown(v *nomen.Value) jsonValue {
	out := jsonValue{Index: v.Index, Type: v.Type, TTL: v.TTL, Timestamp: v.Timestamp}
	if v.TTL == "" {
		out.TTL = int(nomen.DefaultTTL / time.Second)
	}
	if v.Permissions != usualPermissions {
		out.Permissions = v.Permissions
	}
	if v.References != "" {
		out.References = json.RawMessage(v.References)
	}
	switch v.Format {
	case nomen.FormatText:
		out.Data = jsonData{formatString, v.Data}
	case nomen.FormatBase64:
		out.Data = jsonData{formatBase64, v.Data}
	default:
		out.Data = jsonData{v.Format, json.RawMessage(v.Data)}
	}
	return out
}

// readValues parses the body of a PUT request. The body is a value, a list of values, or an object
// with such a list. The handle in the object must be the same as in the request.
func readValues(r io.Reader, of string) ([]nomen.Value, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(body) {
		return nil, errors.New("the body is not valid UTF-8")
	}
	given, err := givenValues(bytes.TrimSpace(body), of)
	if err != nil {
		return nil, err
	}
	if len(given) > maxGiven {
		return nil, fmt.Errorf("more than %d values", maxGiven)
	}
	all, seen := make([]nomen.Value, 0, len(given)), map[int]bool{}
	for i := range given {
		v, err := given[i].Value()
		switch {
		case err != nil:
			return nil, err
		case seen[v.Index]:
			return nil, fmt.Errorf("the index %d is given twice", v.Index)
		case ascii.EqualFold(v.Type, typeSecret):
			return nil, errSecret
		}
		seen[v.Index] = true
		all = append(all, v)
	}
	return all, nil
}

const maxGiven = store.MaxRecordValues + store.MaxLocations

var errSecret = errors.New("a value of the type HS_SECKEY cannot be stored, because the history keeps it for ever: use a token of the server")

func givenValues(body []byte, of string) ([]hdl.Given, error) {
	var list []hdl.Given
	if bytes.HasPrefix(body, []byte("[")) {
		err := json.Unmarshal(body, &list)
		return list, err
	}
	var object struct {
		Handle *string
		Values []hdl.Given
		hdl.Given
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	switch {
	case object.Handle != nil && !ascii.EqualFold(*object.Handle, of):
		return nil, fmt.Errorf("the handle %.80q in the body is not the handle of the request", *object.Handle)
	case object.Values != nil:
		return object.Values, nil
	case object.Index != nil:
		return []hdl.Given{object.Given}, nil
	}
	return nil, errors.New("the body has no values")
}
