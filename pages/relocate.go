package pages

import (
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
)

const relocatePath = Root + "relocate"

func relocateHandlers() handlers {
	return handlers{"GET relocate": (*request).relocateForm, "POST relocate": (*request).relocate}
}

type relocateView struct {
	frame
	Key      string
	From, To string
	Retired  bool
	Why      string
	Limit    int // number of names above which a second person must approve a relocation; 0 for no limit
}

func (c *request) relocateForm() error {
	return c.showRelocate(c.newRelocateView(), http.StatusOK)
}

func (c *request) newRelocateView() *relocateView {
	f := c.r.Form
	return &relocateView{Key: formKey(f), From: strings.TrimSpace(f.Get("from")), To: strings.TrimSpace(f.Get("to")), Retired: f.Get("retired") != "", Why: lines(f.Get("why"))}
}

func (c *request) showRelocate(v *relocateView, status int) error {
	v.Title, v.Section = c.texts.text("relocate.title"), "relocate"
	rule, err := c.secondPerson()
	if err != nil {
		return err
	}
	v.Limit = rule.RelocateAbove
	return c.showBulk(status, "relocate", v)
}

func (c *request) relocate() error {
	v := c.newRelocateView()
	rel := registrar.Relocation{From: v.From, To: v.To, Retired: v.Retired, Why: v.Why, DryRun: true}
	j, err := c.api.StartRelocation(c.ctx(), rel, adminapi.Background{Key: v.Key})
	if err == nil {
		j = c.settle(j)
	}
	switch fault, ok := c.faultOf(err, firstField); {
	case ok:
		v.Faults = []problem{fault}
	case err != nil:
		return err
	case j.Problem != nil && j.Problem.Status == http.StatusUnprocessableEntity && j.Problem.Field != "":
		v.Faults = []problem{{j.Problem.Field, j.Problem.Detail}}
		v.Key = adminapi.NewJobID()
	default:
		c.see(jobPath(j.ID))
		return nil
	}
	return c.showRelocate(v, http.StatusUnprocessableEntity)
}
