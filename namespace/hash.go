package namespace

import (
	"encoding/base32"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// hashNamespaces are unregistered namespaces for digests, from file sharing and web archives (HUGE
// 0.94, BEP 9, WARC 1.1, section 6).
func hashNamespaces() []Namespace {
	return []Namespace{
		bitprint, tree,
		hashNamespace("aich", "eMule file hashes", "eMule, AICH", "urn:aich:PLSTHIPQGSSZTS5FJUPAKUZWUGYQYPFB", 20),
		hashNamespace("ed2k", "eDonkey file hashes", "eDonkey, in use", "urn:ed2k:31d6cfe0d16ae931b73c59d7e0c089c0", 16),
		hashNamespace("sha1", "SHA-1 digests", "HUGE 0.94", "urn:sha1:PLSTHIPQGSSZTS5FJUPAKUZWUGYQYPFB", 20),
		hashNamespace("md5", "MD5 digests", "RFC 1321, in use", "urn:md5:d41d8cd98f00b204e9800998ecf8427e", 16),
		hashNamespace("sha256", "SHA-256 digests", "FIPS 180-4, in use", "urn:sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 32),
		hashNamespace("btih", "BitTorrent info hashes", "BEP 9", "urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a", 20),
	}
}

// hashNamespace returns a namespace for digests of size octets, in hexadecimal or in base32 without
// padding.
func hashNamespace(nid, name, reference, example string, size int) Namespace {
	return Namespace{
		NID: nid, Name: name, Kind: urn.KindUnregistered, Reference: reference, Example: example,
		Note:        "no registration at IANA",
		Equivalence: "hex and base32, in either case, are the same digest",
		Security:    "an attacker who can make two files with one digest can swap them: MD5 and SHA-1 no longer prevent this",
		Rules: Rules{
			Check:     func(nss string) *Finding { return checkDigest(nss, size) },
			Parts:     func(nss string) []Part { return []Part{{"digest", canonicalDigest(nss, size)}} },
			Canonical: func(nss string) string { return canonicalDigest(nss, size) },
		},
	}
}

const tigerSize = 24

var tree = Namespace{
	NID: "tree", Name: "Roots of hash trees", Kind: urn.KindUnregistered, Reference: "THEX, HUGE 0.94",
	Example:     "urn:tree:tiger:LWPNACQDBZRYXW3VHJVCJ64QBZNGHOHHHZWCLNQ",
	Note:        "no registration at IANA; only trees of Tiger digests are checked",
	Security:    "authenticates the content if it is verified",
	Equivalence: "base32 in either case, and hex for the same digest",
	Rules:       Rules{Check: checkTree, Parts: partsColon("digest", "root"), Canonical: canonicalTree},
}

// tiger returns the offset of the root hash, or -1 if the tree does not use Tiger digests.
func tiger(nss string) int {
	if rest, ok := ascii.CutPrefix(nss, "tiger:"); ok {
		return len(nss) - len(rest)
	}
	return -1
}

func checkTree(nss string) *Finding {
	at := tiger(nss)
	if at < 0 {
		return nil
	}
	return moved(checkDigest(nss[at:], tigerSize), at)
}

func moved(f *Finding, delta int) *Finding {
	if f != nil {
		f.Offset += delta
		f.End += delta
	}
	return f
}

func canonicalTree(nss string) string {
	at := tiger(nss)
	if at < 0 {
		return nss
	}
	return "tiger:" + upperBase32(nss[at:], tigerSize)
}

// upperBase32 converts a digest of size octets from base32 or hexadecimal to base32 in upper case.
func upperBase32(s string, size int) string {
	if len(s) == base32Length(size) {
		return strings.ToUpper(s)
	}
	b, _ := hex.DecodeString(s)
	return unpadded.EncodeToString(b)
}

var bitprint = Namespace{
	NID: "bitprint", Name: "SHA-1 digest and Tiger tree of a file", Kind: urn.KindUnregistered, Reference: "Bitzi, HUGE 0.94",
	Example:     "urn:bitprint:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ.LWPNACQDBZRYXW3VHJVCJ64QBZNGHOHHHZWCLNQ",
	Note:        "no registration at IANA",
	Security:    "authenticates the content if both digests are verified",
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkBitprint, Parts: partsBitprint, Canonical: strings.ToUpper},
}

func checkBitprint(nss string) *Finding {
	dot := until(nss, 0, '.')
	switch {
	case dot != base32Length(20):
		return broken(min(dot, base32Length(20)), dot, "bitprint", "expected 32 characters of base32, a period and 39 more")
	case dot == len(nss) || len(nss)-dot-1 != base32Length(tigerSize):
		return broken(len(nss), len(nss), "bitprint", "expected a period and 39 characters of base32 after the first 32")
	}
	if f := checkDigest(nss[:dot], 20); f != nil {
		return f
	}
	return moved(checkDigest(nss[dot+1:], tigerSize), dot+1)
}

func partsBitprint(nss string) []Part {
	sha1, root, _ := strings.Cut(strings.ToUpper(nss), ".")
	return []Part{{"sha1", sha1}, {"tiger tree", root}}
}

var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

func base32Length(size int) int { return (size*8 + 4) / 5 }

func isBase32(c byte) bool { return ascii.IsLetter(c) || '2' <= c && c <= '7' }

func checkDigest(nss string, size int) *Finding {
	switch n := len(nss); {
	case n == base32Length(size):
		if i := ascii.Run(nss, 0, isBase32); i < n {
			return wrongByte(nss, i, "base32", "a letter or one of 2 to 7")
		}
		return checkPadding(nss, size)
	case n == 2*size:
		if i := ascii.Run(nss, 0, ascii.IsHex); i < n {
			return wrongByte(nss, i, "hex", "a hex digit")
		}
		return nil
	}
	return broken(min(len(nss), 2*size), len(nss), "digest",
		"has "+strconv.Itoa(len(nss))+" characters, expected "+strconv.Itoa(2*size)+" hex digits or "+strconv.Itoa(base32Length(size))+" of base32")
}

// checkPadding requires that the unused bits of the last character are 0, so that a digest has only
// one spelling.
func checkPadding(nss string, size int) *Finding {
	last := ascii.Upper(nss[len(nss)-1])
	value := int(last) - 'A'
	if ascii.IsDigit(last) {
		value = int(last-'2') + 26
	}
	if spare := base32Length(size)*5 - size*8; value&(1<<spare-1) != 0 {
		return broken(len(nss)-1, len(nss), "base32", "bits beyond the digest are set")
	}
	return nil
}

// canonicalDigest writes digests of 20 octets in upper-case base32, as Gnutella does. It writes
// other digests in lower-case hexadecimal.
func canonicalDigest(nss string, size int) string {
	short := len(nss) == base32Length(size)
	switch {
	case size == 20:
		return upperBase32(nss, size)
	case short:
		b, _ := unpadded.DecodeString(strings.ToUpper(nss))
		return hex.EncodeToString(b)
	}
	return strings.ToLower(nss)
}
