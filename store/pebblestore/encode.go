package pebblestore

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// appendValue appends the value of c, a change as [store.Plan] made it.
func appendValue(b []byte, c *store.Change) []byte {
	switch {
	case c.Record != nil:
		return appendRecord(b, c)
	case c.Authority != nil:
		b = appendChange(b, holdsAuthority, c)
		f := authorityFields(c)
		return appendFields(b, &f)
	case c.Token != nil:
		return appendToken(b, c)
	default:
		b = appendChange(b, holdsDeletion, c)
		f := deletionFields(c)
		return appendFields(b, &f)
	}
}

// appendChange appends what every value begins with.
func appendChange(b []byte, kind byte, c *store.Change) []byte {
	b = append(b, codecVersion, kind)
	b = binary.AppendUvarint(b, c.Expected)
	return binary.AppendVarint(b, c.Time.UnixMilli())
}

func appendRecord(b []byte, c *store.Change) []byte {
	r := c.Record
	spelling := r.Spelling
	if spelling == r.Name.Key() {
		spelling = ""
	}
	b = appendChange(b, statusKind(r.Status), c)
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
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = appendText(b, k)
		b = appendList(b, m[k])
	}
	return b
}

func appendToken(b []byte, c *store.Change) []byte {
	created := !c.Token.Created.IsZero()
	b = appendChange(b, holdsToken, c)
	f := tokenFields(c, &created)
	b = appendFields(b, &f)
	if created {
		b = binary.AppendVarint(b, c.Token.Created.UnixMilli())
	}
	return append(b, c.Token.Hash[:]...)
}

// appendFields appends the mask and the fields that are there.
func appendFields(b []byte, f *fields) []byte {
	b = binary.AppendUvarint(b, f.mask())
	for _, field := range f {
		switch v := field.(type) {
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
		}
	}
	return b
}

// mask returns the bits of the fields that are there.
func (f *fields) mask() (mask uint64) {
	for i, field := range f {
		there := false
		switch v := field.(type) {
		case *bool:
			there = *v
		case *int:
			there = *v != 0
		case *string:
			there = *v != ""
		case *[]string:
			there = len(*v) > 0
		}
		if there {
			mask |= 1 << i
		}
	}
	return mask
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
