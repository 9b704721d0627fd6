package extra

import "testing"

func TestWebSockets(t *testing.T) {
	for _, tt := range []sample{
		{"ws://example.com/chat", "host=example.com path=/chat", "", ""},
		{"wss://example.com:443?x", "host=example.com port=443 path= query=x", "wss://example.com/?x", ""},
		{"ws:chat", "", "", "3 RFC 6455, 3: ws-URI"},
		{"ws://u@h.example/", "", "", "5 RFC 6455, 3: ws-URI"},
		{"ws://h.example/#x", "", "", "15 RFC 6455, 3: ws-URI"},
	} {
		tt.check(t)
	}
}
