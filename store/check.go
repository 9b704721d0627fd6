package store

import (
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// CheckBatch checks a batch of changes without access to a store. It returns an error for the first
// change that is invalid or exceeds a limit. Some limits apply to the whole batch. Stores must call
// CheckBatch before [Plan].
func CheckBatch(changes []Change) error {
	total := 0
	for i := range changes {
		c := &changes[i]
		size, err := check(i, c)
		if err != nil {
			return err
		}
		if i >= MaxBatch {
			return &LimitError{i, c.Subject().Key, "changes of the batch", len(changes), MaxBatch}
		}
		if total += size; total > MaxBatchBytes {
			return &LimitError{i, c.Subject().Key, "bytes of the batch", total, MaxBatchBytes}
		}
	}
	return nil
}

// Check returns a [*ChangeError] if c is invalid, and a [*LimitError] if c exceeds a limit. The
// parameter i is the index of c in its batch, for the error.
func Check(i int, c *Change) error {
	_, err := check(i, c)
	return err
}

func check(i int, c *Change) (int, error) {
	if reason := flaw(c); reason != "" {
		return 0, &ChangeError{i, reason}
	}
	return measure(i, c)
}

func measure(i int, c *Change) (int, error) {
	m := meter{index: i, key: c.Subject().Key}
	m.subject(c)
	m.text("who", c.Who)
	m.text("why", c.Why)
	m.text("batch", c.Batch)
	m.revisions("redacts", len(c.Redacts))
	switch {
	case c.Record != nil:
		m.record(c.Record)
	case c.Authority != nil:
		m.authority(c.Authority)
	case c.Token != nil:
		m.token(c.Token)
	case c.User != nil:
		m.user(c.User)
	case c.Rights != nil:
		m.rights(c.Rights)
	}
	m.limit("bytes", m.size, MaxRecord)
	if m.err != nil {
		return 0, m.err
	}
	return m.size, nil
}

func flaw(c *Change) string {
	if c.Redacted || c.Record != nil && c.Record.Redacted || c.Authority != nil && c.Authority.Redacted || c.User != nil && c.User.Redacted ||
		c.Rights != nil && c.Rights.Redacted {
		return "redacted content cannot be written again"
	}
	return misshapen(c)
}

func misshapen(c *Change) string {
	switch {
	case count(c.Record != nil, c.Authority != nil, c.Token != nil, c.User != nil, c.Rights != nil, !c.Delete.IsZero()) != 1:
		return "exactly one of record, authority, token, user, rights and name to delete must be set"
	case c.Subject().Key == "":
		return "a record needs a name, an authority a prefix, and a token or user an ID"
	case c.Token == nil && !printable(c.Subject().Key):
		return "the key has characters that are not allowed in a name"
	case c.Token != nil && len(c.Redacts) > 0:
		return "a token has no revisions to redact"
	case c.User != nil && !c.User.Since.IsZero() && !timely(c.User.Since):
		return "the time at which a user was added must be in the years 1 to 9999"
	case c.User != nil && repeats(c.User.Subjects):
		return "a user cannot have a subject twice"
	case c.Rights != nil && (!c.Rights.Created.IsZero() && !timely(c.Rights.Created) || !c.Rights.Expires.IsZero() && !timely(c.Rights.Expires)):
		return "the times of the rights of a token must be in the years 1 to 9999"
	case c.Rights != nil && c.Batch != "":
		return "the rights of a token cannot be part of a batch"
	case c.Token == nil && c.UseOnly:
		return "only a change of a token can be limited to the day of use"
	case c.Token != nil && c.Batch != "":
		return "a token cannot be part of a batch"
	case c.Record != nil && !ordered(c.Record.Values):
		return "the values of a record must have indexes from 1, in ascending order and without duplicates"
	case slices.Contains(c.Redacts, 0):
		return "invalid revision 0 to redact: the first is 1"
	case !timely(c.Time):
		return "the time must be set and in the years 1 to 9999"
	case c.Token != nil && !c.Token.Created.IsZero() && !timely(c.Token.Created):
		return "the creation time of a token must be in the years 1 to 9999"
	case c.Token != nil && !c.Token.Used.IsZero() && !timely(c.Token.Used):
		return "the day of use of a token must be in the years 1 to 9999"
	case c.Token != nil && !c.Token.Expires.IsZero() && !timely(c.Token.Expires):
		return "the expiry time of a token must be in the years 1 to 9999"
	}
	return ""
}

// ordered reports whether the indexes of values are positive and strictly ascending.
func ordered(values []nomen.Value) bool {
	last := 0
	for i := range values {
		if values[i].Index <= last {
			return false
		}
		last = values[i].Index
	}
	return true
}

func repeats(list []string) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) < len(list)
}

func count(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

// printable reports whether a key has only printable ASCII characters. Stores use control
// characters as separators between keys. [name.FromKey] does not reject such characters.
func printable(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}

// timely reports whether t can be stored, and formatted by RFC 3339, where a year has four digits.
func timely(t time.Time) bool {
	t = t.UTC()
	return t.Year() >= 1 && t.Year() <= 9999 && !wholeMillis(t).IsZero()
}

// A meter measures a change and records the first limit that it exceeds.
type meter struct {
	index  int
	key    string
	size   int // total length of all texts, in bytes
	values int // total length of all lists
	err    error
}

func (m *meter) limit(what string, size, limit int) {
	if size > limit && m.err == nil {
		m.err = &LimitError{m.index, m.key, what, size, limit}
	}
}

func (m *meter) subject(c *Change) {
	m.size += len(m.key)
	limit := name.MaxLength
	switch {
	case c.Token != nil, c.Rights != nil:
		limit = MaxTokenID
	case c.User != nil:
		limit = MaxUserID
	}
	m.limit("key", len(m.key), limit)
}

func (m *meter) text(what, s string) {
	m.size += len(s)
	m.limit(what, len(s), MaxText)
}

func (m *meter) revisions(what string, n int) {
	m.values += n
	m.limit(what, m.values, MaxValues)
}

func (m *meter) list(what string, values []string) {
	m.values += len(values)
	m.limit("values", m.values, MaxValues)
	for _, s := range values {
		m.text(what, s)
	}
}

func (m *meter) record(r *Record) {
	m.limit("name", len(r.Spelling), name.MaxLength)
	m.limit("locations", len(r.Locations), MaxLocations)
	m.text("name", r.Spelling)
	m.text("reason", r.Reason)
	m.list("same_as", r.SameAs)
	m.list("successors", r.Successors)
	m.metadata(r.Metadata)
	for i := range r.Locations {
		m.location(&r.Locations[i])
	}
	m.limit("values", len(r.Values), MaxRecordValues)
	for i := range r.Values {
		m.value(&r.Values[i])
	}
}

func (m *meter) metadata(d nomen.Metadata) {
	for k, values := range d {
		m.text("metadata", k)
		m.list("metadata", values)
	}
	m.limit("metadata", len(d), MaxValues)
}

func (m *meter) location(l *nomen.Location) {
	m.text("url", l.URL)
	m.text("type", l.Type)
	m.text("lang", l.Lang)
	m.text("rel", l.Rel)
	m.text("country", l.Country)
	m.text("component", l.Component)
	m.text("charset", l.Charset)
	m.text("note", l.Note)
	m.text("valid_from", l.ValidFrom)
	m.text("valid_until", l.ValidUntil)
	m.text("attributes", l.Attributes)
}

func (m *meter) value(v *nomen.Value) {
	m.text("values.type", v.Type)
	m.text("values.data", v.Data)
	m.text("values.format", v.Format)
	m.text("values.ttl", string(v.TTL))
	m.text("values.permissions", v.Permissions)
	m.text("values.timestamp", v.Timestamp)
	m.text("values.references", v.References)
}

func (m *meter) authority(a *Authority) {
	m.list("owners", a.Owners)
	m.list("hosts", a.Hosts)
	m.list("addresses", a.Addresses)
	m.list("parents", a.Parents)
	m.list("children", a.Children)
	m.text("contact", a.Contact)
	m.text("description", a.Description)
	m.text("default_service", string(a.Service))
	policy := len(a.Text())
	m.size += policy
	m.limit("policy", policy, MaxPolicy)
}

func (m *meter) token(t *Token) {
	m.text("role", t.Role)
	m.list("prefixes", t.Prefixes)
	m.text("who", t.Who)
}

func (m *meter) rights(r *TokenRights) {
	m.text("role", r.Role)
	m.list("prefixes", r.Prefixes)
	m.text("who", r.Who)
}

func (m *meter) user(u *User) {
	m.text("name", u.Name)
	m.text("mail", u.Mail)
	m.list("subjects", u.Subjects)
	for _, g := range u.Grants {
		m.text("role", g.Role)
		m.list("prefixes", g.Prefixes)
	}
	m.values += len(u.Grants)
	m.limit("grants", m.values, MaxValues)
}
