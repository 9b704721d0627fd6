package uri

// A Level is a rung of the ladder of normalisation and comparison (2003 and
// RFC 3986, section 6). Each includes those before it.
type Level uint8

// The levels.
const (
	LevelString  Level = iota // nothing is changed
	LevelCase                 // scheme and host in lower case, hexadecimal digits in upper case
	LevelPercent              // needless escapes decoded
	LevelPath                 // dot segments removed
	LevelScheme               // what the scheme says to be the same
)

// String returns the name of the level on the command line.
func (l Level) String() string {
	switch l {
	case LevelString:
		return "string"
	case LevelCase:
		return "case"
	case LevelPercent:
		return "percent"
	case LevelPath:
		return "path"
	case LevelScheme:
		return "scheme"
	default:
		return "unknown"
	}
}

// SchemeRules are the rules of a scheme that make different spellings the same
// (RFC 3986, 6.2.3). The zero SchemeRules has none.
type SchemeRules struct {
	Scheme      string // in lower case
	DefaultPort string // is the same as none
	RootPath    bool   // an empty path after an authority is the same as "/"
}

// Normalize returns the normal form of u at a level; u itself if it is normal
// already. The rules are for [LevelScheme]; those of the scheme of u are used.
// Without them that level only removes an empty port.
//
// A path without a leading slash is not searched for dot segments: nothing is
// known to be a hierarchy there. Neither is that of a relative reference.
func (u URI) Normalize(l Level, rules ...SchemeRules) URI {
	if l == LevelString || !u.IsValid() {
		return u
	}
	var buf [512]byte
	b := appendNormal(buf[:0], u, l, rules)
	if string(b) == u.s {
		return u
	}
	v, err := u.dialect.ParseReference(string(b))
	if err != nil { // cannot be, and must not be hidden by a wrong value
		return u
	}
	return v
}

func appendNormal(b []byte, u URI, l Level, rules []SchemeRules) []byte {
	r := findRules(u, l, rules)
	b = appendLower(b, u.s[:u.afterScheme()])
	if u.path > u.afterScheme() {
		b = append(b, "//"...)
		b = appendEscaped(b, u.dialect, u.s[u.afterScheme()+2:u.host], l)
		start := len(b)
		b = appendEscaped(b, u.dialect, u.s[u.host:u.hostEnd], l)
		lowerHost(b[start:])
		if p, ok := u.Port(); ok && (l < LevelScheme || p != "" && p != r.DefaultPort) {
			b = append(append(b, ':'), p...)
		}
	}
	b = appendNormalPath(b, u, l, r)
	return appendEscaped(b, u.dialect, u.s[u.query:], l)
}

func appendNormalPath(b []byte, u URI, l Level, r SchemeRules) []byte {
	start := len(b)
	b = appendEscaped(b, u.dialect, u.Path(), l)
	authority := u.path > u.afterScheme()
	if l >= LevelPath && u.scheme != 0 && len(b) > start && b[start] == '/' {
		path := string(b[start:])
		b = appendCleanPath(b[:start], authority, "", path)
	}
	if len(b) == start && r.RootPath && authority {
		b = append(b, '/')
	}
	return b
}

func findRules(u URI, l Level, rules []SchemeRules) SchemeRules {
	if l >= LevelScheme {
		for _, r := range rules {
			if equalFold(r.Scheme, u.s[:u.scheme]) {
				return r
			}
		}
	}
	return SchemeRules{}
}

// appendEscaped appends raw text with its escapes in normal form.
func appendEscaped(b []byte, d Dialect, s string, l Level) []byte {
	t := &classes[d]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '%' {
			b = append(b, c)
			continue
		}
		c = unhex(s[i+1])<<4 | unhex(s[i+2])
		i += 2
		if l >= LevelPercent && t[c]&safeBare != 0 {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b
}

// lowerHost brings a host into lower case, except for the digits of escapes.
func lowerHost(b []byte) {
	for i := 0; i < len(b); i++ {
		if b[i] == '%' {
			i += 2
			continue
		}
		b[i] = lower(b[i])
	}
}

func appendLower(b []byte, s string) []byte {
	for i := range len(s) {
		b = append(b, lower(s[i]))
	}
	return b
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}
