// Package site provides the common parts of all public pages of a server. These are a header with
// the name and logo of the institution that runs the server, a style sheet with the colours of the
// institution, and a footer. The package also contains the texts of the public pages in several
// languages.
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

// Settings describes the institution that runs a server. All fields are optional.
type Settings struct {
	Name    string // name of the institution or the service
	Logo    []byte // a PNG or SVG file
	Footer  string // a sentence for the end of each page
	Links   []Link // links for the end of each page
	Contact string // where readers can reach the operator; a URL with the scheme mailto, http or https
	Light   Colours
	Dark    Colours // for readers who prefer dark pages
}

// A Link is a link in the footer of each page.
type Link struct{ Text, URL string }

// A SettingError reports an invalid setting.
type SettingError struct {
	Key     string // key of the setting in the configuration, such as accent-dark
	Value   string // the invalid part of the value, or ""
	Message string // what the value must be
}

func (e *SettingError) Error() string {
	if e.Value == "" {
		return e.Key + ": " + e.Message
	}
	return fmt.Sprintf("%s %q: %s", e.Key, e.Value, e.Message)
}

// A Site holds validated settings and the style sheet that results from them. It is safe for
// concurrent use.
type Site struct {
	settings Settings
	logo     *Logo
	style    string
	digest   string // of the style sheet, for the Content-Security-Policy
	texts    *messages.Set
}

// These are the maximum lengths of texts in characters, and the maximum number of links.
const (
	maxName   = 100
	maxFooter = 500
	maxLinks  = 10
)

// New returns a Site with the given settings. The error joins a [*SettingError] for each invalid
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

// Digest returns the hash source of a style sheet or script for a Content-Security-Policy.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func checkText(key, text string, most int) error {
	switch {
	case !utf8.ValidString(text), strings.ContainsFunc(text, func(r rune) bool { return shown.Odd(r) || r == '\n' || r == '\t' }):
		return &SettingError{key, text, "must be one line without control characters"}
	case utf8.RuneCountInString(text) > most:
		return &SettingError{key, shown.Short(text, 20), fmt.Sprintf("must have at most %d characters", most)}
	}
	return nil
}

// ParseLink parses a link in a configuration. A link is a text, followed by a space and a URL.
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

// Logo returns the logo, or nil.
func (s *Site) Logo() *Logo { return s.logo }

// Contact returns the URL where readers can reach the operator, or "".
func (s *Site) Contact() string { return s.settings.Contact }

// Policy returns the Content-Security-Policy for a page that contains the given scripts inline.
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

// ContactText returns the text of a link to a contact. For a mailto URL, the text is the mail
// address. For any other URL, it is the URL.
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

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
