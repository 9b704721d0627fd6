package bulk

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// usable returns the locations that are valid at a time, in the order in which package resolve
// prefers them for a client without preferences. It returns nil for a name that is not active.
func usable(r *store.Record, at time.Time) []nomen.Location {
	public := r.PublicLocations() // a web server shows them to anyone
	switch {
	case r.Status != nomen.Active:
		return nil
	case len(public) == 1 && validAt(&public[0], at):
		return public
	}
	all := make([]nomen.Location, 0, len(public))
	for _, whole := range []bool{true, false} {
		for _, l := range public {
			if validAt(&l, at) && (l.Component == "" || !whole) {
				all = append(all, l)
			}
		}
		if len(all) > 0 {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b nomen.Location) int {
		return cmp.Or(
			cmp.Compare(number(a.Down), number(b.Down)),
			cmp.Compare(max(a.Priority, 1), max(b.Priority, 1)),
			cmp.Compare(nomen.RelationOf(a.Rel), nomen.RelationOf(b.Rel)),
			cmp.Compare(max(b.Weight, 1), max(a.Weight, 1)),
		)
	})
	return all
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func validAt(l *nomen.Location, at time.Time) bool {
	if l.ValidFrom == "" && l.ValidUntil == "" {
		return true
	}
	if from, err := time.Parse(time.RFC3339, l.ValidFrom); err == nil && at.Before(from) {
		return false
	}
	until, err := time.Parse(time.RFC3339, l.ValidUntil)
	return err != nil || at.Before(until)
}

// best returns the URL to which the server would redirect a client without preferences at a time.
func best(r *store.Record, at time.Time) (string, error) {
	all := usable(r, at)
	if len(all) == 0 {
		return "", errNoLine
	}
	return all[0].URL, leads(0, all[0].URL)
}

// leads returns an error if the URL of location i cannot be the target of a redirect. The URL must
// consist of visible ASCII characters, so that it cannot end a line or a word of a map.
func leads(i int, url string) error {
	if err := location.Check(url); err != nil {
		return &heldError{"locations[" + strconv.Itoa(i) + "].url", err.Error()}
	}
	return nil
}

func visibleKey(n name.Name) (string, error) {
	for i := range len(n.Key()) {
		if c := n.Key()[i]; c <= ' ' || c > '~' {
			return "", &heldError{"name", "has a character that is not visible ASCII"}
		}
	}
	return "/" + n.Key(), nil
}

func entryOf(r *store.Record, at time.Time) (key, url string, err error) {
	if url, err = best(r, at); err == nil {
		key, err = visibleKey(r.Name)
	}
	return key, url, err
}

const nginxHead = `# The locations of names, for nginx. In the context http:
#
#   map_hash_max_size 1048576;        # more for more names
#   map_hash_bucket_size 512;         # more if nginx asks for it
#   geo $nomen_dollar { default "$"; }
#   map $request_uri $nomen_location { include FILE; }
#
# and in a server:
#
#   if ($nomen_location) { return 303 $nomen_location; }
#
`

// maxNginxWord is the maximum length of a word in an nginx configuration, in bytes with the quotes
// (NGX_CONF_BUFFER minus one).
const maxNginxWord = 4095

// An nginxMap writes lines for the map directive of nginx. Each line has two quoted words: a key
// and a URL. In both words, the quote and the backslash must be escaped. In the second word, $
// begins a variable and cannot be escaped, so the encoder writes a variable with the value $
// instead. The keys of a map are case-insensitive, and nginx rejects a file with two equal keys.
type nginxMap struct {
	at     time.Time
	folded map[uint64]struct{} // hashes of the lower-case forms of keys with capital letters
	seed   maphash.Seed
}

func (m *nginxMap) head() []byte {
	m.seed = maphash.MakeSeed()
	return []byte(nginxHead)
}

func (m *nginxMap) record(b []byte, r *store.Record) ([]byte, error) {
	key, url, err := entryOf(r, m.at)
	if err != nil {
		return b, err
	}
	from := len(b)
	b = appendNginx(b, key, false)
	if len(b)-from > maxNginxWord {
		return b, &heldError{"name", "exceeds the maximum length of a word in nginx"}
	}
	b = append(b, ' ')
	from = len(b)
	b = appendNginx(b, url, true)
	if len(b)-from > maxNginxWord {
		return b, &heldError{"url", "exceeds the maximum length of a word in nginx"}
	}
	if m.seen(key) {
		return b, &heldError{"name", "differs from another name only by case, and keys in nginx are case-insensitive"}
	}
	return append(b, ";\n"...), nil
}

// seen reports whether a key differs from an earlier key only in letter case. An export writes keys
// in byte order, in which upper-case letters precede lower-case ones. The first of several equal
// keys therefore has an upper-case letter, so it is enough to remember keys with upper-case
// letters.
func (m *nginxMap) seen(key string) bool {
	folded := strings.ToLower(key)
	sum := maphash.String(m.seed, folded)
	if _, ok := m.folded[sum]; ok {
		return true
	}
	if folded != key {
		m.folded[sum] = struct{}{}
	}
	return false
}

func appendNginx(b []byte, s string, variables bool) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			b = append(b, '\\', c)
		case c == '$' && variables:
			b = append(b, "${nomen_dollar}"...)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

const apacheHead = `# The locations of names, for Apache httpd:
#
#   AllowEncodedSlashes NoDecode
#   RewriteEngine On
#   RewriteMap nomen txt:FILE
#   RewriteCond %{THE_REQUEST} "^[A-Z]+ (/[^ ?]+)"
#   RewriteCond ${nomen:%1} (.+)
#   RewriteRule ^ %1 [R=303,NE,L,UnsafeAllow3F]
#
# Before 2.4.60 leave out UnsafeAllow3F, which allows locations with a query.
# Faster with many names: httxt2dbm -i FILE -o FILE.dbm, and dbm:FILE.dbm.
#
`

// maxApacheLine is the maximum length of a line in a RewriteMap file, in bytes with the line break
// (REWRITE_MAX_TXT_MAP_LINE).
const maxApacheLine = 1024

// An apacheMap writes lines for the RewriteMap directive of Apache httpd. Each line has two words,
// a key and a URL. The words are not quoted, so they cannot contain white space.
type apacheMap struct{ at time.Time }

func (apacheMap) head() []byte { return []byte(apacheHead) }

func (m apacheMap) record(b []byte, r *store.Record) ([]byte, error) {
	key, url, err := entryOf(r, m.at)
	if err != nil {
		return b, err
	}
	from := len(b)
	b = append(b, key...)
	b = append(b, ' ')
	b = append(b, url...)
	b = append(b, '\n')
	if len(b)-from > maxApacheLine {
		return b, &heldError{"url", fmt.Sprintf("its line would exceed the %d bytes that Apache httpd reads", maxApacheLine)}
	}
	return b, nil
}

// A uriList writes records as text/uri-list (RFC 2483, section 5). For each name it writes a
// comment with the name, and then the locations.
type uriList struct{ at time.Time }

func (uriList) head() []byte { return nil }

func (u uriList) record(b []byte, r *store.Record) ([]byte, error) {
	all := usable(r, u.at)
	if len(all) == 0 {
		return b, errNoLine
	}
	if _, err := visibleKey(r.Name); err != nil {
		return b, err
	}
	b = append(b, "# "...)
	b = append(b, r.Name.Key()...)
	b = append(b, "\r\n"...)
	for i, l := range all {
		if err := leads(i, l.URL); err != nil {
			return b, err
		}
		b = append(b, l.URL...)
		b = append(b, "\r\n"...)
	}
	return b, nil
}
