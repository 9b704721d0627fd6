package registrar

import (
	"fmt"
	"strings"
)

// A RefusalError is returned for a change that breaks a rule.
type RefusalError struct {
	Name    string // as given; of an authority its prefix; "" if it is about none
	Field   string // such as "locations[2].url"
	Offset  int    // of the first byte that cannot be, into the value of the field
	Rule    string // the production or rule that was broken
	Message string // in words
	Err     error  // the parser's error, if one refused it
}

const maxQuoted = 80 // bytes of a name that an error message shows

func (e *RefusalError) Error() string {
	shown := e.Name
	if len(shown) > maxQuoted {
		shown = shown[:maxQuoted] + "..."
	}
	if shown == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Why())
	}
	return fmt.Sprintf("%q: %s: %s", shown, e.Field, e.Why())
}

// Why returns the rule, the offset and the message: what is wrong with the field.
func (e *RefusalError) Why() string {
	if e.Offset > 0 {
		return fmt.Sprintf("%s, offset %d: %s", e.Rule, e.Offset, e.Message)
	}
	return e.Rule + ": " + e.Message
}

func (e *RefusalError) Unwrap() error { return e.Err }

// A DeniedError is returned for a change that the actor has no right to make.
type DeniedError struct {
	Who  string // the actor; "" for the operator
	Role Role   // that it has
	Need Role   // that it needs here
	Name string // the name or the authority's prefix
	Why  string // what is special about it; "" if nothing

	Anywhere bool // it needs the role without a limit to prefixes
}

func (e *DeniedError) Error() string {
	var b strings.Builder
	b.WriteString("permission denied")
	if e.Name != "" {
		fmt.Fprintf(&b, " for %q", e.Name)
	}
	b.WriteString(": ")
	if e.Why != "" {
		b.WriteString(e.Why + "; ")
	}
	return b.String() + e.Needs()
}

// Needs says what the actor lacks.
func (e *DeniedError) Needs() string {
	switch {
	case e.Anywhere:
		return fmt.Sprintf("this needs the role %s and a token without prefixes", e.Need)
	case e.Role < e.Need:
		return fmt.Sprintf("this needs the role %s; %q has the role %s", e.Need, e.Who, e.Role)
	}
	return fmt.Sprintf("the prefixes of the token of %q do not cover it", e.Who)
}
