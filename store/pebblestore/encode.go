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
		p := authorityParts(c)
		return appendParts(b, &p)
	case c.Token != nil:
		return appendToken(b, c)
	default:
		b = appendChange(b, holdsDeletion, c)
		p := deletionParts(c)
		return appendParts(b, &p)
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
	p := recordParts(c, &spelling)
	b = appendParts(b, &p)
	b = binary.AppendUvarint(b, uint64(len(r.Locations)))
	for i := range r.Locations {
		l := &r.Locations[i]
		b = appendText(b, l.URL)
		p := locationParts(l)
		b = appendParts(b, &p)
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
	p := tokenParts(c, &created)
	b = appendParts(b, &p)
	if created {
		b = binary.AppendVarint(b, c.Token.Created.UnixMilli())
	}
	return append(b, c.Token.Hash[:]...)
}

// appendParts appends the mask and the fields that are there.
func appendParts(b []byte, p *parts) []byte {
	b = binary.AppendUvarint(b, p.mask())
	for _, n := range p.numbers {
		if n != nil && *n != 0 {
			b = binary.AppendVarint(b, int64(*n))
		}
	}
	for _, s := range p.texts {
		if s != nil && *s != "" {
			b = appendText(b, *s)
		}
	}
	for _, l := range p.lists {
		if l != nil && len(*l) > 0 {
			b = appendList(b, *l)
		}
	}
	return b
}

// mask returns the bits of the fields that are there.
func (p *parts) mask() uint64 {
	var m mask
	for _, f := range p.flags {
		m.add(f != nil, f != nil && *f)
	}
	for _, n := range p.numbers {
		m.add(n != nil, n != nil && *n != 0)
	}
	for _, s := range p.texts {
		m.add(s != nil, s != nil && *s != "")
	}
	for _, l := range p.lists {
		m.add(l != nil, l != nil && len(*l) > 0)
	}
	return m.bits
}

// A mask grows by a bit for every place that is in use.
type mask struct {
	bits uint64
	n    int
}

func (m *mask) add(used, there bool) {
	if there {
		m.bits |= 1 << m.n
	}
	if used {
		m.n++
	}
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
