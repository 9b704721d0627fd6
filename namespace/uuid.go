package namespace

import (
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// Universally unique identifiers (RFC 9562, which replaces RFC 4122).
var uuid = Namespace{
	NID: "uuid", Name: "Universally unique identifiers", Kind: urn.KindFormal,
	Reference:   "RFC 9562",
	Example:     "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
	Note:        "hex digits are written in lower case",
	Security:    "not a secret: versions 1 and 6 can reveal the machine, versions 1, 6 and 7 the time; only version 4 is hard to guess",
	Equivalence: "hex digits in either case",
	Rules:       Rules{Check: checkUUID, Lint: lintUUID, Parts: partsUUID, Canonical: strings.ToLower, Mend: mendUUID},
}

const (
	nilUUID = "00000000-0000-0000-0000-000000000000"
	maxUUID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
)

func checkUUID(nss string) *Finding {
	const rule = "UUID"
	for i := range len(nss) {
		switch {
		case i >= len(nilUUID):
			return broken(i, len(nss), rule, "more than 36 characters")
		case nilUUID[i] == '-' && nss[i] != '-':
			return wrongByte(nss, i, rule, "a hyphen: the groups have 8, 4, 4, 4 and 12 hex digits")
		case nilUUID[i] != '-' && !ascii.IsHex(nss[i]):
			return wrongByte(nss, i, "hexDigit", "a hex digit")
		}
	}
	if len(nss) < len(nilUUID) {
		return broken(len(nss), len(nss), rule, "has "+strconv.Itoa(len(nss))+" characters, expected 36")
	}
	return nil
}

// variant returns the name of the variant (RFC 9562, section 4.1).
func variant(nss string) string {
	switch v := ascii.Unhex(nss[19]); {
	case v < 8:
		return "NCS"
	case v < 12:
		return "RFC 9562"
	case v < 14:
		return "Microsoft"
	}
	return "future"
}

func lintUUID(nss string) []Finding {
	s := strings.ToLower(nss)
	var found []Finding
	if s != nss {
		found = append(found, advice(0, len(nss), "UUID", "hex digits are written in lower case", s))
	}
	switch v := ascii.Unhex(nss[14]); {
	case s == nilUUID || s == maxUUID:
	case variant(s) != "RFC 9562":
		found = append(found, remark(CodeUnassigned, 19, 20, "variant", "is "+variant(s)+", not that of RFC 9562"))
	case v == 0 || v > 8:
		found = append(found, remark(CodeUnassigned, 14, 15, "version", strconv.Itoa(int(v))+" is not defined"))
	}
	return found
}

func partsUUID(nss string) []Part {
	s := strings.ToLower(nss)
	switch s {
	case nilUUID:
		return []Part{{"special", "nil"}}
	case maxUUID:
		return []Part{{"special", "max"}}
	}
	parts := []Part{{"variant", variant(s)}}
	if variant(s) != "RFC 9562" {
		return parts
	}
	parts = append(parts, Part{"version", strconv.Itoa(int(ascii.Unhex(s[14])))})
	if t, ok := timeUUID(s); ok {
		parts = append(parts, Part{"time", t.UTC().Format(time.RFC3339Nano)})
	}
	return parts
}

// timeUUID returns the time in a UUID of version 1, 6 or 7. Versions 1 and 6 count units of 100 ns
// since the start of the Gregorian calendar (RFC 9562, sections 5.1 and 5.6). Version 7 counts
// milliseconds since 1970 (section 5.7).
func timeUUID(s string) (time.Time, bool) {
	var digits string
	switch s[14] {
	case '1':
		digits = s[15:18] + s[9:13] + s[:8]
	case '6':
		digits = s[:8] + s[9:13] + s[15:18]
	case '7':
		ms, err := strconv.ParseInt(s[:8]+s[9:13], 16, 64)
		return time.UnixMilli(ms), err == nil
	default:
		return time.Time{}, false
	}
	const gregorian = 0x01B21DD213814000 // units of 100 ns from 1582-10-15 to 1970-01-01
	ticks, err := strconv.ParseInt(digits, 16, 64)
	ticks -= gregorian
	const second = 10_000_000
	return time.Unix(ticks/second, ticks%second*100), err == nil
}
