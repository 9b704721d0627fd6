package handle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/hdl"
)

// An answer is a response of the JSON API.
type answer struct {
	ResponseCode *int        `json:"responseCode"`
	Handle       string      `json:"handle"`
	Values       []jsonValue `json:"values"`
}

type jsonValue struct {
	hdl.Given
	Timestamp string `json:"timestamp"`
}

const codeSuccess = 1

// readJSON reads a file with one response per line.
func readJSON(ctx context.Context, in *from.Input, out *from.Output) error {
	w := newWindow(ctx, in, out)
	return eachLine(in, func(line int, text string, tooLong bool) error {
		text = strings.TrimSpace(text)
		switch {
		case tooLong:
			out.RefuseAt(line, 1, "", fmt.Sprintf("the line is longer than %d bytes", maxLine))
		case text != "":
			return w.answer(line, text)
		}
		return ctx.Err()
	})
}

func (w *window) answer(line int, text string) error {
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		column, reason := jsonReason(err)
		w.out.RefuseAt(line, column, a.Handle, reason)
		return nil
	}
	if a.Handle == "" || a.ResponseCode != nil && *a.ResponseCode != codeSuccess {
		w.out.RefuseAt(line, 1, a.Handle, "not the response for a handle that was found: want responseCode 1, handle and values")
		return nil
	}
	empty, err := w.empty(a.Handle)
	if err != nil {
		w.out.RefuseAt(line, 1, a.Handle, err.Error())
		return nil
	}
	s := &state{line: line, record: empty, exists: true}
	var faults []string
	for i := range a.Values {
		if reason := w.jsonValue(s, &a.Values[i]); reason != "" {
			faults = append(faults, reason)
		}
	}
	if err := w.write(s); err != nil {
		return err
	}
	if w.size = 0; faults == nil {
		w.out.Handled(1)
		return nil
	}
	w.out.RefuseAt(line, 1, a.Handle, "imported without these values: "+strings.Join(faults, "; "))
	return nil
}

func jsonReason(err error) (column int, reason string) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return int(syntax.Offset), fmt.Sprintf("invalid JSON: %v (each line must have one response)", err)
	case errors.As(err, &kind):
		return int(kind.Offset), fmt.Sprintf("%s must not be a %s", strings.ReplaceAll(kind.Field, "Given.", ""), kind.Value)
	}
	return 0, err.Error()
}

// jsonValue adds a value to a handle. If the value cannot be added, the result is the reason, and
// otherwise "".
func (w *window) jsonValue(s *state, given *jsonValue) string {
	index := "?"
	if given.Index != nil {
		index = strconv.Itoa(*given.Index)
	}
	v, err := given.value()
	if err == nil {
		err = w.put(s, v, false)
	}
	if err != nil {
		return "value " + index + ": " + err.Error()
	}
	return ""
}

// value converts j to a typed value. It keeps the permissions and the timestamp of the old server.
func (j *jsonValue) value() (nomen.Value, error) {
	if j.Type != nil && isSecret(*j.Type) {
		return nomen.Value{}, errors.New(secretReason)
	}
	v, err := j.Value()
	if err != nil {
		return v, err
	}
	var permissions string
	if json.Unmarshal(j.Permissions, &permissions) == nil { // in a response, four digits are all rights
		if exact, ok := hdl.Permissions(permissions); ok {
			v.Permissions = exact
		}
	}
	if _, err := time.Parse(time.RFC3339, j.Timestamp); err == nil {
		v.Timestamp = j.Timestamp
	} else if j.Timestamp != "" {
		return v, fmt.Errorf("invalid timestamp %.40q", j.Timestamp)
	}
	return v, nil
}
