package noid

import (
	"bufio"
	"context"
	"io"
	"path"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/store"
)

// Format returns the format of NOID databases and their dumps.
func Format() from.Format {
	return from.Format{
		Name: "noid", What: "databases of NOID minters: Berkeley DB files of type btree, or the output of 'db_dump -p'",
		Match: isMinter, Convert: convert,
	}
}

func isMinter(file string) bool { return strings.HasSuffix(path.Base(file), ".bdb") }

// convert converts a database or a dump.
func convert(ctx context.Context, in *from.Input, out *from.Output) error {
	c := &converter{out: out, base: in.Base, settings: map[string]string{}}
	if c.base == "" {
		c.base = "ark:"
	}
	err := pairs(in, func(p pair) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return c.pair(p)
	})
	if err != nil {
		return err
	}
	if err := c.end(); err != nil {
		return err
	}
	c.minter()
	return nil
}

func pairs(in *from.Input, f func(pair) error) error {
	text := bufio.NewReader(in)
	head, err := text.Peek(metaSize)
	if len(head) == 0 && err != nil && err != io.EOF {
		return err
	}
	if isDump(head) {
		return (&dump{in: text}).each(f)
	}
	if in.At == nil {
		return &UnsupportedError{"a Berkeley DB file from standard input or compressed"}
	}
	b, err := openBtree(in.At, in.Size)
	if err != nil {
		return err
	}
	return b.each(f)
}

// A converter collects the pairs of one identifier, which are adjacent in the database.
type converter struct {
	out  *from.Output
	base string

	id     string // identifier of rec
	line   int    // of its first pair
	column int    // of its first pair
	record *store.Record
	held   bool
	size   int // length of its values in bytes

	settings map[string]string // by key, without ":/"
	order    []setting
}

// A setting is a key that belongs to the minter, not to an identifier.
type setting struct {
	line, column int
	key          string
}

const (
	settingMark = ":/"    // begins the keys of settings, and the elements of NOID itself
	maxRecord   = 1 << 20 // maximum size of the values of an identifier, in bytes
	maxSettings = 4096    // maximum number of settings
	maxSetting  = 64 << 10
)

func (c *converter) pair(p pair) error {
	id, element, bound := strings.Cut(string(p.key), "\t")
	switch {
	case p.lost != "":
		c.out.RefuseAt(p.at, p.column, string(p.key), p.lost)
	case strings.HasPrefix(id, settingMark):
		c.setting(p)
	case !bound || id == "":
		c.out.RefuseAt(p.at, p.column, string(p.key), "is not a key of NOID: want an identifier, a tab and an element")
	default:
		if id != c.id {
			if err := c.end(); err != nil {
				return err
			}
			c.id, c.line, c.column, c.held, c.size = id, p.at, p.column, false, 0
			c.record = &store.Record{Spelling: c.base + id, Status: nomen.Reserved}
		}
		c.element(p, element)
	}
	return nil
}

// end writes the record of the current identifier, if there is one.
func (c *converter) end() error {
	if c.record == nil {
		return nil
	}
	r := c.record
	c.record, c.id = nil, ""
	if len(r.Locations) > 0 && !c.held {
		r.Status = nomen.Active
	}
	return c.out.RecordAt(c.line, c.column, r)
}

func (c *converter) element(p pair, element string) {
	value := string(p.value)
	if c.size += len(value); c.size > maxRecord {
		c.out.RefuseAt(p.at, p.column, string(p.key), "the values of the identifier are longer than 1 MiB")
		return
	}
	switch {
	case element == settingMark+"h":
		c.held = true
	case element == settingMark+"c":
		c.out.RefuseAt(p.at, p.column, string(p.key), "the circulation record "+from.Shorten(value)+" is not kept: the history of the name begins with the import")
		return
	case strings.HasPrefix(element, settingMark):
		c.out.RefuseAt(p.at, p.column, string(p.key), "this element is for NOID itself")
		return
	case isTarget(element):
		if err := location.Check(value); err != nil {
			c.out.RefuseAt(p.at, p.column, string(p.key), "invalid location: "+err.Error())
			return
		}
		c.locate(value)
	case dublinCore(element) != "":
		c.describe(dublinCore(element), value)
	default:
		c.out.RefuseAt(p.at, p.column, string(p.key), "a record has no field for this element; its value is "+from.Shorten(value))
		return
	}
	c.out.Handled(1)
}

func isTarget(element string) bool {
	switch strings.ToLower(element) {
	case "_t", "location", "url", "target", "where":
		return true
	}
	return false
}

// locate adds a location, unless the record already has a location with this URL. NOID does not
// define priorities, so the priorities follow the order of the locations in the file.
func (c *converter) locate(url string) {
	for _, l := range c.record.Locations {
		if l.URL == url {
			return
		}
	}
	l := nomen.Location{URL: url}
	if n := len(c.record.Locations); n > 0 {
		l.Priority = n + 1
	}
	c.record.Locations = append(c.record.Locations, l)
}

func (c *converter) describe(element, value string) {
	if c.record.Metadata == nil {
		c.record.Metadata = nomen.Metadata{}
	}
	c.record.Metadata[element] = append(c.record.Metadata[element], value)
}

// dublinCore returns the Dublin Core element for a NOID element, or "". The elements who, what,
// when and how come from ERC records.
func dublinCore(element string) string {
	switch e := strings.TrimPrefix(strings.ToLower(element), "dc."); e {
	case "who":
		return "creator"
	case "what":
		return "title"
	case "when":
		return "date"
	case "how":
		return "type"
	case "title", "creator", "subject", "description", "publisher", "contributor", "date", "type",
		"format", "identifier", "source", "language", "relation", "coverage", "rights":
		return e
	}
	return ""
}

func (c *converter) setting(p pair) {
	key := strings.TrimPrefix(string(p.key), settingMark)
	if len(c.order) == maxSettings || len(p.value) > maxSetting {
		c.out.RefuseAt(p.at, p.column, string(p.key), "the settings are too long for a NOID minter")
		return
	}
	if _, again := c.settings[key]; again {
		c.out.RefuseAt(p.at, p.column, string(p.key), "the key is repeated")
		return
	}
	c.settings[key] = string(p.value)
	c.order = append(c.order, setting{p.at, p.column, key})
}
