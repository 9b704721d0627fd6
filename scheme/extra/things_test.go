package extra

import (
	"strings"
	"testing"
)

// Most valid examples follow RFC 7252, 6.3, RFC 8323, 8 and RFC 7064 and 7065,
// A.
func TestThings(t *testing.T) {
	long := strings.Repeat("a", 255)
	for _, tt := range []sample{
		{"coap://example.com:5683/~sensors/temp.xml", "host=example.com port=5683 uri_path=~sensors uri_path=temp.xml", "coap://example.com/~sensors/temp.xml", ""},
		{"coap://EXAMPLE.com/%7Esensors/temp.xml", "host=EXAMPLE.com uri_path=%7Esensors uri_path=temp.xml", "coap://example.com/~sensors/temp.xml", ""},
		{"coap://EXAMPLE.com:/%7esensors/temp.xml", "host=EXAMPLE.com port= uri_path=%7esensors uri_path=temp.xml", "coap://example.com/~sensors/temp.xml", ""},
		{"coaps://[2001:db8::2:1]/?%2F%2F&?%26", "host=[2001:db8::2:1] uri_query=%2F%2F uri_query=?%26", "", ""},
		{"coap://h", "host=h", "coap://h/", ""},
		{"coap+tcp://h:5683/a", "host=h port=5683 uri_path=a", "coap+tcp://h/a", ""},
		{"coaps+ws://h:443/" + long, "host=h port=443 uri_path=" + long, "coaps+ws://h/" + long, ""},
		{"coap:h", "", "", "5 RFC 7252, 6.1: coap-URI"},
		{"coap:///a", "", "", "7 RFC 7252, 6.1: coap-URI"},
		{"coap://u@h/", "", "", "7 RFC 7252, 6.1: coap-URI"},
		{"coap://h/temp#rec=3", "host=h uri_path=temp fragment=rec=3", "", ""},
		{"coap://h/a/" + long + "%41", "", "", "11 RFC 7252, 5.10: Uri-Path"},
		{"coap://h/?" + long + "a", "", "", "10 RFC 7252, 5.10: Uri-Query"},
		{"coap://" + long + "a/", "", "", "7 RFC 7252, 5.10: Uri-Host"},

		{"stun:example.org", "host=example.org", "", ""},
		{"stuns:Example.org:8000", "host=Example.org port=8000", "stuns:example.org:8000", ""},
		{"turn:example.org", "host=example.org", "", ""},
		{"turn:192.0.2.1:8000?transport=udp", "host=192.0.2.1 port=8000 transport=udp", "", ""},
		{"turns:example.org?transport=TCP", "host=example.org transport=TCP", "turns:example.org?transport=tcp", ""},
		{"turn:example.org:3478", "host=example.org port=3478", "", ""},
		{"stun://example.org", "", "", "5 RFC 7064, 3.1: stunURI"},
		{"stun:", "", "", "5 RFC 7064, 3.1: stunURI"},
		{"stun:a_b", "", "", "6 RFC 7064, 3.1: stunURI"},
		{"stun:h:x", "", "", "7 RFC 7064, 3.1: stunURI"},
		{"stun:h?transport=udp", "", "", "6 RFC 7064, 3.1: stunURI"},
		{"turn:u@h", "", "", "5 RFC 7065, 3.1: turnURI"},
		{"turn:h/a", "", "", "6 RFC 7065, 3.1: turnURI"},
		{"turn:h?proto=udp", "", "", "7 RFC 7065, 3.1: transport"},
		{"turn:h?transport=", "", "", "7 RFC 7065, 3.1: transport"},
		{"turn:h?transport=udp&a=b", "", "", "7 RFC 7065, 3.1: transport"},
		{"turn:h?transport=u/p", "", "", "18 RFC 7065, 3.1: transport"},
		{"turn:H#X", "host=H fragment=X", "turn:h#X", "6 RFC 3986, 3.5"},
	} {
		tt.check(t)
	}
}
