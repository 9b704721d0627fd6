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
	maxWord    = 64     // length of a word in bytes; longer words are cut
	maxWords   = 20_000 // words of a record, counting repetitions; later ones are not found
	maxJoined  = 40     // length of an identifier without its hyphens
	statusMark = '\x01' // begins the word for a status, which no text can contain
)

// statusWord returns the word that the records with a status have.
func statusWord(s nomen.Status) string { return string(rune(statusMark)) + string(s) }

// A splitter splits texts into folded words. It passes each to emit, which must not keep it.
type splitter struct {
	emit  func(word []byte)
	whole bool // also emit identifiers without their hyphens
	left  int  // number of words that may still be emitted

	word   []byte
	joined []byte // the words of the current identifier, such as 9783161484100 for 978-3-16-148410-0
	parts  int    // number of these words
	digit  bool   // one of them has a digit
}

// record splits all texts of a record.
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
}

func (s *splitter) texts(all []string) {
	for _, t := range all {
		s.text(t)
	}
}

// text splits one text. Letters and digits make words; case and diacritics are ignored.
// Percent-encoded characters are decoded.
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

// next processes the next character of a text.
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
	case unicode.Is(unicode.Mn, r): // the diacritics of the character before
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

// isUnspaced reports whether a character is of a script that is written without spaces between
// words. Each such character is a word.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// delimit ends a word. After a hyphen, the identifier that it belongs to may continue.
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

// cut cuts a word to maxWord bytes, between characters.
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
