package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/urn"
)

// Digital Object Identifiers (the registration of 2023, ISO 26324).
var doi = Namespace{
	NID: "doi", Name: "Digital Object Identifiers", Kind: urn.KindFormal,
	Reference:   "urn-formal/doi (2023), ISO 26324:2022",
	Example:     "urn:doi:10.1000/456%23789",
	Note:        "the prefix is required but not checked; it normally has digits and periods",
	Security:    "the operator of the resolver decides where the name leads; the name authenticates nothing",
	Equivalence: "ASCII letters in either case; an escape stands for the character",
	Rules:       Rules{Check: checkDOI, Lint: lintDOI, Parts: partsDOI, Canonical: pid.FoldDOI, Always: true, Display: displayDOI},
}

// slashDOI returns the start and the end of the slash that separates the prefix from the suffix.
// The slash may be percent-encoded.
func slashDOI(nss string) (int, int) {
	for i := range len(nss) {
		switch {
		case nss[i] == '/':
			return i, i + 1
		case nss[i] == '%' && i+2 < len(nss) && nss[i+1] == '2' && nss[i+2]|0x20 == 'f':
			return i, i + 3
		}
	}
	return len(nss), len(nss)
}

func checkDOI(nss string) *Finding {
	end, start := slashDOI(nss)
	switch {
	case end == len(nss):
		return noSlash(nss)
	case end == 0:
		return broken(0, start, "DOI-PREFIX", "is empty")
	case start == len(nss):
		return broken(start, start, "DOI-SUFFIX", "is empty")
	}
	for i := 0; i < len(nss); i++ {
		if nss[i] != '%' {
			continue
		}
		if i+2 >= len(nss) || !ascii.IsHex(nss[i+1]) || !ascii.IsHex(nss[i+2]) {
			return broken(i, min(i+3, len(nss)), "pct-encoded", `"%" must be followed by two hex digits`)
		}
		if c := ascii.Unhex(nss[i+1])<<4 | ascii.Unhex(nss[i+2]); c < 0x20 || c == 0x7f {
			return broken(i, i+3, "DOI-CHARS", "control characters are not allowed")
		}
		i += 2
	}
	return nil
}

// noSlash returns the finding for a DOI without a slash. If the DOI has another character in place
// of the slash, the finding is about that character.
func noSlash(nss string) *Finding {
	const message = "no slash between prefix and suffix"
	at := digits(nss, min(len("10."), len(nss)))
	if strings.HasPrefix(nss, "10.") && at > len("10.") && at+1 < len(nss) && !ascii.IsAlnum(nss[at]) && nss[at] != '%' {
		f := broken(at, at+1, "DOI-NSS", message)
		f.Right = "/"
		return f
	}
	return broken(len(nss), len(nss), "DOI-NSS", message)
}

func isPrefixDOI(c byte) bool { return ascii.IsDigit(c) || c == '.' }

func lintDOI(nss string) []Finding {
	end, _ := slashDOI(nss)
	numeric := ascii.Run(nss, 0, isPrefixDOI)
	switch prefix := nss[:end]; {
	case numeric < end:
		f := remark(CodeForm, 0, end, "DOI-PREFIX", "has always been digits and periods")
		f.Right = likelyPrefix(prefix)
		return []Finding{f}
	case strings.HasPrefix(prefix, ".") || strings.HasSuffix(prefix, ".") || strings.Contains(prefix, ".."):
		return []Finding{remark(CodeForm, 0, end, "DOI-PREFIX", "has an empty part between periods")}
	}
	return nil
}

// likelyPrefix corrects a prefix that has characters other than digits and periods. It returns ""
// if it finds no correction.
func likelyPrefix(prefix string) string {
	if i := strings.LastIndex(prefix, "10."); i > 0 {
		prefix = prefix[i:]
	}
	b := []byte(strings.ReplaceAll(prefix, ",", "."))
	for i, c := range b {
		if d := digitLike(c); d != "" {
			b[i] = d[0]
		} else if !isPrefixDOI(c) {
			return ""
		}
	}
	return string(b)
}

func partsDOI(nss string) []Part {
	s := pid.FoldDOI(nss)
	prefix, suffix, _ := strings.Cut(s, "/")
	return []Part{{"prefix", prefix}, {"suffix", suffix}}
}

func displayDOI(nss string) string { return "doi:" + pid.FoldDOI(nss) }
