// Package messages provides the texts of pages in several languages, and chooses the language of a
// response.
//
// The texts of some pages are in a catalogue for each language, which is a TOML file. A key has the
// form section.name. Its text is a whole sentence, label or heading, without HTML. Arguments are
// inserted for {1}, {2} and so on. If a text depends on a number, the number is the first argument,
// and there is a form for each plural category of the language (one, other and so on):
//
//	[names]
//	title = "Names of {1}"
//	found.one = "{1} name was found."
//	found.other = "{1} names were found."
//
// The section format has the name of the language in that language, and the layouts of days and
// times for package time.
package messages

import (
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/pelletier/go-toml/v2"
)

// A Catalogue contains the texts of some pages in one language. It is safe for concurrent use.
type Catalogue struct {
	tag     language.Tag
	texts   map[string]entry
	numbers *message.Printer
}

// An entry is a text by plural category. A text without plural forms has only the category "".
type entry map[string]text

const (
	keyName = "format.name"
	keyDay  = "format.day"
	keyTime = "format.time"
)

func readCatalogue(files fs.FS, file string, tag language.Tag) (*Catalogue, error) {
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	var sections map[string]map[string]any
	if err := toml.Unmarshal(b, &sections); err != nil {
		return nil, fmt.Errorf("messages: %s: %w", file, err)
	}
	c := &Catalogue{tag: tag, texts: map[string]entry{}, numbers: message.NewPrinter(tag)}
	for section, all := range sections {
		for key, value := range all {
			e, err := newEntry(value)
			if err != nil {
				return nil, fmt.Errorf("messages: %s: %s.%s: %w", file, section, key, err)
			}
			c.texts[section+"."+key] = e
		}
	}
	for _, key := range []string{keyName, keyDay, keyTime} {
		if c.texts[key] == nil {
			return nil, fmt.Errorf("messages: %s: %s is missing", file, key)
		}
	}
	return c, nil
}

func newEntry(value any) (entry, error) {
	forms, ok := value.(map[string]any)
	if !ok {
		forms = map[string]any{"": value}
	}
	e := entry{}
	for form, value := range forms {
		s, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("invalid value %v: must be a string, or one string for each plural form", value)
		}
		var err error
		if e[form], err = parseText(s); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Tag returns the language as a tag of BCP 47, such as "de".
func (c *Catalogue) Tag() string { return c.tag.String() }

// Name returns the name of the language in that language.
func (c *Catalogue) Name() string { return c.Text(keyName) }

func (c *Catalogue) Keys() []string { return slices.Sorted(maps.Keys(c.texts)) }

// Forms returns the forms of a text by plural category. A text without plural forms has only the
// category "". If there is no text for the key, Forms returns nil.
func (c *Catalogue) Forms(key string) map[string]string {
	if c.texts[key] == nil {
		return nil
	}
	all := map[string]string{}
	for form, t := range c.texts[key] {
		all[form] = t.source
	}
	return all
}

// Arguments returns the number of arguments of a text, which is the highest number in braces.
func (c *Catalogue) Arguments(key string) int {
	n := 0
	for _, t := range c.texts[key] {
		n = max(n, t.arguments())
	}
	return n
}

// Text returns the text for a key with arguments inserted. Times, and a number that selects a
// plural form, are formatted for the language. Other arguments are made safe to show. If there is
// no text for the key, Text returns the key.
func (c *Catalogue) Text(key string, args ...any) string {
	e, ok := c.texts[key]
	if !ok {
		return key
	}
	return c.form(e, args).plain(c.shown(e, args))
}

// Lookup is [Catalogue.Text] for templates. If an argument has the type [template.HTML], the result
// has this type too, and all other text is escaped. Lookup returns an error if there is no text for
// the key, or if the text has a different number of arguments.
func (c *Catalogue) Lookup(key string, args ...any) (any, error) {
	e, ok := c.texts[key]
	if !ok {
		return nil, fmt.Errorf("messages: no text %q in %s", key, c.tag)
	}
	if n := c.Arguments(key); n != len(args) {
		return nil, fmt.Errorf("messages: %q has %d arguments, found %d", key, n, len(args))
	}
	isMarkup := func(a any) bool { _, ok := a.(template.HTML); return ok }
	if slices.ContainsFunc(args, isMarkup) {
		return c.form(e, args).markup(c.shown(e, args)), nil
	}
	return c.form(e, args).plain(c.shown(e, args)), nil
}

func (c *Catalogue) form(e entry, args []any) text {
	if t, ok := e[""]; ok || len(args) == 0 {
		return t
	}
	n, _ := integer(args[0])
	return e[Category(c.tag, n)]
}

// shown formats arguments for display.
func (c *Catalogue) shown(e entry, args []any) []any {
	all := slices.Clone(args)
	for i, a := range all {
		if t, ok := a.(time.Time); ok {
			all[i] = c.Time(t)
		}
	}
	if _, ok := e[""]; !ok && len(all) > 0 {
		all[0] = c.Number(args[0])
	}
	return all
}

// Number formats a number for the language, such as "12,345" or "12.345".
func (c *Catalogue) Number(n any) string { return c.numbers.Sprint(n) }

// Time formats a time in UTC, to the minute.
func (c *Catalogue) Time(t time.Time) string { return t.UTC().Format(c.texts[keyTime][""].source) }

// Day formats the day of a time in UTC.
func (c *Catalogue) Day(t time.Time) string { return t.UTC().Format(c.texts[keyDay][""].source) }

// maxPlural is greater than any number that plural rules distinguish. For larger numbers only the
// last digits matter.
const maxPlural = 10_000_000

// Category returns the plural category of a number in a language, such as "one" or "other".
func Category(tag language.Tag, n uint64) string {
	switch plural.Cardinal.MatchPlural(tag, int(n%maxPlural), 0, 0, 0, 0) {
	case plural.Zero:
		return "zero"
	case plural.One:
		return "one"
	case plural.Two:
		return "two"
	case plural.Few:
		return "few"
	case plural.Many:
		return "many"
	}
	return "other"
}

// Categories returns the plural categories of whole numbers in a language, sorted.
func Categories(tag language.Tag) []string {
	seen := map[string]bool{}
	for n := range uint64(1000) {
		seen[Category(tag, n)] = true
		seen[Category(tag, n*1_000_000)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// integer returns the absolute value of a whole number.
func integer(n any) (uint64, bool) {
	switch n := n.(type) {
	case int:
		return uint64(max(n, -n)), true
	case int64:
		return uint64(max(n, -n)), true
	case uint64:
		return n, true
	case uint:
		return uint64(n), true
	}
	return 0, false
}

// IsWord reports whether s can be a part of a key.
func IsWord(s string) bool { return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" }
