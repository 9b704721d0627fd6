package pages

import (
	_ "embed" // for the catalogue
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nomen-project/nomen/internal/shown"
)

//go:embed messages_en.toml
var english string

// A catalogue has the texts of the pages in one language, by section and key, as in
// "names.title". A text is a whole sentence, label or heading; {1} and so on stand for arguments.
type catalogue map[string]string

// parseCatalogue reads a catalogue.
func parseCatalogue(text string) (catalogue, error) {
	var sections map[string]map[string]string
	if err := toml.Unmarshal([]byte(text), &sections); err != nil {
		return nil, fmt.Errorf("pages: catalogue: %w", err)
	}
	all := catalogue{}
	for section, texts := range sections {
		for key, text := range texts {
			all[section+"."+key] = text
		}
	}
	return all, nil
}

// lookup returns the text for a key with its arguments, which are made safe to show.
func (c catalogue) lookup(key string, args ...any) (string, error) {
	text, ok := c[key]
	if !ok {
		return "", fmt.Errorf("pages: no text for %q", key)
	}
	pairs := make([]string, 0, 2*len(args))
	for i, a := range args {
		pairs = append(pairs, "{"+strconv.Itoa(i+1)+"}", shown.Inline(fmt.Sprint(a)))
	}
	return strings.NewReplacer(pairs...).Replace(text), nil
}

// text is lookup for the code of this package. A test shows that it has all its texts.
func (c catalogue) text(key string, args ...any) string {
	s, err := c.lookup(key, args...)
	if err != nil {
		return key
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
