package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// Object identifiers (RFC 3061; Rec. ITU-T X.660 for the first two arcs).
var oid = Namespace{
	NID: "oid", Name: "Object identifiers", Kind: urn.KindFormal,
	Reference: "RFC 3061, Rec. ITU-T X.660",
	Example:   "urn:oid:1.3.6.1",
	Security:  "none beyond those of names in general",
	Rules:     Rules{Check: checkOID, Parts: partsOID, Mend: mendOID},
}

func checkOID(nss string) *Finding {
	for i, arc := 0, 0; ; arc++ {
		end := digits(nss, i)
		switch {
		case end == i:
			return wrongByte(nss, i, "number", "a digit")
		case nss[i] == '0' && end > i+1:
			f := broken(i, end, "number", "leading zero")
			f.Right = strings.TrimLeft(nss[i:end-1], "0") + nss[end-1:end]
			return f
		case arc == 0 && (end > i+1 || nss[i] > '2'):
			return broken(i, end, "X.660, first arc", "must be 0, 1 or 2")
		case arc == 1 && nss[0] != '2' && (end > i+2 || end == i+2 && nss[i] > '3'):
			return broken(i, end, "X.660, second arc", "must be at most 39 under 0 and 1")
		case end == len(nss):
			return nil
		case nss[end] != '.':
			return wrongByte(nss, end, "oid", "digits and periods")
		}
		i = end + 1
	}
}

func partsOID(nss string) []Part {
	root := [...]string{"itu-t", "iso", "joint-iso-itu-t"}
	return []Part{{"root", root[nss[0]-'0']}, {"arcs", nss}}
}
