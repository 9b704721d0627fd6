package pebblestore

import (
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// codecVersion is the first byte of every value. Its history is in
// docs/formats.md.
const codecVersion = 1

// The second byte of a value: what it holds.
const (
	holdsActive    = 'R' // a record
	holdsReserved  = 'V'
	holdsRetired   = 'X'
	holdsDeletion  = 'D' // of a reserved name
	holdsAuthority = 'A'
	holdsToken     = 'T'
)

// statusKind returns the byte for a record in state s.
func statusKind(s nomen.Status) byte {
	switch s {
	case nomen.Reserved:
		return holdsReserved
	case nomen.Retired:
		return holdsRetired
	default:
		return holdsActive
	}
}

// kindStatus is the inverse of statusKind; "" if kind is no record's.
func kindStatus(kind byte) nomen.Status {
	switch kind {
	case holdsReserved:
		return nomen.Reserved
	case holdsActive:
		return nomen.Active
	case holdsRetired:
		return nomen.Retired
	default:
		return ""
	}
}

// parts are the fields of a value that may be absent. Each has a bit in the
// value's mask, the first field the lowest; fields that are there follow the
// mask in the same order. Unused places are nil and have no bit. Encoder and
// decoder both go by them.
type parts struct {
	flags   [3]*bool // the bit is all
	numbers [2]*int
	texts   [9]*string
	lists   [5]*[]string
}

func deletionParts(c *store.Change) parts {
	return parts{texts: [9]*string{&c.Who, &c.Why}}
}

// recordParts leaves out the spelling, which is there only when it is not the
// key.
func recordParts(c *store.Change, spelling *string) parts {
	return parts{
		texts: [9]*string{&c.Who, spelling, &c.Why, &c.Record.Reason},
		lists: [5]*[]string{&c.Record.SameAs, &c.Record.Successors},
	}
}

func locationParts(l *nomen.Location) parts {
	return parts{
		numbers: [2]*int{&l.Priority, &l.Weight},
		texts: [9]*string{
			&l.Type, &l.Lang, &l.Rel, &l.Country, &l.Note,
			&l.Component, &l.Charset, &l.ValidFrom, &l.ValidUntil,
		},
	}
}

func authorityParts(c *store.Change) parts {
	a := c.Authority
	return parts{
		flags:   [3]*bool{&a.Default, &a.List, &a.FoldCase},
		numbers: [2]*int{&a.Redirect},
		texts:   [9]*string{&c.Who, &c.Why, &a.Contact, &a.Description, (*string)(&a.Service)},
		lists:   [5]*[]string{&a.Owners, &a.Hosts, &a.Addresses, &a.Parents, &a.Children},
	}
}

func tokenParts(c *store.Change, created *bool) parts {
	t := c.Token
	return parts{
		flags: [3]*bool{&t.Revoked, created},
		texts: [9]*string{&c.Who, &c.Why, &t.Role, &t.Who},
		lists: [5]*[]string{&t.Prefixes},
	}
}

// The times that a value may have, in milliseconds: those of the years 1 to
// 9999 but for the zero time.
const (
	minMillis = -62135596800000 + 1
	maxMillis = 253402300799999
)

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
