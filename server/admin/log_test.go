package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// addLog adds three names, an hour apart, and a user.
func addLog(t *testing.T, s store.Store) {
	t.Helper()
	record := func(key string) *store.Record {
		return &store.Record{Name: name.MustParse(key), Spelling: key, Status: nomen.Active}
	}
	for i, c := range []store.Change{
		{User: &store.User{ID: "u-00000001", Name: "Ada", Since: testNow}, Who: "tok"},
		{Record: record("urn:dns:log.example:1"), Who: "u-00000001", Batch: "5-abcdefgh"},
		{Record: record("urn:dns:log.example:2"), Who: "tok"},
		{Record: record("urn:dns:else.example:3"), Who: "u-00000001"},
	} {
		c.Time = testNow.Add(time.Duration(i) * time.Hour)
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSearchLog(t *testing.T) {
	api, s := newTestAPI(t, nil)
	before, _ := store.HeadOf(t.Context(), s)
	addLog(t, s)
	for _, tt := range []struct {
		who  registrar.Actor
		q    adminapi.LogQuery
		want string // numbers after those of the fixture
	}{
		{registrar.Operator(), adminapi.LogQuery{}, "1 2 3 4"},
		{registrar.Operator(), adminapi.LogQuery{After: before.Size + 1, Until: before.Size + 3}, "2 3"},
		{registrar.Operator(), adminapi.LogQuery{Limit: 2}, "1 2"},
		{registrar.Operator(), adminapi.LogQuery{Who: "tok"}, "1 3"},
		{registrar.Operator(), adminapi.LogQuery{Who: "u-00000001"}, "2 4"},
		{registrar.Operator(), adminapi.LogQuery{Who: "aDA"}, "2 4"},
		{registrar.Operator(), adminapi.LogQuery{Who: "Ad"}, ""},
		{registrar.Operator(), adminapi.LogQuery{Prefix: "urn:dns:log.example"}, "2 3"},
		{registrar.Operator(), adminapi.LogQuery{Kind: "user"}, "1"},
		{registrar.Operator(), adminapi.LogQuery{Kind: "name", Who: "Ada", Prefix: "urn:dns:log"}, "2"},
		{registrar.Operator(), adminapi.LogQuery{Kind: "authority"}, ""},
		{registrar.Operator(), adminapi.LogQuery{Kind: "token"}, ""},
		{registrar.Operator(), adminapi.LogQuery{Batch: "5-abcdefgh"}, "2"},
		{person("u-r", registrar.Reader, "urn:dns:log.example"), adminapi.LogQuery{}, "2 3"},
		{person("u-r", registrar.Reader, "urn:dns:log.example"), adminapi.LogQuery{Prefix: "urn:dns:else"}, ""},
		{person("u-r", registrar.Reader), adminapi.LogQuery{Who: "tok"}, "3"}, // who made user 1 is hidden
	} {
		tt.q.After = max(tt.q.After, before.Size)
		entries, err := collect(api.Client(tt.who).Search(t.Context(), tt.q))
		var got []string
		for _, e := range entries {
			got = append(got, fmt.Sprint(e.Seq-before.Size))
		}
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s %+v: got %q, %v, want %q", tt.who.Who, tt.q, got, err, tt.want)
		}
	}
	var bad *adminapi.RequestError
	if _, err := collect(api.Client(registrar.Operator()).Search(t.Context(), adminapi.LogQuery{Kind: "key"})); !errors.As(err, &bad) || bad.Field != "kind" {
		t.Errorf("an unknown kind: %v", err)
	}
}

// The head at a time is that of the changes up to then.
func TestHeadAt(t *testing.T) {
	api, s := newTestAPI(t, nil)
	before, _ := store.HeadOf(t.Context(), s)
	var heads []store.Head // before each change
	addLog(t, s)
	c := api.Client(registrar.Operator())
	end, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		h, err := c.HeadAt(t.Context(), testNow.Add(time.Duration(i)*time.Hour-time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, h)
	}
	heads = append(heads, end)
	for i, h := range heads {
		proof, err := c.ProveHead(t.Context(), end.Size, h.Size)
		if h.Size != before.Size+uint64(i) || err != nil || ledger.CheckConsistency(proof, end, h) != nil {
			t.Errorf("before change %d: got %v, %v, want the head of %d changes", i+1, h, err, before.Size+uint64(i))
		}
	}
	if heads[0] != before {
		t.Errorf("got %v, want %v", heads[0], before)
	}
	if h, err := c.HeadAt(t.Context(), time.Unix(0, 0)); err != nil || h != (store.Head{}) {
		t.Errorf("before all changes: got %v, %v", h, err)
	}
	if h, err := c.HeadAt(t.Context(), testNow.AddDate(9, 0, 0)); err != nil || h != end {
		t.Errorf("in the future: got %v, %v, want %v", h, err, end)
	}
}

// Anyone who may see a change gets a proof of it, for the present head and for every earlier one.
func TestProveEntry(t *testing.T) {
	api, s := newTestAPI(t, nil)
	addLog(t, s)
	c := api.Client(registrar.Operator())
	end, _ := c.Head(t.Context())
	for size := uint64(1); size <= end.Size; size++ {
		for seq := uint64(1); seq <= size; seq++ {
			p := proofOf(t, c, seq, size)
			if err := p.Check(); err != nil || p.Entry.Seq != seq || p.Head.Size != size {
				t.Errorf("change %d of %d: %v", seq, size, err)
			}
		}
	}
	if p := proofOf(t, c, 1, 0); p.Head != end {
		t.Errorf("without a size: head %v, want %v", p.Head, end)
	}
	for change, spoil := range map[string]func(*audit.Proof){
		"content": func(p *audit.Proof) { p.Entry.Change.Why += "x" },
		"number":  func(p *audit.Proof) { p.Entry.Seq-- },
		"head":    func(p *audit.Proof) { p.Head.Hash[3]++ },
		"hash":    func(p *audit.Proof) { p.Hashes[0][3]++ },
		"digest":  func(p *audit.Proof) { p.Entry.Digest[3]++ },
		"missing": func(p *audit.Proof) { p.Hashes = p.Hashes[1:] },
	} {
		p := proofOf(t, c, end.Size-1, 0)
		if spoil(&p); p.Check() == nil {
			t.Errorf("a proof with another %s is accepted", change)
		}
	}
}

func proofOf(t *testing.T, c *adminapi.Client, seq, size uint64) audit.Proof {
	t.Helper()
	j, err := c.Prove(t.Context(), seq, size)
	if err != nil {
		t.Fatal(err)
	}
	e, h, hashes, err := j.Parts()
	if err != nil {
		t.Fatal(err)
	}
	return audit.Proof{Entry: e, Head: h, Hashes: hashes}
}

// A proof reveals no more than the log does.
func TestProofRights(t *testing.T) {
	api, s := newTestAPI(t, nil)
	before, _ := store.HeadOf(t.Context(), s)
	addLog(t, s)
	some := api.Client(person("u-r", registrar.Reader, "urn:dns:log.example"))
	if _, err := some.Prove(t.Context(), before.Size+2, 0); err != nil {
		t.Errorf("an own name: %v", err)
	}
	for _, seq := range []uint64{before.Size + 1, before.Size + 4} {
		_, err := some.Prove(t.Context(), seq, 0)
		if !errors.As(err, new(*registrar.DeniedError)) || strings.Contains(err.Error(), "else") {
			t.Errorf("change %d: got %v", seq, err)
		}
	}
	p := proofOf(t, api.Client(person("u-all", registrar.Owner)), before.Size+1, 0)
	if b, _ := json.Marshal(p.Entry.Change); p.Check() != nil || !p.Entry.Change.Redacted || strings.Contains(string(b), "Ada") {
		t.Errorf("a user is shown to an owner: %s, %v", b, p.Check())
	}
}

func TestProofRequests(t *testing.T) {
	api, s := newTestAPI(t, nil)
	addLog(t, s)
	l := listen(t, api)
	c := &adminapi.Client{URL: "http://" + l.Admin.String(), Token: grant(t, s, adminapi.AdministratorGrant())}
	end, _ := c.Head(t.Context())
	for path, want := range map[string]int{
		"changes/1": 200, "changes/0": 404, "changes/x": 404, "changes/-1": 404, "changes/99999999999999999999": 404,
		fmt.Sprint("changes/", end.Size+1): 404, "changes/3?size=2": 400, fmt.Sprint("changes/3?size=", end.Size+1): 400, "changes/3?size=x": 400, "changes/3?x=1": 400,
		"head?at=never": 400, "changes?kind=x": 400, "changes?until=x": 400,
	} {
		if status, _, body := do(t, c, "GET", adminapi.Root+path, ""); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
	var p adminapi.Proof
	if err := json.Unmarshal([]byte(`{"entry":{},"head":{"size":1,"hash":"`+strings.Repeat("0", 64)+`"},"hashes":[]}`), &p); err != nil {
		t.Fatal(err)
	}
	good, _ := c.Prove(t.Context(), 2, 0)
	long, odd, headless := good, good, good
	long.Hashes = slices.Repeat(good.Hashes, 64)
	odd.Hashes = []string{"xyz"}
	headless.Head.Hash = "00"
	for what, p := range map[string]adminapi.Proof{"empty": p, "long": long, "odd": odd, "headless": headless} {
		if _, _, _, err := p.Parts(); err == nil {
			t.Errorf("a proof that is %s is accepted", what)
		}
	}
}
