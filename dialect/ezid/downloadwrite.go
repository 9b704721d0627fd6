package ezid

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/store"
)

// Limits of the file of a download, in bytes.
const (
	maxFile  = 2 << 30
	maxPlain = 16 << 30 // before compression
)

// batch is the number of records that are read from the store in one step. The store can be closed
// between two steps.
const batch = 1000

var errTooLarge = errors.New("the batch download is too large")

// A capped writer fails after a given number of bytes.
type capped struct {
	io.Writer
	left int64
}

func (w *capped) Write(b []byte) (int, error) {
	if w.left -= int64(len(b)); w.left < 0 {
		return 0, errTooLarge
	}
	return w.Writer.Write(b)
}

// writeDownload writes the file of a download. The parameter id is the name of the file in a ZIP
// archive, without its suffix.
func (h *Handler) writeDownload(ctx context.Context, d *download, id string, w io.Writer) error {
	file := &capped{w, maxFile}
	var plain io.Writer
	var packed io.Closer
	if d.zip {
		archive := zip.NewWriter(file)
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: id + d.plainSuffix(), Method: zip.Deflate, Modified: h.Now().UTC()})
		if err != nil {
			return err
		}
		plain, packed = entry, archive
	} else {
		g := gzip.NewWriter(file)
		plain, packed = g, g
	}
	out := bufio.NewWriterSize(&capped{plain, maxPlain}, 64<<10)
	return errors.Join(h.writeRecords(ctx, d, out), out.Flush(), packed.Close())
}

func (h *Handler) writeRecords(ctx context.Context, d *download, out *bufio.Writer) error {
	table := csv.NewWriter(out)
	table.UseCRLF = true
	turn := h.Pacer.Begin()
	switch d.format {
	case "csv":
		_ = table.Write(oneLines(d.columns)) // out keeps the errors of all writers
	case "xml":
		_, _ = out.WriteString(`<?xml version="1.0" encoding="utf-8"?>` + "\n<records>")
	}
	first := true
	var b []byte
	for rec, err := range h.downloadable(ctx, d) {
		if err != nil {
			return err
		}
		if err := turn.Step(ctx); err != nil {
			return err
		}
		e, err := h.elements(ctx, d.base, rec)
		if err != nil {
			return err
		}
		id := ezid.ID(rec.Name)
		if !d.accepts(id, e) {
			continue
		}
		if d.zulu {
			convertTimes(e)
		}
		switch d.format {
		case "csv":
			if err := table.Write(d.row(id, rec, e)); err != nil {
				return err
			}
			continue
		case "xml":
			b = appendXML(b[:0], id, e)
		default:
			if b = b[:0]; !first {
				b = append(b, '\n')
			}
			b = e.Append(fmt.Appendf(b, ":: %s\n", id))
		}
		first = false
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	if d.format == "xml" {
		_, _ = out.WriteString("</records>\n")
	}
	table.Flush()
	return table.Error()
}

// convertTimes converts the times of an identifier to the format of ISO 8601.
func convertTimes(e ezid.Elements) {
	for _, label := range []string{ezid.Created, ezid.Updated} {
		if seconds, err := strconv.ParseInt(e[label], 10, 64); err == nil {
			e[label] = time.Unix(seconds, 0).UTC().Format(zulu)
		}
	}
}

// downloadable yields the records in the scope of the dialect for which the user has rights. It
// reads the records in batches, so the result is not a consistent snapshot of the store.
func (h *Handler) downloadable(ctx context.Context, d *download) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for _, span := range h.spans() {
			scan := store.Scan{Prefix: span}
			for n := batch; n == batch; {
				n = 0
				for rec, err := range h.Store.List(store.Fresh(ctx), scan) {
					if err != nil {
						yield(nil, err)
						return
					}
					if scan.After, n = rec.Name.Key(), n+1; h.includes(d, rec) && !yield(rec, nil) {
						return
					}
					if n == batch {
						break
					}
				}
			}
		}
	}
}

func (h *Handler) includes(d *download, rec *store.Record) bool {
	n, ok := ezid.ParseID(ezid.ID(rec.Name))
	return ok && n == rec.Name && h.Scope.Covers(n) && d.actor.Reaches(n)
}

// spans returns the prefixes of the keys in the scope. No prefix begins with another prefix.
func (h *Handler) spans() (all []string) {
	var spans []string
	for _, p := range h.Scope {
		spans = append(spans, p.Spans()...)
	}
	slices.Sort(spans)
	for _, s := range spans {
		if len(all) == 0 || !strings.HasPrefix(s, all[len(all)-1]) {
			all = append(all, s)
		}
	}
	return all
}

// row returns the cells of an identifier.
func (d *download) row(id string, rec *store.Record, e ezid.Elements) []string {
	cells := make([]string, len(d.columns))
	for i, column := range d.columns {
		field, mapped := strings.CutPrefix(column, "_mapped")
		switch {
		case column == ezid.IDColumn:
			cells[i] = id
		case mapped && contains([]string{"Creator", "Title", "Publisher", "Date", "Type"}, field):
			cells[i] = strings.Join(rec.Metadata[strings.ToLower(field)], "; ")
		default:
			cells[i] = e[column]
		}
	}
	return oneLines(cells)
}

func oneLines(cells []string) []string {
	all := make([]string, len(cells))
	for i, cell := range cells {
		all[i] = oneLine(cell)
	}
	return all
}

func appendXML(b []byte, id string, e ezid.Elements) []byte {
	b = append(appendText(append(b, `<record identifier="`...), id), `">`...)
	for _, label := range sortedKeys(e) {
		b = append(appendText(append(b, `<element name="`...), label), `">`...)
		if inner, ok := embeddable(e[label]); ok && (label == "datacite" || label == "crossref") {
			b = append(b, inner...)
		} else {
			b = appendText(b, e[label])
		}
		b = append(b, "</element>"...)
	}
	return append(b, "</record>"...)
}

func appendText(b []byte, s string) []byte {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(s)) // a strings.Builder returns no error
	return append(b, escaped.String()...)
}

// embeddable returns an XML document without its declaration, so that it can be embedded in another
// document. It returns false if s is not an XML document, or if it cannot be embedded.
func embeddable(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "<?xml ") {
		_, s, _ = strings.Cut(s, "?>")
		s = strings.TrimSpace(s)
	}
	if strings.Contains(s, "<![CDATA[") {
		return "", false
	}
	depth, roots := 0, 0
	for d := xml.NewDecoder(strings.NewReader(s)); ; {
		token, err := d.Token()
		switch t := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(string(t)) != "" {
				return "", false
			}
		case xml.Directive, xml.ProcInst:
			return "", false
		}
		if err != nil {
			return s, err == io.EOF && depth == 0 && roots == 1
		}
	}
}
