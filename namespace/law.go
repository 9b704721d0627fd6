package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// Sources of law (RFC 9676).
var lex = Namespace{
	NID: "lex", Name: "Sources of law", Kind: urn.KindFormal,
	Reference: "RFC 9676, urn-formal/lex (2022)",
	Example:   "urn:lex:it:stato:legge:2006-05-14;22",
	Note:      "the jurisdiction and the outline of the local name are checked; measures and authorities are up to the jurisdiction",
	Security:  "none beyond those of names in general",
	Rules:     Rules{Check: checkLex, Lint: lintLaw, Parts: partsLex},
}

// Sources of Italian law. The namespace is an older form of lex, and is not registered.
var nir = Namespace{
	NID: "nir", Name: "Norme in Rete: Italian law", Kind: urn.KindUnregistered,
	Reference: "AIPA circular CR/40 of 2002-01-28; Normattiva",
	Example:   "urn:nir:stato:legge:2006-05-14;22~art3",
	Note:      "no registration at IANA; urn:lex:it is its successor",
	Security:  "none beyond those of names in general",
	Rules:     Rules{Check: checkNIR, Lint: lintLaw, Parts: partsNIR},
}

func isJurisdiction(c byte) bool { return isLDH(c) || c == '.' }

// checkLex parses jurisdiction ":" local-name. The jurisdiction consists of a code and of units,
// each of which follows a semicolon.
func checkLex(nss string) *Finding {
	end := until(nss, 0, ':')
	for i := 0; ; i++ {
		stop := ascii.Run(nss, i, isJurisdiction)
		switch {
		case stop == i:
			return wrongByte(nss, i, "jurisdiction", "letters, digits, periods and hyphens")
		case i == 0 && stop < 2:
			return broken(0, stop, "jurisdiction-code", "expected at least two letters")
		case stop == end && end == len(nss):
			return broken(end, end, "local-name", "expected a colon and a local name")
		case stop == end:
			return checkLocal(nss, end+1)
		case nss[stop] != ';':
			return wrongByte(nss, stop, "jurisdiction", "letters, digits, periods, hyphens, and semicolons before units")
		}
		i = stop
	}
}

func checkNIR(nss string) *Finding { return checkLocal(nss, 0) }

// checkLocal parses a local name. It begins with the authority, measure, details and annexes, which
// are separated by colons. A version, a manifestation or a part can follow.
func checkLocal(nss string, start int) *Finding {
	work := start + len(frame(nss[start:]))
	if i := emptyField(nss[start:work], ':'); i >= 0 {
		return broken(start+i, start+i, "local-name", "empty field")
	}
	i := start
	for range 2 {
		if i = until(nss[:work], i, ':') + 1; i > work {
			return nil
		}
	}
	end := until(nss[:work], i, ';')
	if date := nss[i:until(nss[:end], i, ',')]; len(date) > 4 && digits(date, 0) == 4 && date[4] == '-' && !isDate(date) {
		return broken(i, i+len(date), "date", "is not a date of the form YYYY-MM-DD")
	}
	return nil
}

// frame returns the start of a local name, which identifies the act without a version,
// manifestation or part.
func frame(s string) string {
	if i := strings.IndexAny(s, "@$~!"); i >= 0 {
		return s[:i]
	}
	return s
}

func lintLaw(nss string) []Finding {
	for i := range len(nss) {
		if ascii.IsUpper(nss[i]) {
			return []Finding{remark(CodeForm, i, i+1, "letters", "names of this namespace are written in lower case")}
		}
	}
	return nil
}

func partsLex(nss string) []Part {
	jurisdiction, local, _ := strings.Cut(nss, ":")
	return append([]Part{{"jurisdiction", jurisdiction}}, partsNIR(local)...)
}

func partsNIR(nss string) []Part {
	act := frame(nss)
	parts := partsColon("authority", "measure", "details", "annex")(act)
	if len(act) < len(nss) {
		parts = append(parts, Part{"version or part", nss[len(act):]})
	}
	return parts
}
