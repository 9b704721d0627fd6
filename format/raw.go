package format

import (
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
)

// RawText returns the text of an unstructured result. It returns false if the result is not text.
// RawText returns valid UTF-8 unchanged, and decodes other text from its charset. The default
// charset is ISO-8859-1, as in HTTP/1.0 (RFC 1945, section 3.6.1). The caller must escape the text
// before displaying it.
func RawText(r *nomen.Raw) (string, bool) {
	kind, params, err := mime.ParseMediaType(r.Type)
	if err != nil && kind == "" || !strings.HasPrefix(kind, "text/") {
		return "", false
	}
	if utf8.Valid(r.Body) {
		return string(r.Body), true
	}
	c, ok := lookupCharset(params["charset"])
	if !ok || c.page == nil {
		c, _ = lookupCharset("ISO-8859-1")
	}
	text, _ := c.decode(r.Body)
	return text, true
}

// A RawBody is the JSON form of an unstructured result.
type RawBody struct {
	ContentType string  `json:"content_type,omitempty"`
	Body        *string `json:"body,omitempty"`        // nil if the body is not text
	Base64      []byte  `json:"body_base64,omitempty"` // set if Body does not equal the bytes
}

// NewRawBody returns the RawBody for r, which may be nil.
func NewRawBody(r *nomen.Raw) RawBody {
	if r == nil {
		return RawBody{}
	}
	o := RawBody{ContentType: r.Type}
	text, ok := RawText(r)
	if !ok && utf8.Valid(r.Body) {
		text, ok = string(r.Body), true
	}
	if ok {
		o.Body = &text
	}
	if !ok || text != string(r.Body) {
		o.Base64 = r.Body
	}
	return o
}

func (o RawBody) raw() *nomen.Raw {
	switch {
	case o.Base64 != nil:
		return &nomen.Raw{Type: o.ContentType, Body: o.Base64}
	case o.Body != nil:
		return &nomen.Raw{Type: o.ContentType, Body: []byte(*o.Body)}
	}
	return nil
}
