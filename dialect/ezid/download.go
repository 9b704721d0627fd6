package ezid

import (
	"io"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/registrar"
)

// Limits of requests for batch downloads.
const (
	maxForm    = 64 << 10 // maximum size of the form in bytes
	maxColumns = 1000
)

type download struct {
	actor   registrar.Actor
	base    string // URL of the server
	format  string // anvl, csv or xml
	zip     bool   // instead of gzip
	columns []string
	zulu    bool // write times as in ISO 8601
	tests   []downloadTest
}

type downloadTest func(id string, e ezid.Elements) bool

func (d *download) suffix() string {
	if d.zip {
		return ".zip"
	}
	return d.plainSuffix() + ".gz"
}

func (d *download) plainSuffix() string {
	if d.format == "anvl" {
		return ".txt"
	}
	return "." + d.format
}

func (d *download) accepts(id string, e ezid.Elements) bool {
	return !slices.ContainsFunc(d.tests, func(test downloadTest) bool { return !test(id, e) })
}

func (h *Handler) requestDownload(c *call) reply {
	actor, failure := h.author(c)
	if !failure.ok() {
		return failure
	}
	if _, failure = c.options(); !failure.ok() {
		return failure
	}
	form, failure := c.form()
	if !failure.ok() {
		return failure
	}
	d, failure := parseDownload(form)
	switch {
	case !failure.ok():
		return failure
	case h.Downloads == "":
		return failed("forbidden")
	}
	d.actor, d.base = actor, c.Base
	return h.beginDownload(c, d)
}

// form parses the form in the body. If the body has another media type, the form is empty.
func (c *call) form() (url.Values, reply) {
	if media, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")); media != "application/x-www-form-urlencoded" {
		return nil, reply{}
	}
	text, err := io.ReadAll(io.LimitReader(c.r.Body, maxForm+1))
	form, errForm := url.ParseQuery(string(text))
	if err != nil || errForm != nil || len(text) > maxForm {
		return nil, badRequest("malformed or incomplete request body")
	}
	return form, reply{}
}

func parseDownload(form url.Values) (*download, reply) {
	p := downloadParser{d: &download{}}
	for _, key := range sortedKeys(form) {
		values := form[key]
		repeatable, known := downloadParameters()[key]
		switch {
		case !known:
			return nil, badRequest("invalid parameter: " + oneLine(key))
		case len(values) > 1 && !repeatable:
			return nil, badRequest("parameter is not repeatable: " + key)
		}
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		if reason := p.set(key, values); reason != "" {
			return nil, badRequest("parameter '" + key + "': " + reason)
		}
	}
	d := p.d
	switch {
	case d.format == "":
		return nil, badRequest("missing required parameter: format")
	case d.format == "csv" && len(d.columns) == 0:
		return nil, badRequest("format 'csv' requires at least one column")
	case d.format != "csv" && len(d.columns) > 0:
		return nil, badRequest("parameter is incompatible with format: column")
	}
	if len(p.owners)+len(p.groups) > 0 {
		d.tests = append(d.tests, func(_ string, e ezid.Elements) bool {
			return contains(p.owners, e[ezid.Owner]) || contains(p.groups, e[ezid.OwnerGroup])
		})
	}
	return d, reply{}
}

func downloadParameters() map[string]bool {
	return map[string]bool{
		"format": false, "compression": false, "column": true, "notify": true, "convertTimestamps": false,
		"createdAfter": false, "createdBefore": false, "updatedAfter": false, "updatedBefore": false,
		"crossref": false, "datacite": false, "exported": false, "owner": true, "ownergroup": true,
		"permanence": false, "profile": true, "status": true, "type": true,
	}
}

type downloadParser struct {
	d              *download
	owners, groups []string
}

// Reasons for which EZID rejects the value of a parameter.
const (
	emptyValue   = "empty value"
	invalidValue = "invalid parameter value"
	invalidTime  = "invalid timestamp"
)

// set sets a parameter. If the values are invalid, it returns the reason, and otherwise "".
func (p *downloadParser) set(key string, values []string) (reason string) {
	d := p.d
	switch key {
	case "format":
		d.format = values[0]
		return oneOf(values, "anvl", "csv", "xml")
	case "compression":
		d.zip = values[0] == "zip"
		return oneOf(values, "gzip", "zip")
	case "convertTimestamps":
		d.zulu = values[0] == "yes"
		return oneOf(values, "yes", "no")
	case "column", "notify", "owner", "ownergroup", "profile":
		if contains(values, "") {
			return emptyValue
		}
	case "crossref", "datacite":
		return "not supported by this server"
	}
	switch key {
	case "column":
		if d.columns = values; len(values) > maxColumns {
			return "too many columns"
		}
	case "owner":
		p.owners = values
	case "ownergroup":
		p.groups = values
	case "createdAfter", "createdBefore", "updatedAfter", "updatedBefore":
		return p.setTime(key, values[0])
	case "exported":
		d.only(ezid.Export, values)
		return oneOf(values, "yes", "no")
	case "permanence":
		d.tests = append(d.tests, func(id string, _ ezid.Elements) bool { return isTest(id) == (values[0] == "test") })
		return oneOf(values, "test", "real")
	case "profile":
		d.only(ezid.Profile, values)
	case "status":
		d.tests = append(d.tests, func(_ string, e ezid.Elements) bool {
			status, _, _ := strings.Cut(e[ezid.Status], " ")
			return contains(values, status)
		})
		return oneOf(values, ezid.Reserved, ezid.Public, ezid.Unavailable)
	case "type":
		d.tests = append(d.tests, func(id string, _ ezid.Elements) bool {
			label, _, _ := strings.Cut(id, ":")
			return contains(values, label)
		})
		return oneOf(values, "ark", "doi", "uuid")
	}
	return ""
}

// only restricts the download to identifiers whose element has one of the values.
func (d *download) only(label string, values []string) {
	d.tests = append(d.tests, func(_ string, e ezid.Elements) bool { return contains(values, e[label]) })
}

func oneOf(values []string, known ...string) (reason string) {
	if slices.ContainsFunc(values, func(v string) bool { return !contains(known, v) }) {
		return invalidValue
	}
	return ""
}

func isTest(id string) bool {
	return strings.HasPrefix(id, "ark:/99999/fk4") || strings.HasPrefix(id, "doi:10.5072/FK2") || strings.HasPrefix(id, "doi:10.15697/")
}

// zulu is the layout of times in parameters and downloads.
const zulu = "2006-01-02T15:04:05Z"

// setTime adds a limit for _created or _updated. The limit "after" includes its time, and the limit
// "before" does not.
func (p *downloadParser) setTime(key, value string) (reason string) {
	limit, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		t, err := time.Parse(zulu, value)
		if err != nil {
			return invalidTime
		}
		limit = t.Unix()
	}
	label := ezid.Created
	if strings.HasPrefix(key, "updated") {
		label = ezid.Updated
	}
	after := strings.HasSuffix(key, "After")
	p.d.tests = append(p.d.tests, func(_ string, e ezid.Elements) bool {
		at, err := strconv.ParseInt(e[label], 10, 64)
		return err == nil && (at >= limit) == after
	})
	return ""
}
