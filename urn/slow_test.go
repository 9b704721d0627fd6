package urn

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A slow and readable interpreter of the grammars. A rule runs on a set of offsets in the input,
// and returns the set of offsets at which it can end. The rules are the ABNF of the documents. If
// the prose of a document adds a restriction, a combinator adds it too.

// maxSlow is the maximum length of an input of the slow rules, because each offset is a bit of a
// number.
const maxSlow = 63

type (
	places uint64
	rule   func(s string, from places) places
)

func (p places) all(yield func(int) bool) {
	for ; p != 0; p &= p - 1 {
		if !yield(bits.TrailingZeros64(uint64(p))) {
			return
		}
	}
}

func matches(r rule, s string) bool { return r(s, 1)>>len(s)&1 == 1 }

// lit matches a literal, ignoring case, as in ABNF.
func lit(text string) rule {
	return func(s string, from places) (to places) {
		for i := range from.all {
			if i+len(text) <= len(s) && strings.EqualFold(s[i:i+len(text)], text) {
				to |= 1 << (i + len(text))
			}
		}
		return to
	}
}

// set matches one of the octets in chars.
func set(chars string) rule {
	return func(s string, from places) (to places) {
		for i := range from.all {
			if i < len(s) && strings.IndexByte(chars, s[i]) >= 0 {
				to |= 1 << (i + 1)
			}
		}
		return to
	}
}

// span matches one octet of a range.
func span(low, high byte) rule {
	return func(s string, from places) (to places) {
		for i := range from.all {
			if i < len(s) && low <= s[i] && s[i] <= high {
				to |= 1 << (i + 1)
			}
		}
		return to
	}
}

func seq(rules ...rule) rule {
	return func(s string, from places) places {
		for _, r := range rules {
			from = r(s, from)
		}
		return from
	}
}

func alt(rules ...rule) rule {
	return func(s string, from places) (to places) {
		for _, r := range rules {
			to |= r(s, from)
		}
		return to
	}
}

// rep matches r at least least times and at most most times.
func rep(least, most int, r rule) rule {
	return func(s string, from places) (to places) {
		for n := 0; from != 0 && n <= most; n++ {
			if n >= least {
				to |= from
			}
			from = r(s, from)
			if n >= least {
				from &^= to
			}
		}
		return to
	}
}

func many(least int, r rule) rule { return rep(least, maxSlow+1, r) }

func opt(r rule) rule { return rep(0, 1, r) }

// where matches r, but only text for which the function good returns true.
func where(good func(string) bool, r rule) rule {
	return func(s string, from places) (to places) {
		for i := range from.all {
			for j := range r(s, 1<<i).all {
				if good(s[i:j]) {
					to |= 1 << j
				}
			}
		}
		return to
	}
}

// unlessBefore matches r if the given text does not follow.
func unlessBefore(text string, r rule) rule {
	return func(s string, from places) (to places) {
		for j := range r(s, from).all {
			if !strings.HasPrefix(s[j:], text) {
				to |= 1 << j
			}
		}
		return to
	}
}

var (
	alpha   = alt(span('A', 'Z'), span('a', 'z'))
	digit   = span('0', '9')
	hexdig  = alt(digit, span('A', 'F'), span('a', 'f'))
	alnum   = alt(alpha, digit)
	triplet = seq(lit("%"), hexdig, hexdig)

	unreserved3986 = alt(alpha, digit, set("-._~"))
	subDelims3986  = set("!$&'()*+,;=")
	pchar          = alt(unreserved3986, triplet, subDelims3986, set(":@"))
	fragment3986   = many(0, alt(pchar, set("/?")))

	notURN = func(s string) bool { return !strings.EqualFold(s, "urn") }
	noNULs = func(s string) bool { return !strings.Contains(s, "%00") }
)

// slow8141 is RFC 8141, 2 and 5.2. Its 2.3.1 ends an r-component at the first
// "?=".
func slow8141() map[string]rule {
	ldh := alt(alnum, lit("-"))
	nid := seq(alnum, rep(0, 30, ldh), alnum)
	nss := seq(pchar, many(0, alt(pchar, lit("/"))))
	r := seq(pchar, many(0, alt(pchar, lit("/"), unlessBefore("=", lit("?")))))
	q := seq(pchar, many(0, alt(pchar, lit("/"), lit("?"))))
	assigned := seq(lit("urn"), lit(":"), nid, lit(":"), nss)
	rq := seq(opt(seq(lit("?+"), r)), opt(seq(lit("?="), q)))
	nonZero := span('1', '9')
	number := where(func(s string) bool { return len(s) <= 28 }, seq(nonZero, many(0, digit)))
	return map[string]rule{
		"namestring":    seq(assigned, opt(rq), opt(seq(lit("#"), fragment3986))),
		"assigned-name": assigned, "NID": nid, "ldh": ldh, "NSS": nss,
		"rq-components": rq, "r-component": r, "q-component": q,
		"f-component": fragment3986, "fragment": fragment3986,
		"alphanum": alnum, "pchar": pchar, "unreserved": unreserved3986,
		"pct-encoded": triplet, "sub-delims": subDelims3986,
		"InformalNamespaceName": seq(lit("urn-"), number),
		"Number":                number, "DigitNonZero": nonZero, "Digit": digit,
	}
}

// slow2012 is 2012, 2. Its 2.1 reserves the NID "urn", its 2.5.3 forbids NUL.
func slow2012() map[string]rule {
	nid := where(notURN, seq(alnum, rep(0, 30, alt(alnum, lit("-"))), alnum))
	nss := many(1, pchar)
	vSubDelims := set("!$'()*+,;=:@/?")
	vPchar := alt(unreserved3986, triplet, vSubDelims)
	keywd := seq(alpha, many(0, seq(opt(lit("-")), alnum)))
	value := many(0, vPchar)
	directive := seq(keywd, lit("="), value)
	query := seq(directive, many(0, seq(lit("&"), directive)))
	path := seq(nid, lit(":"), nss)
	assigned := seq(lit("urn"), lit(":"), path)
	rules := map[string]rule{
		"namestring":   seq(assigned, opt(seq(lit("?"), query)), opt(seq(lit("#"), fragment3986))),
		"assigned-urn": assigned, "scheme": lit("urn"), "urn-path": path, "NID": nid, "NSS": nss,
		"urn-query": query, "directive": directive, "keywd": keywd, "value": value,
		"v-pchar": vPchar, "v-subdels": vSubDelims, "fragment": fragment3986, "pchar": pchar,
		"unreserved": unreserved3986, "pct-encoded": triplet, "sub-delims": subDelims3986,
		"gen-delims": set(":/?#[]@"),
	}
	for name, r := range rules {
		rules[name] = where(noNULs, r)
	}
	rules["excluded"] = alt(span(0, ' '), set("\"#%/<>?[\\]^`{|}"), span(0x7F, 0xFF))
	return rules
}

// slow2141 is RFC 2141, 2. Its 2.1 reserves the NID "urn", its 2.3.1 requires
// two hex digits after "%".
func slow2141() map[string]rule {
	upper, lower := span('A', 'Z'), span('a', 'z')
	letNum := alt(upper, lower, digit)
	letNumHyp := alt(upper, lower, digit, lit("-"))
	other := set("()+,-.:=@;$_!*'")
	reserved := set("%/?#")
	trans := alt(upper, lower, digit, other, reserved)
	urnChars := alt(upper, lower, digit, other, set("/?#"), triplet)
	nid := where(notURN, seq(letNum, opt(rep(1, 31, letNumHyp))))
	nss := many(1, urnChars)
	return map[string]rule{
		"URN": seq(lit("urn:"), nid, lit(":"), nss),
		"NID": nid, "let-num-hyp": letNumHyp, "let-num": letNum, "upper": upper, "lower": lower,
		"number": digit, "NSS": nss, "URN chars": urnChars, "trans": trans, "hex": hexdig,
		"other": other, "reserved": reserved,
		"excluded": alt(span(1, ' '), set("\\\"&<>[]^`{|}~"), span(0x7F, 0xFF)),
	}
}

// slow1995 is the grammar of docs/spec/1995-yaurn.md. White space is removed
// before; a name in brackets is freestanding.
func slow1995() map[string]rule {
	unreserved := alt(alnum, set("$-_.+!*'(),"))
	char := alt(unreserved, triplet, set(";/@&="))
	element := many(1, alt(char, lit(":")))
	label := seq(alnum, opt(seq(rep(0, 61, alt(alnum, lit("-"))), alnum)))
	fqdn := where(isNoAddress, seq(label, many(0, seq(lit("."), label))))
	schemeID := many(1, alt(alnum, set("-.+")))
	dns := func(s string) bool { return strings.EqualFold(s, "dns") }
	otherID := where(func(s string) bool { return !dns(s) }, schemeID)
	urn95 := alt(
		seq(lit("urn:"), where(dns, schemeID), lit(":"), fqdn, lit(":"), element),
		seq(lit("urn:"), otherID, lit(":"), many(1, char), lit(":"), element),
	)
	return map[string]rule{
		"urn95":        without(" \t\r\n", urn95),
		"freestanding": alt(without(" \t\r\n", urn95), outer(seq(lit("<"), without(" \t\r\n", urn95), lit(">")))),
		"SchemeID":     schemeID, "AuthorityID": fqdn, "fqdn": fqdn, "label": label,
		"let-dig": alnum, "let-dig-hyp": alt(alnum, lit("-")), "ElementID": element,
		"unreserved": unreserved, "escape": triplet,
	}
}

func isNoAddress(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	return strings.Trim(last, "0123456789") != ""
}

// without matches r, which begins with "urn:", ignoring the octets in chars.
func without(chars string, r rule) rule {
	drop := func(c rune) rune {
		if strings.ContainsRune(chars, c) {
			return -1
		}
		return c
	}
	return func(s string, from places) (to places) {
		for i := range from.all {
			clean := strings.Map(drop, s[i:])
			if !isASCII(s) || len(clean) < 4 || !strings.EqualFold(clean[:4], "urn:") {
				continue
			}
			for j := range r(clean, 1).all {
				to |= spread(s, i, j, chars)
			}
		}
		return to
	}
}

// spread returns the offsets of s that are n octets after i, not counting the octets in the
// parameter not.
func spread(s string, i, n int, not string) (to places) {
	for ; i <= len(s); i++ {
		if n == 0 {
			to |= 1 << i
		}
		if i < len(s) && strings.IndexByte(not, s[i]) < 0 {
			if n == 0 {
				break
			}
			n--
		}
	}
	return to
}

func isASCII(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(c byte) bool { return c >= 0x80 })
}

// outer matches r with white space on both sides.
func outer(r rule) rule {
	space := many(0, set(" \t\r\n"))
	return seq(space, r, space)
}

// slow has the grammars by dialect.
var slow = map[Dialect]map[string]rule{
	Draft1995: slow1995(), RFC2141: slow2141(), Draft2012: slow2012(), RFC8141: slow8141(),
}

// tops are the productions that Parse accepts.
var tops = map[Dialect]string{Draft1995: "freestanding", RFC2141: "URN", Draft2012: "namestring", RFC8141: "namestring"}

// slowSplit splits a namestring of RFC 8141 as its prose says. The f-component begins at the first
// "#". In the text before it, the NSS ends at the first "?". An r-component begins there with "?+",
// and ends at the next "?=", which begins a q-component.
func slowSplit(s string) (nss string, r, q, f *string) {
	s, fragment, ok := strings.Cut(s, "#")
	if ok {
		f = &fragment
	}
	s = s[len("urn:"):]
	_, s, _ = strings.Cut(s, ":")
	nss, rest, _ := strings.Cut(s, "?")
	if rest == "" {
		return nss, nil, nil, f
	}
	if rest[0] == '+' {
		resolver, query, ok := strings.Cut(rest[1:], "?=")
		if ok {
			q = &query
		}
		return nss, &resolver, q, f
	}
	query := rest[1:]
	return nss, nil, &query, f
}

// agree checks the parsers and every production against the slow rules.
func agree(t *testing.T, s string) {
	t.Helper()
	for d := range slow {
		agreeIn(t, d, s)
	}
}

// agreeIn checks the parser and every production of a dialect against the slow
// rules.
func agreeIn(t *testing.T, d Dialect, s string) {
	t.Helper()
	if len(s) > maxSlow {
		return
	}
	u, err := d.Parse(s)
	if want := matches(slow[d][tops[d]], s); (err == nil) != want {
		t.Errorf("%v.Parse(%q): %v, the grammar says %v", d, s, err, want)
	}
	for name := range d.Rules() {
		r, ok := slow[d][name]
		if !ok {
			t.Fatalf("%v: no slow rule %s", d, name)
		}
		if err, want := d.CheckRule(name, s), matches(r, s); (err == nil) != want {
			t.Errorf("%v.CheckRule(%q, %q): %v, the grammar says %v", d, name, s, err, want)
		}
	}
	if u.IsValid() {
		agreeParts(t, u)
	}
	if d == RFC2141 || d == Draft2012 {
		agreeText(t, d, s)
	}
}

// agreeParts checks where the parts of a URN end.
func agreeParts(t *testing.T, u URN) {
	t.Helper()
	s := u.String()
	switch u.Dialect() {
	case Draft1995:
		scheme, rest, _ := strings.Cut(s[len("urn:"):], ":")
		authority, element, _ := strings.Cut(rest, ":")
		equal(t, s, "SchemeID", u.SchemeID(), scheme)
		equal(t, s, "AuthorityID", u.AuthorityID(), authority)
		equal(t, s, "ElementID", u.ElementID(), element)
	case RFC2141:
		nid, nss, _ := strings.Cut(s[len("urn:"):], ":")
		equal(t, s, "NID", u.NID(), nid)
		equal(t, s, "NSS", u.NSS(), nss)
	case Draft2012:
		nss, query, f := slowSplit2012(s)
		equal(t, s, "NSS", u.NSS(), nss)
		component(t, "query", query, u.Query)
		component(t, "fragment", f, u.FComponent)
	case RFC8141:
		nss, r, q, f := slowSplit(s)
		equal(t, s, "NSS", u.NSS(), nss)
		component(t, "r", r, u.RComponent)
		component(t, "q", q, u.QComponent)
		component(t, "f", f, u.FComponent)
	}
}

func equal(t *testing.T, s, part, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%q: %s %q, want %q", s, part, got, want)
	}
}

// slowSplit2012 splits a namestring of 2012: the fragment begins at the first "#", and the query at
// the first "?" before the fragment.
func slowSplit2012(s string) (nss string, query, f *string) {
	s, fragment, ok := strings.Cut(s, "#")
	if ok {
		f = &fragment
	}
	_, s, _ = strings.Cut(s[len("urn:"):], ":")
	nss, q, ok := strings.Cut(s, "?")
	if ok {
		query = &q
	}
	return nss, query, f
}

// agreeText checks that EndInText finds the longest URN with which a text begins.
func agreeText(t *testing.T, d Dialect, s string) {
	t.Helper()
	longest := 0
	for n := range slow[d][tops[d]](s, 1).all {
		longest = n
	}
	if got := d.EndInText(s); got != longest {
		t.Errorf("%v.EndInText(%q) = %d, want %d", d, s, got, longest)
	}
}

// seeds are inputs from which random ones are made.
var seeds = []string{
	"urn:example:a?+r?=q#f", "urn:a-b:%zz", "urn:foo:a?s=I2L&c=ToC#x", "URN:foo:a%2fb/c&~", "urn:urn:x", "urn:foo:a%00b",
	"<urn:dns:example.com:a\n b%2D>", "urn:dns:a.b:c:d/e;f@g&h=i", "urn:x-foo:who:what", "urn:a:b", "urn:ab-:c", "urn:foo:a?a-b=1&c=",
	"", "urn-7", "urn-08", "%41", "%00", "&", "?+r?=q", "a?=b", "a??=b", "?=?", "s=I=I", "a--b=1", "12345678901234567890123456789",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "urn:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:x", "1.2.3.4", "a.b-c.d", "\xff", "~", " ", "\x00",
}

// mutate changes some bytes of a text.
func mutate(r *rand.Rand, s string) string {
	const pool = "urnURN:::??++==##&&//%%%0024aAfFzZ-._~!$'()*,;@<>[]{}|\\^`\" \t\n\x00\x7f\xc3\xa9s="
	b := []byte(s)
	for range 1 + r.IntN(4) {
		i := r.IntN(len(b) + 1)
		c := pool[r.IntN(len(pool))]
		switch r.IntN(3) {
		case 0:
			b = slices.Insert(b, i, c)
		case 1:
			if i < len(b) {
				b[i] = c
			}
		default:
			if i < len(b) {
				b = slices.Delete(b, i, i+1)
			}
		}
	}
	return string(b)
}

func TestAgreesWithGrammars(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range seeds {
		agree(t, s)
		for range 100 {
			agree(t, mutate(r, s))
		}
	}
	for c := range 256 {
		agree(t, string([]byte{byte(c)}))
		agree(t, "urn:foo:a"+string([]byte{byte(c)})+"b")
		agree(t, "urn:dns:a.b:"+string([]byte{byte(c)}))
	}
}

// The fuzz targets, one for each dialect, check that the parsers and the grammars agree.

func FuzzGrammar1995(f *testing.F) { fuzzGrammar(f, Draft1995) }
func FuzzGrammar2141(f *testing.F) { fuzzGrammar(f, RFC2141) }
func FuzzGrammar2012(f *testing.F) { fuzzGrammar(f, Draft2012) }
func FuzzGrammar8141(f *testing.F) { fuzzGrammar(f, RFC8141) }

func fuzzGrammar(f *testing.F, d Dialect) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { agreeIn(t, d, s) })
}
