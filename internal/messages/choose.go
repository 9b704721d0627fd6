package messages

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"golang.org/x/text/language"
)

// Cookie is the name of the cookie with the language that a person has chosen.
const Cookie = "lang"

// maxAccept is how long a field Accept-Language may be. A longer one is ignored.
const maxAccept = 1000

// yearInSeconds is how long the choice of a language lasts.
const yearInSeconds = 365 * 24 * 60 * 60

// A Set has the texts of a set of pages in several languages. It is safe for concurrent use.
type Set struct {
	all     []*Catalogue // the first is for clients that accept none of the languages
	matcher language.Matcher
}

// Read reads the catalogues of a set of pages, one for each language. The name of each file is
// prefix, the language and ".toml". The first language is the default.
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

// All returns the catalogues. The first one has the default language.
func (s *Set) All() []*Catalogue { return slices.Clone(s.all) }

// In returns the catalogue of a language, or nil if there is none.
func (s *Set) In(tag string) *Catalogue {
	for _, c := range s.all {
		if c.Tag() == tag {
			return c
		}
	}
	return nil
}

// Choose returns the catalogue in the language that a person has chosen. If that is not one of
// the languages, it returns the one that suits a field Accept-Language best.
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

// For returns the catalogue for a request, by its cookie and its field Accept-Language.
func (s *Set) For(r *http.Request) *Catalogue {
	return s.Choose(Chosen(r), r.Header.Get("Accept-Language"))
}

// Chosen returns the language in the cookie of a request, which the person has chosen. It returns
// "" if there is no cookie.
func Chosen(r *http.Request) string {
	c, err := r.Cookie(Cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// NewCookie returns the cookie for the choice of a language, for all paths below path. It is not a
// secret, and is also sent over plain HTTP, because the pages may be read without TLS.
func NewCookie(tag, path string) *http.Cookie {
	return &http.Cookie{Name: Cookie, Value: tag, Path: path, MaxAge: yearInSeconds, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// Describe sets the fields of a response in the language of c: Content-Language and Vary.
func (c *Catalogue) Describe(h http.Header) {
	h.Set("Content-Language", c.Tag())
	h.Add("Vary", "Accept-Language, Cookie")
}
