package namespace

import (
	"encoding/base32"
	"encoding/hex"
	"strings"
)

// hashNamespaces are names made of digests, in use in file sharing and web
// archives without registration (HUGE 0.94, BEP 9, WARC 1.1, section 6).
func hashNamespaces() []Namespace {
	return []Namespace{
		hashNamespace("sha1", "SHA-1 digests", "HUGE 0.94", "urn:sha1:PLSTHIPQGSSZTS5FJUPAKUZWUGYQYPFB", 20),
		hashNamespace("md5", "MD5 digests", "RFC 1321, in use", "urn:md5:d41d8cd98f00b204e9800998ecf8427e", 16),
		hashNamespace("sha256", "SHA-256 digests", "FIPS 180-4, in use", "urn:sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 32),
		hashNamespace("btih", "BitTorrent info hashes", "BEP 9", "urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a", 20),
	}
}

// hashNamespace makes the record for digests of a size, which are written in hex
// or in base32 without padding.
func hashNamespace(nid, name, reference, example string, size int) Namespace {
	return Namespace{
		NID: nid, Name: name, Kind: Unregistered, Reference: reference, Example: example,
		Note:     "no registration at IANA; hex or base32, in either case, are the same digest",
		Security: "whoever can make two files of one digest can swap them: MD5 and SHA-1 no longer prevent it",
		Rules: Rules{
			Check:     func(nss string) *Finding { return checkDigest(nss, size) },
			Parts:     func(nss string) []Part { return []Part{{"digest", canonicalDigest(nss, size)}} },
			Canonical: func(nss string) string { return canonicalDigest(nss, size) },
		},
	}
}

// base32Length is the length of a digest in base32 without padding.
func base32Length(size int) int { return (size*8 + 4) / 5 }

func isBase32(c byte) bool { return isAlpha(c) || '2' <= c && c <= '7' }

func checkDigest(nss string, size int) *Finding {
	switch n := len(nss); {
	case n == base32Length(size):
		if i := run(nss, 0, isBase32); i < n {
			return wrongByte(nss, i, "base32", "a letter or one of 2 to 7")
		}
		return checkPadding(nss, size)
	case n == 2*size:
		if i := run(nss, 0, isHex); i < n {
			return wrongByte(nss, i, "hex", "a hex digit")
		}
		return nil
	}
	return broken(min(len(nss), 2*size), len(nss), "digest",
		"has "+decimal(len(nss))+" characters: wants "+decimal(2*size)+" hex digits or "+decimal(base32Length(size))+" of base32")
}

// checkPadding wants the bits of the last character beyond the digest to be 0,
// so that a digest has one spelling.
func checkPadding(nss string, size int) *Finding {
	last := upper(nss[len(nss)-1])
	value := int(last) - 'A'
	if isDigit(last) {
		value = int(last-'2') + 26
	}
	if spare := base32Length(size)*5 - size*8; value&(1<<spare-1) != 0 {
		return broken(len(nss)-1, len(nss), "base32", "bits beyond the digest are set")
	}
	return nil
}

// canonicalDigest returns base32 in upper case for 20 octets, as Gnutella writes
// them, and hex in lower case for all others.
func canonicalDigest(nss string, size int) string {
	short := len(nss) == base32Length(size)
	switch {
	case size == 20 && short:
		return strings.ToUpper(nss)
	case size != 20 && !short:
		return strings.ToLower(nss)
	case short:
		b, _ := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(nss))
		return hex.EncodeToString(b)
	}
	b, _ := hex.DecodeString(nss)
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)
}
