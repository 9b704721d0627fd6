package mint

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
)

// Suggest returns a template that probably continues the names under the prefix p. The parameter
// last is the last existing name, or the zero name. The template has
//
//   - in urn:uuid, UUIDs of version 7;
//   - under an ark prefix, eight random characters and the check of NOID;
//   - after a name that ends in a number, a sequence that starts at this number. If the number
//     begins with 0, the sequence has the same width. If the namespace requires a check digit, the
//     template also has {check};
//   - otherwise a sequence that starts at 1.
//
// The only option that Suggest uses is Namespaces.
func Suggest(p name.Prefix, last name.Name, o Options) (Template, error) {
	switch key := p.String(); {
	case key == "urn:uuid":
		return Parse(p, "{uuid}")
	case strings.HasPrefix(key, "ark:"):
		return Parse(p, "{random:8}{check:noid}")
	}
	element := p.Element(last)
	number := tail(element, ascii.IsDigit)
	text, end := strings.TrimSuffix(element, number), ""
	if number == "" {
		text, number = "", "1"
	}
	if o.rules().demands(p.Spell(text + number)) {
		number, end = number[:len(number)-1], "{check}"
	}
	if more := len(number) - maxWidth; more > 0 {
		text, number = text+number[:more], number[more:]
	}
	if len(number) > 1 && number[0] == '0' {
		return Parse(p, fmt.Sprintf("%s{seq:%d}%s", text, len(number), end))
	}
	return Parse(p, text+"{seq}"+end)
}
