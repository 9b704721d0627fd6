package discover

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Services is the parsed service field of a rule. It has a protocol and the services that a
// resolver offers with this protocol.
type Services struct {
	Protocol string   // in lower case, or ""
	Names    []string // known services in the spelling of RFC 2483, others as in the field
}

// services maps service names in rules to the names in RFC 2483. The keys are in upper case. The
// names that begin with N2 or L2 come from RFC 2169.
var services = map[string]string{
	"I2L": "I2L", "I2LS": "I2Ls", "I2R": "I2R", "I2RS": "I2Rs", "I2C": "I2C", "I2CS": "I2Cs", "I2N": "I2N", "I2NS": "I2Ns",
	"N2L": "I2L", "N2LS": "I2Ls", "N2R": "I2R", "N2RS": "I2Rs", "N2C": "I2C", "N2NS": "I2Ns",
	"L2L": "I2L", "L2LS": "I2Ls", "L2R": "I2R", "L2RS": "I2Rs", "L2C": "I2C", "L2N": "I2N", "L2NS": "I2Ns",
}

// maxToken is the maximum length of the name of a protocol or a service (RFC 3404, section 4.4).
const maxToken = 32

// ParseServices parses a service field (RFC 3404, section 4.4; RFC 2915, section 2):
//
//	service_field = [ [protocol] *("+" rs) ]
//
// Later applications of DDDS write the protocol after the services. ParseServices also accepts this
// order. If the first word is a known service and the last word is not, the last word is the
// protocol. If the field is invalid, the error is an [*Error].
func ParseServices(field string) (Services, error) {
	var s Services
	if field == "" {
		return s, nil
	}
	words := strings.Split(field, "+")
	at := 0
	for i, w := range words {
		if n := wordLength(w); n < len(w) || w == "" && i > 0 {
			return Services{}, refuse(field, at+n, "service_field", "expected a letter followed by at most %d letters and digits", maxToken-1)
		}
		at += len(w) + 1
	}
	last := len(words) - 1
	if last > 0 && isService(words[0]) && !isService(words[last]) {
		s.Protocol, words = words[last], words[:last]
	} else {
		s.Protocol, words = words[0], words[1:]
	}
	s.Protocol = strings.ToLower(s.Protocol)
	for _, w := range words {
		if known, ok := services[strings.ToUpper(w)]; ok {
			w = known
		}
		s.Names = append(s.Names, w)
	}
	return s, nil
}

// wordLength returns the number of bytes at the start of w that match ALPHA *31ALPHANUM.
func wordLength(w string) int {
	for i := range len(w) {
		if i == maxToken || !ascii.IsLetter(w[i]) && (i == 0 || !ascii.IsDigit(w[i])) {
			return i
		}
	}
	return len(w)
}

func isService(w string) bool { return services[strings.ToUpper(w)] != "" }

// Known returns the services that RFC 2483 defines, without duplicates. It returns nil if s has no
// such services.
func (s Services) Known() []string {
	var known []string
	seen := map[string]bool{}
	for _, n := range s.Names {
		if services[strings.ToUpper(n)] == n && !seen[n] {
			seen[n] = true
			known = append(known, n)
		}
	}
	return known
}

// String returns the service field, with the protocol before the services as in RFC 3404.
func (s Services) String() string {
	return strings.Join(append([]string{s.Protocol}, s.Names...), "+")
}
