package namespace

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// International Standard Audiovisual Numbers (RFC 4246, ISO 15706).
var isan = Namespace{
	NID: "isan", Name: "International Standard Audiovisual Number", Kind: urn.KindFormal,
	Reference:   "RFC 4246, ISO 15706-1 and 15706-2",
	Example:     "urn:isan:0000-0001-8947-0000-8-0000-0000-D",
	Note:        "16 hex digits identify a work, 24 a version of it",
	Security:    "a number identifies a work or version, not a copy of it",
	Equivalence: "hyphens and check characters may be missing; hex digits in either case",
	Rules:       Rules{Check: checkISAN, Parts: partsISAN, Canonical: canonicalISAN, Display: displayISAN, Mend: mendAlnum},
}

// isanLayout returns the layout of an ISAN with n characters, not counting hyphens. The result
// checks is true if check characters follow the 16th and the 24th digit. The result ok is false if
// n is not a valid length.
func isanLayout(n int) (checks, ok bool) {
	return n == 17 || n == 26, n == 16 || n == 17 || n == 24 || n == 26
}

func checkISAN(nss string) *Finding {
	var d [26]byte
	n, bad := squeeze(nss, d[:])
	switch {
	case bad >= 0 && n == len(d) && ascii.IsAlnum(nss[bad]):
		return broken(bad, len(nss), "ISAN", "more than 24 digits and 2 check characters")
	case bad >= 0:
		return wrongByte(nss, bad, "ISAN", "hex digits, with single hyphens between them")
	}
	checks, ok := isanLayout(n)
	if !ok {
		return broken(len(nss), len(nss), "ISAN", "has "+strconv.Itoa(n)+" characters, expected 16 or 24, with check characters 17 or 26")
	}
	for i, c := range d[:n] {
		if !ascii.IsHex(c) && (!checks || i != 16 && i != 25) {
			return wrongByte(nss, place(nss, i), "ISAN", "a hex digit")
		}
	}
	if !checks {
		return nil
	}
	return checksISAN(nss, d, n)
}

func checksISAN(nss string, d [26]byte, n int) *Finding {
	const rule = "ISAN check character (ISO/IEC 7064, MOD 37,36)"
	if f := judgeCheck(nss, 16, rule, d[16], mod37hybrid36(d[:16])); f != nil || n == 17 {
		return f
	}
	got := d[25]
	copy(d[16:], d[17:25])
	return judgeCheck(nss, 25, rule, got, mod37hybrid36(d[:24]))
}

// canonicalISAN returns the hexadecimal digits, without check characters and hyphens.
func canonicalISAN(nss string) string {
	d := bare(nss)
	switch len(d) {
	case 17:
		return d[:16]
	case 26:
		return d[:16] + d[17:25]
	}
	return d
}

func partsISAN(nss string) []Part {
	d := canonicalISAN(nss)
	parts := []Part{{"root", d[:12]}, {"episode", d[12:16]}}
	if len(d) == 24 {
		parts = append(parts, Part{"version", d[16:]})
	}
	return parts
}

func displayISAN(nss string) string {
	d := canonicalISAN(nss)
	groups := []string{d[:4], d[4:8], d[8:12], d[12:16], string(rune(mod37hybrid36([]byte(d[:16]))))}
	if len(d) == 24 {
		groups = append(groups, d[16:20], d[20:], string(rune(mod37hybrid36([]byte(d)))))
	}
	return strings.Join(groups, "-")
}
