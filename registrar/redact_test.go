package registrar

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// history returns the changes of a name, oldest first.
func (d *desk) history(n name.Name) []*store.Change {
	d.Helper()
	var all []*store.Change
	for c, err := range store.History(d.ctx, d.store, n) {
		if err != nil {
			d.Fatal(err)
		}
		all = append(all, c)
	}
	slices.Reverse(all)
	return all
}

func (d *desk) redact(a Actor, n name.Name, red Redaction) (Outcome, error) {
	d.Helper()
	out, err := d.Redact(d.ctx, a, n, red)
	if err != out.Err {
		d.Errorf("Redact: error %v, in the outcome %v", err, out.Err)
	}
	return out, err
}

func TestRedact(t *testing.T) {
	d := newDesk(t)
	n := name.MustParse("urn:dns:example.org:a")
	for _, url := range []string{"https://example.org/1", "https://example.org/private", "https://example.org/3"} {
		d.put(&store.Record{Name: n, Locations: []nomen.Location{{URL: url}}})
	}
	before, err := store.HeadOf(d.ctx, d.store)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.redact(Operator(), n, Redaction{Revisions: []uint64{2}, Reason: "court order 7", Expected: store.AnyRevision})
	if err != nil || out.Result != (store.Result{Revision: 4, Changed: true}) || out.Record.Locations[0].URL != "https://example.org/3" || out.Record.Revision != 4 {
		t.Fatalf("got %+v, %v", out, err)
	}
	h := d.history(n)
	if len(h) != 4 || !h[1].Redacted || h[1].Who != "" || h[1].Why != "" || h[1].Record.Locations != nil {
		t.Errorf("history: %+v", h)
	}
	if last := h[3]; last.Why != "court order 7" || !slices.Equal(last.Redacts, []uint64{2}) || last.Record.Locations[0].URL != "https://example.org/3" {
		t.Errorf("the last change: %+v", last)
	}
	var faults []store.Fault
	head, err := store.Verify(d.ctx, d.store, func(f store.Fault) { faults = append(faults, f) }, nil)
	if err != nil || len(faults) > 0 || head.Size != before.Size+1 {
		t.Errorf("verify: %v, %v, %v", head, faults, err)
	}
}

func TestRedactRefuses(t *testing.T) {
	d := newDesk(t)
	n := name.MustParse("urn:dns:example.org:a")
	for _, url := range []string{"https://example.org/1", "https://example.org/2", "https://example.org/3"} {
		d.put(&store.Record{Name: n, Locations: []nomen.Location{{URL: url}}})
	}
	if _, err := d.redact(Operator(), n, Redaction{Revisions: []uint64{1}, Reason: "x", Expected: 3}); err != nil {
		t.Fatal(err)
	}
	for what, red := range map[string]Redaction{
		"reason":       {Revisions: []uint64{2}},
		"revisions":    {Reason: "x"},
		"revisions[1]": {Revisions: []uint64{2, 4}, Reason: "x"}, // the present one
		"revisions[0]": {Revisions: []uint64{1, 2}, Reason: "x"}, // redacted already
		"revisions[2]": {Revisions: []uint64{2, 3, 9}, Reason: "x"},
	} {
		red.Expected = store.AnyRevision
		_, err := d.redact(Operator(), n, red)
		var refusal *RefusalError
		if !errors.As(err, &refusal) || refusal.Field != what {
			t.Errorf("%s: %v", what, err)
		}
	}
	red := Redaction{Revisions: []uint64{2}, Reason: "control \x1b[2J", Expected: store.AnyRevision}
	var refusal *RefusalError
	if _, err := d.redact(Operator(), n, red); !errors.As(err, &refusal) || refusal.Field != "reason" {
		t.Errorf("a control character: %v", err)
	}
	red.Reason = "x"
	var denied *DeniedError
	if _, err := d.redact(actor(Owner), n, red); !errors.As(err, &denied) || denied.Need != Administrator {
		t.Errorf("an owner: %v", err)
	}
	elsewhere := actor(Administrator, "urn:dns:example.com")
	if _, err := d.redact(elsewhere, n, red); !errors.As(err, &denied) {
		t.Errorf("an administrator of other names: %v", err)
	}
	red.Expected = 2
	var conflict *store.ConflictError
	if _, err := d.redact(Operator(), n, red); !errors.As(err, &conflict) || conflict.Current != 4 {
		t.Errorf("another revision: %v", err)
	}
	if _, err := d.redact(Operator(), name.MustParse("urn:dns:example.org:b"), red); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
	if got := len(d.history(n)); got != 4 {
		t.Errorf("%d revisions, want 4", got)
	}
}

// A reserved name that was deleted has a history that can be redacted.
func TestRedactDeleted(t *testing.T) {
	d := newDesk(t)
	n := name.MustParse("urn:dns:example.org:a")
	d.put(&store.Record{Name: n, Status: nomen.Reserved, Locations: []nomen.Location{{URL: "https://example.org/private"}}})
	if _, err := d.Delete(d.ctx, Operator(), n, store.AnyRevision, "a mistake"); err != nil {
		t.Fatal(err)
	}
	out, err := d.redact(Operator(), n, Redaction{Revisions: []uint64{1, 2}, Reason: "x", Expected: store.AnyRevision})
	if err != nil || out.Result.Revision != 3 || out.Record != nil {
		t.Fatalf("got %+v, %v", out, err)
	}
	for i, c := range d.history(n)[:2] {
		if !c.Redacted || c.Why != "" {
			t.Errorf("revision %d: %+v", i+1, c)
		}
	}
	if _, err := d.Get(d.ctx, n); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestGetAt(t *testing.T) {
	d := newDesk(t)
	now := noon
	d.now = func() time.Time { return now }
	n := name.MustParse("urn:dns:example.org:a")
	for _, url := range []string{"https://example.org/1", "https://example.org/2"} {
		d.put(&store.Record{Name: n, Locations: []nomen.Location{{URL: url}}})
		now = now.Add(time.Hour)
	}
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, "https://example.org/2"},
		{noon, "https://example.org/1"},
		{noon.Add(time.Hour - time.Millisecond), "https://example.org/1"},
		{noon.Add(time.Hour), "https://example.org/2"},
	} {
		rec, err := d.GetAt(d.ctx, n, c.at)
		if err != nil || rec.Locations[0].URL != c.want {
			t.Errorf("at %v: %+v, %v", c.at, rec, err)
		}
	}
	if _, err := d.GetAt(d.ctx, n, noon.Add(-time.Millisecond)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
}

// The history of an authority can be redacted like that of a name: all before the current
// revision, or selected revisions.
func TestRedactAuthority(t *testing.T) {
	d := newDesk(t)
	p := name.MustParsePrefix("urn:dns:example.net")
	for _, contact := range []string{"mailto:person@example.net", "mailto:other@example.net", "mailto:office@example.net"} {
		a := &store.Authority{Prefix: p, Owners: []string{"a", "b"}, Contact: contact}
		if _, err := d.PutAuthority(d.ctx, Operator(), a, store.AnyRevision, "of a person"); err != nil {
			t.Fatal(err)
		}
	}
	everything := Redaction{Reason: "court order 7", Expected: store.AnyRevision}
	for what, red := range map[string]Redaction{
		"reason":       {Revisions: []uint64{1}, Expected: store.AnyRevision},
		"revisions[0]": {Revisions: []uint64{3}, Reason: "x", Expected: store.AnyRevision}, // the present one
		"revisions[1]": {Revisions: []uint64{1, 9}, Reason: "x", Expected: store.AnyRevision},
	} {
		var refusal *RefusalError
		if _, err := d.RedactAuthority(d.ctx, Operator(), p, red); !errors.As(err, &refusal) || refusal.Field != what || refusal.Name != p.String() {
			t.Errorf("%s: %v", what, err)
		}
	}
	var denied *DeniedError
	if _, err := d.RedactAuthority(d.ctx, actor(Owner), p, everything); !errors.As(err, &denied) || denied.Need != Administrator {
		t.Errorf("an owner: %v", err)
	}
	if _, err := d.RedactAuthority(d.ctx, Operator(), name.MustParsePrefix("urn:dns:example.edu"), everything); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown authority: %v", err)
	}
	before, err := store.HeadOf(d.ctx, d.store)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.RedactAuthority(d.ctx, Operator(), p, everything)
	if err != nil || out.Result != (store.Result{Revision: 4, Changed: true}) || out.Authority.Revision != 4 || out.Authority.Contact != "mailto:office@example.net" {
		t.Fatalf("got %+v, %v", out, err)
	}
	var all []*store.Change
	for c, err := range store.AuthorityHistory(d.ctx, d.store, p) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if len(all) != 4 || all[0].Why != "court order 7" || !slices.Equal(all[0].Redacts, []uint64{1, 2}) || all[1].Redacted || all[1].Who+all[1].Why == "" {
		t.Fatalf("history: %+v", all)
	}
	for _, c := range all[2:] {
		if !c.Redacted || c.Who+c.Why+c.Authority.Contact != "" || c.Authority.Owners != nil {
			t.Errorf("what is left: %+v", c)
		}
	}
	out, err = d.RedactAuthority(d.ctx, Operator(), p, Redaction{Revisions: []uint64{3}, Reason: "x", Expected: 4})
	if err != nil || out.Result.Revision != 5 {
		t.Errorf("one more: %+v, %v", out, err)
	}
	out, err = d.RedactAuthority(d.ctx, Operator(), p, Redaction{Revisions: []uint64{4}, Reason: "y", Expected: 5})
	if err != nil || out.Result.Revision != 6 {
		t.Errorf("a redaction: %+v, %v", out, err)
	}
	var faults []store.Fault
	head, err := store.Verify(d.ctx, d.store, func(f store.Fault) { faults = append(faults, f) }, nil)
	if err != nil || len(faults) > 0 || head.Size != before.Size+3 {
		t.Errorf("verify: %v, %v, %v", head, faults, err)
	}
	set, err := d.authorities.Set(d.ctx, time.Time{})
	if err != nil || set.Of(name.MustParse("urn:dns:example.net:a")).Revision != 6 {
		t.Errorf("the registrar goes on with another revision; %v", err)
	}
}
