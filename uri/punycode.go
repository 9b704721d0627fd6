package uri

import (
	"strings"
	"unicode"

	"github.com/nomen-project/nomen/internal/ascii"
)

// The parameters of RFC 3492, section 5.
const (
	punyBase        = 36
	punyTMin        = 1
	punyTMax        = 26
	punySkew        = 38
	punyDamp        = 700
	punyInitialBias = 72
	punyInitialN    = 128
)

// maxPunycode is the maximum length of a label that is decoded, which is the limit for labels of
// domain names.
const maxPunycode = 63

// decodePunycode decodes the part of a label after "xn--" (RFC 3492, section 6.2).
func decodePunycode(s string) ([]rune, bool) {
	if len(s) > maxPunycode {
		return nil, false
	}
	var out []rune
	if n := strings.LastIndexByte(s, '-'); n >= 0 {
		out, s = []rune(s[:n]), s[n+1:]
	}
	i, n, bias := 0, punyInitialN, punyInitialBias
	for s != "" {
		start, weight := i, 1
		for k := punyBase; ; k += punyBase {
			if s == "" {
				return nil, false
			}
			digit := punyDigit(s[0])
			s = s[1:]
			if digit < 0 || digit > (unicode.MaxRune*len(s)+unicode.MaxRune-i)/weight+punyBase {
				return nil, false
			}
			i += digit * weight
			t := min(max(k-bias, punyTMin), punyTMax)
			if digit < t {
				break
			}
			if weight *= punyBase - t; weight > 1<<40 {
				return nil, false
			}
		}
		bias = punyAdapt(i-start, len(out)+1, start == 0)
		n += i / (len(out) + 1)
		i %= len(out) + 1
		if n > unicode.MaxRune {
			return nil, false
		}
		out = append(out, 0)
		copy(out[i+1:], out[i:])
		out[i] = rune(n)
		i++
	}
	return out, true
}

func punyDigit(c byte) int {
	switch {
	case ascii.IsLetter(c):
		return int(c|0x20) - 'a'
	case ascii.IsDigit(c):
		return int(c) - '0' + 26
	default:
		return -1
	}
}

// punyAdapt adapts the bias (RFC 3492, section 6.1).
func punyAdapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for delta > (punyBase-punyTMin)*punyTMax/2 {
		delta /= punyBase - punyTMin
		k += punyBase
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}

// confusable are scripts with letters that look alike.
var confusable = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Georgian,
}

// mixesScripts reports whether a label has letters of at least two confusable scripts.
func mixesScripts(label []rune) bool {
	seen := -1
	for _, r := range label {
		for i, table := range confusable {
			if !unicode.Is(table, r) {
				continue
			}
			if seen >= 0 && seen != i {
				return true
			}
			seen = i
		}
	}
	return false
}
