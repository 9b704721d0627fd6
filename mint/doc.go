// Package mint makes candidates for new names: from templates of text, dates,
// sequences, random characters, UUIDs and check characters.
//
// # Templates
//
// A template is what follows the prefix of an authority or a namespace:
//
//	template = 1*( literal / part )
//	literal  = 1*( any character but "{" and "}" )
//	part     = "{" kind *( ":" argument ) "}"
//
//	{seq}          the next number: 1, 2, 3 ...
//	{seq:6}        in six digits: 000001 to 999999
//	{seq:4:10-99}  in four digits, from 10 to 99; width 0 is as many as it takes
//	{random:8}     eight random characters of NOID, digits and letters without
//	               vowels, "l" and "y", so that no word and no doubt arises
//	{digit:8}      eight random decimal digits
//	{hex:8}        eight random hexadecimal digits
//	{date}         the day as YYYYMMDD; also {year}, {month}, {day}; UTC
//	{uuid}         a UUID of version 7, which {uuid:7} is too; {uuid:4}
//	{check}        the check digit or characters that the namespace wants
//	{check:noid}   the check character of NOID
//	{check:luhn}   the check digit of ISO/IEC 7812-1 (Luhn)
//	{check:mod97}  the two check digits of ISO/IEC 7064, MOD 97-10
//
// There is at most one sequence, and a check is the last part. A check is
// computed over the canonical name: that of NOID over all of it but the scheme
// (and, of a URN, the NID), as in "ark:13030/xf93gt2q"; Luhn over the digits
// that stand right before it, MOD 97-10 over the letters and digits there.
//
// # Runs
//
// A [Run] yields names that follow each other and never the same twice. It knows
// nothing of any store: who mints lets [Run.Seek] look at what is there already,
// or tells it by [Run.After], so that a sequence goes on after the highest name,
// and reserves what it yields so that nobody else takes it.
//
// # Documents
//
//   - UUIDs: RFC 9562, 5.4 and 5.7, with the counter of 6.2, method 1.
//   - NOID: the Nice Opaque Identifier minter of the California Digital Library,
//     its alphabet and check digit algorithm.
//   - The namespaces' own check digits: package namespace.
package mint
