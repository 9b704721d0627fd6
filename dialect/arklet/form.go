package arklet

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
)

const (
	memberARK        = "ark"
	memberNAAN       = "naan"
	memberShoulder   = "shoulder"
	memberURL        = "url"
	memberMetadata   = "metadata"
	memberCommitment = "commitment"
)

// A form is the JSON object in a request.
type form map[string]string

// readForm parses the JSON object in the body of a request. Its members are texts, numbers or null.
// If the body is not such an object, the error is an [*invalidError] with an empty form.
func readForm(r *http.Request) (form, error) {
	var given map[string]any
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&given); err != nil || given == nil || d.More() {
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			return nil, &invalidError{formErrors{{memberMetadata, "The request is too long."}}}
		}
		return nil, &invalidError{}
	}
	f := form{}
	for member, v := range given {
		switch v := v.(type) {
		case string:
			f[member] = strings.TrimSpace(v)
		case json.Number:
			f[member] = v.String()
		case nil:
		default:
			return nil, &invalidError{formErrors{{member, "Enter a text."}}}
		}
	}
	return f, nil
}

// check returns an error if required members are missing, or if the URL is invalid. It calls the
// function more to check the other members.
func (f form) check(required []string, more func(add func(member, fault string))) error {
	var all formErrors
	add := func(member, fault string) { all = append(all, formError{member, fault}) }
	for _, member := range required {
		if f[member] == "" {
			add(member, "This field is required.")
		}
	}
	more(add)
	if len(all) > 0 {
		return &invalidError{all}
	}
	return nil
}

type formError struct{ member, fault string }

type formErrors []formError

// text formats the faults as arklet does: as JSON with a space after colons and commas.
func (all formErrors) text() string {
	parts := make([]string, len(all))
	for i, e := range all {
		parts[i] = quoted(e.member) + ": [" + quoted(e.fault) + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // cannot happen
	}
	return string(b)
}

// naanPrefix returns the prefix of the ARKs with a NAAN. In arklet, NAANs are numbers; nomen also
// accepts letters.
func naanPrefix(naan string) (name.Prefix, bool) {
	if !ascii.All(naan, func(c byte) bool { return ascii.IsLetter(c) || ascii.IsDigit(c) }) {
		return name.Prefix{}, false
	}
	p, err := name.ParsePrefix("ark:" + naan)
	return p, err == nil
}

func parseARK(s string) (name.Name, string) {
	_, rest, ok := strings.Cut(s, "ark:")
	switch {
	case !ok || strings.Contains(rest, "ark:"), !strings.Contains(strings.TrimLeft(rest, "/"), "/"):
		return name.Name{}, "Invalid ARK: Not a valid ARK"
	}
	n, err := name.Parse("ark:" + strings.TrimLeft(rest, "/"))
	if err != nil {
		return name.Name{}, "Invalid ARK: Not a valid ARK"
	}
	return n, ""
}
