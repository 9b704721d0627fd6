// Package mint generates candidates for new names from templates of text,
// dates, sequences, random characters, UUIDs and check characters.
//
// # Templates
//
// A template is the part of the name after the prefix of an authority or
// namespace:
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
// The mask of {noid} begins with "r" for random order (the default), "s" for sequential order or "z"
// for sequential order without limit. Then "e" stands for a character of the NOID alphabet, and "d"
// for a digit. A "k" at the end adds the check character of NOID. Only text and dates can be beside
// {noid}.
//
// A template has at most one sequence and at most one check. The check must be
// the last part. A check is computed over a part of the canonical name:
//
//   - {check:noid}: everything after the scheme, or for a URN after the NID. In
//     "ark:13030/xf93gt2q", "q" is the check of "13030/xf93gt2".
//   - {check:luhn}: the digits directly before the check.
//   - {check:mod97}: the letters and digits directly before the check.
//
// # Runs
//
// A [Run] yields names and never repeats a name. It does not access a store. The
// caller uses [Run.Seek] to continue a sequence, or the order of NOID, after the last
// existing name, and must reserve each name in the store before using it.
//
// The state of a NOID minter follows from the number of strings that it has made. So there is no file
// of counters that could be lost, or differ from the names: the existing names are the state.
//
// # Documents
//
//   - UUIDs: RFC 9562, 5.4 and 5.7, with the counter of 6.2, method 1.
//   - NOID: the Nice Opaque Identifier minter of the California Digital Library,
//     its alphabet and check digit algorithm.
//   - The namespaces' own check digits: package namespace.
package mint
