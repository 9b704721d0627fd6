package gateway

import (
	"encoding/json"
	"net"
	"strings"
)

// TypePAC is the media type of a proxy auto-config file.
const TypePAC = "application/x-ns-proxy-autoconfig"

// PAC returns a proxy auto-config file, by which browsers and other clients send requests about
// names to this server: requests for URNs, and for http URLs whose host is in hosts, the naming
// authorities that are served here. All other requests go directly to their servers. The parameter
// proxy is HOST:PORT of this server, and secure says whether the server uses TLS. The hosts must be
// in lower case.
//
// In the protocol of 1995 (draft-ietf-uri-yaurn-00), a host name is the name of an authority, but
// the host may also have a web server. If this server cannot be reached, an http request therefore
// goes directly to the host. Requests for https URLs never go to this server, because only the
// browser and the host can read them.
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

// pacFile is written in the JavaScript of 1996, for old clients.
const pacFile = `// Sends requests about names to their resolver.
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

// script returns a value as JavaScript that cannot contain the end of a script element.
func script(v any) string {
	b, _ := json.Marshal(v) // no error for a string or a map of numbers
	return string(b)
}

func isHost(h string) bool {
	return h != "" && strings.Trim(h, "0123456789abcdefghijklmnopqrstuvwxyz-._[]:") == ""
}
