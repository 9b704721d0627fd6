// Package mint generates new names from templates. For example, the template {random:8}{check:noid}
// generates names of eight random characters and a check character. A template can have text,
// dates, sequences, random characters, UUIDs and check characters.
//
// # Templates
//
// A template describes the part of a name after the prefix of an authority or namespace:
//
//	template = 1*( literal / part )
//	literal  = 1*( any character but "{" and "}" )
//	part     = "{" kind *( ":" argument ) "}"
//
//	{seq}          the next number: 1, 2, 3 ...
//	{seq:6}        in six digits: 000001 to 999999
//	{seq:4:10-99}  in four digits, from 10 to 99; width 0 means no padding
//	{random:8}     eight random characters of the NOID alphabet: digits and
//	               consonants other than "l" and "y"
//	{digit:8}      eight random decimal digits
//	{hex:8}        eight random hexadecimal digits
//	{date}         the day as YYYYMMDD; also {year}, {month}, {day}; UTC
//	{uuid}         a UUID of version 7, like {uuid:7}; also {uuid:4}
//	{noid:reedeedk}
//	               the strings of a NOID minter with this mask, in its order
//	{noid:eedk:add3:2191}
//	               of a minter that made 2,191 strings before, and whose mask
//	               becomes eedeedk when its strings are used up
//	{check}        the check digit or characters that the namespace requires
//	{check:noid}   the check character of NOID
//	{check:luhn}   the check digit of ISO/IEC 7812-1 (Luhn)
//	{check:mod97}  the two check digits of ISO/IEC 7064, MOD 97-10
//
// The mask of {noid} begins with "r" for random order (the default), "s" for sequential order or
// "z" for sequential order without limit. Each "e" in it is replaced by a character of the NOID
// alphabet, and each "d" by a digit. A "k" at the end adds the check character of NOID. In addition
// to {noid}, a template can then have only text and dates.
//
// A template has at most one sequence, and at most one check, which is the last part. The check is
// computed from a part of the canonical name:
//
//   - {check:noid}: everything after the scheme, or for a URN after the NID. In
//     "ark:13030/xf93gt2q", "q" is the check of "13030/xf93gt2".
//   - {check:luhn}: the digits directly before the check.
//   - {check:mod97}: the letters and digits directly before the check.
//
// # Runs
//
// A [Run] returns names without repetition. It does not access a store. To continue after the
// existing names, call [Run.Seek]. Before using a name, reserve it in the store, because another
// client may have taken it.
//
// The number of strings that a NOID minter has made determines its state. Therefore, a Run can find
// the state from the existing names, and does not need the file of counters that NOID has.
//
// # Documents
//
//   - UUIDs: RFC 9562, sections 5.4 and 5.7, with the counter of section 6.2, method 1.
//   - NOID: the Nice Opaque Identifier minter of the California Digital Library,
//     its alphabet and check digit algorithm.
//   - Check digits of namespaces: package namespace.
package mint
