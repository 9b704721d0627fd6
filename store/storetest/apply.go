package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func unchanged(s *suite) {
	s.apply(write(Rich(), 0))
	before := s.get("urn:ietf:rfc:2648")
	again := write(Rich(), 1)
	again.Who, again.Why = "library-it", "once more"
	again.Record.Modified, again.Record.Revision = minute(5), 9 // not content
	s.equal("the same again", s.apply(again), []store.Result{already(1)})
	s.equal("record", s.get("urn:ietf:rfc:2648"), before)
	again.Expected = 1
	s.equal("the same, expecting it", s.apply(again), []store.Result{already(1)})
	again.Expected = 0
	s.conflict(again, 0, 1)

	s.apply(write(&store.Record{Name: key("urn:x-a:b")}, 0))
	same := &store.Record{
		Name: key("urn:x-a:b"), Spelling: "urn:x-a:b", Status: nomen.Active,
		Locations: []nomen.Location{}, Metadata: nomen.Metadata{"title": {}}, SameAs: []string{},
	}
	s.equal("the same in other form", s.apply(write(same, 1)), []store.Result{already(1)})

	for i, change := range changesOfContent() {
		r := Rich()
		change(r)
		got := s.apply(write(r, i+2))
		s.equal("other content", got, []store.Result{changed(uint64(2*i + 2))})
		s.apply(write(Rich(), i+2))
	}
}

func changesOfContent() []func(*store.Record) {
	return []func(*store.Record){
		func(r *store.Record) { r.Spelling = "" },
		func(r *store.Record) { r.Status = nomen.Active },
		func(r *store.Record) { r.Locations[0].Note += " " },
		func(r *store.Record) { r.Locations[1].Weight = 0 },
		func(r *store.Record) { r.Locations = r.Locations[:2] },
		func(r *store.Record) { r.Locations[0], r.Locations[1] = r.Locations[1], r.Locations[0] },
		func(r *store.Record) { r.Metadata["title"] = r.Metadata["title"][:1] },
		func(r *store.Record) { r.Metadata["date"] = []string{"1999-08"} },
		func(r *store.Record) { delete(r.Metadata, "creator") },
		func(r *store.Record) { r.SameAs = nil },
		func(r *store.Record) { r.Successors = r.Successors[1:] },
		func(r *store.Record) { r.Reason = "" },
		func(r *store.Record) { r.Locations[1].Index = 2 },
		func(r *store.Record) { r.Locations[1].Attributes = "" },
		func(r *store.Record) { r.Values = r.Values[1:] },
		func(r *store.Record) { r.Values[0].Index, r.Values[0].Data = 3, "x"; r.Values = r.Values[:1] },
		func(r *store.Record) { r.Values[1].Data += " " },
		func(r *store.Record) { r.Values[1].Type = "" },
		func(r *store.Record) { r.Values[1].Format = "" },
		func(r *store.Record) { r.Values[1].TTL = "" },
		func(r *store.Record) { r.Values[1].Permissions = "" },
		func(r *store.Record) { r.Values[0].Timestamp = "" },
		func(r *store.Record) { r.Values[1].References = "" },
	}
}

func (s *suite) conflict(c store.Change, expected, current uint64) {
	s.Helper()
	s.conflictIn([]store.Change{c}, &store.ConflictError{
		Key: c.Subject().Key, Expected: expected, Current: current,
	})
}

func (s *suite) conflictIn(changes []store.Change, want *store.ConflictError) {
	s.Helper()
	s.equal("conflict", refusal[*store.ConflictError](s, changes...), want)
}

func expected(s *suite) {
	k := "urn:x-a:b"
	s.conflict(expecting(1, put(k, "u:1", 0)), 1, 0)
	s.equal("created", s.apply(expecting(0, put(k, "u:1", 0))), []store.Result{changed(1)})
	s.conflict(expecting(0, put(k, "u:2", 1)), 0, 1)
	s.conflict(expecting(2, put(k, "u:2", 1)), 2, 1)
	s.equal("changed", s.apply(expecting(1, put(k, "u:2", 1))), []store.Result{changed(2)})
	s.equal("any", s.apply(put(k, "u:3", 2)), []store.Result{changed(3)})
	s.conflict(expecting(2, remove(k, 3)), 2, 3)

	a := store.Change{Authority: RichAuthority(), Expected: 4, Time: minute(0)}
	s.conflict(a, 4, 0)
	a.Expected = 0
	s.equal("authority", s.apply(a), []store.Result{changed(1)})
	s.conflict(a, 0, 1)
	a.Expected, a.Authority.Contact = 1, ""
	s.equal("authority", s.apply(a), []store.Result{changed(2)})
}

func allOrNothing(s *suite) {
	s.apply(put("urn:x-a:old", "u:1", 0))
	good := func(i int) store.Change { return put(fmt.Sprintf("urn:x-a:%d", i), "u:1", 0) }
	bad := expecting(5, put("urn:x-a:old", "u:2", 1))
	auth := store.Change{Authority: RichAuthority(), Time: minute(0)}
	tok := store.Change{Token: &store.Token{ID: "t"}, Time: minute(0)}
	for at := range 5 {
		batch := slices.Insert([]store.Change{good(1), good(2), auth, tok}, at, bad)
		s.conflictIn(batch, &store.ConflictError{Index: at, Key: "urn:x-a:old", Expected: 5, Current: 1})
		s.equal("names after a refused batch", s.keys(store.Scan{}), []string{"urn:x-a:old"})
		if a, tok := s.authority(auth.Authority.Prefix, time.Time{}), s.token("t"); a != nil || tok != nil {
			s.Errorf("a refused batch wrote authority %+v and token %+v", a, tok)
		}
	}
	if got := s.get("urn:x-a:old").Locations[0].URL; got != "u:1" {
		s.Errorf("a refused batch changed the location to %q", got)
	}
}

func oneNameTwice(s *suite) {
	k := "urn:x-a:b"
	s.equal("results", s.apply(
		expecting(0, put(k, "u:1", 0)),
		expecting(1, put(k, "u:2", 1)),
		expecting(2, put(k, "u:2", 2)),
		put(k, "u:3", 0),
	), []store.Result{changed(1), changed(2), already(2), changed(3)})
	r := s.get(k)
	if r.Locations[0].URL != "u:3" || r.Revision != 3 || !r.Modified.Equal(minute(1)) {
		s.Errorf("after three changes in one batch: %+v", r)
	}
	s.conflictIn([]store.Change{put(k, "u:4", 3), expecting(3, put(k, "u:5", 3))},
		&store.ConflictError{Index: 1, Key: k, Expected: 3, Current: 4})

	s.equal("there and away and there", s.apply(
		reserve("urn:x-a:r", 0), remove("urn:x-a:r", 0), expecting(0, reserve("urn:x-a:r", 0)),
	), []store.Result{changed(1), changed(2), changed(3)})
	s.equal("kinds do not meet", s.apply(
		store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("same")}, Time: minute(0)},
		store.Change{Token: &store.Token{ID: "same"}, Time: minute(0)},
		expecting(0, put("same", "u:1", 0)),
	), []store.Result{changed(1), changed(0), changed(1)})
}

func notAChange(s *suite) {
	r, a, tok := Rich(), RichAuthority(), &store.Token{ID: "t"}
	good := put("urn:x-a:b", "u:1", 0)
	for _, c := range []store.Change{
		{},
		{Time: minute(0)},
		{Record: r},
		{Record: r, Authority: a, Time: minute(0)},
		{Record: r, Delete: r.Name, Time: minute(0)},
		{Authority: a, Token: tok, Time: minute(0)},
		{Record: &store.Record{}, Time: minute(0)},
		{Authority: &store.Authority{}, Time: minute(0)},
		{Token: &store.Token{}, Time: minute(0)},
		{Token: tok},
		{Delete: key("urn:x-a\x00"), Time: minute(0)},
		{Record: &store.Record{Name: key("urn:x a")}, Time: minute(0)},
		{Record: &store.Record{Name: key("urn:ä")}, Time: minute(0)},
		{Record: &store.Record{Name: r.Name, Values: []nomen.Value{{Type: "URL"}}}, Time: minute(0)},
		{Record: &store.Record{Name: r.Name, Values: []nomen.Value{{Index: -1}}}, Time: minute(0)},
		{Record: &store.Record{Name: r.Name, Values: []nomen.Value{{Index: 2}, {Index: 1}}}, Time: minute(0)},
		{Record: &store.Record{Name: r.Name, Values: []nomen.Value{{Index: 2}, {Index: 2, Data: "x"}}}, Time: minute(0)},
		{Record: r, Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Record: r, Time: time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)},
	} {
		if got := refusal[*store.ChangeError](s, good, c); got.Index != 1 || got.Reason == "" {
			s.Errorf("%+v: error %+v, want a ChangeError of change 1", c, got)
		}
	}
	if got := s.keys(store.Scan{}); got != nil {
		s.Errorf("refused batches left %q", got)
	}
}

func limits(s *suite) {
	long := strings.Repeat("x", store.MaxText+1)
	record := func(change func(*store.Record)) store.Change {
		c := put("urn:x-a:b", "u:1", 0)
		change(c.Record)
		return c
	}
	for _, c := range []struct {
		what   string
		change store.Change
		limit  int
	}{
		{"url", record(func(r *store.Record) { r.Locations[0].URL = long }), store.MaxText},
		{"note", record(func(r *store.Record) { r.Locations[0].Note = long }), store.MaxText},
		{"reason", record(func(r *store.Record) { r.Reason = long }), store.MaxText},
		{"same_as", record(func(r *store.Record) { r.SameAs = []string{long} }), store.MaxText},
		{"metadata", record(func(r *store.Record) { r.Metadata = nomen.Metadata{long: {"x"}} }), store.MaxText},
		{"metadata", record(func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {long}} }), store.MaxText},
		{"locations", record(func(r *store.Record) { r.Locations = make([]nomen.Location, store.MaxLocations+1) }), store.MaxLocations},
		{"values", record(func(r *store.Record) { r.Successors = make([]string, store.MaxValues+1) }), store.MaxValues},
		{"values", record(func(r *store.Record) { r.Values = manyValues(store.MaxRecordValues + 1) }), store.MaxRecordValues},
		{"values.data", record(func(r *store.Record) { r.Values = []nomen.Value{{Index: 1, Data: long}} }), store.MaxText},
		{"values.type", record(func(r *store.Record) { r.Values = []nomen.Value{{Index: 1, Type: long}} }), store.MaxText},
		{"attributes", record(func(r *store.Record) { r.Locations[0].Attributes = long }), store.MaxText},
		{"name", record(func(r *store.Record) { r.Spelling = long[:name.MaxLength+1] }), name.MaxLength},
		{"key", record(func(r *store.Record) { r.Name = key(long[:name.MaxLength+1]) }), name.MaxLength},
		{"bytes", record(func(r *store.Record) { r.SameAs = slices.Repeat([]string{long[1:]}, store.MaxRecord/store.MaxText) }), store.MaxRecord},
		{"why", store.Change{Delete: key("urn:x-a:b"), Time: minute(0), Why: long}, store.MaxText},
		{"owners", store.Change{Authority: &store.Authority{Prefix: RichAuthority().Prefix, Owners: []string{long}}, Time: minute(0)}, store.MaxText},
		{"key", store.Change{Token: &store.Token{ID: long[:store.MaxTokenID+1]}, Time: minute(0)}, store.MaxTokenID},
	} {
		got := refusal[*store.LimitError](s, put("urn:x-a:good", "u:1", 0), c.change)
		if got.What != c.what || got.Limit != c.limit || got.Size <= c.limit || got.Index != 1 {
			s.Errorf("too large in %s: error %v, want a LimitError of change 1 with limit %d", c.what, got, c.limit)
		}
	}
	if got := s.keys(store.Scan{}); got != nil {
		s.Errorf("refused batches left %q", got)
	}
	s.largest()
}

func manyValues(n int) []nomen.Value {
	all := make([]nomen.Value, n)
	for i := range all {
		all[i].Index = i + 1
	}
	return all
}

// largest checks that the store accepts values of exactly the maximum size.
func (s *suite) largest() {
	many := &store.Record{
		Name:       key(strings.Repeat("k", name.MaxLength)),
		Spelling:   strings.Repeat("K", name.MaxLength),
		Status:     nomen.Active,
		Locations:  make([]nomen.Location, store.MaxLocations),
		Successors: make([]string, store.MaxValues),
		Values:     manyValues(store.MaxRecordValues),
	}
	long := &store.Record{
		Name: key("urn:x-a:long"), Spelling: "urn:x-a:long", Status: nomen.Active,
		SameAs: slices.Repeat([]string{strings.Repeat("x", store.MaxText)}, store.MaxRecord/store.MaxText-1),
	}
	s.apply(store.Change{Record: many, Time: minute(0)}, store.Change{Record: long, Time: minute(0)})
	for _, r := range []*store.Record{many, long} {
		r.Modified, r.Revision = minute(0), 1
		if diff := cmp.Diff(s.get(r.Name.Key()), r, comparers()); diff != "" {
			s.Errorf("a record as large as allowed changed (%d bytes of difference)", len(diff))
		}
	}
	tok := &store.Token{ID: strings.Repeat("i", store.MaxTokenID), Role: "editor"}
	s.apply(store.Change{Token: tok, Time: minute(0)})
}

func largeBatch(s *suite) {
	const n = 10_000
	batch := make([]store.Change, n)
	for i := range batch {
		batch[i] = expecting(0, put(fmt.Sprintf("urn:x-a:%05d", n-1-i), "u:1", 0))
	}
	for i, r := range s.apply(batch...) {
		if r != changed(1) {
			s.Fatalf("result %d: %+v", i, r)
		}
	}
	keys := s.keys(store.Scan{})
	if len(keys) != n || keys[0] != "urn:x-a:00000" || keys[n-1] != "urn:x-a:09999" {
		s.Errorf("%d names after a batch of %d", len(keys), n)
	}
	many := slices.Repeat(batch[:1], store.MaxBatch+1)
	if got := refusal[*store.LimitError](s, many...); got.Limit != store.MaxBatch || got.Index != store.MaxBatch {
		s.Errorf("a batch of %d: error %v, want a LimitError", len(many), got)
	}
}
