package messages

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"golang.org/x/text/language"
)

// Cookie is the name of the cookie with the language that a user has chosen.
const Cookie = "lang"

// maxAccept is the maximum length of an Accept-Language field. A longer field is ignored.
const maxAccept = 1000

const yearInSeconds = 365 * 24 * 60 * 60

// A Set contains the texts of some pages in several languages. It is safe for concurrent use.
type Set struct {
	all     []*Catalogue // the first is the default
	matcher language.Matcher
}

// Read reads the catalogues of some pages, one for each language. The name of a file is prefix, the
// language and ".toml". The first language is the default.
func Read(files fs.FS, prefix string, languages ...string) (*Set, error) {
	if len(languages) == 0 {
		return nil, errors.New("messages: languages: must not be empty")
	}
	s := &Set{}
	var tags []language.Tag
	for _, l := range languages {
		tag, err := language.Parse(l)
		if err != nil {
			return nil, fmt.Errorf("messages: language %q: %w", l, err)
		}
		c, err := readCatalogue(files, prefix+l+".toml", tag)
		if err != nil {
			return nil, err
		}
		s.all, tags = append(s.all, c), append(tags, tag)
	}
	s.matcher = language.NewMatcher(tags)
	return s, nil
}

// All returns the catalogues, beginning with the default language.
func (s *Set) All() []*Catalogue { return slices.Clone(s.all) }

// In returns the catalogue of a language, or nil.
func (s *Set) In(tag string) *Catalogue {
	for _, c := range s.all {
		if c.Tag() == tag {
			return c
		}
	}
	return nil
}

// Choose returns the catalogue in the language that the user has chosen. If the set has no such
// catalogue, Choose returns the catalogue that an Accept-Language field prefers.
func (s *Set) Choose(chosen, accept string) *Catalogue {
	if c := s.In(chosen); c != nil {
		return c
	}
	if accept == "" || len(accept) > maxAccept {
		return s.all[0]
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return s.all[0]
	}
	_, i, _ := s.matcher.Match(tags...)
	return s.all[i]
}

// For chooses the catalogue for a request by the cookie and the Accept-Language field.
func (s *Set) For(r *http.Request) *Catalogue {
	return s.Choose(Chosen(r), r.Header.Get("Accept-Language"))
}

// Chosen returns the language in the cookie of a request, or "".
func Chosen(r *http.Request) string {
	c, err := r.Cookie(Cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// NewCookie returns the cookie for the choice of a language, which applies to all paths below path.
// The cookie is not Secure, because the pages may also be read without TLS.
func NewCookie(tag, path string) *http.Cookie {
	return &http.Cookie{Name: Cookie, Value: tag, Path: path, MaxAge: yearInSeconds, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// Describe sets the fields Content-Language and Vary of a response in the language of the
// catalogue.
func (c *Catalogue) Describe(h http.Header) {
	h.Set("Content-Language", c.Tag())
	h.Add("Vary", "Accept-Language, Cookie")
}
