package codec

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A CorruptError reports a stored value that this program cannot decode: the value is damaged, or
// was written by a newer version.
type CorruptError struct {
	Key    string // key of the name, authority, token or user; or of internal data of the store
	Offset int    // offset in the value
	Reason string // what is wrong, for people to read
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("store: the value of %q is damaged: offset %d: %s", e.Key, e.Offset, e.Reason)
}

// Decode decodes the stored value of the subject s. It accepts only values that [Append] writes;
// for any other value the error is a [*CorruptError]. The result does not share memory with value.
func Decode(s store.Subject, value []byte) (*store.Change, error) {
	d := decoder{s: string(value)}
	c := d.change(s)
	if err := d.end(s.Key); err != nil {
		return nil, err
	}
	return c, nil
}

// DecodePublic decodes the public part of a value, which [SplitValue] returns. The result has no
// private content.
func DecodePublic(s store.Subject, public []byte) (*store.Change, error) {
	d := decoder{s: string(public), public: true}
	c := d.change(s)
	if !c.Split {
		d.fail("not the public part of a value")
	}
	if err := d.end(s.Key); err != nil {
		return nil, err
	}
	return c, nil
}

// A decoder decodes a value from front to back. After the first error, it returns only zero values.
type decoder struct {
	s      string
	off    int
	reason string // reason of the first error
	public bool   // a value of version 3 is without its private part
}

func (d *decoder) fail(reason string) {
	if d.reason == "" {
		d.reason = reason
	}
}

// end returns the first error, or an error if bytes are left.
func (d *decoder) end(key string) error {
	if d.off < len(d.s) {
		d.fail("trailing bytes")
	}
	if d.reason == "" {
		return nil
	}
	return &CorruptError{Key: key, Offset: d.off, Reason: d.reason}
}

func (d *decoder) change(s store.Subject) *store.Change {
	version := d.byte()
	if version < version1 || version > version3 {
		d.fail("unknown version of the encoding")
	}
	kind := d.byte()
	c := &store.Change{Expected: d.uvarint()}
	if c.Expected >= store.AnyRevision-1 {
		d.fail("revision out of range")
	}
	c.Time = fromMillis(d.millis())
	private := ""
	switch version {
	case version2:
		if d.parts(c) == 0 {
			d.fail("unknown parts")
		}
	case version3:
		c.Split = true
		if d.parts(c); c.Redacted {
			d.fail("redacted, but with its content")
		}
		if !d.public {
			private = d.full()
		}
	}
	switch {
	case s.Kind == store.KindName && kindStatus(kind) != "":
		d.record(c, s.Key, kindStatus(kind))
		if c.Split {
			d.join(c, private)
		}
	case version == version3:
		d.fail("unknown kind of value")
	case s.Kind == store.KindName && kind == holdsDeletion:
		d.deletion(c, s.Key)
	case s.Kind == store.KindAuthority && kind == holdsAuthority:
		d.authority(c, s.Key)
	case s.Kind == store.KindToken && kind == holdsToken && version == version1:
		d.token(c, s.Key)
	case s.Kind == store.KindUser && kind == holdsUser:
		d.user(c, s.Key)
	case s.Kind == store.KindTokenRights && kind == holdsRights:
		d.rights(c, s.Key)
	default:
		d.fail("unknown kind of value")
	}
	return c
}

// parts decodes the optional parts of a value, which exist since version 2. It returns the flags
// that say which parts are present.
func (d *decoder) parts(c *store.Change) uint64 {
	parts := d.uvarint()
	if parts > partRedacts|partRedacted {
		d.fail("unknown parts")
	}
	c.Redacted = parts&partRedacted != 0
	if parts&partRedacts != 0 {
		c.Redacts = d.revisions(c.Expected)
	}
	return parts
}

// join adds the content of the private part of a value of version 3 to the change c. Before the
// call, c has only the public content. If the decoder decodes only public parts, join checks c but
// does not change it.
func (d *decoder) join(c *store.Change, private string) {
	r := c.Record
	if c.Who != "" || c.Batch != "" || c.Why != "" && len(c.Redacts) == 0 || slices.ContainsFunc(r.Values, isPrivate) || r.HidesLocations() {
		d.fail("private content in the public part")
	}
	if d.public || d.reason != "" {
		return
	}
	p := decoder{s: private}
	hidden, values, why := false, []nomen.Value(nil), c.Why
	p.fields(privateFields(c, &values, &hidden))
	if c.Why != why && len(c.Redacts) > 0 || slices.ContainsFunc(values, func(v nomen.Value) bool { return v.Public() }) {
		p.fail("public content in the private part")
	}
	if hidden {
		if len(r.Locations) > 0 {
			p.fail("locations in both parts")
		}
		r.Locations = p.locations()
	}
	r.Values = merged(r.Values, values)
	for i := 1; i < len(r.Values); i++ {
		if r.Values[i].Index == r.Values[i-1].Index {
			p.fail("a value in both parts")
		}
	}
	if hidden != r.HidesLocations() || !c.HasPrivate() {
		p.fail("the parts do not fit together")
	}
	if p.off < len(p.s) {
		p.fail("trailing bytes")
	}
	if p.reason != "" {
		d.fail("private part: " + p.reason)
	}
}

// merged returns the values of both lists, sorted by index.
func merged(a, b []nomen.Value) []nomen.Value {
	if len(b) == 0 {
		return a
	}
	all := append(a, b...)
	slices.SortStableFunc(all, func(a, b nomen.Value) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

// revisions decodes a list of ascending revision numbers between 1 and limit.
func (d *decoder) revisions(limit uint64) []uint64 {
	n := d.count(store.MaxValues, 1)
	if n == 0 {
		d.fail("empty list")
		return nil
	}
	revisions := make([]uint64, n)
	last := uint64(0)
	for i := range revisions {
		more := d.uvarint()
		if more == 0 || more > limit-last {
			d.fail("revision out of range")
			return nil
		}
		last += more
		revisions[i] = last
	}
	return revisions
}

func (d *decoder) deletion(c *store.Change, key string) {
	c.Delete = name.FromKey(key)
	if !c.Redacted {
		d.fields(deletionFields(c))
	}
}

func (d *decoder) record(c *store.Change, key string, status nomen.Status) {
	r := &store.Record{
		Name:     name.FromKey(key),
		Status:   status,
		Modified: c.Time,
		Revision: c.Expected + 1,
		Redacted: c.Redacted,
	}
	c.Record = r
	if c.Redacted {
		r.Spelling = key
		return
	}
	d.fields(recordFields(c, &r.Spelling))
	switch r.Spelling {
	case key:
		d.fail("the spelling equals the key")
	case "":
		r.Spelling = key
	}
	r.Locations = d.locations()
	r.Metadata = d.metadata()
}

func (d *decoder) locations() []nomen.Location {
	n := d.count(store.MaxLocations, 2)
	if n == 0 {
		return nil
	}
	locations := make([]nomen.Location, n)
	for i := range locations {
		l := &locations[i]
		l.URL = d.text()
		d.fields(locationFields(l))
	}
	return locations
}

func (d *decoder) metadata() nomen.Metadata {
	n := d.count(store.MaxValues, 3)
	if n == 0 {
		return nil
	}
	m := make(nomen.Metadata, n)
	last := ""
	for i := range n {
		k := d.text()
		if i > 0 && k <= last {
			d.fail("metadata out of order")
		}
		m[k], last = d.list(), k
	}
	return m
}

func (d *decoder) authority(c *store.Change, key string) {
	c.Authority = &store.Authority{
		Prefix:   name.PrefixFromKey(key),
		Modified: c.Time,
		Revision: c.Expected + 1,
		Redacted: c.Redacted,
	}
	if c.Redacted {
		return
	}
	var policy string
	d.fields(authorityFields(c, &policy))
	if d.reason != "" {
		return
	}
	p, err := store.ParsePolicy(policy)
	if err != nil || p.Text() != policy {
		d.fail("unsupported policy")
	}
	c.Authority.Policy = p
}

func (d *decoder) token(c *store.Change, key string) {
	if c.Expected != 0 {
		d.fail("token with a revision")
	}
	c.Token = &store.Token{ID: key}
	var there [3]bool
	d.fields(tokenFields(c, &there))
	for i, t := range tokenTimes(c.Token) {
		if there[i] {
			*t = fromMillis(d.millis())
		}
	}
	copy(c.Token.Hash[:], d.bytes(len(c.Token.Hash)))
}

func (d *decoder) rights(c *store.Change, key string) {
	r := &store.TokenRights{ID: key, Modified: c.Time, Revision: c.Expected + 1, Redacted: c.Redacted}
	if c.Rights = r; c.Redacted {
		return
	}
	var there [2]bool
	d.fields(rightsFields(c, &there))
	for i, t := range rightsTimes(r) {
		if there[i] {
			*t = fromMillis(d.millis())
		}
	}
}

func (d *decoder) user(c *store.Change, key string) {
	u := &store.User{ID: key, Modified: c.Time, Revision: c.Expected + 1, Redacted: c.Redacted}
	if c.User = u; c.Redacted {
		return
	}
	since := false
	d.fields(userFields(c, &since))
	if since {
		u.Since = fromMillis(d.millis())
	}
	n := d.count(store.MaxValues, 2)
	if n == 0 {
		return
	}
	u.Grants = make([]store.UserGrant, n)
	for i := range u.Grants {
		u.Grants[i].Role = d.text()
		u.Grants[i].Prefixes = d.texts()
	}
}

// fields decodes a bit mask, and then the fields whose bits are set in the mask.
func (d *decoder) fields(f fields) {
	mask := d.uvarint()
	for i := 0; mask != 0; i, mask = i+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		if i >= len(f) || f[i] == nil {
			d.fail("unknown fields")
			return
		}
		switch v := f[i].(type) {
		case *bool:
			*v = true
		case *int:
			*v = d.number()
		case *string:
			*v = d.full()
		case *[]string:
			*v = d.list()
		case *[]nomen.Value:
			*v = d.values()
		}
	}
}

// values decodes a list of typed values, which must not be empty and must be sorted by index.
func (d *decoder) values() []nomen.Value {
	n := d.count(store.MaxRecordValues, 1)
	if n == 0 {
		d.fail("empty list")
		return nil
	}
	values := make([]nomen.Value, n)
	last := 0
	for i := range values {
		d.fields(valueFields(&values[i]))
		if values[i].Index <= last {
			d.fail("values out of order")
		}
		last = values[i].Index
	}
	return values
}

func (d *decoder) number() int {
	n := d.varint()
	if n == 0 || int64(int(n)) != n {
		d.fail("number out of range")
	}
	return int(n)
}

func (d *decoder) full() string {
	s := d.text()
	if s == "" {
		d.fail("empty text")
	}
	return s
}

func (d *decoder) list() []string {
	l := d.texts()
	if l == nil {
		d.fail("empty list")
	}
	return l
}

func (d *decoder) texts() []string {
	n := d.count(store.MaxValues, 1)
	if n == 0 {
		return nil
	}
	l := make([]string, n)
	for i := range l {
		l[i] = d.text()
	}
	return l
}

// count decodes the number of elements in a list. An element has at least size bytes. If the
// remaining bytes are too few for this number, count rejects it, so that no memory is allocated for
// impossible lists.
func (d *decoder) count(limit, size int) int {
	n := d.uvarint()
	if n > uint64(limit) || n > uint64((len(d.s)-d.off)/size) {
		d.fail("too many elements")
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.s)-d.off) {
		d.fail("truncated")
		return ""
	}
	return d.bytes(int(n))
}

func (d *decoder) bytes(n int) string {
	if d.reason != "" || n > len(d.s)-d.off {
		d.fail("truncated")
		return ""
	}
	d.off += n
	return d.s[d.off-n : d.off]
}

func (d *decoder) byte() byte {
	if s := d.bytes(1); s != "" {
		return s[0]
	}
	return 0
}

func (d *decoder) millis() int64 {
	ms := d.varint()
	if ms < minMillis || ms > maxMillis {
		d.fail("time out of range")
	}
	return ms
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// uvarint decodes the output of binary.AppendUvarint. It rejects encodings that are longer than
// necessary.
func (d *decoder) uvarint() uint64 {
	var u uint64
	for shift := 0; ; shift += 7 {
		b := d.byte()
		if shift+bits.Len8(b&0x7f) > 64 || b == 0 && shift > 0 {
			d.fail("number not in its shortest form")
		}
		if d.reason != "" {
			return 0
		}
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return u
		}
	}
}
