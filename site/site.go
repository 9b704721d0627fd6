// Package site describes the institution that runs a server. It gives the public pages their common
// part: the header with the name and logo of the institution, the style sheet with its colours, and
// the footer. The package also has the texts of the public pages, one catalogue for each language.
package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/messages"
	"github.com/nomen-project/nomen/internal/shown"
)

// Settings say who runs a server. All of them may be empty.
type Settings struct {
	Name    string // name of the institution or service
	Logo    []byte // a PNG or SVG file
	Footer  string // a sentence at the end of each page
	Links   []Link // links at the end of each page
	Contact string // URL at which readers reach the people who run the server: mailto, http or https
	Light   Colours
	Dark    Colours // for readers who prefer dark pages
}

// A Link is a link at the end of each page.
type Link struct{ Text, URL string }

// A SettingError says which setting is invalid, and why.
type SettingError struct {
	Key     string // key in the configuration, such as accent-dark
	Value   string // the invalid part of the value; "" if the message does not quote it
	Message string // what the value must be
}

func (e *SettingError) Error() string {
	if e.Value == "" {
		return e.Key + ": " + e.Message
	}
	return fmt.Sprintf("%s %q: %s", e.Key, e.Value, e.Message)
}

// A Site has valid settings, and the style sheet for them. It is safe for concurrent use.
type Site struct {
	settings Settings
	logo     *Logo
	style    string
	digest   string // of the style sheet, as in a Content-Security-Policy
	texts    *messages.Set
}

// The limits of texts, in characters.
const (
	maxName   = 100
	maxFooter = 500
	maxLinks  = 10
)

// New returns a Site with these settings. The error joins one [*SettingError] for each invalid
// setting.
func New(s Settings) (*Site, error) {
	texts, failed := readTexts()
	logo, noLogo := newLogo(s.Logo)
	light, notLight := s.Light.palette("", defaultLight())
	dark, notDark := s.Dark.palette("-dark", defaultDark())
	err := errors.Join(failed, noLogo, notLight, notDark, checkText("name", s.Name, maxName), checkText("footer", s.Footer, maxFooter), checkLinks(s.Links), checkContact(s.Contact))
	if err != nil {
		return nil, err
	}
	out := &Site{settings: s, texts: texts, logo: logo}
	out.style = ":root {--logo: " + light.background.String() + "; }\n" + light.css(":root") + "@media screen and (prefers-color-scheme: dark) { " + strings.TrimSuffix(dark.css(":root"), "\n") + " }\n" + styleSheet
	out.digest = Digest(out.style)
	return out, nil
}

// Digest returns the digest of a style sheet or script, as in a Content-Security-Policy.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// checkText checks a text that pages show on one line.
func checkText(key, text string, most int) error {
	switch {
	case !utf8.ValidString(text), strings.ContainsFunc(text, func(r rune) bool { return shown.Odd(r) || r == '\n' || r == '\t' }):
		return &SettingError{key, text, "must be one line without control characters"}
	case utf8.RuneCountInString(text) > most:
		return &SettingError{key, shown.Short(text, 20), fmt.Sprintf("must have at most %d characters", most)}
	}
	return nil
}

// ParseLink parses a link as it is written in a configuration: the text, a space and the URL.
func ParseLink(text string) (Link, error) {
	i := strings.LastIndexByte(text, ' ')
	if i < 0 || strings.TrimSpace(text[:i]) == "" {
		return Link{}, &SettingError{"links", text, "must have a text and a URL, such as \"Privacy https://example.org/privacy\""}
	}
	return Link{strings.TrimSpace(text[:i]), text[i+1:]}, nil
}

func checkLinks(all []Link) error {
	if len(all) > maxLinks {
		return &SettingError{"links", "", fmt.Sprintf("must be at most %d links", maxLinks)}
	}
	var errs []error
	for _, l := range all {
		errs = append(errs, checkLink(l))
	}
	return errors.Join(errs...)
}

func checkLink(l Link) error {
	if !isLink(l.URL) {
		return &SettingError{"links", l.Text + " " + l.URL, mustBeLink}
	}
	return checkText("links", l.Text, maxName)
}

func checkContact(text string) error {
	if text != "" && !isLink(text) {
		return &SettingError{"contact", text, mustBeLink}
	}
	return nil
}

const mustBeLink = "the URL must begin with https://, http:// or mailto:"

// isLink reports whether a text is a URL that a footer may link to.
func isLink(text string) bool {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) || u.User != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return strings.Contains(u.Opaque, "@")
	}
	return false
}

// Logo returns the logo, or nil if there is none.
func (s *Site) Logo() *Logo { return s.logo }

// Contact returns the URL of the contact for readers, or "" if there is none.
func (s *Site) Contact() string { return s.settings.Contact }

// Policy returns the Content-Security-Policy of a page. The parameter scripts has the texts of the
// scripts that the page runs.
func (s *Site) Policy(scripts ...string) string {
	policy := "default-src 'none'; style-src " + s.digest
	for i, text := range scripts {
		if i == 0 {
			policy += "; script-src"
		}
		policy += " " + Digest(text)
	}
	if s.logo != nil {
		policy += "; img-src 'self'"
	}
	return policy + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// ContactText returns the text for the URL of a contact: a mail address is shown without the scheme.
func ContactText(contact string) string {
	address, ok := strings.CutPrefix(contact, "mailto:")
	if !ok {
		return contact
	}
	address, _, _ = strings.Cut(address, "?")
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	return cmp.Or(address, contact)
}

// hashOf returns a short digest of a file for its path.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
