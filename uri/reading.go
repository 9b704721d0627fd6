package uri

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A Reader is other software whose parsing of URLs differs from RFC 3986. If two programs find
// different hosts in a URL, an attacker can use the URL to bypass a filter. [Dialect.Inspect] warns
// of such URLs.
type Reader uint8

// The readers that this package can imitate.
const (
	ReaderBrowser Reader = iota // a browser: the URL Standard of the WHATWG, without a base
	ReaderNetURL                // Go's net/url
	ReaderCurl                  // libcurl, as of 7.88

	readers
)

// String returns the name of the reader.
func (r Reader) String() string {
	names := [readers]string{"browser", "net/url", "curl"}
	if r >= readers {
		return "unknown"
	}
	return names[r]
}

// A Reading is the scheme and host that a [Reader] finds in a text. It is zero if the reader
// rejects the text.
type Reading struct {
	Scheme string
	Host   string // in lower case, without brackets; addresses are in canonical form
}

// Read returns the scheme and host that the reader finds in s, and whether the reader accepts s.
// Unlike a real browser, Read does not convert internationalized names to ASCII.
func (r Reader) Read(s string) (Reading, bool) {
	switch r {
	case ReaderBrowser:
		return readBrowser(s)
	case ReaderNetURL:
		return readNetURL(s)
	case ReaderCurl:
		return readCurl(s)
	default:
		return Reading{}, false
	}
}

// ownReading returns the scheme and host that this package finds in a URI.
func ownReading(u URI) Reading {
	host, _ := u.Normalize(LevelPercent).Host()
	if _, ok := u.Host(); !ok { // other software takes a registry name for a host
		host, _ = u.Authority()
	}
	scheme, _ := u.Scheme()
	return Reading{strings.ToLower(scheme), usualHost(host)}
}

func usualHost(host string) string {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String()
	}
	return strings.ToLower(host)
}

func readNetURL(s string) (Reading, bool) {
	u, err := url.Parse(s)
	if err != nil {
		return Reading{}, false
	}
	return Reading{strings.ToLower(u.Scheme), usualHost(u.Hostname())}, true
}

func specialScheme(s string) bool {
	switch s {
	case "http", "https", "ws", "wss", "ftp", "file":
		return true
	default:
		return false
	}
}

func readBrowser(s string) (Reading, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	n := ascii.SchemeLength(s)
	if n == 0 {
		return Reading{}, false
	}
	scheme, rest := strings.ToLower(s[:n]), s[n+1:]
	if !specialScheme(scheme) {
		if !strings.HasPrefix(rest, "//") {
			return Reading{Scheme: scheme}, true
		}
		host, ok := browserHost(rest[2:], "/?#", false)
		return Reading{scheme, host}, ok
	}
	if scheme == "file" {
		return readBrowserFile(rest)
	}
	host, ok := browserHost(strings.TrimLeft(rest, `/\`), `/\?#`, true)
	return Reading{scheme, host}, ok && host != ""
}

// readBrowserFile is like readBrowser, for file URLs, which may have no host.
func readBrowserFile(rest string) (Reading, bool) {
	out := Reading{Scheme: "file"}
	if len(rest) < 2 || strings.IndexByte(`/\`, rest[0]) < 0 || strings.IndexByte(`/\`, rest[1]) < 0 {
		return out, true
	}
	rest = rest[2:]
	if n := strings.IndexAny(rest, `/\?#`); n >= 0 {
		rest = rest[:n]
	}
	if rest == "" || len(rest) == 2 && ascii.IsLetter(rest[0]) && (rest[1] == ':' || rest[1] == '|') {
		return out, true
	}
	host, ok := browserDomain(rest)
	if host != "localhost" {
		out.Host = host
	}
	return out, ok
}

func browserHost(s, ends string, special bool) (string, bool) {
	if n := strings.IndexAny(s, ends); n >= 0 {
		s = s[:n]
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	if strings.HasPrefix(s, "[") {
		return bracketedHost(s)
	}
	port := ""
	if n := strings.IndexByte(s, ':'); n >= 0 {
		s, port = s[:n], s[n:]
	}
	if !goodPort(port) {
		return "", false
	}
	if special {
		return browserDomain(s)
	}
	return strings.ToLower(s), !strings.ContainsAny(s, "\x00\t\n\r #/:<>?@[\\]^|")
}

func bracketedHost(s string) (string, bool) {
	n := strings.IndexByte(s, ']')
	if n < 0 || !isIPv6(s[1:n]) {
		return "", false
	}
	return usualHost(s[:n+1]), goodPort(s[n+1:])
}

// browserDomain parses the host of a URL with a special scheme. It decodes the host, and reads it
// as an IPv4 address if the last label is a number.
func browserDomain(s string) (string, bool) {
	host := strings.ToLower(decodeLoosely(s))
	for i := range len(host) {
		if c := host[i]; c <= ' ' || c == 0x7F || strings.IndexByte("#/:<>?@[\\]^|%", c) >= 0 {
			return "", false
		}
	}
	number := strings.TrimSuffix(host, ".")
	last := number[strings.LastIndexByte(number, '.')+1:]
	if _, ok := parseCNumber(last); !ok && !ascii.All(last, ascii.IsDigit) && last != "0x" {
		return host, true
	}
	a, ok := ParseNumericHost(number)
	return a.String(), ok
}

func decodeLoosely(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if isEscape(s, i) {
			c = ascii.Unhex(s[i+1])<<4 | ascii.Unhex(s[i+2])
			i += 2
		}
		b.WriteByte(c)
	}
	return b.String()
}

func goodPort(s string) bool {
	if s == "" || s == ":" {
		return true
	}
	n, ok := 0, s[0] == ':' && ascii.All(s[1:], ascii.IsDigit)
	for i := 1; ok && i < len(s); i++ {
		if n = n*10 + int(s[i]-'0'); n > 0xFFFF {
			return false
		}
	}
	return ok
}

func curlScheme(s string) bool {
	switch strings.ToLower(s) {
	case "http", "https", "ftp", "ftps", "file", "ws", "wss", "dict", "gopher", "gophers", "imap", "imaps", "ldap", "ldaps", "mqtt",
		"pop3", "pop3s", "rtmp", "rtmpe", "rtmps", "rtmpt", "rtmpte", "rtmpts", "rtsp", "scp", "sftp", "smb", "smbs", "smtp", "smtps",
		"telnet", "tftp":
		return true
	}
	return false
}

// readCurl imitates libcurl. libcurl accepts one to three slashes, takes the text after the first @
// as the host, decodes it, and accepts numeric hosts in all forms.
func readCurl(s string) (Reading, bool) {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7F {
			return Reading{}, false
		}
	}
	scheme, rest, ok := strings.Cut(s, ":")
	after := strings.TrimLeft(rest, "/")
	slashes := len(rest) - len(after)
	file := strings.EqualFold(scheme, "file")
	if !ok || !curlScheme(scheme) || slashes == 0 || slashes > 3 && !file {
		return Reading{}, false
	}
	if n := strings.IndexAny(after, "/?#"); n >= 0 {
		after = after[:n]
	}
	if file {
		return Reading{Scheme: "file"}, slashes != 2 || strings.EqualFold(after, "localhost") || after == "127.0.0.1"
	}
	if _, host, ok := strings.Cut(after, "@"); ok {
		after = host
	}
	host, ok := curlHost(after)
	return Reading{strings.ToLower(scheme), host}, ok
}

func curlHost(s string) (string, bool) {
	if strings.HasPrefix(s, "[") {
		return bracketedHost(s)
	}
	host, port, _ := strings.Cut(s, ":")
	if port != "" && !goodPort(":"+port) {
		return "", false
	}
	host = decodeLoosely(host)
	if host == "" || strings.ContainsAny(host, " \r\n\t/:#?!@{}[]\\$'\"^`*<>=;,+&()\x00%") {
		return "", false
	}
	if a, ok := ParseNumericHost(host); ok {
		return a.String(), true
	}
	return strings.ToLower(host), true
}
