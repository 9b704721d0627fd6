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

// readTexts reads the texts of the pages. English is used for clients that do not accept any of the
// languages.
func readTexts() (*messages.Set, error) {
	return messages.Read(messageFiles, messagePrefix, "en", "de")
}

// A catalogue contains the texts of the pages in one language. Their keys consist of a section and
// a word, as in "names.title".
type catalogue struct {
	*messages.Catalogue
	said map[string]bool // texts used in a response; nil if they are not recorded
}

func (c catalogue) text(key string, args ...any) string {
	s := c.Text(key, args...)
	if c.said != nil {
		c.said[s] = true
	}
	return s
}

// An edition is the set of all pages in one language.
type edition struct {
	texts   catalogue
	layouts *layouts
}

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

func (p *Pages) edition(r *http.Request) edition { return p.editions[p.messages.For(r).Tag()] }

type languageChoice struct {
	Tag, Name string
	Current   bool
}

func (c *request) languages() []languageChoice {
	var all []languageChoice
	for _, l := range c.messages.All() {
		all = append(all, languageChoice{l.Tag(), l.Name(), l.Tag() == c.texts.Tag()})
	}
	return all
}

// here returns the path to which the browser returns after the user has chosen a language. It
// returns "" if input on the page would be lost.
func (c *request) here() string {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return ""
	}
	if strings.HasPrefix(c.r.URL.Path, signInPath+"/at/") { // the response of an identity provider is valid for only one request
		return signInPath
	}
	return c.r.URL.RequestURI()
}

// serveLanguage stores the chosen language in a cookie and redirects back. It does not require a
// session, because users can choose a language before they sign in.
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
