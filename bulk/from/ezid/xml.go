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

type xmlElement struct {
	Name  string `xml:"name,attr"`
	Text  string `xml:",chardata"`
	Inner string `xml:",innerxml"`
}

func readXML(ctx context.Context, in *from.Input, out *from.Output) error {
	im, b := newImporter(in, out), &bounded{Reader: in}
	b.reset()
	d := xml.NewDecoder(b)
	depth := 0
	for ctx.Err() == nil {
		line, column := d.InputPos()
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
			if err := im.readRecord(d, t, line, column); err != nil {
				return err
			}
			b.reset()
		}
	}
	return ctx.Err()
}

func (im *importer) readRecord(d *xml.Decoder, start xml.StartElement, line, column int) error {
	if start.Name.Local != "record" {
		im.out.RefuseAt(line, column, start.Name.Local, "unknown XML element: must be record")
		return d.Skip()
	}
	e := &entry{line: line, start: column, elements: ezid.Elements{}}
	for _, a := range start.Attr {
		if a.Name.Local == "identifier" {
			e.id = a.Value
		}
	}
	places := make(map[string][2]int)
	e.place = func(label string) (line, column int) { return places[label][0], places[label][1] }
	for {
		line, column := d.InputPos()
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.EndElement:
			return im.add(e)
		case xml.StartElement:
			var el xmlElement
			if t.Name.Local != "element" {
				e.fail(t.Name.Local, "unknown XML element: must be element")
				if err := d.Skip(); err != nil {
					return err
				}
				places[t.Name.Local] = [2]int{line, column}
				continue
			}
			if err := d.DecodeElement(&el, &t); err != nil {
				return err
			}
			e.setXML(&el)
			places[el.Name] = [2]int{line, column}
		}
	}
}

func (e *entry) setXML(el *xmlElement) {
	value := el.Text
	if strings.Contains(el.Inner, "<") && !strings.Contains(el.Inner, "<![CDATA[") {
		value = el.Inner // XML of DataCite, Crossref or Dublin Core
	}
	if _, twice := e.elements[el.Name]; twice {
		e.fail(el.Name, "occurs twice")
		return
	}
	if value = strings.TrimSpace(value); value != "" {
		e.elements[el.Name] = value
	}
}
