package pages

import (
	"embed"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/messages"
)

//go:embed messages_*.toml
var messageFiles embed.FS

const messagePrefix = "messages_"

// readTexts reads the texts of the pages. Clients that accept none of the languages get English.
func readTexts() (*messages.Set, error) {
	return messages.Read(messageFiles, messagePrefix, "en", "de")
}

// A catalogue has the texts of the pages in one language, by section and key, as in
// "names.title".
type catalogue struct {
	*messages.Catalogue
	said map[string]bool // texts that a response has; nil if that is not needed
}

// text returns the text for a key. A test checks that every key in the code of this package has a
// text.
func (c catalogue) text(key string, args ...any) string {
	s := c.Text(key, args...)
	if c.said != nil {
		c.said[s] = true
	}
	return s
}

// An edition is the pages in one language.
type edition struct {
	texts   catalogue
	layouts layouts
}

// newEditions returns the editions by language.
func newEditions(set *messages.Set) (map[string]edition, error) {
	all := map[string]edition{}
	for _, c := range set.All() {
		layouts, err := parseLayouts(c)
		if err != nil {
			return nil, err
		}
		all[c.Tag()] = edition{catalogue{c, nil}, layouts}
	}
	return all, nil
}

// edition returns the edition for a request.
func (p *Pages) edition(r *http.Request) edition { return p.editions[p.messages.For(r).Tag()] }

// A languageChoice is a language in the footer.
type languageChoice struct {
	Tag, Name string
	Current   bool
}

// languages returns the languages that can be chosen.
func (c *request) languages() []languageChoice {
	var all []languageChoice
	for _, l := range c.messages.All() {
		all = append(all, languageChoice{l.Tag(), l.Name(), l.Tag() == c.texts.Tag()})
	}
	return all
}

// here returns the path of this page, to which the browser returns after the person has chosen a
// language. It returns "" if choosing a language would lose what was entered.
func (c *request) here() string {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return ""
	}
	if strings.HasPrefix(c.r.URL.Path, signInPath+"/at/") { // an answer of a provider is good for one request
		return signInPath
	}
	return c.r.URL.RequestURI()
}

// serveLanguage keeps the choice of a language in a cookie, and redirects to a page. It needs no
// session, because the pages about signing in also offer the choice.
func (p *Pages) serveLanguage(w http.ResponseWriter, r *http.Request) {
	c := p.newRequest(w, r)
	if err := r.ParseForm(); err != nil {
		c.fail(formError(err))
		return
	}
	l := p.messages.In(r.PostForm.Get("lang"))
	if l == nil {
		c.fail(&adminapi.RequestError{Field: "lang", Message: "unknown language"})
		return
	}
	next := r.PostForm.Get("next")
	if !IsLocal(next) {
		next = Root
	}
	http.SetCookie(w, messages.NewCookie(l.Tag(), Root))
	c.see(next)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
