package codec

import (
	"encoding/binary"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// Append appends the encoding of the change c to b. The change must come from [store.Plan] or
// [store.Change.Redact]. Equal changes have equal encodings.
func Append(b []byte, c *store.Change) []byte {
	if c.Split && c.HasPrivate() {
		return appendSplit(b, c)
	}
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
	b = appendStart(b, version, c)
	if version == version1 {
		return b
	}
	return appendParts(b, c)
}

func appendStart(b []byte, version byte, c *store.Change) []byte {
	b = append(b, version, kindOf(c))
	b = binary.AppendUvarint(b, c.Expected)
	return binary.AppendVarint(b, c.Time.UnixMilli())
}

func appendParts(b []byte, c *store.Change) []byte {
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

// appendRevisions appends a list of ascending revision numbers. Each number is encoded as the
// difference from the previous number.
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
	f := recordFields(c, spellingOf(r))
	b = appendFields(b, &f)
	b = appendLocations(b, r.Locations)
	return appendMetadata(b, r.Metadata)
}

func appendLocations(b []byte, locations []nomen.Location) []byte {
	b = binary.AppendUvarint(b, uint64(len(locations)))
	for i := range locations {
		l := &locations[i]
		b = appendText(b, l.URL)
		f := locationFields(l)
		b = appendFields(b, &f)
	}
	return b
}

// appendSplit appends a value of version 3, in which public and private content are separate parts.
func appendSplit(b []byte, c *store.Change) []byte {
	b = appendParts(appendStart(b, version3, c), c)
	r := c.Record
	hidden, none := r.HidesLocations(), ""
	private := privateFields(c, new([]nomen.Value), &hidden)
	public := recordFields(c, spellingOf(r))
	public[0], public[7] = &none, &none
	if len(c.Redacts) > 0 {
		private[1] = &none
	} else {
		public[3] = &none
	}
	locations, values := r.Locations, r.Values
	if hidden {
		locations = nil
	}
	if slices.ContainsFunc(values, isPrivate) {
		values = nomen.PublicValues(values)
		secret := slices.DeleteFunc(slices.Clone(r.Values), func(v nomen.Value) bool { return v.Public() })
		private[3] = &secret
	}
	public[8] = &values
	at := len(b)
	b = appendFields(append(b, 0), &private)
	if hidden {
		b = appendLocations(b, r.Locations)
	}
	b = setLength(b, at)
	b = appendFields(b, &public)
	b = appendLocations(b, locations)
	return appendMetadata(b, r.Metadata)
}

// setLength replaces b[i] by the encoded length of the bytes after b[i].
func setLength(b []byte, i int) []byte {
	var room [binary.MaxVarintLen64]byte
	length := binary.AppendUvarint(room[:0], uint64(len(b)-i-1))
	b[i] = length[0]
	return slices.Insert(b, i+1, length[1:]...)
}

func isPrivate(v nomen.Value) bool { return !v.Public() }

// spellingOf returns the spelling of r, or "" if the spelling equals the key. Values contain it in
// this form.
func spellingOf(r *store.Record) *string {
	if r.Spelling == r.Name.Key() {
		return new(string)
	}
	return &r.Spelling
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
