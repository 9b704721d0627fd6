package xlsx

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// These are the limits on workbooks.
const (
	MaxSize = 64 << 20 // bytes of a file, which the caller must check

	maxDirectory = 4 << 20   // bytes of the directory of the archive
	maxPart      = 1 << 30   // bytes of a part after decompression
	maxElement   = 8 << 20   // bytes of the XML of a row, a shared string or a similar element
	maxText      = 128 << 20 // bytes of all shared strings
	maxStrings   = 4 << 20   // number of shared strings
	maxStyles    = 1 << 16   // number of cell formats, and of number formats
	maxSheets    = 1000
	maxDepth     = 32
	maxRow       = 1 << 20 // last row
	maxColumn    = 1 << 14 // last column
)

// ErrNotWorkbook reports that a file is not a workbook.
var ErrNotWorkbook = errors.New("not a workbook (.xlsx)")

// A DamagedError reports that a part of a workbook is invalid or missing.
type DamagedError struct {
	Part   string // part of the archive, such as "xl/workbook.xml"
	Reason string
}

func (e *DamagedError) Error() string { return "the workbook is damaged: " + e.Part + ": " + e.Reason }

// A Workbook is an open workbook.
type Workbook struct {
	parts   map[string]*zip.File // by name in lower case
	sheets  []sheet
	strings table
	styles  []kind // of cells
	since   int    // first day, 1900 or 1904
}

type sheet struct {
	name, part string
	hidden     bool
}

// A budgetReader returns an error if more than left bytes are read, unless off is set.
type budgetReader struct {
	io.ReaderAt
	left int
	off  bool
}

func (b *budgetReader) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= len(p); b.left < 0 && !b.off {
		return 0, errors.New("the directory of the archive is too long")
	}
	return b.ReaderAt.ReadAt(p, at)
}

// Open opens a workbook. The parameter size is its length in bytes.
func Open(in io.ReaderAt, size int64) (*Workbook, error) {
	bounded := &budgetReader{ReaderAt: in, left: maxDirectory}
	archive, err := zip.NewReader(bounded, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotWorkbook, err)
	}
	bounded.off = true
	w := &Workbook{parts: make(map[string]*zip.File, len(archive.File)), since: 1900}
	for _, f := range archive.File {
		w.parts[strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))] = f
	}
	main, err := w.relations("")
	if err != nil {
		return nil, err
	}
	at := main.byType["officeDocument"]
	switch {
	case at == "":
		return nil, ErrNotWorkbook
	case strings.HasSuffix(at, ".bin"):
		return nil, fmt.Errorf("%w: a binary workbook (.xlsb)", ErrNotWorkbook)
	}
	return w, w.read(at)
}

func (w *Workbook) read(at string) error {
	rel, err := w.relations(at)
	if err != nil {
		return err
	}
	if err := w.readSheets(at, rel); err != nil {
		return err
	}
	if p := rel.byType["sharedStrings"]; p != "" {
		if err := w.readStrings(p); err != nil {
			return err
		}
	}
	if p := rel.byType["styles"]; p != "" {
		return w.readStyles(p)
	}
	return nil
}

// Sheets returns the names of the sheets that are not hidden.
func (w *Workbook) Sheets() (names []string) {
	for _, s := range w.sheets {
		if !s.hidden {
			names = append(names, s.name)
		}
	}
	return names
}

type relations struct{ byType, byID map[string]string }

func (w *Workbook) relations(of string) (relations, error) {
	r := relations{map[string]string{}, map[string]string{}}
	dir, base := path.Split(of)
	p, err := w.open(dir + "_rels/" + base + ".rels")
	if err != nil {
		return r, err
	}
	defer p.close()
	for {
		e, err := p.next()
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return r, err
		}
		begin, ok := e.(xml.StartElement)
		if !ok || begin.Name.Local != "Relationship" {
			continue
		}
		if len(r.byID) > maxSheets+100 {
			return r, p.damaged("it has too many relations")
		}
		target := attribute(begin, "Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", dir, target)
		}
		target = strings.TrimPrefix(path.Clean(target), "/")
		kind := attribute(begin, "Type")
		r.byType[kind[strings.LastIndexByte(kind, '/')+1:]] = target
		r.byID[attribute(begin, "Id")] = target
	}
}

func (w *Workbook) readSheets(at string, rel relations) error {
	p, err := w.open(at)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		e, err := p.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		begin, ok := e.(xml.StartElement)
		switch {
		case !ok:
		case begin.Name.Local == "workbookPr":
			if isTrue(attribute(begin, "date1904")) {
				w.since = 1904
			}
		case begin.Name.Local == "sheet":
			if len(w.sheets) == maxSheets {
				return p.damaged("it has too many sheets")
			}
			state := attribute(begin, "state")
			w.sheets = append(w.sheets, sheet{attribute(begin, "name"), rel.byID[attribute(begin, "id")], state == "hidden" || state == "veryHidden"})
		}
	}
	if len(w.sheets) == 0 {
		return p.damaged("it has no sheets")
	}
	return nil
}

// A table stores strings in a single byte slice.
type table struct {
	text []byte
	ends []uint32
}

func (t *table) at(i int) (string, bool) {
	if i < 0 || i >= len(t.ends) {
		return "", false
	}
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return string(t.text[from:t.ends[i]]), true
}

func (w *Workbook) readStrings(at string) error {
	p, err := w.open(at)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		e, err := p.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if begin, ok := e.(xml.StartElement); !ok || begin.Name.Local != "si" {
			continue
		}
		s, err := p.text()
		if err != nil {
			return err
		}
		if w.strings.text = append(w.strings.text, s...); len(w.strings.text) > maxText || len(w.strings.ends) == maxStrings {
			return p.damaged("its texts are longer than the limit; save the sheet as CSV")
		}
		w.strings.ends = append(w.strings.ends, uint32(len(w.strings.text)))
		p.left = maxElement
	}
}

// A part reads an XML file in the archive.
type part struct {
	name  string
	d     *xml.Decoder
	in    io.ReadCloser
	left  int   // bytes that may still be read for the present element
	total int64 // bytes read
	depth int
}

func (w *Workbook) open(name string) (*part, error) {
	f := w.parts[strings.ToLower(name)]
	if f == nil {
		if strings.HasPrefix(name, "_rels/") {
			return nil, ErrNotWorkbook
		}
		return nil, &DamagedError{name, "not found"}
	}
	in, err := f.Open()
	if err != nil {
		return nil, &DamagedError{name, err.Error()}
	}
	p := &part{name: name, in: in, left: maxElement}
	p.d = xml.NewDecoder(p)
	return p, nil
}

func (p *part) close() { _ = p.in.Close() } // errors of reading were returned before

func (p *part) damaged(reason string) error { return &DamagedError{p.name, reason} }

// Read reads decompressed XML. It returns an error if an element or the part exceeds its limit.
func (p *part) Read(b []byte) (int, error) {
	switch {
	case p.left <= 0:
		return 0, fmt.Errorf("an element is longer than %d bytes", maxElement)
	case p.total > maxPart:
		return 0, fmt.Errorf("it is longer than %d bytes", maxPart)
	}
	n, err := p.in.Read(b[:min(len(b), p.left)])
	p.left -= n
	p.total += int64(n)
	return n, err
}

// next returns the next token. The token is valid until the next call. At the end of the part, the
// error is io.EOF.
func (p *part) next() (xml.Token, error) {
	t, err := p.d.Token()
	switch {
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, p.damaged(err.Error())
	}
	switch t.(type) {
	case xml.StartElement:
		if p.depth++; p.depth > maxDepth {
			return nil, p.damaged("its elements are nested too deep")
		}
	case xml.EndElement:
		p.depth--
	}
	return t, nil
}

// text returns the text of an element after its start tag has been read. The text is the
// concatenation of all <t> elements, except those that give the pronunciation.
func (p *part) text() (string, error) {
	var b strings.Builder
	outside, in, spoken := p.depth-1, false, 0
	for {
		t, err := p.next()
		if err != nil {
			return "", p.cut(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			in = t.Name.Local == "t"
			if t.Name.Local == "rPh" || spoken > 0 {
				spoken++
			}
		case xml.EndElement:
			if in = false; spoken > 0 {
				spoken--
			}
			if p.depth == outside {
				return unescape(b.String()), nil
			}
		case xml.CharData:
			if in && spoken == 0 {
				b.Write(t)
			}
		}
	}
}

func (p *part) cut(err error) error {
	if err == io.EOF {
		return p.damaged("it ends too early")
	}
	return err
}

func (p *part) plain() (string, error) {
	var b strings.Builder
	outside := p.depth - 1
	for {
		t, err := p.next()
		if err != nil {
			return "", p.cut(err)
		}
		if text, ok := t.(xml.CharData); ok && p.depth == outside+1 {
			b.Write(text)
		}
		if p.depth == outside {
			return b.String(), nil
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func isTrue(s string) bool { return s == "1" || s == "true" || s == "on" }

// unescape decodes escapes of the form _x000A_ (ISO/IEC 29500-1, 22.9.2.19).
func unescape(s string) string {
	const size = len("_x000A_")
	var b strings.Builder
	for {
		i := strings.Index(s, "_x")
		if i < 0 || len(s)-i < size {
			b.WriteString(s)
			return b.String()
		}
		n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
		if r := rune(n); err == nil && s[i+6] == '_' && utf8.ValidRune(r) {
			b.WriteString(s[:i])
			b.WriteRune(r)
			s = s[i+size:]
			continue
		}
		b.WriteString(s[:i+2])
		s = s[i+2:]
	}
}
