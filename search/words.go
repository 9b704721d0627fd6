package search

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

const (
	maxWord    = 64     // bytes of a word; longer words are truncated
	maxWords   = 20_000 // words of a record with repetitions; later words are not indexed
	maxJoined  = 40     // bytes of an identifier without its hyphens; longer ones are not joined
	statusMark = '\x01' // begins the word for a status, and is in no other word
)

func statusWord(s nomen.Status) string { return string(rune(statusMark)) + string(s) }

// A splitter splits texts into words, ignoring case and diacritics.
type splitter struct {
	emit  func(word []byte) // called for each word; must not keep the slice
	whole bool              // also emit identifiers without their hyphens
	left  int               // how many more words may be emitted

	word   []byte // the current word
	joined []byte // the current identifier without its hyphens, as 9783161484100 for 978-3-16-148410-0
	parts  int    // how many words the current identifier has
	digit  bool   // the current identifier has a digit
}

// record splits the texts of a record. It omits private values, which may be secrets.
func (s *splitter) record(r *store.Record) {
	s.left, s.whole = maxWords, true
	s.say([]byte(statusWord(r.Status)))
	s.text(r.Name.Key())
	if r.Spelling != r.Name.Key() {
		s.text(r.Spelling)
	}
	for _, element := range slices.Sorted(maps.Keys(r.Metadata)) {
		s.texts(r.Metadata[element])
	}
	for i := range r.Locations {
		s.text(r.Locations[i].URL)
		s.text(r.Locations[i].Note)
	}
	s.texts(r.SameAs)
	s.texts(r.Successors)
	s.text(r.Reason)
	for _, v := range nomen.PublicValues(r.Values) {
		if v.Format != nomen.FormatBase64 {
			s.text(v.Data)
		}
	}
}

func (s *splitter) texts(all []string) {
	for _, t := range all {
		s.text(t)
	}
}

// text splits a text into words, which consist of letters and digits. It decodes percent-encoded
// characters first.
func (s *splitter) text(t string) {
	if strings.Contains(t, "%") {
		if decoded, err := url.PathUnescape(t); err == nil && utf8.ValidString(decoded) {
			t = decoded
		}
	}
	if !isASCII(t) {
		t = cases.Fold().String(norm.NFKD.String(t))
	}
	for _, r := range t {
		s.next(r)
	}
	s.next(' ')
}

func isASCII(t string) bool {
	for i := range len(t) {
		if t[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (s *splitter) next(r rune) {
	switch {
	case 'a' <= r && r <= 'z':
		s.word = append(s.word, byte(r))
	case '0' <= r && r <= '9':
		s.word = append(s.word, byte(r))
		s.digit = true
	case 'A' <= r && r <= 'Z':
		s.word = append(s.word, byte(r)+'a'-'A')
	case r < utf8.RuneSelf:
		s.delimit(r == '-')
	case unicode.Is(unicode.Mn, r): // a diacritic, which belongs to the previous character
	case isUnspaced(r):
		s.delimit(false)
		s.word = utf8.AppendRune(s.word, r)
		s.delimit(false)
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mc, r):
		s.word = utf8.AppendRune(s.word, r)
	default:
		s.delimit(false)
	}
}

// isUnspaced reports whether a character belongs to a script that is written without spaces between
// words. Each such character is treated as a word.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// delimit ends the current word. An identifier consists of words with hyphens between them; delimit
// ends the current identifier unless a hyphen follows the word.
func (s *splitter) delimit(hyphen bool) {
	if len(s.word) > 0 {
		s.parts++
		if len(s.joined) <= maxJoined {
			s.joined = append(s.joined, s.word...)
		}
		s.say(s.word)
	}
	if hyphen && len(s.word) > 0 {
		s.word = s.word[:0]
		return
	}
	if s.whole && s.parts > 1 && s.digit && len(s.joined) <= maxJoined {
		s.say(s.joined)
	}
	s.word, s.joined, s.parts, s.digit = s.word[:0], s.joined[:0], 0, false
}

func (s *splitter) say(word []byte) {
	if s.left > 0 {
		s.left--
		s.emit(cut(word))
	}
}

// cut truncates a word to at most maxWord bytes, without splitting a character.
func cut(word []byte) []byte {
	if len(word) <= maxWord {
		return word
	}
	n := maxWord
	for n > 0 && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}
