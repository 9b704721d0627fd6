// Package messagestest tests that catalogues of texts are complete, and that each text is used.
package messagestest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/language"

	"github.com/nomen-project/nomen/internal/messages"
)

// Options say what Check expects.
type Options struct {
	Prefix  string            // prefix of the file names, for error messages
	Sources []string          // files that use the texts, which are templates (*.html) and Go files
	Same    map[string]string // for a key: languages in which the text is the same as in the default language
	Made    []string          // keys that code composes
}

// Check reports missing, incomplete and unused texts as test errors.
func Check(t testing.TB, s *messages.Set, o Options) {
	t.Helper()
	uses, err := readUses(o.Sources, s.All()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range o.Made {
		uses[key] = append(uses[key], use{"Made", -1})
	}
	for _, fault := range append(Faults(s, o), uses.faults(s.All()[0], o)...) {
		t.Error(fault)
	}
}

// Faults returns the faults in the catalogues, regardless of where their texts are used.
func Faults(s *messages.Set, o Options) (faults []string) {
	all := s.All()
	for _, c := range all {
		p := pair{file: o.Prefix + c.Tag() + ".toml", c: c, first: all[0], same: o.Same}
		faults = append(faults, p.faults()...)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Same)) {
		if all[0].Forms(key) == nil {
			faults = append(faults, fmt.Sprintf("Same: no text %q", key))
		}
	}
	return faults
}

// A pair is a catalogue and the catalogue of the default language.
type pair struct {
	file     string
	c, first *messages.Catalogue
	same     map[string]string
}

func (p pair) faults() (faults []string) {
	for _, key := range p.first.Keys() {
		if p.c.Forms(key) == nil {
			faults = append(faults, fmt.Sprintf("%s has no text %q: add the key to that file too, with a whole sentence in its language", p.file, key))
			continue
		}
		for _, fault := range slices.Concat(p.forms(key), p.arguments(key), p.equal(key)) {
			faults = append(faults, fmt.Sprintf("%s: %s: %s", p.file, key, fault))
		}
	}
	for _, key := range p.c.Keys() {
		if p.first.Forms(key) == nil {
			faults = append(faults, fmt.Sprintf("%s: %s: there is no such text in the default language", p.file, key))
		}
	}
	return append(faults, p.dates()...)
}

// forms checks that a text has every plural form of the language, and checks each form.
func (p pair) forms(key string) (faults []string) {
	want := []string{""}
	if _, single := p.first.Forms(key)[""]; !single {
		want = messages.Categories(language.MustParse(p.c.Tag()))
	}
	forms := p.c.Forms(key)
	if got := slices.Sorted(maps.Keys(forms)); !slices.Equal(got, want) {
		faults = append(faults, fmt.Sprintf("has the plural forms %q, want %q", got, want))
	}
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		switch text := forms[form]; {
		case strings.TrimSpace(text) == "" || strings.TrimSpace(text) != text:
			faults = append(faults, fmt.Sprintf("%q is empty, or has space around it", text))
		case strings.ContainsAny(text, "<>&\n\t"):
			faults = append(faults, fmt.Sprintf("%q has HTML or a line break", text))
		}
	}
	return faults
}

// arguments checks that all forms have the same arguments as in the default language. A plural form
// for a single number, such as the form "one", may omit the number.
func (p pair) arguments(key string) (faults []string) {
	want := arguments(p.first.Forms(key))
	for form, text := range p.c.Forms(key) {
		got := arguments(map[string]string{"": text})
		if form != "" && form != "other" && form != "many" && form != "few" {
			got["{1}"] = true
		}
		if !maps.Equal(got, want) {
			faults = append(faults, fmt.Sprintf("%q has the arguments %q, want %q", text, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))))
		}
	}
	return faults
}

func arguments(forms map[string]string) map[string]bool {
	all := map[string]bool{}
	for _, text := range forms {
		for _, rest := range strings.Split(text, "{")[1:] {
			number, _, _ := strings.Cut(rest, "}")
			all["{"+number+"}"] = true
		}
	}
	return all
}

// equal checks that a text was translated.
func (p pair) equal(key string) []string {
	if p.c == p.first {
		return nil
	}
	is, may := maps.Equal(p.c.Forms(key), p.first.Forms(key)), slices.Contains(strings.Fields(p.same[key]), p.c.Tag())
	switch {
	case is && !may:
		return []string{"is not translated (if both languages say the same, add the key to Same in the test)"}
	case may && !is:
		return []string{"differs from the default language: delete it from Same in the test"}
	}
	return nil
}

// dates checks that the layouts of days and times are complete.
func (p pair) dates() (faults []string) {
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	minute := time.Date(2026, 2, 3, 14, 5, 0, 0, time.UTC)
	if got, err := time.Parse(p.c.Forms("format.day")[""], p.c.Day(day)); err != nil || !got.Equal(day) {
		faults = append(faults, fmt.Sprintf("%s: format.day: %q is not the day %s", p.file, p.c.Day(day), day))
	}
	if got, err := time.Parse(p.c.Forms("format.time")[""], p.c.Time(minute)); err != nil || !got.Equal(minute) {
		faults = append(faults, fmt.Sprintf("%s: format.time: %q is not the time %s", p.file, p.c.Time(minute), minute))
	}
	return faults
}
