// Package bulktest generates files of records for tests and benchmarks of imports and exports. The
// same number of records and the same options always give the same bytes. Records are generated
// while the file is read, so a file of any size needs little memory. The names belong to several
// authorities and are as long as real names. Except for UUIDs, the names of one authority are
// sorted, as in files from publishers.
package bulktest

import (
	"io"
	"math/bits"
	"strconv"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Options configure the generated records. With the zero Options, each record has a name and one
// location.
type Options struct {
	Shuffled bool // the records are in random order, as from a hash table
	Rich     bool // a record has one to three locations, a title and creators
}

// A share describes the records of one authority in a file.
type share struct {
	prefix  string
	join    string // delimiter between the prefix and the element
	parts   int    // number of records, in twentieths of the file
	element func(b []byte, i uint64) []byte
	site    string // beginning of the URLs of locations; the element follows
}

func shares() []share {
	return []share{
		{"urn:dns:amd64.sid.contents.example.org", ":", 8, path, "https://packages.example.org/sid/amd64/"},
		{"urn:dns:arm64.sid.contents.example.org", ":", 4, path, "https://packages.example.org/sid/arm64/"},
		{"urn:nbn:fi:library", "-", 4, running, "https://www.library.example.fi/handle/10024/"},
		{"ark:99999", "/", 2, opaque, "https://archive.example.net/ark/"},
		{"urn:uuid", ":", 2, uniform, "https://objects.example.com/by-uuid/"},
	}
}

const whole = 20 // the sum of the parts

// Authorities returns the naming authorities of the generated names.
func Authorities() []*store.Authority {
	var all []*store.Authority
	for _, s := range shares() {
		all = append(all, &store.Authority{Prefix: name.MustParsePrefix(s.prefix), Owners: []string{"archive", "library"}})
	}
	return all
}

// A Reader generates a JSON Lines file while it is read.
type Reader struct {
	n, next uint64
	shares  []share
	options Options
	line    []byte // the unread part of the last line
	buffer  []byte
}

// NewReader returns a Reader that generates n records.
func NewReader(n uint64, o Options) *Reader {
	return &Reader{n: n, shares: shares(), options: o}
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if len(r.line) == 0 {
			if r.next == r.n {
				break
			}
			r.buffer = r.appendLine(r.buffer[:0], r.order(r.next))
			r.line = r.buffer
			r.next++
		}
		n := copy(p[done:], r.line)
		done, r.line = done+n, r.line[n:]
	}
	if done == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return done, nil
}

// WriteTo implements [io.WriterTo].
func (r *Reader) WriteTo(w io.Writer) (total int64, err error) {
	const full = 256 << 10
	out := make([]byte, 0, full+4096)
	for ; r.next < r.n; r.next++ {
		if out = r.appendLine(out, r.order(r.next)); len(out) >= full || r.next == r.n-1 {
			n, err := w.Write(out)
			total += int64(n)
			if err != nil {
				return total, err
			}
			out = out[:0]
		}
	}
	return total, nil
}

// order returns the number of the record at position i of the file. If the records are shuffled,
// order is a permutation of the numbers below n.
func (r *Reader) order(i uint64) uint64 {
	if !r.options.Shuffled {
		return i
	}
	const prime = 11400714819323198549 // a prime near 2^64 divided by the golden ratio; larger than any realistic n, so it does not divide n
	high, low := bits.Mul64(i, prime)
	_, at := bits.Div64(high%r.n, low, r.n)
	return at
}

func (r *Reader) appendLine(b []byte, i uint64) []byte {
	s, first := r.shares[0], uint64(0)
	for _, s = range r.shares {
		size := (r.n*uint64(s.parts) + whole - 1) / whole
		if i < first+size {
			break
		}
		first += size
	}
	i -= first
	b = append(b, `{"name":"`...)
	b = append(b, s.prefix...)
	b = append(b, s.join...)
	b = s.element(b, i)
	b = append(b, `","locations":[{"url":"`...)
	b = append(b, s.site...)
	b = s.element(b, i)
	if r.options.Rich {
		return s.rich(b, i)
	}
	return append(b, "\"}]}\n"...)
}

// rich appends the rest of a record after its first URL: further locations and metadata.
func (s share) rich(b []byte, i uint64) []byte {
	b = append(b, `","type":"text/html","lang":"en"`...)
	for k := range mix(i) % 3 {
		b = append(b, `},{"url":"`...)
		b = append(b, s.site...)
		b = s.element(b, i)
		b = append(b, "/copy/"...)
		b = strconv.AppendUint(b, k, 10)
		b = append(b, `","type":"application/pdf","priority":2,"note":"a \"second\" copy"`...)
	}
	b = append(b, `}],"metadata":{"title":["Über `...)
	b = append(b, word(i)...)
	b = append(b, ' ')
	b = append(b, word(i>>8)...)
	b = append(b, `, part `...)
	b = strconv.AppendUint(b, i, 10)
	b = append(b, `"],"creator":["`...)
	b = append(b, word(i>>4)...)
	b = append(b, `, A.","`...)
	b = append(b, word(i>>2)...)
	return append(b, ", B.\"]}}\n"...)
}

// word returns word i of a sorted list of 64 words.
func word(i uint64) string {
	return [...]string{
		"acid", "adwaita", "apt", "archive", "atlas", "basic", "bind", "boost",
		"boot", "calc", "cargo", "chart", "clang", "codec", "conf", "cursor",
		"data", "debug", "dev", "doc", "driver", "elixir", "emacs", "epoch",
		"erlang", "fonts", "format", "fortran", "gcc", "gems", "gnome", "gtk",
		"guile", "haskell", "help", "icons", "include", "info", "java", "kde",
		"kernel", "lang", "latex", "lib", "linux", "locale", "lua", "man",
		"mesa", "module", "node", "ocaml", "perl", "php", "plugin", "python",
		"qt", "ruby", "rust", "sound", "spell", "theme", "update", "zlib",
	}[i%64]
}

// path appends a path that looks like the path of a file in a Linux distribution.
func path(b []byte, i uint64) []byte {
	b = append(b, "usr/share/"...)
	b = append(b, word(i>>24)...)
	b = append(b, '/')
	b = append(b, word(i>>18)...)
	b = append(b, '-')
	b = append(b, word(i>>12)...)
	b = append(b, '/')
	b = append(b, word(i>>6)...)
	b = append(b, '/')
	b = padded(b, i, 9)
	return append(b, ".html"...)
}

// running appends a serial number that begins with a date, as in library catalogues.
func running(b []byte, i uint64) []byte {
	b = append(b, "fe20"...)
	b = padded(b, i/1_000_000, 2)
	return padded(b, i, 9)
}

// opaque appends an opaque identifier of digits and consonants.
func opaque(b []byte, i uint64) []byte {
	const letters = "0123456789bcdfghjkmnpqrstvwxz"
	b = append(b, "fk4"...)
	for div := uint64(len(letters) * len(letters) * len(letters) * len(letters) * len(letters)); div > 0; div /= uint64(len(letters)) {
		b = append(b, letters[i/div%uint64(len(letters))])
	}
	return append(b, letters[mix(i)%uint64(len(letters))])
}

// uniform appends a UUID of version 4. The UUIDs are in no particular order.
func uniform(b []byte, i uint64) []byte {
	high, low := mix(2*i), mix(2*i+1)
	high, low = high&^0xf000|0x4000, low&^(3<<62)|2<<62
	const hex = "0123456789abcdef"
	for k := range 32 {
		if k == 8 || k == 12 || k == 16 || k == 20 {
			b = append(b, '-')
		}
		half := high
		if k >= 16 {
			half = low
		}
		b = append(b, hex[half>>(60-4*(k%16))&15])
	}
	return b
}

func padded(b []byte, i uint64, digits int) []byte {
	for div, k := uint64(10), 1; k < digits; div, k = div*10, k+1 {
		if i < div {
			for ; k < digits; k++ {
				b = append(b, '0')
			}
		}
	}
	return strconv.AppendUint(b, i, 10)
}

// mix hashes i with the mixing function of splitmix64.
func mix(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}
