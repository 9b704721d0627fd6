package extract

import (
	"errors"
	"mime"
	"net/mail"
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// The rules that establish a base, in order of precedence (section 5.1 of
// draft-fielding-url-syntax-05, draft-fielding-uri-rfc2396bis-01 and RFC 3986).
// The empty rule means that there is no base.
const (
	BaseOfficial        = "official-name"    // the official name of the document (draft-ietf-uri-url, Uniqueness)
	BaseEmbedded        = "content"          // BASE in an HTML document (5.1.1)
	BaseContentBase     = "content-base"     // a header field of the entity (1997, 5.1.1)
	BaseContentLocation = "content-location" // a header field of the entity (1997, 5.1.1; RFC 2557, 4.2)
	BaseEncapsulating   = "entity"           // the enclosing entity, recursively (5.1.2)
	BaseRetrieval       = "retrieval"        // the URI from which the document was retrieved (5.1.3)
	BaseDefault         = "default"          // the application's default (5.1.4)
)

// A Base is a base URI, without a fragment, and the rule that established it.
// The zero Base means that there is no base, so that all references must be
// absolute.
type Base struct {
	URI  uri.URI
	Rule string // one of the constants
}

// A BaseSource is a possible source of a base. It is a function that takes the base in force
// outside the source and returns the base in force inside it. If the source sets no base, both are
// the same. Protocols with other tagged metainformation can add functions of this type (1997,
// 5.1.1; 2003, 5.1.1).
type BaseSource func(outer Base) Base

// Establish returns the base that the sources establish. The sources are ordered from the innermost
// to the outermost, as in section 5.1. An outer source matters only if the inner sources set no
// base or a relative one.
func Establish(innermost ...BaseSource) Base {
	var base Base
	for i := len(innermost) - 1; i >= 0; i-- {
		base = innermost[i](base)
	}
	return base
}

// OfficialName returns a source for the official name of a document. Such a name is complete, and
// does not depend on where the document was fetched (draft-ietf-uri-url, Uniqueness).
func OfficialName(u uri.URI) BaseSource { return fixed(u, BaseOfficial) }

// DefaultBase returns a source for the application's default base, which
// applies if no other source sets one (5.1.4).
func DefaultBase(u uri.URI) BaseSource { return fixed(u, BaseDefault) }

// RetrievalBase returns a source for the URI from which a document was retrieved. This is the last
// URI of chain, which has the redirections in order (5.1.3). If chain is empty, the source sets no
// base.
func RetrievalBase(chain ...uri.URI) BaseSource {
	if len(chain) == 0 {
		return inherit
	}
	return fixed(chain[len(chain)-1], BaseRetrieval)
}

// EmbeddedBase returns a source for a base in the content of a document, such
// as the HREF of an HTML BASE (5.1.1). A relative base is resolved against the
// base outside.
func EmbeddedBase(ref uri.URI) BaseSource {
	return func(outer Base) Base { return outer.inside(ref, BaseEmbedded) }
}

// EntityBase returns a source for the header of a message or body part. The base
// is an absolute Content-Base, or else the Content-Location, which may be
// relative to the base outside (1997, 5.1.1; RFC 2557, 5). White space in the
// fields is removed. A value that is invalid in dialect d sets no base.
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

// Encapsulating returns a source for the entity that encloses a document
// (5.1.2). For nested entities, list one source for each.
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

// fixed returns a source that always sets u as the base. If u is not an absolute URI, the source
// sets no base.
func fixed(u uri.URI, rule string) BaseSource {
	if !u.IsValid() || u.IsReference() {
		return inherit
	}
	return func(Base) Base { return Base{u.WithoutFragment(), rule} }
}

// inside returns the base that ref sets if b is the base outside. If ref cannot
// be made absolute, inside returns b.
func (b Base) inside(ref uri.URI, rule string) Base {
	u, err := b.resolve(ref)
	if err != nil {
		return b
	}
	return Base{u.WithoutFragment(), rule}
}

// resolve resolves ref against the base, in the dialect of ref. For a reference to the current
// document it returns the base itself.
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

// fieldURI returns the first value of a header field. It removes white space and line folds, and
// decodes encoded words (RFC 2047).
func fieldURI(h mail.Header, name string) string {
	value := h.Get(name)
	if strings.Contains(value, "=?") {
		if decoded, err := new(mime.WordDecoder).DecodeHeader(value); err == nil {
			value = decoded
		}
	}
	return deleteSpace(value)
}

// deleteSpace removes white space, including line breaks, from a header field.
func deleteSpace(s string) string {
	if !strings.ContainsAny(s, " \t\r\n") {
		return s
	}
	return strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(s)
}
