package htaccess

import (
	"fmt"
	"strconv"
	"strings"
)

type flags struct {
	status   int // of R, F or G; 0 without them
	last     bool
	noEscape bool
	fold     bool
	append   bool // QSA
	discard  bool // QSD
	backrefs bool // B
}

// parseFlags parses the flags of a RewriteRule directive. The error names the first unsupported
// flag.
func parseFlags(s string) (f flags, err error) {
	if s == "" {
		return f, nil
	}
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") {
		return f, about(s, fmt.Errorf("invalid flags %q: Apache rejects the file", s))
	}
	for flag := range strings.SplitSeq(s[1:len(s)-1], ",") {
		key, value, _ := strings.Cut(strings.TrimFunc(flag, isSpace), "=")
		switch strings.ToLower(key) {
		case "":
		case "l", "last", "end":
			f.last = true
		case "ne", "noescape":
			f.noEscape = true
		case "nc", "nocase":
			f.fold = true
		case "qsa", "qsappend":
			f.append = true
		case "qsd", "qsdiscard":
			f.discard = true
		case "b":
			if f.backrefs = true; value != "" {
				return f, about(flag, fmt.Errorf("unsupported flag %s", flag))
			}
		case "f", "forbidden":
			f.status, f.last = 403, true
		case "g", "gone":
			f.status, f.last = 410, true
		case "r", "redirect":
			if f.status, err = redirectStatus(value); err != nil {
				return f, about(flag, err)
			}
		case "ns", "nosubreq", "dpi", "discardpath", "pt", "passthrough":
		default:
			return f, about(flag, fmt.Errorf("unsupported flag %s", flag))
		}
	}
	return f, nil
}

// skipFlags returns how many of the next rules the flag S skips, and whether there is a flag C.
func skipFlags(s string) (skips int, chained bool) {
	for flag := range strings.SplitSeq(strings.Trim(s, "[]"), ",") {
		key, value, _ := strings.Cut(strings.TrimFunc(flag, isSpace), "=")
		switch strings.ToLower(key) {
		case "s", "skip":
			skips, _ = strconv.Atoi(value) // other values skip nothing
		case "c", "chain":
			chained = true
		}
	}
	return skips, chained
}

func redirectStatus(s string) (int, error) {
	switch strings.ToLower(s) {
	case "":
		return 302, nil
	case "permanent":
		return 301, nil
	case "temp":
		return 302, nil
	case "seeother":
		return 303, nil
	case "gone":
		return 410, nil
	}
	n, err := strconv.Atoi(s)
	if err == nil {
		switch n {
		case 301, 302, 303, 307, 308, 403, 404, 406, 410:
			return n, nil
		}
	}
	return 0, fmt.Errorf("unsupported status %s", s)
}

func isError(status int) bool { return status >= 400 }
