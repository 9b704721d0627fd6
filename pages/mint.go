package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const maxMinted = 1000

const mintPath = Root + "mint"

func mintHandlers() handlers {
	return handlers{
		"GET mint":          (*request).mintForm,
		"POST mint":         (*request).mint,
		"GET mint/made":     (*request).minted,
		"GET mint/made.csv": (*request).mintedFile,
	}
}

type mintView struct {
	frame
	Prefix, Template, Count string
	Publish                 bool
	Why                     string
	Made                    string   // path of the page with the names that were made before an error, or ""
	Sample                  []string // examples of the names that would be made
}

func (*mintView) Example() string { return "x{seq}{check}" }

func (c *request) mintForm() error {
	if !c.session.Actor.MayAny(registrar.Editor) {
		return c.session.Actor.DeniedAny(registrar.Editor, "mint")
	}
	f := c.r.Form
	c.showMint(&mintView{Prefix: strings.TrimSpace(f.Get("prefix")), Template: strings.TrimSpace(f.Get("template")), Count: "1"}, http.StatusOK)
	return nil
}

func (c *request) showMint(v *mintView, status int) {
	v.Title, v.Section = c.texts.text("mint.title"), "new"
	c.show(status, "mint", v)
}

func (c *request) mint() error {
	f := c.r.PostForm
	v := &mintView{
		Prefix: strings.TrimSpace(f.Get("prefix")), Template: strings.TrimSpace(f.Get("template")), Count: strings.TrimSpace(f.Get("count")),
		Publish: f.Get("publish") != "", Why: lines(f.Get("why")),
	}
	n, err := strconv.Atoi(v.Count)
	if err != nil || n < 1 || n > maxMinted {
		v.Faults = []problem{{"count", c.texts.text("mint.bad-count", maxMinted)}}
		c.showMint(v, http.StatusUnprocessableEntity)
		return nil
	}
	m := adminapi.Minting{Prefix: v.Prefix, Template: v.Template, Count: n, Why: v.Why}
	if f.Get("do") == "try" {
		m.DryRun, m.Count = true, min(n, 5)
		err := c.api.Mint(c.ctx(), m, func(n name.Name) { v.Sample = append(v.Sample, n.Key()) })
		return c.mintedOr(v, err, func() { c.showMint(v, http.StatusOK) })
	}
	return c.makeNames(v, m)
}

func (c *request) mintedOr(v *mintView, err error, done func()) error {
	fault, ok := c.faultOf(err, firstField)
	switch {
	case err == nil:
		done()
	case ok:
		v.Faults = []problem{fault}
		c.showMint(v, http.StatusUnprocessableEntity)
	default:
		return err
	}
	return nil
}

// makeNames makes the names that a form requests and shows them. After an error, it shows a link to
// the names that were made before the error.
func (c *request) makeNames(v *mintView, m adminapi.Minting) error {
	before, err := c.api.Head(c.ctx())
	if err != nil {
		return err
	}
	var names []name.Name
	err = c.api.Mint(c.ctx(), m, func(n name.Name) { names = append(names, n) })
	if err == nil && v.Publish {
		err = c.publish(names, v.Why)
	}
	if len(names) > 0 {
		until, werr := c.awaitLog(before.Size + uint64(len(names)))
		if werr != nil {
			return werr
		}
		v.Made = madePath(c.session.Actor.Who, before.Size, until)
	}
	return c.mintedOr(v, err, func() { c.see(v.Made) })
}

func (c *request) publish(names []name.Name, why string) error {
	reqs := make([]registrar.Request, len(names))
	for i, n := range names {
		reqs[i] = registrar.Request{Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active}, Fields: registrar.FieldStatus, Expected: 1}
	}
	outs, err := c.api.Apply(c.ctx(), reqs, why)
	for _, out := range outs {
		if err == nil {
			err = out.Err
		}
	}
	return err
}

// The timing of awaitLog. Every change is in the log after a second at most.
const (
	logWait  = 3 * time.Second
	logCheck = 50 * time.Millisecond
)

// awaitLog waits until the log has at least the given size, and returns the size of the log.
func (c *request) awaitLog(size uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(c.ctx(), logWait)
	defer cancel()
	for {
		head, err := c.api.Head(c.ctx())
		if err != nil || head.Size >= size {
			return head.Size, err
		}
		select {
		case <-ctx.Done():
			return size, c.ctx().Err()
		case <-time.After(logCheck):
		}
	}
}

func madePath(who string, after, until uint64) string {
	return mintPath + "/made?" + madeQuery(who, after, until)
}

func madeQuery(who string, after, until uint64) string {
	return url.Values{"who": {who}, "after": {strconv.FormatUint(after, 10)}, "until": {strconv.FormatUint(until, 10)}}.Encode()
}

// madeBetween returns the changes by which a user created names, between two positions in the log.
// It reads at most maxLogRead entries.
func (c *request) madeBetween(after, until uint64, who string) ([]adminapi.Entry, error) {
	until = min(until, after+maxLogRead)
	if until <= after {
		return nil, nil
	}
	all, err := entriesOf(c.api.Search(c.ctx(), adminapi.LogQuery{After: after, Until: until, Who: who, Kind: adminapi.KindOfName}))
	var made []adminapi.Entry
	for _, e := range all {
		if e.Revision == 1 && e.Record != nil {
			made = append(made, e)
		}
	}
	return made[:min(len(made), maxMinted)], err
}

const maxMade = 200

type mintedView struct {
	frame
	Made   []adminapi.Entry
	Listed []adminapi.Entry // the first new names
	File   string           // path of the CSV file
}

func (c *request) madeEntries() (made []adminapi.Entry, query string, err error) {
	q := c.r.Form
	after, err := strconv.ParseUint(q.Get("after"), 10, 64)
	if err != nil {
		return nil, "", errNoPage
	}
	until, err := strconv.ParseUint(q.Get("until"), 10, 64)
	if err != nil || q.Get("who") == "" {
		return nil, "", errNoPage
	}
	made, err = c.madeBetween(after, until, q.Get("who"))
	return made, madeQuery(q.Get("who"), after, until), err
}

func (c *request) minted() error {
	made, query, err := c.madeEntries()
	if err != nil {
		return err
	}
	listed := made[:fitting(made, maxMade, func(e adminapi.Entry) int { return len(namePath(e.Key)) })]
	v := &mintedView{Made: made, Listed: listed, File: mintPath + "/made.csv?" + query}
	v.Title, v.Section = c.texts.text("mint.made-title"), "new"
	c.show(http.StatusOK, "minted", v)
	return nil
}

// mintedFile sends the new names as a table that users can complete and upload.
func (c *request) mintedFile() error {
	made, _, err := c.madeEntries()
	if err != nil {
		return err
	}
	rows := [][]string{{"name", "url", "title"}}
	for _, e := range made {
		rows = append(rows, []string{e.Record.Spelling, "", ""})
	}
	return c.table("names.csv", rows)
}
