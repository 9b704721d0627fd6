package codec

import (
	"encoding/binary"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// Append appends the encoding of the change c, which [store.Plan] or [store.Change.Redact] has
// returned. Equal changes have equal encodings.
func Append(b []byte, c *store.Change) []byte {
	b = appendChange(b, c)
	switch {
	case c.Redacted:
		return b
	case c.Record != nil:
		return appendRecord(b, c)
	case c.Authority != nil:
		policy := c.Authority.Text()
		f := authorityFields(c, &policy)
		return appendFields(b, &f)
	case c.Token != nil:
		return appendToken(b, c)
	case c.User != nil:
		return appendUser(b, c)
	case c.Rights != nil:
		return appendRights(b, c)
	default:
		f := deletionFields(c)
		return appendFields(b, &f)
	}
}

func appendChange(b []byte, c *store.Change) []byte {
	version := byte(version1)
	if len(c.Redacts) > 0 || c.Redacted {
		version = version2
	}
	b = append(b, version, kindOf(c))
	b = binary.AppendUvarint(b, c.Expected)
	b = binary.AppendVarint(b, c.Time.UnixMilli())
	if version == version1 {
		return b
	}
	b = binary.AppendUvarint(b, partsOf(c))
	if len(c.Redacts) > 0 {
		b = appendRevisions(b, c.Redacts)
	}
	return b
}

func kindOf(c *store.Change) byte {
	switch {
	case c.Record != nil:
		return statusKind(c.Record.Status)
	case c.Authority != nil:
		return holdsAuthority
	case c.Token != nil:
		return holdsToken
	case c.User != nil:
		return holdsUser
	case c.Rights != nil:
		return holdsRights
	default:
		return holdsDeletion
	}
}

func partsOf(c *store.Change) (parts uint64) {
	if len(c.Redacts) > 0 {
		parts |= partRedacts
	}
	if c.Redacted {
		parts |= partRedacted
	}
	return parts
}

// appendRevisions appends a list of ascending revisions: each as the difference from the one before
// it.
func appendRevisions(b []byte, revisions []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(revisions)))
	last := uint64(0)
	for _, r := range revisions {
		b = binary.AppendUvarint(b, r-last)
		last = r
	}
	return b
}

func appendRecord(b []byte, c *store.Change) []byte {
	r := c.Record
	spelling := r.Spelling
	if spelling == r.Name.Key() {
		spelling = ""
	}
	f := recordFields(c, &spelling)
	b = appendFields(b, &f)
	b = binary.AppendUvarint(b, uint64(len(r.Locations)))
	for i := range r.Locations {
		l := &r.Locations[i]
		b = appendText(b, l.URL)
		f := locationFields(l)
		b = appendFields(b, &f)
	}
	return appendMetadata(b, r.Metadata)
}

func appendMetadata(b []byte, m nomen.Metadata) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	var room [16]string // on the stack; avoids an allocation for most records
	keys := room[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = appendText(b, k)
		b = appendList(b, m[k])
	}
	return b
}

func appendToken(b []byte, c *store.Change) []byte {
	var there [3]bool
	times := tokenTimes(c.Token)
	for i, t := range times {
		there[i] = !t.IsZero()
	}
	f := tokenFields(c, &there)
	b = appendFields(b, &f)
	for i, t := range times {
		if there[i] {
			b = binary.AppendVarint(b, t.UnixMilli())
		}
	}
	return append(b, c.Token.Hash[:]...)
}

func appendRights(b []byte, c *store.Change) []byte {
	var there [2]bool
	times := rightsTimes(c.Rights)
	for i, t := range times {
		there[i] = !t.IsZero()
	}
	f := rightsFields(c, &there)
	b = appendFields(b, &f)
	for i, t := range times {
		if there[i] {
			b = binary.AppendVarint(b, t.UnixMilli())
		}
	}
	return b
}

func appendUser(b []byte, c *store.Change) []byte {
	u := c.User
	since := !u.Since.IsZero()
	f := userFields(c, &since)
	b = appendFields(b, &f)
	if since {
		b = binary.AppendVarint(b, u.Since.UnixMilli())
	}
	b = binary.AppendUvarint(b, uint64(len(u.Grants)))
	for _, g := range u.Grants {
		b = appendText(b, g.Role)
		b = appendList(b, g.Prefixes)
	}
	return b
}

func appendFields(b []byte, f *fields) []byte {
	b = binary.AppendUvarint(b, f.mask())
	for _, field := range f {
		switch v := field.(type) {
		case nil:
			return b
		case *int:
			if *v != 0 {
				b = binary.AppendVarint(b, int64(*v))
			}
		case *string:
			if *v != "" {
				b = appendText(b, *v)
			}
		case *[]string:
			if len(*v) > 0 {
				b = appendList(b, *v)
			}
		case *[]nomen.Value:
			if len(*v) > 0 {
				b = appendValues(b, *v)
			}
		}
	}
	return b
}

func (f *fields) mask() (mask uint64) {
	for i, field := range f {
		there := false
		switch v := field.(type) {
		case nil:
			return mask
		case *bool:
			there = *v
		case *int:
			there = *v != 0
		case *string:
			there = *v != ""
		case *[]string:
			there = len(*v) > 0
		case *[]nomen.Value:
			there = len(*v) > 0
		}
		if there {
			mask |= 1 << i
		}
	}
	return mask
}

func appendValues(b []byte, values []nomen.Value) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)))
	for i := range values {
		f := valueFields(&values[i])
		b = appendFields(b, &f)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendList(b []byte, l []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(l)))
	for _, s := range l {
		b = appendText(b, s)
	}
	return b
}
