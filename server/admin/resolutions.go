package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits of the counts of resolutions.
const (
	maxMonths = 120     // maximum number of months in a request
	maxTop    = 100     // maximum number of names in a response
	usualTop  = 20      // default number of names in a response
	minCount  = 3       // only owners see lower counts of a name on a day
	maxRanked = 500_000 // maximum number of names that are ranked
)

func (s *API) resolutions(c *call) error {
	top, err := number(c.q, "top", usualTop)
	if err != nil {
		return err
	}
	out, err := s.Resolutions(c.r.Context(), c.actor, adminapi.ResolutionQuery{
		Name: c.q.Get("name"), Prefix: c.q.Get("prefix"), From: c.q.Get("from"), To: c.q.Get("to"), Top: int(min(top, maxTop)),
	})
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// Resolutions returns the response to a request of the actor a for GET statistics/resolutions.
func (s *API) Resolutions(ctx context.Context, a registrar.Actor, r adminapi.ResolutionQuery) (*adminapi.Resolutions, error) {
	from, to, err := s.months(r.From, r.To)
	if err != nil {
		return nil, err
	}
	out := &adminapi.Resolutions{
		From: from.String(), To: to.String(), Disabled: s.counts == nil, Prefix: r.Prefix,
		Periods: []adminapi.PeriodResolutions{}, Services: []adminapi.ServiceCount{},
	}
	source, err := s.counts.Reader(ctx)
	if err != nil {
		return nil, err
	}
	n := &resolutionCounter{out: out, periods: map[string]*adminapi.ByClass{}, services: map[string]*adminapi.ByClass{}}
	if r.Name != "" {
		err = s.nameResolutions(ctx, a, source, r.Name, from, to, n)
	} else if err = s.authorityResolutions(ctx, a, source, r.Prefix, from, to, n); err == nil && r.Top > 0 {
		out.Names, err = s.topNames(ctx, a, source, counts.Query{Kind: counts.OfName, From: from, To: to, Text: name.Beginning(r.Prefix), Prefix: true}, r.Top)
	}
	if err != nil {
		return nil, err
	}
	n.result()
	return out, nil
}

func (s *API) months(fromText, toText string) (from, to counts.Month, err error) {
	to = counts.MonthOf(s.now())
	if toText != "" {
		if to, err = counts.ParseMonth(toText); err != nil {
			return 0, 0, &adminapi.RequestError{Field: "to", Message: fmt.Sprintf("must be a month such as 2006-01, not %.40q", toText)}
		}
	}
	from = to - 2
	if fromText != "" {
		if from, err = counts.ParseMonth(fromText); err != nil {
			return 0, 0, &adminapi.RequestError{Field: "from", Message: fmt.Sprintf("must be a month such as 2006-01, not %.40q", fromText)}
		}
	}
	if from > to || to-from >= maxMonths {
		return 0, 0, &adminapi.RequestError{Field: "from", Message: fmt.Sprintf("must not be after the last month, or more than %d months before it", maxMonths)}
	}
	return from, to, nil
}

// nameResolutions counts the resolutions of a name. Only owners see low counts, which could
// disclose the activity of a single reader.
func (s *API) nameResolutions(ctx context.Context, a registrar.Actor, source counts.Store, text string, from, to counts.Month, n *resolutionCounter) error {
	asked, err := name.Parse(text)
	if err != nil {
		return err
	}
	kept, err := s.registrar.Kept(ctx, asked, time.Time{})
	if err != nil {
		return err
	}
	if !a.Reaches(kept) {
		return a.Denied(registrar.Reader, kept, asked.Key())
	}
	n.out.Name, n.out.Prefix, n.out.Few = kept.Key(), "", !a.MayName(kept, registrar.Owner)
	if err := rowsOf(ctx, source, kept, from, to, n.out.Few, n.add); err != nil {
		return err
	}
	aliases, err := s.aliasesOf(ctx, a, kept)
	if err != nil {
		return err
	}
	for _, alias := range aliases {
		var sum adminapi.ByClass
		err := rowsOf(ctx, source, alias, from, to, n.out.Few, func(r counts.Row) {
			n.add(r)
			addAll(&sum, r.Cells)
		})
		if err != nil {
			return err
		}
		if sum.Sum() > 0 {
			n.out.Aliases = append(n.out.Aliases, adminapi.NameResolutions{Name: alias.Key(), ByClass: sum})
		}
	}
	return nil
}

// rowsOf calls add for the counts of a name. If few is true, low counts are left out.
func rowsOf(ctx context.Context, source counts.Store, n name.Name, from, to counts.Month, few bool, add func(counts.Row)) error {
	for r, err := range source.Rows(ctx, counts.Query{Kind: counts.OfName, From: from, To: to, Text: n.Key()}) {
		if err != nil {
			return err
		}
		if few {
			r.Cells = withoutFew(r.Cells)
		}
		add(r)
	}
	return nil
}

// aliasesOf returns the aliases whose resolutions count as resolutions of a name. Such an alias is
// in no other record. Either no authority covers the alias, or the actor has rights for it.
func (s *API) aliasesOf(ctx context.Context, a registrar.Actor, n name.Name) (all []name.Name, err error) {
	rec, err := s.store.Get(ctx, n, time.Time{})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, text := range rec.SameAs {
		alias, err := name.Parse(text)
		if err != nil {
			continue // not a name
		}
		of := set.Of(alias)
		if alias = of.Fold(alias); alias == n || slices.Contains(all, alias) || of != nil && !a.Reaches(alias) {
			continue
		}
		switch _, err := s.store.Get(ctx, alias, time.Time{}); {
		case err == nil:
			continue // the alias has its own counts
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		listed, err := store.Aliased(ctx, s.store, alias)
		if err != nil {
			return nil, err
		}
		if len(listed) == 1 {
			all = append(all, alias)
		}
	}
	return all, nil
}

// addAll adds the counts of resolutions.
func addAll(sum *adminapi.ByClass, cells []counts.Cell) {
	for _, c := range cells {
		if c.What < counts.Gone {
			addTo(sum, c)
		}
	}
}

func withoutFew(cells []counts.Cell) []counts.Cell {
	var days [32]uint64
	for _, c := range cells {
		days[c.Day%32] += c.N
	}
	return slices.DeleteFunc(slices.Clone(cells), func(c counts.Cell) bool { return days[c.Day%32] < minCount })
}

// authorityResolutions counts the resolutions of names for each authority whose prefix begins with
// the given text. It includes names without an authority only if the actor may read all names.
func (s *API) authorityResolutions(ctx context.Context, a registrar.Actor, source counts.Store, prefix string, from, to counts.Month, n *resolutionCounter) error {
	begin := name.Beginning(prefix)
	for r, err := range source.Rows(ctx, counts.Query{Kind: counts.OfAuthority, From: from, To: to, Text: begin, Prefix: true}) {
		if err != nil {
			return err
		}
		if isBelow(r.Text, begin) && mayCount(a, r.Text) {
			n.add(r)
		}
	}
	return nil
}

func isBelow(text, begin string) bool {
	rest, ok := strings.CutPrefix(text, begin)
	return ok && (begin == "" || rest == "" || strings.ContainsAny(rest[:1], ":/") || strings.ContainsAny(begin[len(begin)-1:], ":/"))
}

func mayCount(a registrar.Actor, prefix string) bool {
	if a.MayAll(registrar.Reader) {
		return true
	}
	p, err := name.ParsePrefix(prefix)
	return err == nil && a.MayPrefix(p, registrar.Reader)
}

// topNames returns the most resolved names. It includes low counts only for owners.
func (s *API) topNames(ctx context.Context, a registrar.Actor, source counts.Store, q counts.Query, top int) ([]adminapi.NameResolutions, error) {
	sums := map[string]*adminapi.ByClass{}
	for r, err := range source.Rows(ctx, q) {
		if err != nil {
			return nil, err
		}
		sum := sums[r.Text]
		if sum == nil {
			if len(sums) == maxRanked {
				continue
			}
			sum = new(adminapi.ByClass)
			sums[r.Text] = sum
		}
		addAll(sum, r.Cells)
	}
	all := make([]adminapi.NameResolutions, 0, len(sums))
	for text, sum := range sums {
		all = append(all, adminapi.NameResolutions{Name: text, ByClass: *sum})
	}
	slices.SortFunc(all, func(a, b adminapi.NameResolutions) int {
		return cmp.Or(cmp.Compare(b.Regular, a.Regular), cmp.Compare(b.Sum(), a.Sum()), strings.Compare(a.Name, b.Name))
	})
	var some []adminapi.NameResolutions
	for _, r := range all {
		if len(some) == top {
			break
		}
		n, err := name.Parse(r.Name)
		if err == nil && r.Sum() > 0 && a.Reaches(n) && (r.Sum() >= minCount || a.MayName(n, registrar.Owner)) {
			some = append(some, r)
		}
	}
	return some, nil
}

type resolutionCounter struct {
	out               *adminapi.Resolutions
	periods, services map[string]*adminapi.ByClass
}

func (n *resolutionCounter) add(r counts.Row) {
	for _, c := range r.Cells {
		switch c.What {
		case counts.Gone:
			addTo(&n.out.Gone, c)
			continue
		case counts.Failed:
			addTo(&n.out.Failed, c)
			continue
		}
		addTo(&n.out.Total, c)
		addTo(entry(n.services, c.What.String()), c)
		period := r.Month.String()
		if c.Day > 0 {
			period += fmt.Sprintf("-%02d", c.Day)
		}
		addTo(entry(n.periods, period), c)
	}
}

func entry(m map[string]*adminapi.ByClass, key string) *adminapi.ByClass {
	if m[key] == nil {
		m[key] = new(adminapi.ByClass)
	}
	return m[key]
}

func addTo(b *adminapi.ByClass, c counts.Cell) {
	switch c.Class {
	case counts.Regular:
		b.Regular += c.N
	case counts.Machine:
		b.Machine += c.N
	case counts.Bot:
		b.Bot += c.N
	case counts.Unknown:
		b.Unknown += c.N
	}
}

func (n *resolutionCounter) result() {
	for period, sum := range n.periods {
		n.out.Periods = append(n.out.Periods, adminapi.PeriodResolutions{Period: period, ByClass: *sum})
	}
	slices.SortFunc(n.out.Periods, func(a, b adminapi.PeriodResolutions) int { return strings.Compare(a.Period, b.Period) })
	for service, sum := range n.services {
		n.out.Services = append(n.out.Services, adminapi.ServiceCount{Service: service, ByClass: *sum})
	}
	slices.SortFunc(n.out.Services, func(a, b adminapi.ServiceCount) int {
		return cmp.Or(cmp.Compare(b.Sum(), a.Sum()), strings.Compare(a.Service, b.Service))
	})
}
