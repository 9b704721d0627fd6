package gateway

import (
	"encoding/json"
	"net"
	"strings"
)

// TypePAC is the media type of a proxy auto-config file.
const TypePAC = "application/x-ns-proxy-autoconfig"

// PAC returns a proxy auto-config file, by which a browser or another client sends
// here what is about names: targets that are URNs, and http URLs of hosts that are
// naming authorities here. All else goes its direct way. proxy is HOST:PORT of
// this server, and secure whether it is reached by TLS; hosts are in lower case.
//
// The protocol of 1995 has names of authorities as hosts, whose own servers need
// not be this one; so a request that cannot be put here goes directly. URLs of
// https are private between the browser and its server: they never come here.
func PAC(proxy string, secure bool, hosts []string) []byte {
	how := "PROXY "
	if secure {
		how = "HTTPS "
	}
	own := proxy
	if h, _, err := net.SplitHostPort(proxy); err == nil {
		own = h
	}
	served := map[string]int{}
	for _, h := range hosts {
		if h = strings.ToLower(strings.TrimSuffix(h, ".")); isHost(h) && h != strings.ToLower(own) {
			served[h] = 1
		}
	}
	return []byte(strings.NewReplacer(
		"@NAMES@", script(how+proxy), "@HOSTS@", script(how+proxy+"; DIRECT"), "@SERVED@", script(served),
	).Replace(pacFile))
}

// pacFile is in the JavaScript of 1996, which is what old clients have.
const pacFile = `// Sends what is about names to their resolver.
var names = @NAMES@, hosts = @HOSTS@, served = @SERVED@;

function FindProxyForURL(url, host) {
	if (/^(web\+)?urn:/i.test(url)) {
		return names;
	}
	host = String(host).toLowerCase().replace(/\.$/, "");
	if (/^http:/i.test(url) && Object.prototype.hasOwnProperty.call(served, host)) {
		return hosts;
	}
	return "DIRECT";
}
`

// script returns a value as a script has it. Nothing in it ends a script element.
func script(v any) string {
	b, _ := json.Marshal(v) // strings, and a map of numbers
	return string(b)
}

// isHost reports whether h is a host as DNS and URLs have it.
func isHost(h string) bool {
	for _, c := range []byte(h) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z':
		case strings.IndexByte("-._[]:", c) >= 0:
		default:
			return false
		}
	}
	return h != ""
}
