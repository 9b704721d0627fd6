package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// The namespace of Canonical Text Services identifies passages of texts. It is not registered.
var cts = Namespace{
	NID: "cts", Name: "Canonical Text Services", Kind: urn.KindUnregistered,
	Reference: "CTS URN Specification 5.0.rc.2, Homer Multitext project",
	Example:   "urn:cts:latinLit:phi0472.phi001.perseus-lat2:39",
	Note:      "no registration at IANA",
	Security:  "none beyond those of names in general",
	Rules:     Rules{Check: checkCTS, Parts: partsCTS},
}

func checkCTS(nss string) *Finding {
	end := until(nss, 0, ':')
	switch {
	case end == 0:
		return broken(0, 0, "namespace", "is empty")
	case end == len(nss):
		return broken(end, end, "work", "expected a colon and a work")
	}
	start := end + 1
	end = until(nss, start, ':')
	levels := strings.Count(nss[start:end], ".")
	switch {
	case start == end && end < len(nss):
		return broken(start, start, "work", "is empty")
	case start < end && levels > 3:
		return broken(start, end, "work", "more than text group, work, version and exemplar")
	case start < end && emptyField(nss[start:end], '.') >= 0:
		i := start + emptyField(nss[start:end], '.')
		return broken(i, i, "work", "empty part between periods")
	}
	if end < len(nss) {
		return checkPassage(nss, end+1)
	}
	return nil
}

// checkPassage parses a passage at offset i. A passage is a reference, or a range of two references
// with a hyphen between them. A reference can end with "@" and words of the text.
func checkPassage(nss string, i int) *Finding {
	if colon := until(nss, i, ':'); colon < len(nss) {
		return broken(colon, colon+1, "passage", "the passage must be the last field")
	}
	for n := 0; i < len(nss) || n == 1; n++ {
		end := until(nss, i, '-')
		ref := nss[i:until(nss[:end], i, '@')]
		switch at := emptyField(ref, '.'); {
		case n > 1:
			return broken(i-1, len(nss), "passage", "a range must have two ends")
		case at >= 0:
			return broken(i+at, i+at, "passage", "empty reference")
		}
		if end == len(nss) {
			return nil
		}
		i = end + 1
	}
	return nil
}

func partsCTS(nss string) []Part {
	collection, rest, _ := strings.Cut(nss, ":")
	work, passage, ok := strings.Cut(rest, ":")
	parts := []Part{{"namespace", collection}}
	names := [...]string{"textgroup", "work", "version", "exemplar"}
	for i, p := range strings.Split(work, ".") {
		parts = append(parts, Part{names[i], p})
	}
	if ok {
		parts = append(parts, Part{"passage", passage})
	}
	return parts
}
