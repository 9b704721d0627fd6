package links

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/bulk/from/sqldump"
	"github.com/nomen-project/nomen/internal/ascii"
)

// These are the limits for reading a list.
const (
	maxLink    = 1 << 20 // length of a link with its fields, in bytes
	maxDomains = 10_000  // domains of Kutt
	peeked     = 4096    // bytes from which the format of the file is recognized
)

func (p program) rows(in io.Reader, f func(row) error) error {
	b := &bounded{Reader: in}
	r := bufio.NewReaderSize(b, peeked)
	head, err := r.Peek(peeked)
	begin := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	switch {
	case len(begin) == 0 && (err == nil || errors.Is(err, io.EOF)):
		return errEmpty
	case len(begin) == 0:
		return err
	case begin[0] == '{' || begin[0] == '[':
		return eof(readJSON(r, b, f))
	case isSQL(string(begin)) && p.table != "":
		return p.readSQL(r, b, f)
	}
	return eof(readCSV(r, b, f))
}

func isSQL(begin string) bool {
	for _, s := range []string{"--", "/*", "CREATE ", "INSERT ", "SET ", "COPY ", "DROP ", "BEGIN", `\`} {
		if ascii.HasPrefix(begin, s) {
			return true
		}
	}
	return false
}

// A bounded reader returns an error if a link is longer than maxLink.
type bounded struct {
	io.Reader
	read, last int // bytes read, now and at the last link
}

var errTooLong = errors.New("a link with its fields must not be longer than 1 MiB")

func (b *bounded) Read(p []byte) (int, error) {
	if b.read-b.last > maxLink {
		return 0, errTooLong
	}
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

func (b *bounded) next() { b.last = b.read }

// readCSV reads a CSV file with a header line. The delimiter is a semicolon if the header line has
// more semicolons than commas, and otherwise a comma.
func readCSV(in *bufio.Reader, b *bounded, f func(row) error) error {
	head, _ := in.Peek(peeked)
	first, _, _ := strings.Cut(string(head), "\n")
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1 // checked here, to report the row
	if strings.Count(first, ";") > strings.Count(first, ",") {
		r.Comma = ';'
	}
	titles, err := r.Read()
	if err != nil {
		return err
	}
	for i := range titles {
		titles[i] = fieldName(titles[i])
	}
	for {
		b.next()
		cells, err := r.Read()
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		all := row{line, 1, map[string]string{}}
		for i, cell := range cells[:min(len(cells), len(titles))] {
			all.fields[titles[i]] = cell
		}
		if len(cells) > len(titles) {
			_, all.column = r.FieldPos(len(titles))
			all.fields[tooLong] = fmt.Sprintf("the row has %d cells, and the titles %d: put a URL with the separator into quotes", len(cells), len(titles))
		}
		if err := f(all); err != nil {
			return err
		}
	}
}

func (p program) readSQL(in io.Reader, b *bounded, f func(row) error) error {
	const tableDomains = "domains"
	domains, found := map[string]string{}, false
	r := sqldump.NewReader(unbounded{in, b}, func(table string) bool { return table == p.table || table == tableDomains })
	for {
		next, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return fmt.Errorf("no rows of the table %s found", p.table)
		case err != nil:
			return eof(err)
		case next.Table == tableDomains:
			if len(domains) < maxDomains {
				domains[next.Cell("id").Text] = next.Cell("address").Text
			}
			continue
		}
		found = true
		all := row{next.Line, next.Column, map[string]string{}}
		for column, text := range next.All() {
			all.fields[fieldName(column)] = text
		}
		if id := all.fields["domainid"]; id != "" {
			if all.fields["domain"] = domains[id]; domains[id] == "" {
				all.fields[noDomain] = id
			}
		}
		if err := f(all); err != nil {
			return err
		}
	}
}

// tooLong is the key of an additional field in a row with too many cells. The value is the error
// message.
const tooLong = "toolong"

const noDomain = "nodomain"

// An unbounded reader removes the limit of a bounded reader. It is used for database dumps, because
// package sqldump has its own limits.
type unbounded struct {
	io.Reader
	b *bounded
}

func (u unbounded) Read(p []byte) (int, error) {
	u.b.next()
	return u.Reader.Read(p)
}

// readJSON reads API responses, which contain links in the member "data" or "shortUrls". It returns
// an error if the file contains fewer links than the total number in the responses.
func readJSON(in io.Reader, b *bounded, f func(row) error) error {
	lines := &lineCounter{Reader: in}
	d := json.NewDecoder(lines)
	number, total := 0, 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && number < total {
			return fmt.Errorf("the file has %d of %d links: request the other pages too, and append the responses", number, total)
		}
		if err != nil {
			return err
		}
		key, isKey := t.(string)
		switch {
		case t == json.Delim('['):
			for d.More() {
				var text json.RawMessage
				if err := d.Decode(&text); err != nil {
					return fmt.Errorf("link %d: %w", number+1, err)
				}
				b.next()
				number++
				line, column := lines.place(d.InputOffset() - int64(len(text)))
				object, err := objectOf(text)
				if err != nil {
					return fmt.Errorf("line %d, column %d: link %d: %w", line, column, number, err)
				}
				if err := f(row{line, column, flat(object, true)}); err != nil {
					return err
				}
			}
		case isKey && key != "data" && key != "shortUrls":
			var other json.RawMessage
			if err := d.Decode(&other); err != nil {
				return err
			}
			total = max(total, totalOf(key, other))
		}
	}
}

// objectOf parses a JSON object. It does not convert numbers to floating point.
func objectOf(text []byte) (object map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return object, d.Decode(&object)
}

type lineCounter struct {
	io.Reader
	read   int64
	ends   []int64 // offsets after the ends of lines, as of the last place
	line   int     // number of ends before the last place
	begins int64   // offset at which the line of the last place begins
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i)+1)
		}
	}
	c.read += int64(n)
	return n, err
}

// place returns the line and column of an offset. The offset must not be smaller than in the call
// before.
func (c *lineCounter) place(offset int64) (line, column int) {
	i := 0
	for ; i < len(c.ends) && c.ends[i] <= offset; i++ {
		c.begins = c.ends[i]
	}
	c.line, c.ends = c.line+i, c.ends[i:]
	return c.line + 1, int(offset-c.begins) + 1
}

// totalOf returns the total number of links on the server, or 0 if the member does not contain it.
// Kutt reports the number in the member "total", and Shlink in "pagination".
func totalOf(key string, value json.RawMessage) (n int) {
	var page struct{ TotalItems int }
	switch key {
	case "total":
		_ = json.Unmarshal(value, &n) // 0 if it is not a number
	case "pagination":
		_ = json.Unmarshal(value, &page)
		n = page.TotalItems
	}
	return n
}

func flat(object map[string]any, deep bool) map[string]string {
	all := map[string]string{}
	for key, v := range object {
		switch v := v.(type) {
		case map[string]any:
			if deep {
				for inner, text := range flat(v, false) {
					all[inner] = text
				}
			}
		case []any:
			var texts []string
			for _, item := range v {
				texts = append(texts, scalar(item))
			}
			all[fieldName(key)] = strings.Join(texts, "|")
		}
	}
	for key, v := range object { // before those of the objects in it
		if text := scalar(v); text != "" {
			all[fieldName(key)] = text
		}
	}
	return all
}

// scalar converts a JSON string, number or boolean to text.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
