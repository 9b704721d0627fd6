package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/nomen-project/nomen/store"
)

type oboYAML struct {
	at   time.Time
	path webPath
}

func (o *oboYAML) head() []byte {
	base := strings.TrimSuffix(o.path.url(), "/")
	return fmt.Appendf(nil, "# Redirects of names, for the PURL server of the OBO Foundry\n\nidspace: %s\nbase_url: %s\nterm_browser: custom\nproducts: []\nentries:\n",
		yamlText(strings.ToUpper(path.Base(base))), yamlText(base))
}

func yamlText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // every text has a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

func (o *oboYAML) record(b []byte, r *store.Record) ([]byte, error) {
	url, err := best(r, o.at)
	if err != nil {
		return b, err
	}
	below, err := o.path.decoded(r.Name)
	if err != nil {
		return b, err
	}
	return fmt.Appendf(b, "- exact: %s\n  replacement: %s\n  status: see other\n", yamlText("/"+below), yamlText(url)), nil
}

func (o *oboYAML) authority(*store.Authority) {}

func (o *oboYAML) rule(b []byte, a *store.Authority, i int) ([]byte, error) {
	w, err := webRuleOf(a, &a.Rules[i])
	if err != nil {
		return b, err
	}
	status := map[int]string{http.StatusMovedPermanently: "permanent", http.StatusFound: "temporary", http.StatusSeeOther: "see other"}[w.status]
	switch {
	case len(w.when) > 0:
		return b, errors.New("it has conditions")
	case status == "":
		return b, fmt.Errorf("the OBO Foundry does not have the status %d", w.status)
	case w.has("$"):
		return b, errors.New("its template has a dollar sign")
	}
	begin, err := o.path.begin(a)
	if err != nil {
		return b, err
	}
	var target strings.Builder
	for _, p := range w.target {
		switch {
		case p.kind == component || p.last:
			return b, errors.New("its template percent-encodes the delimiters of a part")
		case p.kind == 0:
			target.WriteString(p.literal)
		default:
			fmt.Fprintf(&target, "$%d", p.group)
		}
	}
	expression := "^" + regexp.QuoteMeta(o.path.url()) + begin + w.expression + "$"
	return fmt.Appendf(b, "- regex: %s\n  replacement: %s\n  status: %s\n", yamlText(expression), yamlText(target.String()), status), nil
}

func (o *oboYAML) end(b []byte, _ *store.Authority) ([]byte, error) {
	return b, errors.New("names without a rule here get rules of an authority above")
}

func (o *oboYAML) tail() []byte { return nil }
