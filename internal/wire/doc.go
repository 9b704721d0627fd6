// Package wire lets one ordinary [http.Server] serve the resolution protocol of 1995 as well as
// HTTP/1.1 and HTTP/2.
//
// In draft-ietf-uri-yaurn-00 a name is resolved by "GET alb002 HTTP/1.0", whose target is
// neither a path nor an absolute URL. Before any handler runs, net/http answers 400 to
//
//   - such a target;
//   - the Simple-Request "GET alb002" of HTTP/0.9;
//   - a percent sign that is not an escape;
//   - two spaces or a tab between words, "http/1.0" in lower case, or an empty line before the
//     request.
//
// The listener of this package reads every request head before net/http does. It mends these
// heads: it replaces them by heads that net/http accepts.
//
// # Use
//
//	listener = wire.NewListener(listener, wire.Config{})
//	server := &http.Server{ConnContext: wire.ConnContext, ReadHeaderTimeout: ..., MaxHeaderBytes: ...}
//	server.Serve(listener)
//
// In the handler, [Target], [Proto], [Simple] and [Mended] return what the client really sent, and
// [SetReason] sets the reason phrase. Without ConnContext nothing is mended, and net/http answers
// as usual. There must be no other wrapper between this listener and the server.
//
// Names must not be routed by [http.ServeMux]: route by [Target].
//
// # Which lines are mended
//
// A line that net/http accepts is passed on unchanged. Of the lines that net/http rejects,
// these are mended:
//   - Full-Requests: a method, a target and a version HTTP/1.x, separated by any number of spaces
//     and tabs (RFC 9112, 3). The target may contain anything except control characters. The
//     version may be in either case and have leading zeros (RFC 1945, 3.1);
//   - Simple-Requests: "GET" and a target, as the first request of a connection (RFC 1945, 5). No
//     header block follows, and the listener does not wait for one.
//
// Everything else is left to net/http to reject. A line of two words with another method is not a
// Simple-Request, because RFC 1945 allows only GET; net/http answers it with 400.
//
// Up to [maxBlankLines] empty lines before a request line are skipped (RFC 9112, 2.2); the request
// is otherwise treated like any other.
//
// A mended request reaches the handler as HTTP/1.0 with a random path, made for this one request.
// It is the last request of its connection: the response has "Connection: close", and bytes after
// the request are never read as another request. The response to a Simple-Request is only the
// body (RFC 1945, 6).
//
// # Short answers
//
// With [Config.Short], plain requests are answered without net/http. This is faster: net/http takes
// half of the time of a short answer, and even more on a connection with only one request. A plain
// request has only fields that [Plain] can represent, and fields that have no influence on the
// answer.
//
// A new connection without TLS begins in a lane. Reused goroutines answer the plain requests of the
// connection. After a request with "Connection: close" or of HTTP/1.0, they send the response and
// close the connection. At the first other request, and if only a part of a head has arrived, the
// lane passes the connection to net/http, with the bytes that it has read. From then on, plain
// requests that do not end the connection are still answered without net/http. net/http handles
// everything else. A connection that is idle for long keeps only a small goroutine.
//
// When the listener is closed, the lane passes on the connections that have not sent a request yet.
// It closes all other idle connections, and completes the responses in progress. [Drain] waits for
// these responses.
//
// # Why this cannot be used for smuggling
//
// The wire does not frame bodies. It inspects a head only if every earlier request on the
// connection was a GET or HEAD without a body, without an upgrade and without folded lines. Then all
// parsers agree where the next head begins. After the first other request the wire stops inspecting:
// all bytes pass unchanged, and later requests are not checked. If every request must be checked, the
// server must close the connection after any other request; see [Watched].
//
// Header lines are never changed; the only line added to a mended head is "Connection: close". At
// a malformed, repeated or folded header line, the wire stops inspecting, and net/http treats the
// request as usual. A request with ambiguous framing has both Transfer-Encoding and
// Content-Length, or Transfer-Encoding in HTTP/1.0. The wire answers it with 400 and closes the
// connection (RFC 9112, 6.1), because net/http would ignore a field and continue.
//
// # Limits
//
// The wire answers 414 to a request line that is too long, 431 to a header block that is too
// long, and 408 to a head that is not complete within [Config.HeadTimeout] of its first byte. After
// such an answer it reads on for a moment, so that the client sees the response. After inspection has
// stopped, only ReadHeaderTimeout and MaxHeaderBytes of the server limit later heads, so set both.
//
// # TLS
//
// TLS goes below the listener:
//
//	wire.NewListener(tls.NewListener(listener, config), wire.Config{})
//
// The handshake is done before the server sees the connection. net/http supports HTTP/2 only with a
// bare *tls.Conn. So a connection is passed on unwrapped if it negotiated anything but HTTP/1.x, or
// if its handshake failed. All other connections are wrapped. [http.Request.TLS] is set for them,
// too.
//
// # Assumptions about net/http
//
// The package relies on three properties of the server of net/http. Each property has a test that
// fails if the property changes:
//
//   - While a handler runs, the server reads at most one byte, into a buffer of one byte. So it notices
//     that the client has disconnected. A longer read means that every earlier response is written.
//   - Each response begins with a new Write.
//   - The server calls SetDeadline on a connection only to pass the connection to a hijacker. From then
//     on all bytes pass unchanged. So hooks must use SetReadDeadline and SetWriteDeadline instead.
package wire
