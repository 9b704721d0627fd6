package codec

import (
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// Versions of the encoding, the first byte of a value. Each value has the lowest version that
// supports its content. A program with more versions therefore computes the same digests. The
// history of the versions is in docs/reference/files.md.
const (
	version1 = 1 // changes that neither redact nor are redacted
	version2 = 2 // changes that redact others, and what remains of redacted changes
	version3 = 3 // changes of records whose digest is split
)

// Flags for the optional parts of a value of version 2. The number after the time is a combination
// of them.
const (
	partRedacts  = 1 << iota // revisions follow
	partRedacted             // nothing else follows
)

// Kinds of values, the second byte of a value.
const (
	holdsActive    = 'R' // an active record
	holdsReserved  = 'V'
	holdsRetired   = 'X'
	holdsDeletion  = 'D' // deletion of a reserved name
	holdsAuthority = 'A'
	holdsToken     = 'T'
	holdsUser      = 'U'
	holdsRights    = 'G' // the rights of a token
)

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

// kindStatus is the inverse of statusKind. For a kind that is not a record, kindStatus returns "".
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

// fields has pointers to the optional fields of a value, each a *bool, *int, *string, *[]string or
// *[]nomen.Value. Unused elements are nil. A value begins the fields with a bit mask, in which the
// first field has the lowest bit. The data of the fields whose bits are set follows in the order of
// the array. A *bool is encoded by its bit alone. Encoder and decoder share the array. New fields
// must be added at the end, so that stored data keeps its meaning. Older programs reject bits that
// they do not know.
type fields [20]any

func deletionFields(c *store.Change) fields {
	return fields{&c.Who, &c.Why, &c.Batch}
}

// recordFields returns the fields of a record. The spelling is a separate parameter, because it is
// stored only if it differs from the key.
func recordFields(c *store.Change, spelling *string) fields {
	r := c.Record
	return fields{&c.Who, spelling, &r.SameAs, &c.Why, &r.Reason, &r.Successors, &r.ShowLocations, &c.Batch, &r.Values}
}

// privateFields returns the fields of the private part of a value of version 3. The flag *locations
// says whether the locations follow the fields.
func privateFields(c *store.Change, values *[]nomen.Value, locations *bool) fields {
	return fields{&c.Who, &c.Why, &c.Batch, values, locations}
}

func locationFields(l *nomen.Location) fields {
	return fields{
		&l.Type, &l.Priority, &l.Lang, &l.Rel, &l.Weight, &l.Note, &l.Country,
		&l.Component, &l.Charset, &l.ValidFrom, &l.ValidUntil, &l.Down, &l.Index, &l.Attributes,
	}
}

func valueFields(v *nomen.Value) fields {
	return fields{&v.Index, &v.Type, &v.Data, &v.Format, (*string)(&v.TTL), &v.Permissions, &v.Timestamp, &v.References}
}

// authorityFields returns the fields of a naming authority. The policy is a separate parameter,
// because it is stored as text.
func authorityFields(c *store.Change, policy *string) fields {
	a := c.Authority
	return fields{
		&c.Who, &c.Why, &a.Owners, &a.Hosts, &a.Addresses, &a.Default, &a.Parents, &a.Children,
		&a.Contact, &a.Description, &a.List, (*string)(&a.Service), &a.FoldCase, &a.Redirect, policy, &c.Batch,
	}
}

// tokenTimes returns the times of a token in the order in which they are encoded. The times follow
// the fields of the token. Zero times are omitted: the fields contain a bool for every time, which
// says whether it is present.
func tokenTimes(t *store.Token) [3]*time.Time {
	return [...]*time.Time{&t.Created, &t.Expires, &t.Used}
}

func tokenFields(c *store.Change, times *[3]bool) fields {
	t := c.Token
	return fields{&c.Who, &c.Why, &t.Revoked, &times[0], &t.Role, &t.Prefixes, &t.Who, &times[1], &times[2]}
}

// rightsTimes is like tokenTimes, for the rights of a token.
func rightsTimes(r *store.TokenRights) [2]*time.Time {
	return [...]*time.Time{&r.Created, &r.Expires}
}

func rightsFields(c *store.Change, times *[2]bool) fields {
	r := c.Rights
	return fields{&c.Who, &c.Why, &r.Revoked, &times[0], &r.Role, &r.Prefixes, &r.Who, &times[1]}
}

// userFields returns the fields of a user. The flag *hasAdded says whether the time at which the
// user was added follows the fields.
func userFields(c *store.Change, hasAdded *bool) fields {
	u := c.User
	return fields{&c.Who, &c.Why, &u.Name, &u.Mail, &u.Subjects, &u.Disabled, hasAdded, &c.Batch}
}

// The range of times in a value, in Unix milliseconds, from the year 1 to the year 9999. The zero
// time is encoded differently.
const (
	minMillis = -62135596800000 + 1
	maxMillis = 253402300799999
)

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
