package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

type proofView struct {
	frame
	Entry  adminapi.Entry
	Head   store.Head // the head of the proof
	Sound  bool       // the proof was verified
	Hashes int
	Noted  string // the head that the user has entered
	Same   bool   // Noted is the head of the proof
	Size   uint64 // size of the entered head, or 0; for the download
}

// proof shows a change and the proof that the log contains it. The proof is for the head in the
// query parameter "head", which the user has noted earlier, or for the current head.
func (c *request) proof() error {
	seq, err := c.changeNumber()
	if err != nil {
		return err
	}
	v := &proofView{Noted: strings.TrimSpace(c.r.Form.Get("head"))}
	v.Title, v.Section = c.texts.text("proof.title", seq), "log"
	noted := c.notedHead(v, seq)
	p, err := c.api.Prove(c.ctx(), seq, v.Size)
	if err != nil {
		return err
	}
	proven, err := newProof(p)
	if err != nil {
		return err
	}
	v.Entry, v.Head, v.Hashes, v.Sound = p.Entry, proven.Head, len(proven.Hashes), proven.Check() == nil
	v.Same = v.Noted != "" && noted == v.Head
	status := http.StatusOK
	if len(v.Faults) > 0 {
		status = http.StatusUnprocessableEntity
	}
	c.show(status, "proof", v)
	return nil
}

func (c *request) changeNumber() (uint64, error) {
	seq, err := strconv.ParseUint(c.r.PathValue("seq"), 10, 64)
	if err != nil || seq == 0 {
		return 0, errNoPage
	}
	return seq, nil
}

// notedHead parses the head that the user has entered. If the head is invalid, the page shows the
// error, and a proof for the current head.
func (c *request) notedHead(v *proofView, seq uint64) (noted store.Head) {
	if v.Noted == "" {
		return noted
	}
	noted, err := store.ParseHead(v.Noted)
	if err != nil {
		v.Faults = []problem{{"head", c.texts.text("proof.bad-head")}}
		return noted
	}
	now, err := c.api.Head(c.ctx())
	switch {
	case err != nil: // the page fails with the same error
	case noted.Size < seq:
		v.Faults = []problem{{"head", c.texts.text("proof.older-head", noted.Size)}}
	case noted.Size > now.Size:
		v.Faults = []problem{{"head", c.texts.text("proof.newer-head", noted.Size, now.Size)}}
	default:
		v.Size = noted.Size
	}
	return noted
}

func newProof(p adminapi.Proof) (audit.Proof, error) {
	e, h, hashes, err := p.Parts()
	return audit.Proof{Entry: e, Head: h, Hashes: hashes}, err
}

// downloadProof sends a proof as a file for the command nomen verify --proof.
func (c *request) downloadProof() error {
	seq, err := c.changeNumber()
	if err != nil {
		return err
	}
	size, _ := strconv.ParseUint(c.r.Form.Get("size"), 10, 64) // 0 stands for the current size
	p, err := c.api.Prove(c.ctx(), seq, size)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	c.download(fmt.Sprintf("change-%d.json", seq), "application/json", append(b, '\n'))
	return nil
}

// download sends a file. The name of the file must consist of ASCII letters, digits, "-" and ".".
func (c *request) download(file, contentType string, body []byte) {
	h := c.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="`+file+`"`)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(body) // after an error, the client is gone
	}
}

// The ranges of time around a revision in which proofOfRevision searches the log. The clocks of
// servers that use the same database may differ, so a larger range follows the small one.
const (
	nearRevision = time.Millisecond
	farRevision  = 5 * time.Minute
)

func (c *request) proofOfRevision() error {
	n, err := c.subject()
	if err != nil {
		return err
	}
	found, err := c.findRevisions(n, c.r.Form.Get("revision"))
	if err != nil {
		return err
	}
	for _, around := range []time.Duration{nearRevision, farRevision} {
		seq, err := c.findChange(n, found[0], around)
		if err != nil {
			return err
		}
		if seq > 0 {
			c.see(Root + "log/" + strconv.FormatUint(seq, 10))
			return nil
		}
	}
	return &adminapi.StatusError{Status: http.StatusNotFound, Detail: fmt.Sprintf("this revision was not found in the log within %d minutes of its time; look for it in the log", int(farRevision.Minutes()))}
}

// findChange returns the log number of the change that made a revision. It searches maxLogRead
// changes around the time of the revision. If it does not find the change, it returns 0.
func (c *request) findChange(n name.Name, r adminapi.Revision, around time.Duration) (uint64, error) {
	before, err := c.api.HeadAt(c.ctx(), r.Time.Add(-around))
	if err != nil {
		return 0, err
	}
	after, err := c.api.HeadAt(c.ctx(), r.Time.Add(around))
	if err != nil {
		return 0, err
	}
	if after.Size <= before.Size {
		return 0, nil
	}
	until := min(after.Size, before.Size+maxLogRead)
	for e, err := range c.api.Search(c.ctx(), adminapi.LogQuery{After: before.Size, Until: until, Prefix: n.Key(), Kind: adminapi.KindOfName}) {
		if err != nil {
			return 0, err
		}
		if e.Key == n.Key() && e.Revision == r.Revision {
			return e.Seq, nil
		}
	}
	return 0, nil
}
