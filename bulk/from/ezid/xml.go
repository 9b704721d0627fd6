package ezid

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/ezid"
)

// A xmlRecord is the XML element of an identifier.
type xmlRecord struct {
	ID       string `xml:"identifier,attr"`
	Elements []struct {
		Name  string `xml:"name,attr"`
		Text  string `xml:",chardata"`
		Inner string `xml:",innerxml"`
	} `xml:"element"`
}

func readXML(ctx context.Context, in *from.Input, out *from.Output) error {
	im, b := newImporter(in, out), &bounded{Reader: in}
	b.reset()
	d := xml.NewDecoder(b)
	depth := 0
	for ctx.Err() == nil {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth++; depth == 1 && t.Name.Local != "records" {
				return fmt.Errorf("line 1: the root element must be records, not %s", from.Shorten(t.Name.Local))
			}
			if depth < 2 {
				continue
			}
			depth--
			line, _ := d.InputPos()
			if err := im.readRecord(d, t, line); err != nil {
				return err
			}
			b.reset()
		}
	}
	return ctx.Err()
}

func (im *importer) readRecord(d *xml.Decoder, start xml.StartElement, line int) error {
	if start.Name.Local != "record" {
		im.out.Refuse(line, start.Name.Local, "unknown XML element: must be record")
		return d.DecodeElement(&struct{}{}, &start)
	}
	var rec xmlRecord
	if err := d.DecodeElement(&rec, &start); err != nil {
		return err
	}
	e := &entry{line: line, id: rec.ID, elements: ezid.Elements{}}
	for _, el := range rec.Elements {
		value := el.Text
		if strings.Contains(el.Inner, "<") && !strings.Contains(el.Inner, "<![CDATA[") {
			value = el.Inner // XML of DataCite, Crossref or Dublin Core
		}
		if _, twice := e.elements[el.Name]; twice {
			e.fail(el.Name, "occurs twice")
			continue
		}
		if value = strings.TrimSpace(value); value != "" {
			e.elements[el.Name] = value
		}
	}
	return im.add(e)
}
