package codec

import (
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// The first byte of a value: the lowest version of the encoding that supports the content.
// Using the lowest version keeps the digest of the same content unchanged when a version is
// added. The history of versions is in docs/reference/files.md.
const (
	version1 = 1 // changes
	version2 = 2 // redacting changes, and the remains of redacted changes
)

// The parts of version 2, as bits of the number after the time.
const (
	partRedacts  = 1 << iota // revisions follow
	partRedacted             // nothing else follows
)

// The second byte of a value: its kind.
const (
	holdsActive    = 'R' // a record
	holdsReserved  = 'V'
	holdsRetired   = 'X'
	holdsDeletion  = 'D' // of a reserved name
	holdsAuthority = 'A'
	holdsToken     = 'T'
	holdsUser      = 'U'
)

// statusKind returns the kind of a record with status s.
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

// kindStatus is the inverse of statusKind; "" if kind is not a kind of record.
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

// fields are pointers to the optional parts of a value: *bool, *int, *string and *[]string,
// then nil. Each has a bit in the mask, beginning with the lowest. Those present follow the
// mask in the same order, except that a *bool is only its bit. Encoder and decoder both use
// this list. New fields must be added at the end. Then data on disk keeps its meaning, and
// older programs reject the unknown bits.
type fields [20]any

func deletionFields(c *store.Change) fields {
	return fields{&c.Who, &c.Why, &c.Batch}
}

// recordFields takes the spelling separately: it is present only if it differs from the key.
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

// authorityFields takes the policy separately, since it is stored as text.
func authorityFields(c *store.Change, policy *string) fields {
	a := c.Authority
	return fields{
		&c.Who, &c.Why, &a.Owners, &a.Hosts, &a.Addresses, &a.Default, &a.Parents, &a.Children,
		&a.Contact, &a.Description, &a.List, (*string)(&a.Service), &a.FoldCase, &a.Redirect, policy, &c.Batch,
	}
}

// tokenTimes are the times of a token. Each has a flag among the fields. Those present follow
// the fields in this order.
func tokenTimes(t *store.Token) [3]*time.Time {
	return [...]*time.Time{&t.Created, &t.Expires, &t.Used}
}

func tokenFields(c *store.Change, times *[3]bool) fields {
	t := c.Token
	return fields{&c.Who, &c.Why, &t.Revoked, &times[0], &t.Role, &t.Prefixes, &t.Who, &times[1], &times[2]}
}

// userFields takes separately whether the user has a time of addition, which follows the fields.
func userFields(c *store.Change, since *bool) fields {
	u := c.User
	return fields{&c.Who, &c.Why, &u.Name, &u.Mail, &u.Subjects, &u.Disabled, since, &c.Batch}
}

// The range of times in a value, in milliseconds: the years 1 to 9999, except the zero time.
const (
	minMillis = -62135596800000 + 1
	maxMillis = 253402300799999
)

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
