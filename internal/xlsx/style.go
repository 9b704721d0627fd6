package xlsx

import (
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// A kind is the way in which a number format displays a number.
type kind uint8

const (
	plain kind = 0
	day   kind = 1 // a date
	clock kind = 2 // a time; day|clock is a date with a time
)

// readStyles reads the part with the cell formats, and determines which of them display dates or
// times.
func (w *Workbook) readStyles(at string) error {
	p, err := w.open(at)
	if err != nil {
		return err
	}
	defer p.close()
	own := map[int]kind{}
	within := false
	for {
		e, err := p.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := e.(type) {
		case xml.EndElement:
			within = within && t.Name.Local != "cellXfs"
		case xml.StartElement:
			id, _ := strconv.Atoi(attribute(t, "numFmtId")) // 0 is the general format
			switch t.Name.Local {
			case "cellXfs":
				within = true
			case "numFmt":
				own[id] = kindOf(attribute(t, "formatCode"))
			case "xf":
				if !within {
					break
				}
				k, ok := own[id]
				if !ok {
					k = builtIn(id)
				}
				w.styles = append(w.styles, k)
			}
			if len(w.styles) > maxStyles || len(own) > maxStyles {
				return p.damaged("it has too many formats")
			}
			p.left = maxElement
		}
	}
}

// builtIn returns the kind of a built-in number format (ISO/IEC 29500-1, 18.8.30).
func builtIn(id int) kind {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id == 57, id == 58:
		return day
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id == 55, id == 56, id >= 45 && id <= 47:
		return clock
	case id == 22:
		return day | clock
	}
	return plain
}

func kindOf(code string) (k kind) {
	minutes := false // m means the month, unless there are hours or seconds
	for i := 0; i < len(code); i++ {
		switch c := code[i] | 0x20; {
		case code[i] == ';':
			i = len(code)
		case code[i] == '"', code[i] == '[':
			end := strings.IndexByte(code[i+1:], map[byte]byte{'"': '"', '[': ']'}[code[i]])
			if end < 0 {
				return k
			}
			if inner := strings.ToLower(code[i+1 : i+1+end]); code[i] == '[' && inner != "" && strings.Trim(inner, "hms") == "" {
				return plain // a duration
			}
			i += end + 1
		case code[i] == '\\', code[i] == '_', code[i] == '*':
			i++
		case c == 'g' && len(code)-i >= 7 && strings.EqualFold(code[i:i+7], "general"):
			i += 6
		case c == 'y', c == 'd':
			k |= day
		case c == 'h', c == 's':
			k |= clock
		case c == 'm':
			minutes = true
		}
	}
	if minutes && k == plain {
		k = day
	}
	return k
}

// dateText converts a number to an ISO 8601 date, time, or both. The result isDay is true for a
// date without a time. The result ok is false if the number is not a valid date or time.
func (w *Workbook) dateText(number string, k kind) (text string, isDay, ok bool) {
	const last = 2958466 // the day after 9999-12-31
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n >= 0 && n < last) {
		return "", false, false
	}
	seconds := int64(math.Round((n - math.Floor(n)) * 86400))
	days := int(n)
	if k == clock && days == 0 {
		return time.Unix(seconds, 0).UTC().Format("15:04:05"), false, true
	}
	first := time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	if w.since == 1900 {
		// Spreadsheet programs count 29 February 1900 as day 60, although this day did not exist.
		switch first = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC); {
		case days == 0, days == 60:
			return "", false, false
		case days < 60:
			days++
		}
	}
	at := first.AddDate(0, 0, days).Add(time.Duration(seconds) * time.Second)
	if seconds == 0 && k&clock == 0 {
		return at.Format(time.DateOnly), true, true
	}
	return at.Format(time.RFC3339), false, true
}
