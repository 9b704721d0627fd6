package hdl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
)

// The encodings of data in a batch file.
const (
	batchText  = "UTF8"
	batchAdmin = "ADMIN"
	batchList  = "LIST"
	batchFile  = "FILE"
)

// AppendLine appends a value as a line of a batch file. It returns an error if batch files cannot
// represent the value.
func AppendLine(b []byte, v *nomen.Value) ([]byte, error) {
	ttl, err := batchTTL(v.TTL)
	if err != nil {
		return b, err
	}
	if v.Type == "" || strings.ContainsAny(v.Type, " \t\r\n") {
		return b, fmt.Errorf("a batch file cannot hold the type %q", v.Type)
	}
	if v.References != "" {
		return b, errors.New("a batch file cannot hold references of a value")
	}
	permissions := v.Permissions
	if permissions == "" {
		permissions = usualPermissions
	}
	encoding, data, err := batchData(v)
	if err != nil {
		return b, err
	}
	if strings.ContainsAny(data, "\r\n") {
		return b, errors.New("a batch file cannot hold data with line breaks")
	}
	return fmt.Appendf(b, "%d %s %s %s %s %s\n", v.Index, v.Type, ttl, permissions, encoding, data), nil
}

// batchTTL returns a TTL in seconds.
func batchTTL(t nomen.TTL) (string, error) {
	if t == "" {
		return strconv.Itoa(int(nomen.DefaultTTL / time.Second)), nil
	}
	if !ascii.All(t, ascii.IsDigit) {
		return "", fmt.Errorf("a batch file cannot hold a time as TTL, only seconds: %s", t)
	}
	return string(t), nil
}

// batchData returns the data of a value as they are written in a batch file.
func batchData(v *nomen.Value) (encoding, data string, err error) {
	switch v.Format {
	case nomen.FormatText:
		return batchText, v.Data, nil
	case FormatAdmin:
		var a Admin
		if err := json.Unmarshal([]byte(v.Data), &a); err != nil || len(a.Permissions) != adminBits {
			return "", "", errors.New("its data are not those of HS_ADMIN")
		}
		return batchAdmin, fmt.Sprintf("%d:%s:%s", a.Index, reversed(a.Permissions), a.Handle), nil
	case FormatList:
		var list []Reference
		if err := json.Unmarshal([]byte(v.Data), &list); err != nil {
			return "", "", errors.New("its data are not those of HS_VLIST")
		}
		return batchList, listText(list), nil
	}
	return "", "", fmt.Errorf("a batch file cannot hold data in the format %s", v.Format)
}

func listText(list []Reference) string {
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%d:%s;", r.Index, r.Handle)
	}
	return b.String()
}

// A LineError reports the position and cause of an error in a line of a batch file.
type LineError struct {
	Column int // from 1, in bytes
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Reason) }

// ParseLine parses a line of a batch file. If the line is invalid, the error is a [*LineError]. If
// open is true, the data of the value are on the next line.
func ParseLine(line string) (v nomen.Value, open bool, err error) {
	p := lineParser{rest: line}
	if valid := strings.ToValidUTF8(line, ""); valid != line {
		p.fail(len(commonBeginning(line, valid)), "the line is not UTF-8")
	}
	v.Index = p.index()
	v.Type = p.word("type")
	v.TTL = p.ttl()
	v.Permissions = p.permissions()
	encoding := p.word("encoding of the data: UTF8, ADMIN, LIST or FILE")
	data := strings.TrimPrefix(p.rest, " ")
	p.at += len(p.rest) - len(data)
	if p.err == nil && data == "" && ascii.EqualFold(encoding, batchAdmin) {
		return v, true, nil
	}
	p.data(&v, encoding, data)
	if p.err != nil {
		return v, false, p.err
	}
	return v, false, nil
}

func commonBeginning(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[:i]
}

type lineParser struct {
	rest string
	at   int // offset of rest in the line
	err  *LineError
}

// fail records an error at an offset of the line.
func (p *lineParser) fail(at int, format string, a ...any) {
	if p.err == nil {
		p.err = &LineError{at + 1, fmt.Sprintf(format, a...)}
	}
}

// word returns the next word. It is empty only after an error.
func (p *lineParser) word(what string) string {
	trimmed := strings.TrimLeft(p.rest, " \t")
	p.at += len(p.rest) - len(trimmed)
	end := strings.IndexAny(trimmed, " \t")
	if end < 0 {
		end = len(trimmed)
	}
	if end == 0 {
		p.fail(p.at, "missing %s: want INDEX TYPE TTL PERMISSIONS ENCODING DATA", what)
	}
	word := trimmed[:end]
	p.rest = trimmed[end:]
	p.at += end
	return word
}

func (p *lineParser) index() int {
	w := p.word("index")
	n, err := strconv.ParseInt(w, 10, 32)
	if err != nil || n < 1 {
		p.fail(p.at-len(w), "invalid index: must be a number from 1 to %d", MaxIndex) // does not quote the text, which could be a secret
	}
	return int(n)
}

func (p *lineParser) ttl() nomen.TTL {
	w := p.word("TTL")
	n, err := strconv.ParseInt(w, 10, 32)
	if err != nil || n < 0 {
		p.fail(p.at-len(w), "invalid TTL %.20q: must be seconds, such as 86400", w)
	}
	return nomen.Seconds(int(n))
}

func (p *lineParser) permissions() string {
	w := p.word("permissions")
	s, ok := Permissions(w)
	if !ok {
		p.fail(p.at-len(w), "invalid permissions %.20q: must be four digits 0 and 1, such as 1110", w)
	}
	return s
}

// Permissions converts four digits, each 0 or 1, to the Permissions of a [nomen.Value]. It returns
// false for any other string.
func Permissions(s string) (string, bool) {
	if s == usualPermissions {
		return "", true
	}
	return s, len(s) == len(usualPermissions) && strings.Trim(s, "01") == ""
}

func (p *lineParser) data(v *nomen.Value, encoding, data string) {
	switch {
	case p.err != nil:
	case ascii.EqualFold(encoding, batchText):
		v.Data = data
	case ascii.EqualFold(encoding, batchAdmin):
		p.admin(v, data)
	case ascii.EqualFold(encoding, batchList):
		p.list(v, data)
	case ascii.EqualFold(encoding, batchFile):
		p.fail(p.at, "the data are in a file of the Handle server, which is not read")
	default:
		p.fail(p.at-1-len(encoding), "unknown encoding %.20q: must be UTF8, ADMIN, LIST or FILE", encoding)
	}
}

// admin parses INDEX:PERMISSIONS:HANDLE.
func (p *lineParser) admin(v *nomen.Value, data string) {
	data = strings.TrimSpace(data)
	index, rest, _ := strings.Cut(data, ":")
	permissions, handle, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(index, 10, 32)
	if err != nil || n < 0 || len(permissions) != adminBits || strings.Trim(permissions, "01") != "" || handle == "" {
		p.fail(p.at, "invalid data of HS_ADMIN %.80q: must be INDEX:PERMISSIONS:HANDLE with twelve digits 0 and 1", data)
	}
	v.Format, v.Data = FormatAdmin, jsonText(Admin{Handle: handle, Index: int(n), Permissions: reversed(permissions)})
}

// list parses INDEX:HANDLE;INDEX:HANDLE;...
func (p *lineParser) list(v *nomen.Value, data string) {
	list := []Reference{}
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(data), ";"), ";") {
		index, handle, _ := strings.Cut(strings.TrimSpace(part), ":")
		n, err := strconv.ParseInt(index, 10, 32)
		if err != nil || n < 0 || handle == "" {
			p.fail(p.at, "invalid reference %.80q: must be INDEX:HANDLE", part)
			return
		}
		list = append(list, Reference{handle, int(n)})
	}
	v.Format, v.Data = FormatList, jsonText(list)
}
