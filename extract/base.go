package extract

import (
	"errors"
	"mime"
	"net/mail"
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// The rules that give a base, in the order of their precedence (section 5.1 of
// draft-fielding-url-syntax-05, draft-fielding-uri-rfc2396bis-01 and RFC 3986).
// The empty rule is that of no base at all.
const (
	BaseOfficial        = "official-name"    // the official name of the document (draft-ietf-uri-url, Uniqueness)
	BaseEmbedded        = "content"          // the BASE of an HTML document (5.1.1)
	BaseContentBase     = "content-base"     // a header field of the entity (1997, 5.1.1)
	BaseContentLocation = "content-location" // a header field of the entity (1997, 5.1.1; RFC 2557, 4.2)
	BaseEncapsulating   = "entity"           // the entity around it, recursively (5.1.2)
	BaseRetrieval       = "retrieval"        // where the document was retrieved (5.1.3)
	BaseDefault         = "default"          // what the application says (5.1.4)
)

// A Base is a base URI, without a fragment, and the rule that gave it. The zero
// Base is that of a document in which every reference has to be absolute.
type Base struct {
	URI  uri.URI
	Rule string // one of the constants
}

// A BaseSource is something that may give a base: it is told the base that holds
// around it, and returns the one that holds inside, which is the same if the
// source has none to give. Other protocols with tagged metainformation add
// theirs by a function (1997, 5.1.1; 2003, 5.1.1).
type BaseSource func(outer Base) Base

// Establish returns the base that the sources give, which are listed innermost
// first, as section 5.1 lists them. A source further out is only asked for what
// a relative base further in needs.
func Establish(innermost ...BaseSource) Base {
	var base Base
	for i := len(innermost) - 1; i >= 0; i-- {
		base = innermost[i](base)
	}
	return base
}

// OfficialName is the complete name that a document has of its own, whatever it
// was fetched by (draft-ietf-uri-url, Uniqueness).
func OfficialName(u uri.URI) BaseSource { return fixed(u, BaseOfficial) }

// DefaultBase is the base for documents of which nothing else is known (5.1.4).
// There is none unless the application gives one.
func DefaultBase(u uri.URI) BaseSource { return fixed(u, BaseDefault) }

// RetrievalBase is the locator by which a document was retrieved: the last of a
// chain of redirections (5.1.3). An empty chain gives no base.
func RetrievalBase(chain ...uri.URI) BaseSource {
	if len(chain) == 0 {
		return inherit
	}
	return fixed(chain[len(chain)-1], BaseRetrieval)
}

// EmbeddedBase is a base in the content of a document, such as the HREF of an
// HTML BASE (5.1.1). A relative one is resolved against the base outside.
func EmbeddedBase(ref uri.URI) BaseSource {
	return func(outer Base) Base { return outer.inside(ref, BaseEmbedded) }
}

// EntityBase is the header of a message or of a part of one: Content-Base, which
// has to be absolute, or else Content-Location, which may be relative to the
// base outside (1997, 5.1.1; RFC 2557, 5). All white space in the fields is
// deleted. What dialect d does not derive gives no base.
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

// Encapsulating is a source of the entity around a document (5.1.2). Entities
// are listed one by one, each of them encapsulating.
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

// fixed gives u, if that is a URI, whatever holds outside.
func fixed(u uri.URI, rule string) BaseSource {
	if !u.IsValid() || u.IsReference() {
		return inherit
	}
	return func(Base) Base { return Base{u.WithoutFragment(), rule} }
}

// inside returns the base that ref gives where b holds around it: b itself if
// that is not enough to make ref absolute.
func (b Base) inside(ref uri.URI, rule string) Base {
	u, err := b.resolve(ref)
	if err != nil {
		return b
	}
	return Base{u.WithoutFragment(), rule}
}

// resolve returns what ref means; the base itself where that is the current
// document. The base is read in the dialect of the reference.
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
	if target.HasFragment { // a part of the current document
		return base.With(uri.ComponentFragment, target.Fragment)
	}
	return base, nil
}

// fieldURI returns the first value of a header field without white space, folds
// included, and with its encoded words decoded (RFC 2047).
func fieldURI(h mail.Header, name string) string {
	value := h.Get(name)
	if strings.Contains(value, "=?") {
		if decoded, err := new(mime.WordDecoder).DecodeHeader(value); err == nil {
			value = decoded
		}
	}
	return deleteSpace(value)
}

// deleteSpace deletes what is white space in a header field, line ends included.
func deleteSpace(s string) string {
	if !strings.ContainsAny(s, " \t\r\n") {
		return s
	}
	return strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(s)
}
