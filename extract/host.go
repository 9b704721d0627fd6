package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

func (s *scanner) decideAt(i int) bool {
	low := max(s.minStart, i-maxLocal-1)
	start := i
	for start > low && is(s.b[start-1], classLocal) {
		start--
	}
	s.work += i - start
	if i-start > maxLocal {
		return false
	}
	for start < i && bytes.IndexByte([]byte(".'/*=?&#!~"), s.b[start]) >= 0 {
		start++ // this octet belongs to text or code before the address
	}
	local := s.b[start:i]
	if len(local) == 0 || local[len(local)-1] == '.' || bytes.Contains(local, []byte("..")) {
		return false
	}
	switch c := s.before(start); {
	case c == '@', c == '%', c == '\\', c == ':' && start > s.minStart+1 && s.b[start-2] == '/', c >= utf8.RuneSelf && s.isWordBefore(start):
		return false
	}
	end := s.lastLabel(i+1, s.host(i+1))
	if end-i-1 > maxHost || !isDomain(s.b[i+1:end], true) {
		return false
	}
	switch c := s.peek(end); c {
	case '@', '_', '=', '\\':
		return false
	case ':': // user@host:directory
		if n := s.peek(end + 1); ascii.IsLetter(n) || n == '/' || n == '~' {
			return false
		}
	case '(':
		return false
	}
	s.hit = hit{kind: Mail, start: start, end: end}
	s.segs = append(s.segs[:0], segment{start: start, end: end})
	return true
}

func (s *scanner) isWordBefore(i int) bool {
	r, _ := utf8.DecodeLastRune(s.b[max(s.minStart, i-utf8.UTFMax):i])
	return r != utf8.RuneError && isInIRI(r) && !isUnspaced(r)
}

// host returns the end of the run of host name characters that begins at i.
func (s *scanner) host(i int) int {
	from := i
	for i <= from+maxHost {
		c := s.peek(i)
		switch {
		case isAlnum(c) || c == '-' || c == '.':
			i++
			continue
		case c >= utf8.RuneSelf:
			if n := s.beyond(i); n > 0 {
				i += n
				continue
			}
		}
		break
	}
	s.work += i - from
	return i
}

// decideDot looks for a reference without a scheme whose host name has a dot at i. If it finds no
// host name, decideDot returns the offset at which to continue the search.
func (s *scanner) decideDot(i int) (next int, ok bool) {
	next = i + 1
	if i <= s.minStart || !s.isHostChar(i-1) || !s.isHostChar(next) {
		return next, false
	}
	start := i
	for low := max(s.minStart, i-maxHost); start > low && s.isHostChar(start-1); start-- {
	}
	end := s.host(i)
	s.work += i - start
	if end-start > maxHost {
		return end, false
	}
	start = s.firstLabel(start, i)
	if !s.isFree(start) {
		return end, false
	}
	stop := s.lastLabel(i, end)
	if stop <= i {
		return end, false
	}
	name := s.b[start:stop]
	t := token{start: start, limit: start + s.limit}
	tail := stop
	if stop == end {
		if tail = s.portAndPath(&t, end); s.tail {
			s.hit = hit{start: start}
			return end, false
		}
	}
	tail = s.trim(&t, stop, tail)
	if !isReferenceHost(name, tail > stop && !isMask(s.b[stop:tail])) || s.isCode(stop, tail) {
		return end, false
	}
	s.hit = hit{kind: Abbreviated, start: start, end: tail}
	s.segs = append(s.segs[:0], segment{start: start, end: tail})
	return tail, true
}

// firstLabel returns the first offset from start on at which a host name that extends to i can
// begin. It skips hyphens, and all text up to and including a non-ASCII character that host names
// cannot contain.
func (s *scanner) firstLabel(start, i int) int {
	for start < i && s.b[start] == '-' {
		start++
	}
	for j := start; j < i; {
		r, n := rune(s.b[j]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(s.b[j:i])
		}
		if j += n; r >= utf8.RuneSelf && !isInIRI(r) {
			start = j
		}
	}
	return start
}

// lastLabel returns the end of the host name in b[low:end], without dots and hyphens at its end.
func (s *scanner) lastLabel(low, end int) int {
	for end > low && (s.b[end-1] == '.' || s.b[end-1] == '-') {
		end--
	}
	return end
}

func (s *scanner) isHostChar(i int) bool {
	c := s.peek(i)
	return isAlnum(c) || c == '-' && i > 0 || c >= utf8.RuneSelf && s.o.IRI
}

// isFree reports whether a word begins at i that does not belong to a path, an address or an
// expression.
func (s *scanner) isFree(i int) bool {
	switch c := s.before(i); {
	case c >= utf8.RuneSelf:
		return !s.isWordBefore(i)
	case c == '(' || c == '[' || c == '{' || c == '<' || c == '>' || c == '"' || c == '\'' || c == '|' || c == ',' || c == ';' || c == '*':
		return true
	case c == '=' || c == ':':
		return bytes.HasPrefix(s.b[i:], []byte("www."))
	default:
		return is(c, classSpace)
	}
}

func (s *scanner) portAndPath(t *token, i int) int {
	if s.peek(i) == ':' {
		n := i + 1
		for n < i+7 && ascii.IsDigit(s.peek(n)) {
			n++
		}
		if n == i+1 || !isPort(s.b[i:n]) {
			return i
		}
		i = n
	}
	switch s.peek(i) {
	case '/', '?', '#':
	default:
		return i
	}
	n := s.run(t, i)
	if n >= t.limit {
		s.tail = true
	}
	return n
}

// isCode reports whether the text after a name shows that it is code, for example a function call
// or an assignment.
func (s *scanner) isCode(stop, tail int) bool {
	if tail > stop {
		c := s.peek(tail)
		return c == '@' || c == '{' || c == '\\'
	}
	switch s.peek(stop) {
	case '@', '(', '_', '=', '\\', '$', '{', '[', '%', '&', '+':
		return true
	case ':':
		c := s.peek(stop + 1)
		return !is(c, classSpace) && c != 0
	}
	return false
}

// isMask reports whether b is the length of a network prefix, such as "/24" in 192.0.2.0/24.
func isMask(b []byte) bool {
	return len(b) > 1 && len(b) <= 4 && b[0] == '/' && digits(b[1:]) == len(b)-1
}

// isReferenceHost reports whether a name is likely to be a host. The parameter hasTail says whether
// a port or a path follows. If so, more names are accepted.
func isReferenceHost(name []byte, hasTail bool) bool {
	if isIPv4(name) {
		return hasTail // without a port or path it may be the number of a version or a section
	}
	if !isDomain(name, false) {
		return false
	}
	if hasTail || bytes.HasPrefix(bytes.ToLower(name), []byte("www.")) {
		return true
	}
	last := name[bytes.LastIndexByte(name, '.')+1:]
	if !bytes.Equal(last, bytes.ToLower(last)) && !bytes.Equal(name, bytes.ToUpper(name)) {
		return false // probably two sentences without a space between them
	}
	return !isSelector(name) && isUnmistakable(strings.ToLower(string(last)))
}

func isIPv4(name []byte) bool {
	if !ascii.IsDigit(name[0]) {
		return false
	}
	u, err := uri.Parse("x://" + string(name))
	return err == nil && u.HostKind() == uri.HostIPv4
}

// isDomain reports whether a name has at least two valid labels, and the last label is a known
// top-level domain. In a mail address, the last label may also be a reserved domain such as example
// or local (RFC 2606, RFC 6761).
func isDomain(name []byte, mail bool) bool {
	if len(name) == 0 || len(name) > maxHost {
		return false
	}
	labels := 0
	for label := range bytes.SplitSeq(name, []byte(".")) {
		if len(label) == 0 || len(label) > 3*63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		labels++
	}
	if labels < 2 {
		return false
	}
	last := strings.ToLower(string(name[bytes.LastIndexByte(name, '.')+1:]))
	switch last {
	case "example", "test", "invalid", "localhost", "local":
		return mail
	}
	return isTopLevel(last)
}

func isTopLevel(label string) bool {
	a, err := idna.ToASCII(label)
	if err != nil || len(a) == 0 || ascii.IsDigit(a[len(a)-1]) && !strings.HasPrefix(a, "xn--") {
		return false
	}
	_, icann := publicsuffix.PublicSuffix(a)
	return icann
}

// isSelector reports whether a name looks like a field of a variable in a program, although it
// could be a host in a country-code domain. Examples are "tt.in" and "commitLock.mu".
func isSelector(name []byte) bool {
	first, last, _ := bytes.Cut(name, []byte("."))
	switch string(last) {
	case "at", "by", "ch", "id", "in", "is", "it", "mu", "st", "td", "to", "tt", "us":
		return len(first) <= 2 || first[0] >= 'a' && !bytes.Equal(first, bytes.ToLower(first))
	}
	return false
}

// isUnmistakable reports whether readers recognise a host name by this top-level domain alone. It
// returns false for domains that are also common words in programs, as in "list.next" and
// "test.data", or file suffixes.
func isUnmistakable(last string) bool {
	switch last {
	case "as", "cc", "gz", "md", "mk", "ml", "mm", "pl", "pm", "ps", "py", "rs", "sh", "so":
		return false
	case "com", "org", "net", "edu", "gov", "mil", "info", "biz", "aero", "asia", "coop", "museum", "pro", "xxx",
		"app", "blog", "cloud", "dev", "online", "page", "shop", "site", "store", "tech":
		return true
	}
	return len(last) == 2 || last[0] >= utf8.RuneSelf || strings.HasPrefix(last, "xn--")
}

// readAbbreviated sets the URI and the target of a reference without a scheme. In the grammar, such
// a reference is a relative reference (draft of 2003, appendix F). It is therefore resolved against
// the base if there is one. Otherwise readAbbreviated guesses the scheme from the host name.
func (s *scanner) readAbbreviated(f *Finding) bool {
	if base := s.base; base.URI.IsValid() {
		ref, err := uri.ParseReference(f.Spelling)
		if err == nil {
			f.URI = ref
			f.Target, err = base.URI.Resolve(ref)
			return err == nil
		}
	}
	prefix := "http://"
	if len(f.Spelling) > 4 && strings.EqualFold(f.Spelling[:4], "ftp.") {
		prefix = "ftp://"
	}
	var err error
	f.URI, _, err = s.parse(prefix + f.Spelling)
	f.Target = f.URI
	return err == nil
}
