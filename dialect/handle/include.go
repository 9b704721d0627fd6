package handle

import (
	"encoding/xml"
	"errors"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// typeNamespace is the type of a value of a prefix handle, such as 0.NA/20.500.9999. The value
// refers to handles whose locations apply to all handles with the prefix.
const typeNamespace = "HS_NAMESPACE"

// namespacePrefix is the prefix of the handles that stand for prefixes.
const namespacePrefix = "0.NA/"

// Limits of the data that a handle can include from other handles. Data beyond the limits are
// ignored.
const (
	maxIncludeDepth  = 20        // as in the proxy of Handle.Net
	maxIncludeReads  = 64        // maximum number of handles that are read for a redirect
	maxIncludedBytes = 256 << 10 // maximum size of the data of their values in bytes
)

// A locationSet is the content of a value of the type 10320/loc or 10320/links.
type locationSet struct {
	attributes map[string]string
	locations  []map[string]string // attributes of the locations
	handles    []string            // handles whose sets are included
	namespaces []string            // prefix handles whose sets are included
	ttl        nomen.TTL
}

// first returns the value of an attribute in the first set that has it.
func first(all []locationSet, key string) string {
	for i := range all {
		if value, ok := all[i].attributes[key]; ok {
			return value
		}
	}
	return ""
}

// isTrue reports whether the value of an attribute means true. Handle.Net servers accept the same
// spellings.
func isTrue(value string) bool { return ascii.IsOneOf(value, "yes", "true", "1") }

// sets has the data for redirects in the values of one or more handles.
type sets struct {
	locations []locationSet // 10320/loc
	links     []locationSet // 10320/links
	fields    []string      // 10320/headers
	ttls      []nomen.TTL   // of all these values
}

func setsOf(values []nomen.Value) (s sets) {
	for i := range values {
		v := &values[i]
		switch {
		case v.Format != nomen.FormatText:
			continue
		case ascii.EqualFold(v.Type, typeLocations):
			if set, ok := readSet(v); ok {
				s.locations = append(s.locations, set)
			}
		case ascii.EqualFold(v.Type, typeLinks):
			if set, ok := readSet(v); ok {
				s.links = append(s.links, set)
			}
		case ascii.EqualFold(v.Type, typeHeaders):
			s.fields = append(s.fields, v.Data)
		default:
			continue
		}
		s.ttls = append(s.ttls, v.TTL)
	}
	return s
}

// isEmpty reports whether there was no valid value of these types.
func (s *sets) isEmpty() bool { return len(s.locations)+len(s.links)+len(s.fields) == 0 }

func (s *sets) join(more sets) {
	s.locations = append(s.locations, more.locations...)
	s.links = append(s.links, more.links...)
	s.fields = append(s.fields, more.fields...)
	s.ttls = append(s.ttls, more.ttls...)
}

// xmlRoot is an element with its children.
type xmlRoot struct {
	Attributes []xml.Attr   `xml:",any,attr"`
	Children   []xmlElement `xml:",any"`
}

// xmlElement is an element without its children.
type xmlElement struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Text       string     `xml:",chardata"`
}

func attributesOf(all []xml.Attr) map[string]string {
	m := make(map[string]string, len(all))
	for _, a := range all {
		m[a.Name.Local] = a.Value
	}
	return m
}

// readSet parses the XML of a value. It returns false if the XML is invalid.
func readSet(v *nomen.Value) (set locationSet, ok bool) {
	var root xmlRoot
	if xml.Unmarshal([]byte(v.Data), &root) != nil {
		return set, false
	}
	set = locationSet{attributes: attributesOf(root.Attributes), ttl: v.TTL}
	list := func(key string) (all []string) {
		if handle, ok := set.attributes[key]; ok {
			all = append(all, strings.TrimSpace(handle))
		}
		for i := range root.Children {
			if c := &root.Children[i]; c.XMLName.Local == key {
				all = append(all, strings.TrimSpace(c.Text))
			}
		}
		return all
	}
	set.handles, set.namespaces = list("include"), list("includeNamespace")
	for i := range root.Children {
		if c := &root.Children[i]; ascii.IsOneOf(c.XMLName.Local, "location", "loc_template") {
			set.locations = append(set.locations, attributesOf(c.Attributes))
		}
	}
	return set, true
}

// A lookup returns the public values of another handle, and the key of its name. If the handle does
// not exist or is not public, it returns no values.
type lookup func(handle string) (key string, values []nomen.Value, err error)

// An includer reads the handles that a handle includes. It reads each handle at most once.
type includer struct {
	lookup lookup
	seen   map[string]bool // types of values and keys of the handles read
	reads  int
	bytes  int
	ttls   []nomen.TTL // of values of the type HS_NAMESPACE
	failed bool        // reading a handle has failed
}

// newIncluder returns an includer for the handle with a key.
func newIncluder(key string, l lookup) *includer {
	return &includer{lookup: l, seen: map[string]bool{typeLocations + key: true}}
}

// read returns the values of a handle that have certain types.
func (in *includer) read(handle string, types ...string) []nomen.Value {
	if in.reads == maxIncludeReads || in.bytes > maxIncludedBytes {
		return nil
	}
	in.reads++
	key, values, err := in.lookup(handle)
	in.failed = in.failed || err != nil
	if err != nil || in.seen[types[0]+key] {
		return nil
	}
	in.seen[types[0]+key] = true
	var some []nomen.Value
	for _, v := range values {
		if !slices.ContainsFunc(types, func(t string) bool { return ascii.EqualFold(t, v.Type) }) {
			continue
		}
		if in.bytes += len(v.Data); in.bytes > maxIncludedBytes {
			break
		}
		some = append(some, v)
	}
	return some
}

func (in *includer) setsAt(handles []string) (all sets) {
	for _, handle := range handles {
		all.join(setsOf(in.read(handle, typeLocations, typeLinks, typeHeaders)))
	}
	return all
}

// withIncluded returns sets, and the sets that they directly or indirectly include.
func (in *includer) withIncluded(all sets) sets {
	level := all.locations
	for range maxIncludeDepth {
		var next sets
		for i := range level {
			for _, prefix := range level[i].namespaces {
				handles, _ := in.namespaceHandles(prefix)
				next.join(in.setsAt(handles))
			}
			next.join(in.setsAt(level[i].handles))
		}
		all.join(next)
		level = next.locations
	}
	return all
}

// namespaceHandles returns the handles with the locations of a namespace. If alone is true, the
// locations of the enclosing namespaces do not apply.
func (in *includer) namespaceHandles(prefix string) (handles []string, alone bool) {
	for _, v := range in.read(prefix, typeNamespace) {
		var root xmlRoot
		if v.Format != nomen.FormatText || xml.Unmarshal([]byte(v.Data), &root) != nil {
			continue
		}
		in.ttls = append(in.ttls, v.TTL)
		for i := range root.Children {
			if c := &root.Children[i]; c.XMLName.Local == "locs" {
				handles = append(handles, strings.TrimSpace(c.Text))
				alone = alone || isTrue(attributesOf(c.Attributes)["no_nslocs"])
			}
		}
		break
	}
	return handles, alone
}

// namespace returns the sets of the namespace of a handle. The attributes of the handle's own sets
// can select another namespace, or handles that replace the namespace.
func (in *includer) namespace(handle string, own, local []locationSet) (all sets) {
	var handles []string
	overridden := false
	for i := range local {
		if prefix, ok := local[i].attributes["overridePrefix"]; ok {
			more, _ := in.namespaceHandles(prefix)
			handles, overridden = append(handles, more...), true
		}
	}
	if !overridden {
		handles = in.ownNamespace(handle)
		for i := 0; len(handles) == 0 && i < len(own); i++ {
			if at, ok := own[i].attributes["nshdl"]; ok {
				all.join(in.setsAt([]string{at}))
			}
		}
	}
	all.join(in.setsAt(handles))
	return all
}

// ownNamespace returns the handles with the locations of the namespace of a handle, and of the
// enclosing namespaces. For 20.500.9999/abc, the namespaces are 20.500.9999, 20.500 and 20.
func (in *includer) ownNamespace(handle string) (handles []string) {
	prefix, _, _ := strings.Cut(handle, "/")
	for {
		more, alone := in.namespaceHandles(namespacePrefix + prefix)
		handles = append(handles, more...)
		end := strings.LastIndexByte(prefix, '.')
		if alone || end < 0 {
			return handles
		}
		prefix = prefix[:end]
	}
}

// includerOf returns an includer for the handle n. It reads only public values in records of this
// server. It does not use rules or other servers.
func (q *request) includerOf(n name.Name) *includer {
	return newIncluder(n.Key(), func(handle string) (string, []nomen.Value, error) {
		rec, err := q.lookup(q.context(), handle, nil)
		switch {
		case errors.As(err, new(*codeFailure)), errors.Is(err, store.ErrNotFound):
			return "", nil, nil
		case err != nil:
			return "", nil, err
		}
		return rec.name.Key(), (&selection{publicOnly: true}).of(rec), nil
	})
}
