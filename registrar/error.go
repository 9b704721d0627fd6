package registrar

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A RefusalError reports a change that violates a rule of this package.
type RefusalError struct {
	Name    string // the name as entered, or the prefix of an authority; "" if unknown
	Field   string // name of the field, such as "locations[2].url"
	Offset  int    // offset of the first invalid byte in the value of the field
	Rule    string // the grammar production or the rule that is violated
	Message string // what is wrong, for people to read
	Err     error  // error of the parser, if there is one
}

const maxQuoted = 80 // maximum length of a name in an error message, in bytes

func (e *RefusalError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Why())
	}
	return fmt.Sprintf("%q: %s: %s", ascii.Head(e.Name, maxQuoted), e.Field, e.Why())
}

// Why returns the rule, the offset and the message.
func (e *RefusalError) Why() string {
	if e.Offset > 0 {
		return fmt.Sprintf("%s, offset %d: %s", e.Rule, e.Offset, e.Message)
	}
	return e.Rule + ": " + e.Message
}

func (e *RefusalError) Unwrap() error { return e.Err }

// A DeniedError reports a change for which the actor has no permission.
type DeniedError struct {
	Who  string // the actor; "" for the operator
	Role Role   // role that the actor has for the name
	Need Role   // role that the change needs
	Name string // the name, or the prefix of the authority
	Why  string // why this role is needed; "" if it is obvious

	Anywhere bool // the change needs the role for all names
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

// Needs describes the permission that the actor lacks.
func (e *DeniedError) Needs() string {
	switch {
	case e.Anywhere:
		return fmt.Sprintf("this needs the role %s for all names", e.Need)
	case e.Role < e.Need:
		return fmt.Sprintf("this needs the role %s; %q has the role %s", e.Need, e.Who, e.Role)
	}
	return fmt.Sprintf("the prefixes granted to %q do not cover it", e.Who)
}
