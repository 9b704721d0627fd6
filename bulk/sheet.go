package bulk

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// A Sheet describes a table that was saved by a spreadsheet or another program. The zero Sheet
// describes files that nomen writes. It also recognizes semicolons, tabs and vertical bars as
// delimiters of CSV.
type Sheet struct {
	Name      string   // name of the sheet in a workbook; "" if only one sheet has values
	Encoding  string   // such as windows-1252; "" for UTF-8, or UTF-16 with a byte order mark
	Delimiter string   // delimiter of CSV: one of ; , | tab; "" to recognize it in the header line
	Columns   []string // each TITLE=COLUMN: the column for a title; TITLE= skips the column
	Split     []string // each COLUMN=SEPARATOR: separator of the values of a column, such as ; or ||

	// Spreadsheet makes the import remove the apostrophes that an export with
	// [ExportOptions].Spreadsheet has added. It is only for CSV and TSV.
	Spreadsheet bool
}

// A SheetError reports an invalid [Sheet].
type SheetError struct {
	Option string // such as "delimiter"
	Value  string
	Reason string
}

func (e *SheetError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Option, e.Value, e.Reason)
}

// Check returns a [*SheetError] if an option is invalid, whatever the format of the file is.
func (s *Sheet) Check() error {
	if _, err := s.encoding(); err != nil {
		return err
	}
	if _, err := s.delimiter(); err != nil {
		return err
	}
	for _, c := range s.Columns {
		title, column, ok := cutLast(c, '=')
		switch {
		case !ok || title == "":
			return &SheetError{"map", c, "expected TITLE=COLUMN"}
		case column != "" && parseColumn(column).bit == isUnknown:
			return &SheetError{"map", c, "unknown column; must be one of " + strings.Join(titles(), " ")}
		}
	}
	for _, c := range s.Split {
		title, separator, ok := strings.Cut(c, "=")
		switch {
		case !ok || title == "" || separator == "":
			return &SheetError{"split", c, "expected COLUMN=SEPARATOR"}
		case !parseColumn(title).holdsList():
			return &SheetError{"split", c, "only successors, same_as and dc: columns can have several values"}
		}
	}
	return nil
}

// Fits returns a [*SheetError] if an option does not apply to files of the format f.
func (s *Sheet) Fits(f Format) error {
	switch {
	case s.Spreadsheet && f == JSONLines:
		return &SheetError{"spreadsheet", f.String(), "only csv and tsv have marked cells"}
	case s.Name != "" && f != XLSX:
		return &SheetError{"sheet", s.Name, "only workbooks (.xlsx) have sheets"}
	case s.Delimiter != "" && f == XLSX:
		return &SheetError{"delimiter", s.Delimiter, "a workbook (.xlsx) has no delimiters"}
	case s.Encoding != "" && f == XLSX:
		return &SheetError{"encoding", s.Encoding, "a workbook (.xlsx) says its encoding itself"}
	}
	return nil
}

func (c column) holdsList() bool {
	return c.bit == isSameAs || c.bit == isSuccessors || c.bit == isMetadata
}

// cutLast is like [strings.Cut], but cuts s at the last separator.
func cutLast(s string, separator byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// column returns the column for a title. If Columns maps the title more than once, the last mapping
// applies.
func (s *Sheet) column(title string) (c column, mapped bool) {
	for _, m := range s.Columns {
		if from, to, _ := cutLast(m, '='); from == title {
			c, mapped = parseColumn(to), true
			if c.ignored = to == ""; c.ignored {
				c.title = title
			}
		}
	}
	if !mapped {
		c = parseColumn(title)
	}
	for _, m := range s.Split {
		if of, separator, _ := strings.Cut(m, "="); of == c.title && c.bit != isUnknown {
			c.separator = separator
		}
	}
	return c, mapped
}

// delimiters contains the recognized delimiters of CSV, in order of preference.
const delimiters = ",;\t|"

func (s *Sheet) delimiter() (byte, error) {
	switch d := s.Delimiter; {
	case d == "":
		return 0, nil
	case d == "tab", d == `\t`:
		return '\t', nil
	case len(d) == 1 && strings.Contains(delimiters, d):
		return d[0], nil
	}
	return 0, &SheetError{"delimiter", s.Delimiter, "must be one of , ; | and tab"}
}

// recognise guesses the delimiter of a header line. It returns the first delimiter for which one of
// the cells is the title of the name column. If there is no such delimiter, it returns the most
// frequent one.
func (s *Sheet) recognise(line string) byte {
	best, most := byte(','), 0
	for i := range len(delimiters) {
		d := delimiters[i]
		titles := splitQuoted(line, d)
		for _, title := range titles {
			if c, _ := s.column(title); c.bit == isName {
				return d
			}
		}
		if len(titles)-1 > most {
			best, most = d, len(titles)-1
		}
	}
	return best
}

func splitQuoted(line string, delimiter byte) []string {
	var cells []string
	begin, quoted := 0, false
	line = strings.TrimRight(line, "\r\n")
	for i := 0; i <= len(line); i++ {
		switch {
		case i == len(line) || line[i] == delimiter && !quoted:
			cells = append(cells, strings.ReplaceAll(strings.Trim(line[begin:i], `"`), `""`, `"`))
			begin = i + 1
		case line[i] == '"':
			quoted = !quoted
		}
	}
	return cells
}

func encodings() string {
	names := []string{"utf-8", "utf-16", "utf-16le", "utf-16be"}
	for _, e := range charmap.All {
		if c, ok := e.(*charmap.Charmap); ok {
			names = append(names, encodingName(c.String()))
		}
	}
	return strings.Join(names, " ")
}

func encodingName(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), " ", "-")
}

// encoding returns the encoding of the file. The result is nil for UTF-8, and if no encoding is
// specified. In the second case, a byte order mark determines the encoding.
func (s *Sheet) encoding() (encoding.Encoding, error) {
	name := encodingName(s.Encoding)
	switch name {
	case "", "utf-8", "utf8":
		return nil, nil
	case "utf-16", "utf16":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), nil
	case "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	case "latin1", "latin-1":
		return charmap.ISO8859_1, nil
	case "cp1252", "ansi":
		return charmap.Windows1252, nil
	}
	for _, e := range charmap.All {
		if c, ok := e.(*charmap.Charmap); ok && encodingName(c.String()) == name {
			return e, nil
		}
	}
	return nil, &SheetError{"encoding", s.Encoding, "must be one of " + encodings()}
}
