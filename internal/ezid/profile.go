package ezid

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/anvl"
)

// The profiles whose elements set metadata.
const (
	erc      = "erc"
	dc       = "dc"
	datacite = "datacite"
)

// fields returns the elements of Dublin Core (RFC 5013). It begins with the elements that several
// profiles have.
func fields() []string {
	return []string{
		"creator", "title", "publisher", "date", "type",
		"subject", "description", "contributor", "format", "identifier", "source", "language", "relation", "coverage", "rights",
	}
}

func labelOf(profile, field string) string {
	labels := map[string]string{}
	switch profile {
	case dc:
		return "dc." + field
	case erc:
		labels = map[string]string{"creator": "who", "title": "what", "date": "when"}
	case datacite:
		labels = map[string]string{"creator": "creator", "title": "title", "publisher": "publisher", "date": "publicationyear", "type": "resourcetype"}
	}
	if label := labels[field]; label != "" {
		return profile + "." + label
	}
	return ""
}

// ranked returns the profiles whose elements set metadata, beginning with the given profile.
func ranked(profile string) []string {
	all := []string{erc, dc, datacite}
	if i := slices.Index(all, profile); i > 0 {
		all = append([]string{profile}, slices.Delete(all, i, i+1)...)
	}
	return all
}

func fieldsOf(label string) []string {
	if label == erc || label == dc || label == datacite {
		return fields()
	}
	profile, _, _ := strings.Cut(label, ".")
	for _, field := range fields() {
		if labelOf(profile, field) == label {
			return []string{field}
		}
	}
	return nil
}

func (e Elements) metadata(profile string) nomen.Metadata {
	m := nomen.Metadata{}
	for _, p := range ranked(profile) {
		block := e.block(p)
		for _, field := range fields() {
			values := block[field]
			if values == nil {
				values = known(e[labelOf(p, field)])
			}
			if m[field] == nil && values != nil {
				m[field] = values
			}
		}
	}
	return m
}

func (e Elements) block(profile string) nomen.Metadata {
	text := e[profile]
	if text == "" {
		return nil
	}
	if profile != erc {
		return readXML(text)
	}
	m := nomen.Metadata{}
	all, err := anvl.Parse(text)
	if err != nil {
		return nil
	}
	for _, el := range all {
		for _, field := range fieldsOf(erc + "." + el.Label) {
			m[field] = known(el.Value)
		}
	}
	return m
}

// known returns a value as a list. The list is nil if the value is empty, or if it is only a code
// such as (:unav), which gives the reason for which the value is unknown.
func known(value string) []string {
	if value == "" || strings.HasPrefix(value, "(:") && strings.IndexByte(value, ')') == len(value)-1 {
		return nil
	}
	return []string{value}
}
