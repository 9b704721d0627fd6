package uri

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Excess says what to do with ".." segments that go above the root, as in "../../../g" relative to
// "http://a/b/".
type Excess uint8

// The possible treatments of excess segments. RFC 3986 drops excess segments, and the drafts of
// 1993 and 1997 keep them. The draft of 2003 (section 5.2) permits all three treatments, and
// ExcessKeep is its default.
const (
	ExcessDefault Excess = iota // what the dialect specifies
	ExcessKeep
	ExcessDrop
	ExcessRefuse // fail with ErrExcess
)

// The errors of resolution. A returned error wraps one of these errors, and contains the base and
// the reference.
var (
	// ErrNoBase means that the base is itself a relative reference.
	ErrNoBase = errors.New("relative reference without a base")
	// ErrOpaqueBase means that the base is not hierarchical (draft of 2003, section 5).
	ErrOpaqueBase = errors.New("the base is opaque")
	// ErrDialects means that the base and the reference have different dialects.
	ErrDialects = errors.New("base and reference have different dialects")
	// ErrExcess means that the reference has more ".." segments than the base has directories.
	ErrExcess = errors.New("the reference goes above the root")
	// ErrSameDocument means that the reference refers to the current document, for which the
	// dialect has no URI.
	ErrSameDocument = errors.New("the result is the current document")
	// ErrUnwritable means that the result cannot be written as a URI, because its path would be
	// parsed as an authority.
	ErrUnwritable = errors.New("the result would be parsed as a different URI")
)

// A Resolver resolves references with options. The zero Resolver follows the dialect strictly.
type Resolver struct {
	// Compatible makes the Resolver ignore the scheme of a reference if the base has the same
	// scheme, as old parsers did. It has an effect only in the dialects that permit this, which are
	// the draft of 2003 (section 5.2) and RFC 3986 (section 5.2.2); see also the draft of 1997,
	// Appendix C.
	Compatible bool

	// NewRequest makes the Resolver resolve an empty reference to the base, even in a dialect in
	// which an empty reference means the current document. The result keeps the fragment of the
	// reference. Set NewRequest for forms, images and anything else that causes a new request
	// (draft of 1997, section 3; draft of 2003, section 4.2).
	NewRequest bool

	// Excess says what to do with ".." segments that go above the root.
	Excess Excess

	// Literal makes the Resolver follow the algorithm of the draft of 1997 even where the algorithm
	// is wrong. For example, the algorithm merges "g" with the base "http://a" to "http://ag",
	// which has a different host. Without Literal, a slash is inserted, as all later documents
	// require.
	Literal bool
}

// A Target is the result of resolving a reference.
type Target struct {
	// URI is the resolved URI. It is not valid if the reference means the current document and the
	// dialect has no URI for that.
	URI URI

	// SameDocument is true if the reference means the document that contains it, or a part of that
	// document, so that nothing needs to be retrieved.
	SameDocument bool

	// Fragment is the fragment of the reference, if HasFragment is true.
	Fragment    string
	HasFragment bool
}

// Resolve resolves ref relative to the base u, by the rules of their dialect. In some dialects a
// reference that is empty or only a fragment means the current document. Resolve then returns
// [ErrSameDocument]; use [Resolver.Resolve] to get the fragment.
//
// A resolved path can begin with two slashes, and would then be parsed as an authority. In RFC
// 3986, Resolve puts "/." before such a path. In the other dialects, it returns [ErrUnwritable].
// Parsing the result therefore always gives the resolved components.
func (u URI) Resolve(ref URI) (URI, error) {
	t, err := Resolver{}.Resolve(u, ref)
	if err == nil && !t.URI.IsValid() {
		err = resolveError(u, ref, ErrSameDocument)
	}
	return t.URI, err
}

// Resolve resolves ref relative to base, with the options of r. It returns the errors of
// [URI.Resolve], except that a reference to the current document is not an error.
func (r Resolver) Resolve(base, ref URI) (Target, error) {
	var t Target
	t.Fragment, t.HasFragment = ref.Fragment()
	if err := resolvable(base, ref); err != nil {
		return t, resolveError(base, ref, err)
	}
	g := &grammars[base.dialect]
	ref = r.loosen(g, base, ref)
	t.SameDocument = ref.frag == 0 // apart from its fragment, the reference is empty
	if t.SameDocument && g.sameDocument && !r.NewRequest {
		return t, nil
	}
	m := merger{g: g, excess: r.Excess, literal: r.Literal}
	if m.excess == ExcessDefault {
		m.excess = g.excess
	}
	text, err := m.text(base, ref, t.SameDocument)
	if err != nil {
		return t, resolveError(base, ref, err)
	}
	t.URI, err = base.dialect.Parse(text)
	return t, err
}

func resolvable(base, ref URI) error {
	switch {
	case base.scheme == 0:
		return ErrNoBase
	case base.dialect != ref.dialect:
		return ErrDialects
	default:
		return nil
	}
}

func resolveError(base, ref URI, err error) error {
	return fmt.Errorf("uri: resolve %s against %s: %w", quote(ref.s), quote(base.s), err)
}

// loosen removes the scheme of a reference if [Resolver.Compatible] applies to it.
func (r Resolver) loosen(g *grammar, base, ref URI) URI {
	if !r.Compatible || !g.schemeLoose || ref.scheme == 0 || !ascii.EqualFold(ref.s[:ref.scheme], base.s[:base.scheme]) {
		return ref
	}
	cut := ref.scheme + 1
	ref.s, ref.scheme = ref.s[cut:], 0
	ref.host, ref.hostEnd, ref.path, ref.query, ref.frag = ref.host-cut, ref.hostEnd-cut, ref.path-cut, ref.query-cut, ref.frag-cut
	return ref
}

// A merger writes the target of a reference into a buffer.
type merger struct {
	g       *grammar
	excess  Excess
	literal bool
}

// text returns the target as a string. It allocates once.
func (m merger) text(base, ref URI, same bool) (string, error) {
	var buf [256]byte
	if size := len(base.s) + len(ref.s) + maxGrowth; size > len(buf) {
		b, err := m.target(make([]byte, 0, size), base, ref, same)
		return own(b), err
	}
	b, err := m.target(buf[:0], base, ref, same)
	return string(b), err
}

// target appends the target to b. It follows RFC 3986, sections 5.2.2 and 5.3, or the steps of an
// earlier draft where they differ (draft of 1993, Partial form; draft of 1997, section 5.2; draft
// of 2003, section 5.2).
func (m merger) target(b []byte, base, ref URI, same bool) ([]byte, error) {
	switch {
	case ref.scheme != 0:
		return m.absolute(b, ref)
	case same:
		return append(append(b, base.s[:base.frag]...), ref.s...), nil
	case m.g.refusesOpaque && base.isOpaque():
		return b, ErrOpaqueBase
	case ref.path > 0:
		return m.absolute(append(b, base.s[:base.afterScheme()]...), ref)
	case ref.query == 0 && m.g.queryKeeps:
		return append(append(b, base.s[:base.query]...), ref.s...), nil
	default:
		return m.relative(append(b, base.s[:base.path]...), base, ref)
	}
}

// isOpaque reports whether the path of u is not empty, does not begin with a slash, and follows no
// authority.
func (u URI) isOpaque() bool {
	return u.path == u.afterScheme() && u.path < u.query && u.s[u.path] != '/'
}

// absolute appends a reference that has a scheme or an authority.
func (m merger) absolute(b []byte, ref URI) ([]byte, error) {
	if !m.g.cleanAbsolute {
		return append(b, ref.s...), nil
	}
	b = append(b, ref.s[:ref.path]...)
	start := len(b)
	b = append(b, ref.Path()...)
	b, err := m.clean(b, start, ref.path > ref.afterScheme())
	return append(b, ref.s[ref.query:]...), err
}

// relative appends a reference that is a relative path.
func (m merger) relative(b []byte, base, ref URI) ([]byte, error) {
	start := len(b)
	rooted := ref.s[0] == '/'
	if rooted && !m.g.cleanAbsolute {
		return append(b, ref.s...), nil
	}
	if !rooted {
		b = append(b, m.directory(base, ref)...)
	}
	end := ref.query
	if m.g.mergesQuery {
		end = ref.frag
	}
	b = append(b, ref.s[:end]...)
	b, err := m.clean(b, start, base.path > base.afterScheme())
	return append(b, ref.s[end:]...), err
}

// directory returns the text to insert before a relative path. This is the path of the base up to
// its last slash, or a substitute if the base has no path.
func (m merger) directory(base, ref URI) string {
	p := base.Path()
	if p != "" {
		return p[:strings.LastIndexByte(p, '/')+1]
	}
	authority := base.path > base.afterScheme()
	switch {
	case m.g.rootedMerge:
		return "/"
	case !authority, m.literal && m.g.mergesQuery, ref.query == 0 && !m.g.queryKeeps:
		return ""
	default:
		return "/"
	}
}

// clean removes dot segments from the path that begins at start. If the result would be parsed as
// an authority, clean puts "/." before it or returns ErrUnwritable.
func (m merger) clean(b []byte, start int, authority bool) ([]byte, error) {
	p := b[start:]
	var n int
	var err error
	switch {
	case m.g.schemeForms:
		n, err = removeElements(p, m.excess)
	case m.g.cleanAbsolute:
		n, err = removeDots(p, m.excess)
	default:
		n, err = removeSegments(p, m.excess)
	}
	b = b[:start+n]
	switch {
	case err != nil || n == 0:
		return b, err
	case authority && p[0] != '/' && p[0] != '?' && !m.literal: // in the draft of 1997: http://a and ?x/../y
		return slices.Insert(b, start, '/'), nil
	case authority || n == 1 || p[0] != '/' || p[1] != '/':
		return b, nil
	case m.g.cleanAbsolute:
		return slices.Insert(b, start, '/', '.'), nil
	default:
		return b, ErrUnwritable
	}
}
