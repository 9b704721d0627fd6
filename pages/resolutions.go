package pages

import (
	"html/template"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/chart"
	"github.com/nomen-project/nomen/name"
)

const maxTopNames = 20

type resolutionsView struct {
	adminapi.Resolutions
	Chart template.HTML
	Share string // percentage of failed lookups among all; "" without lookups
}

func (c *request) resolutionsOf(month string) (*resolutionsView, error) {
	return c.resolutions(adminapi.ResolutionQuery{From: month, To: month, Top: maxTopNames})
}

func (c *request) nameResolutions(n name.Name) (*resolutionsView, error) {
	return c.resolutions(adminapi.ResolutionQuery{Name: n.Key()})
}

func (c *request) resolutions(q adminapi.ResolutionQuery) (*resolutionsView, error) {
	r, err := c.api.Resolutions(c.ctx(), q)
	if err != nil {
		return nil, err
	}
	v := &resolutionsView{Resolutions: r}
	if r.Disabled {
		return v, nil
	}
	if failed := r.Failed.Sum(); failed > 0 {
		v.Share = c.number((100*failed + (r.Total.Sum()+failed)/2) / (r.Total.Sum() + failed))
	}
	v.Aliases = r.Aliases[:min(len(r.Aliases), maxTopNames)]
	v.Names = r.Names[:fitting(r.Names, maxTopNames, func(n adminapi.NameResolutions) int { return len(namePath(n.Name)) })]
	v.Chart, err = c.resolutionsChart(&r)
	return v, err
}

// resolutionsChart draws the resolutions by day. Periods for which only the sum of a month is kept
// are drawn by month.
func (c *request) resolutionsChart(r *adminapi.Resolutions) (template.HTML, error) {
	d := chart.Data{Words: c.words("resolutions"), Category: c.texts.text("statistics.day"), Number: c.number, Series: make([]chart.Series, 4)}
	d.Title, d.Description = c.texts.text("statistics.resolutions-chart"), c.texts.text("statistics.resolutions-about")
	d.Series[0].Label = c.texts.text("statistics.class-regular")
	d.Series[1].Label = c.texts.text("statistics.class-machine")
	d.Series[2].Label = c.texts.text("statistics.class-bot")
	d.Series[3].Label = c.texts.text("statistics.class-unknown")
	for _, p := range withDays(r.Periods, c.now()) {
		d.Categories = append(d.Categories, p.Period)
		for i, n := range []uint64{p.Regular, p.Machine, p.Bot, p.Unknown} {
			d.Series[i].Values = append(d.Series[i].Values, n)
		}
	}
	return d.Line()
}

// withDays adds the days without resolutions, up to the current day.
func withDays(periods []adminapi.PeriodResolutions, now time.Time) (all []adminapi.PeriodResolutions) {
	var next time.Time // day after the last period; zero if that was a month
	for _, p := range periods {
		day, err := time.Parse(time.DateOnly, p.Period)
		for ; err == nil && !next.IsZero() && next.Before(day) && !next.After(now); next = next.AddDate(0, 0, 1) {
			all = append(all, adminapi.PeriodResolutions{Period: next.Format(time.DateOnly)})
		}
		if all = append(all, p); err == nil {
			next = day.AddDate(0, 0, 1)
		}
	}
	return all
}

// resolutionsFile sends the resolutions of a month by day, in total, and by name.
func (c *request) resolutionsFile() error {
	v := &monthView{}
	if err := c.month(v); err != nil {
		return err
	}
	r, err := c.resolutionsOf(v.Month)
	if err != nil {
		return err
	}
	rows := [][]string{{"resolutions", "regular", "machine", "bot", "unknown"}}
	add := func(title string, n adminapi.ByClass) {
		rows = append(rows, []string{title, decimal(n.Regular), decimal(n.Machine), decimal(n.Bot), decimal(n.Unknown)})
	}
	for _, p := range r.Periods {
		add(p.Period, p.ByClass)
	}
	add("total", r.Total)
	for _, s := range r.Services {
		add("service "+s.Service, s.ByClass)
	}
	add("retired names", r.Gone)
	add("failed lookups", r.Failed)
	for _, n := range r.Names {
		add(n.Name, n.ByClass)
	}
	return c.table("resolutions-"+v.Month+".csv", rows)
}
