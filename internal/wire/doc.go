// Package wire lets an ordinary [http.Server] serve the resolution protocol of 1995 on the same
// port as HTTP/1.1 and HTTP/2.
//
// In draft-ietf-uri-yaurn-00 a client resolves a name by "GET alb002 HTTP/1.0". The target is
// neither a path nor an absolute URL, so net/http answers 400 before any handler runs. It also
// answers 400 to
//
//   - the Simple-Request "GET alb002" of HTTP/0.9;
//   - a percent sign that is not part of an escape;
//   - two spaces or a tab between words, "http/1.0" in lower case, or an empty line before the
//     request.
//
// The listener of this package reads every request head before net/http does. It replaces a head
// that net/http would reject by a head that net/http accepts. This is called mending.
//
// # Use
//
//	listener = wire.NewListener(listener, wire.Config{})
//	server := &http.Server{ConnContext: wire.ConnContext, ReadHeaderTimeout: ..., MaxHeaderBytes: ...}
//	server.Serve(listener)
//
// In a handler, [Target], [Proto], [Simple] and [Mended] return what the client sent, and
// [SetReason] sets the reason phrase of the response. Route requests by [Target], not with
// [http.ServeMux]. Without ConnContext nothing is mended. There must be no other wrapper between
// this listener and the server.
//
// # Which lines are mended
//
// A line that net/http accepts is passed on unchanged. Two kinds of lines that it rejects are
// mended:
//
//   - Full-Requests: a method, a target and a version HTTP/1.x, separated by any number of spaces
//     and tabs (RFC 9112, 3). The target may contain anything except control characters. The
//     version may be in either case and have leading zeros (RFC 1945, 3.1);
//   - Simple-Requests: "GET" and a target, as the first request of a connection (RFC 1945, 5). No
//     header block follows, and the listener does not wait for one.
//
// All other lines are passed on, and net/http rejects them. For example, it answers 400 to a line
// of two words with a method other than GET, which RFC 1945 does not allow in a Simple-Request.
//
// Up to [maxBlankLines] empty lines before a request line are skipped (RFC 9112, 2.2).
//
// A mended request reaches the handler as HTTP/1.0, with a random path that was made for this
// request. It is the last request of its connection: the response has "Connection: close", and
// later bytes are never read as a request. The response to a Simple-Request consists of the body
// alone (RFC 1945, 6).
//
// # Short answers
//
// With [Config.Short], plain requests are answered without net/http. For a short answer, net/http
// would take half of the time, or more if a connection has only one request. A plain request is one
// whose fields all fit into a [Plain], except for fields that have no influence on the answer.
//
// A new connection without TLS begins in a pool. The pool answers its plain requests, and reuses
// goroutines for that. If a request has "Connection: close" or is of HTTP/1.0, the pool closes the
// connection after the response. If a request is not plain, or only part of its head has arrived,
// the pool passes the connection to net/http, with all bytes that it has read. From then on plain
// requests are still answered without net/http, unless they end the connection. If a connection is
// idle for long, only a small goroutine waits for its next request.
//
// When the listener is closed, the pool completes the responses in progress, and passes on the
// connections that have not sent a request yet. It closes all other idle connections. [Drain] waits
// until this is done.
//
// # Why this cannot be used for smuggling
//
// The listener does not determine where bodies end. It inspects a head only if every earlier
// request on the connection was a GET or HEAD without a body, without an upgrade and without folded
// lines, because then all parsers agree where the next head begins. After any other request it
// stops inspecting: all bytes are passed on, and later requests are not checked. If every request
// must be checked, the server has to close the connection after such a request; see [Watched].
//
// Header lines are never changed, and only "Connection: close" is added to a mended head. If a
// header line is malformed, repeated or folded, the listener stops inspecting, and net/http treats
// the request as usual.
//
// A request has ambiguous framing if it has both Transfer-Encoding and Content-Length, or
// Transfer-Encoding in HTTP/1.0. The listener answers such a request with 400 and closes the
// connection (RFC 9112, 6.1), because net/http would ignore one of the fields and continue.
//
// # Limits
//
// The listener answers 414 to a request line that is too long, 431 to a header block that is too
// long, and 408 to a head that is not complete within [Config.HeadTimeout] of its first byte. It
// then reads on for a moment, so that the client sees the response. After inspection has stopped,
// heads are limited only by ReadHeaderTimeout and MaxHeaderBytes of the server, so set both.
//
// # TLS
//
// To use TLS, pass a TLS listener to [NewListener]:
//
//	wire.NewListener(tls.NewListener(listener, config), wire.Config{})
//
// The handshake takes place before the server sees the connection. If HTTP/2 was negotiated, or the
// handshake failed, the server gets the *tls.Conn itself, because net/http supports HTTP/2 only on
// that type. All other connections have a wrapper. The server sets [http.Request.TLS] for both.
//
// # Assumptions about net/http
//
// The package relies on three properties of the server in net/http. Each has a test that fails if
// the property changes.
//
//   - While a handler runs, the server reads at most one byte, into a buffer of one byte, to notice
//     that the client has disconnected. When the server reads more than that, it has therefore
//     written every earlier response.
//   - Each response begins with a new Write.
//   - The server calls SetDeadline on a connection only to pass the connection to a hijacker. From
//     then on, all bytes are passed on unchecked. ConnState and other hooks must therefore not call
//     SetDeadline; they can use SetReadDeadline and SetWriteDeadline.
package wire
