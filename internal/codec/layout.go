package codec

import (
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// The first byte of a value: the version of its encoding, the lowest that has
// what is to be written, so that content keeps its digest. Their history is in
// docs/reference/files.md.
const (
	version1 = 1 // changes
	version2 = 2 // changes that redact, and what is left of those that were redacted
)

// The parts of version 2, by the bits of the number that follows the time.
const (
	partRedacts  = 1 << iota // revisions follow
	partRedacted             // and nothing else does
)

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

// fields are pointers to the parts of a value that may be absent: *bool, *int,
// *string and *[]string, then nil. Each has a bit in the mask of the value, the
// first one the lowest; those that are there follow the mask in the same order,
// but for the *bool, whose bit is all. Encoder and decoder both go by them. New
// ones may be added after the others: what is on disk keeps its meaning, and an
// older program refuses the bits that it does not know.
type fields [20]any

func deletionFields(c *store.Change) fields {
	return fields{&c.Who, &c.Why, &c.Batch}
}

// recordFields has the spelling apart: it is there only if it is not the key.
func recordFields(c *store.Change, spelling *string) fields {
	r := c.Record
	return fields{&c.Who, spelling, &r.SameAs, &c.Why, &r.Reason, &r.Successors, &r.ShowLocations, &c.Batch}
}

func locationFields(l *nomen.Location) fields {
	return fields{
		&l.Type, &l.Priority, &l.Lang, &l.Rel, &l.Weight, &l.Note, &l.Country,
		&l.Component, &l.Charset, &l.ValidFrom, &l.ValidUntil, &l.Down,
	}
}

// authorityFields has the policy apart, which is kept as text.
func authorityFields(c *store.Change, policy *string) fields {
	a := c.Authority
	return fields{
		&c.Who, &c.Why, &a.Owners, &a.Hosts, &a.Addresses, &a.Default, &a.Parents, &a.Children,
		&a.Contact, &a.Description, &a.List, (*string)(&a.Service), &a.FoldCase, &a.Redirect, policy, &c.Batch,
	}
}

// tokenTimes are the times of a token. Each has a flag among the fields; those that are
// there follow the fields in this order.
func tokenTimes(t *store.Token) [3]*time.Time {
	return [...]*time.Time{&t.Created, &t.Expires, &t.Used}
}

func tokenFields(c *store.Change, times *[3]bool) fields {
	t := c.Token
	return fields{&c.Who, &c.Why, &t.Revoked, &times[0], &t.Role, &t.Prefixes, &t.Who, &times[1], &times[2]}
}

// The times that a value may have, in milliseconds: those of the years 1 to
// 9999 but for the zero time.
const (
	minMillis = -62135596800000 + 1
	maxMillis = 253402300799999
)

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
