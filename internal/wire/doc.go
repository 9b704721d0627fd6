// Package wire lets one ordinary [http.Server] speak the resolution protocol
// of 1995 beside HTTP/1.1 and HTTP/2.
//
// The draft draft-ietf-uri-yaurn-00 resolves a name with "GET alb002 HTTP/1.0":
// a target that is neither a path nor an absolute URL. Before any handler runs,
// net/http answers 400 to that line, to the Simple-Request "GET alb002" of
// HTTP/0.9, to a lone percent sign, to two spaces, to a tab, to "http/1.0" and
// to an empty line before the request. The listener of this package reads every
// such head before net/http does, and mends it.
//
// # Use
//
//	listener = wire.NewListener(listener, wire.Config{})
//	server := &http.Server{ConnContext: wire.ConnContext, ReadHeaderTimeout: ..., MaxHeaderBytes: ...}
//	server.Serve(listener)
//
// The handler asks [Target], [Proto], [Simple] and [Mended] what the client
// really sent, and [SetReason] puts a phrase into the status line. Without
// ConnContext nothing is mended, and net/http answers as it always does. No
// other wrapper may stand between this listener and the server.
//
// Names must not be routed by [http.ServeMux]: route by [Target].
//
// # Which lines are mended
//
// A line that net/http accepts is let through byte for byte. Of the others,
// these are mended:
//   - Full-Requests: a method, a target and a version HTTP/1.x, parted by any
//     number of spaces and tabs (RFC 9112, 3), whatever the target holds except
//     control characters; the version in either case and with leading zeros
//     (RFC 1945, 3.1);
//   - Simple-Requests: "GET" and a target, as the first request of a connection
//     (RFC 1945, 5). No header block follows, and none is waited for.
//
// Everything else is net/http's to refuse. A line of two words with another
// method is no Simple-Request, for RFC 1945 knows only GET there; net/http
// answers it with 400.
//
// Up to [maxBlankLines] empty lines before a request line are skipped (RFC 9112,
// 2.2); such a request is otherwise treated like any other.
//
// A mended request reaches the handler as HTTP/1.0 with a path that nobody can
// guess, made for this one request. It is the last of its connection: whatever
// the client said, the answer carries "Connection: close", and no byte after the
// request is ever read as another one. A Simple-Request is answered with the
// body alone (RFC 1945, 6).
//
// # Short answers
//
// With [Config.Short] the plain requests of a connection, from the second one on,
// can be answered without net/http, which takes half of the time of a short answer.
// They are those that [Plain] has room for; everything else about a connection
// stays as it is, and a request with any other field is net/http's.
//
// # Why this cannot be used for smuggling
//
// The wire does no framing of bodies. It looks at a head only where every
// request before it on the connection was a GET or HEAD that declares no body,
// upgrades nothing, folds no line: there, and only there, all readers agree on
// where the next head begins. After the first other request all bytes pass
// untouched. Header lines are never changed; the one that is added to a mended
// head says "Connection: close". A malformed, doubled or folded header line is
// left to net/http, which refuses it or frames by it as it would without us, and
// the wire stops looking. A request whose framing is ambiguous, with
// Transfer-Encoding beside Content-Length or in HTTP/1.0, is answered with 400 and
// is the last of its connection (RFC 9112, 6.1): net/http would drop one of the
// fields and go on. A server that also closes the connection after every request
// that ends the looking has no request that escapes this check.
//
// # Limits
//
// Request line and header block are counted (414, 431), and a head must be
// complete within [Config.HeadTimeout] of its first byte, however steadily it
// drips (408). The wire answers these itself, then reads on for a moment so that
// the client gets to see the answer. Heads after the first other request are
// bounded by the server's own ReadHeaderTimeout and MaxHeaderBytes: set both.
//
// # TLS
//
// TLS goes underneath:
//
//	wire.NewListener(tls.NewListener(listener, config), wire.Config{})
//
// The handshake is done before the server sees the connection. net/http speaks
// HTTP/2 only with a bare *tls.Conn, so a connection that negotiated anything
// but HTTP/1.x, or whose handshake failed, is handed over as it is; the others
// are wrapped, and [http.Request.TLS] is set for them too.
//
// # What is assumed of net/http
//
// Three habits of net/http's server are relied upon; each has a test that fails
// when it changes. While a handler runs, the server reads at most one byte, into
// a buffer of one byte (to notice that the client has gone), so a longer read
// means that every earlier response is written. A response begins with a Write
// of its own. SetDeadline is called on a connection only to hand it to a
// hijacker; the connection is transparent from then on, so hooks must use
// SetReadDeadline and SetWriteDeadline instead.
package wire
