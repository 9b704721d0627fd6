package extra

import (
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var ws = scheme.Scheme{
	Name: "ws", Title: "WebSocket connections", Kind: scheme.KindLocator,
	Reference:   "RFC 6455, 3",
	Example:     "ws://example.org/chat",
	Security:    "others on the network path can read and change the data",
	DefaultPort: "80", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: "open a connection to the resource; its subprotocol defines the messages",
	Rules:     scheme.RuleSet{Check: checkWebSocket, Parts: layout.Generic},
}

var wss = scheme.Scheme{
	Name: "wss", Title: "Encrypted WebSocket connections", Kind: scheme.KindLocator,
	Reference:   "RFC 6455, 3",
	Example:     "wss://example.org/chat",
	DefaultPort: "443", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: ws.Retrieval,
	Rules:     scheme.RuleSet{Check: checkWebSocket, Parts: layout.Generic},
}

// checkWebSocket checks that there is a host and no fragment.
//
//	ws-URI = "ws:" "//" host [ ":" port ] path [ "?" query ]
func checkWebSocket(u uri.URI) []scheme.Finding {
	const rule = "RFC 6455, 3: ws-URI"
	l := layout.Of(u)
	if bad := l.NeedHostOnly(rule); bad != nil {
		return bad
	}
	switch {
	case l.Frag >= 0:
		return []scheme.Finding{layout.Instead(layout.Broken(l.Frag-1, len(l.Text), rule, "fragments are not allowed; percent-encode a number sign as %23"), "%23"+l.Text[l.Frag:])}
	}
	return nil
}
