package pages

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// maxRedactable is how many revisions the form of a redaction lists.
const maxRedactable = 1000

// A redactView is the form that removes the content of revisions.
type redactView struct {
	frame
	Spelling  string
	Revisions []adminapi.Revision // that can be redacted
	Chosen    []uint64
	Reason    string
	Typed     string // the name, as confirmation
	Revision  uint64 // current one
	Second    bool   // a second person must approve the redaction
}

// Has reports whether a revision is chosen.
func (v *redactView) Has(revision uint64) bool { return slices.Contains(v.Chosen, revision) }

// redactForm shows the revisions of a name whose content can be removed.
func (c *request) redactForm() error {
	v, _, err := c.redactView()
	if err != nil {
		return err
	}
	c.show(http.StatusOK, "redact", v)
	return nil
}

// redactView returns the page, if the user may redact the name in the path.
func (c *request) redactView() (*redactView, name.Name, error) {
	n, err := c.subject()
	if err != nil {
		return nil, n, err
	}
	rec, err := c.api.Get(c.ctx(), n)
	if err != nil {
		return nil, n, err
	}
	if !c.rights(rec.Name).Redact {
		return nil, n, c.session.Actor.Denied(registrar.Administrator, rec.Name, rec.Spelling)
	}
	v := &redactView{Spelling: rec.Spelling, Revision: rec.Revision}
	v.Title, v.Section = c.texts.text("redact.title", rec.Spelling), "names"
	all, err := c.revisions(n, rec.Revision, maxRedactable)
	if err != nil {
		return nil, n, err
	}
	v.Revisions = slices.DeleteFunc(all, func(r adminapi.Revision) bool { return r.Redacted })
	rule, err := c.secondPerson()
	v.Second = rule.Redact
	return v, n, err
}

// redact removes the content of the chosen revisions, if the name was typed as confirmation.
func (c *request) redact() error {
	v, n, err := c.redactView()
	if err != nil {
		return err
	}
	f := c.r.PostForm
	v.Reason, v.Typed = lines(f.Get("reason")), strings.TrimSpace(f.Get("typed"))
	for _, text := range f["revisions"] {
		revision, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return errNoRevision
		}
		v.Chosen = append(v.Chosen, revision)
	}
	expected, _ := strconv.ParseUint(f.Get("revision"), 10, 64) // 0 is a conflict
	if v.Typed != v.Spelling {
		v.Faults = append(v.Faults, problem{"typed", c.texts.text("redact.mistyped", v.Spelling)})
	}
	if v.Reason == "" {
		v.Faults = append(v.Faults, problem{"reason", c.texts.text("redact.no-reason")})
	}
	if len(v.Chosen) == 0 {
		v.Faults = append(v.Faults, problem{"revisions", c.texts.text("redact.none-chosen")})
	}
	if len(v.Faults) > 0 {
		c.show(http.StatusUnprocessableEntity, "redact", v)
		return nil
	}
	_, err = c.api.Redact(c.ctx(), n, registrar.Redaction{Revisions: v.Chosen, Reason: v.Reason, Expected: expected})
	return c.redacted(v, err)
}

// redacted shows the outcome of a redaction.
func (c *request) redacted(v *redactView, err error) error {
	switch fault, ok := c.faultOf(err, firstField); {
	case err == nil:
		c.see(namePath(v.Spelling) + "?done=redacted")
	case errors.As(err, new(*store.ConflictError)):
		v.Faults = []problem{{"", c.texts.text("redact.conflict")}}
		c.show(http.StatusConflict, "redact", v)
	case ok:
		v.Faults = []problem{fault}
		c.show(http.StatusUnprocessableEntity, "redact", v)
	default:
		return err
	}
	return nil
}
