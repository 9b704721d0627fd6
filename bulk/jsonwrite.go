package bulk

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A jsonEncoder writes records in the same form as [store.Record.MarshalJSON]. It omits the fields
// modified and revision unless revisions is set.
type jsonEncoder struct{ revisions bool }

func (jsonEncoder) head() []byte { return nil }

func (e jsonEncoder) record(b []byte, r *store.Record) ([]byte, error) {
	b = append(b, `{"name":`...)
	b = appendText(b, r.Spelling)
	b = append(b, `,"status":`...)
	b = appendText(b, string(r.Status))
	b = append(b, `,"locations":[`...)
	for i := range r.Locations {
		b = appendComma(b, i)
		b = appendLocation(b, &r.Locations[i])
	}
	b = append(b, `],"metadata":{`...)
	for i, element := range slices.Sorted(maps.Keys(r.Metadata)) {
		b = appendComma(b, i)
		b = appendText(b, element)
		b = append(b, ':')
		b = appendTexts(b, r.Metadata[element])
	}
	b = append(b, `},"same_as":`...)
	b = appendTexts(b, r.SameAs)
	b = append(b, `,"successors":`...)
	b = appendTexts(b, r.Successors)
	b = append(b, `,"reason":`...)
	b = appendText(b, r.Reason)
	if r.ShowLocations {
		b = append(b, `,"show_locations":true`...)
	}
	if len(r.Values) > 0 {
		b = appendValues(append(b, `,"values":`...), r.Values)
	}
	if e.revisions {
		text, err := r.Modified.MarshalText()
		if err != nil {
			return b, err
		}
		b = append(b, `,"modified":"`...)
		b = append(b, text...)
		b = append(b, `","revision":`...)
		b = strconv.AppendUint(b, r.Revision, 10)
	}
	return append(b, "}\n"...), nil
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func appendLocation(b []byte, l *nomen.Location) []byte {
	b = append(b, `{"url":`...)
	b = appendText(b, l.URL)
	for bit := isType; bit <= isAttributes; bit++ {
		switch bit {
		case isPriority:
			b = appendNumber(b, `,"priority":`, l.Priority)
		case isWeight:
			b = appendNumber(b, `,"weight":`, l.Weight)
		case isIndex:
			b = appendNumber(b, `,"index":`, l.Index)
		case isDown:
			if l.Down {
				b = append(b, `,"down":true`...)
			}
		default:
			b = appendMember(b, bit, *textOf(l, bit))
		}
	}
	return append(b, '}')
}

func appendMember(b []byte, bit int, s string) []byte {
	if s == "" {
		return b
	}
	b = append(append(b, `,"`...), members[bit]...)
	return appendText(append(b, `":`...), s)
}

func appendValues(b []byte, values []nomen.Value) []byte {
	b = append(b, '[')
	for i := range values {
		v := &values[i]
		b = appendComma(b, i)
		b = strconv.AppendInt(append(b, `{"index":`...), int64(v.Index), 10)
		b = appendText(append(b, `,"type":`...), v.Type)
		b = appendText(append(b, `,"data":`...), v.Data)
		b = appendMember(b, isFormat, v.Format)
		b = appendTTL(b, v.TTL)
		b = appendMember(b, isPermissions, v.Permissions)
		b = appendMember(b, isTimestamp, v.Timestamp)
		b = appendMember(b, isReferences, v.References)
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendTTL(b []byte, ttl nomen.TTL) []byte {
	if ttl == "" {
		return b
	}
	b = append(b, `,"ttl":`...)
	if text, err := ttl.MarshalJSON(); err == nil && text[0] != '"' {
		return append(b, text...)
	}
	return appendText(b, string(ttl))
}

func appendNumber(b []byte, member string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, member...), int64(n), 10)
}

func appendTexts(b []byte, all []string) []byte {
	b = append(b, '[')
	for i, s := range all {
		b = appendComma(b, i)
		b = appendText(b, s)
	}
	return append(b, ']')
}

// appendText appends a JSON string. It uses the same escapes as [encoding/json] with
// SetEscapeHTML(false). These include U+2028 and U+2029, which are line separators in JavaScript.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == '\u2028' || r == '\u2029' {
				b = append(append(b, s[from:i]...), `\u202`...)
				b = append(b, hex[r&15])
				from = i + size
			}
			i += size
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
