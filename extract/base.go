package extract

import (
	"errors"
	"mime"
	"net/mail"
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// The rules by which the base of a document can be set, in order of precedence (section 5.1 of
// draft-fielding-url-syntax-05, draft-fielding-uri-rfc2396bis-01 and RFC 3986). The empty rule
// means that the document has no base.
const (
	BaseOfficial        = "official-name"    // the official name of the document (draft-ietf-uri-url, Uniqueness)
	BaseEmbedded        = "content"          // BASE in an HTML document (section 5.1.1)
	BaseContentBase     = "content-base"     // a header field of the entity (draft of 1997, section 5.1.1)
	BaseContentLocation = "content-location" // a header field of the entity (draft of 1997, section 5.1.1; RFC 2557, section 4.2)
	BaseEncapsulating   = "entity"           // the enclosing entity, recursively (section 5.1.2)
	BaseRetrieval       = "retrieval"        // the URI from which the document was retrieved (section 5.1.3)
	BaseDefault         = "default"          // the application's default (section 5.1.4)
)

// A Base is the URI against which the relative references in a document are resolved. The URI is
// absolute and has no fragment. The zero Base means that the document has no base, so its relative
// references cannot be resolved.
type Base struct {
	URI  uri.URI
	Rule string // one of the Base constants
}

// A BaseSource is something that can set the base of a document, such as a header field or an HTML
// element. The argument of the function is the base outside the source, and the result is the base
// inside it. A source that sets no base returns its argument. Programs can define other sources,
// for example for other kinds of metadata (drafts of 1997 and 2003, section 5.1.1).
type BaseSource func(outer Base) Base

// Establish returns the base of a document with the given sources, which must be ordered from the
// innermost to the outermost (RFC 3986, section 5.1). The innermost source with an absolute base
// takes precedence. Sources inside it can set a relative base, which is resolved against this base.
func Establish(innermost ...BaseSource) Base {
	var base Base
	for i := len(innermost) - 1; i >= 0; i-- {
		base = innermost[i](base)
	}
	return base
}

// OfficialName returns a source that sets the base to the official name of the document. An
// official name is absolute and does not depend on where the document was fetched
// (draft-ietf-uri-url, Uniqueness).
func OfficialName(u uri.URI) BaseSource { return fixed(u, BaseOfficial) }

// DefaultBase returns a source that sets the base to the application's default (RFC 3986, section
// 5.1.4). Pass DefaultBase last to [Establish].
func DefaultBase(u uri.URI) BaseSource { return fixed(u, BaseDefault) }

// RetrievalBase returns a source that sets the base to the URI from which the document was
// retrieved, after redirects (RFC 3986, section 5.1.3). This is the last URI of chain. If chain is
// empty, the source sets no base.
func RetrievalBase(chain ...uri.URI) BaseSource {
	if len(chain) == 0 {
		return inherit
	}
	return fixed(chain[len(chain)-1], BaseRetrieval)
}

// EmbeddedBase returns a source that sets the base to a reference in the document, such as the HREF
// of an HTML BASE element (RFC 3986, section 5.1.1). If the reference is relative, it is resolved
// against the base outside the document.
func EmbeddedBase(ref uri.URI) BaseSource {
	return func(outer Base) Base { return outer.inside(ref, BaseEmbedded) }
}

// EntityBase returns a source that sets the base from the header of a message or a body part (draft
// of 1997, section 5.1.1; RFC 2557, section 5). An absolute Content-Base takes precedence over
// Content-Location, which may be relative to the base outside the entity. White space in the fields
// is removed. Fields that are invalid in dialect d are ignored.
func EntityBase(d uri.Dialect, h mail.Header) BaseSource {
	return func(outer Base) Base {
		if u, err := d.Parse(fieldURI(h, "Content-Base")); err == nil {
			return Base{u.WithoutFragment(), BaseContentBase}
		}
		location := fieldURI(h, "Content-Location")
		if location == "" {
			return outer
		}
		u, err := d.ParseReference(location)
		if err != nil {
			return outer
		}
		return outer.inside(u, BaseContentLocation)
	}
}

// Encapsulating returns a source that sets the base from the entity that encloses the document (RFC
// 3986, section 5.1.2). If entities are nested, list a source for each of them.
func Encapsulating(entity BaseSource) BaseSource {
	return func(outer Base) Base {
		base := entity(outer)
		if base != outer {
			base.Rule = BaseEncapsulating
		}
		return base
	}
}

func inherit(outer Base) Base { return outer }

// fixed returns a source that always sets the base to u, unless u is relative.
func fixed(u uri.URI, rule string) BaseSource {
	if !u.IsValid() || u.IsReference() {
		return inherit
	}
	return func(Base) Base { return Base{u.WithoutFragment(), rule} }
}

func (b Base) inside(ref uri.URI, rule string) Base {
	u, err := b.resolve(ref)
	if err != nil {
		return b
	}
	return Base{u.WithoutFragment(), rule}
}

// resolve resolves ref against the base, in the dialect of ref. A reference to the current document
// resolves to the base.
func (b Base) resolve(ref uri.URI) (uri.URI, error) {
	if ref.IsValid() && !ref.IsReference() {
		return ref, nil
	}
	base := b.URI
	if !base.IsValid() {
		return uri.URI{}, uri.ErrNoBase
	}
	if f, odd := urn.InspectReference(base, ref); odd { // N12-15
		return uri.URI{}, errors.New(f.Message)
	}
	if base.Dialect() != ref.Dialect() {
		var err error
		if base, err = ref.Dialect().Parse(base.String()); err != nil {
			return uri.URI{}, err
		}
	}
	target, err := uri.Resolver{NewRequest: true}.Resolve(base, ref)
	if err != nil || target.URI.IsValid() {
		return target.URI, err
	}
	if target.HasFragment { // a reference to a part of the current document
		return base.With(uri.ComponentFragment, target.Fragment)
	}
	return base, nil
}

// fieldURI returns the first value of a header field, with encoded words decoded (RFC 2047) and
// without white space.
func fieldURI(h mail.Header, name string) string {
	value := h.Get(name)
	if strings.Contains(value, "=?") {
		if decoded, err := new(mime.WordDecoder).DecodeHeader(value); err == nil {
			value = decoded
		}
	}
	return deleteSpace(value)
}

func deleteSpace(s string) string {
	if !strings.ContainsAny(s, " \t\r\n") {
		return s
	}
	return strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(s)
}
