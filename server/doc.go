// Package server answers over HTTP what a [nomen.Resolver] knows: to clients of
// the resolution protocol of 1995 (draft-ietf-uri-yaurn-00), to browsers, to
// clients of THTTP (RFC 2169), and to those who administer the names.
//
// # How a request is answered
//
// The public listener reads request lines that net/http refuses (package
// internal/wire). One function, [Server.decide], turns plain values (method,
// target, version, host, address, the few fields that matter) into status,
// fields and body; it knows neither connections nor net/http. An adapter stands
// between the two. Names are never routed by http.ServeMux: the target is looked
// at as it was sent.
//
// # Targets
//
//   - ELEMENT, without a slash, is one of 1995: its authority is that of the Host
//     field, else of the local address, else the default one; that only if the
//     field is absent or means this server, otherwise it is 421. It is described
//     (I2C), in text/urc-0 where the client leaves the choice.
//   - urn:... without a slash is what a proxy is asked. It is described too.
//   - http://HOST/... is answered like its path with that Host, if HOST is one
//     that is served here; this server is no proxy for others.
//   - /urn:... and /NAME of any scheme is the web: it leads to the best location,
//     or does what the authority's default service says.
//   - /ELEMENT is like ELEMENT. Where the authority of the host is one of http or
//     https names, the request is for the name that is its URL, and is web.
//   - /uri-res/SERVICE?URI is THTTP (RFC 2169), with the services of RFC 2483 too,
//     in any case; /SERVICE?urn:... is the same. Of I=I the query is two URIs with
//     "&" between them: the first ampersand divides, so a URI that has one of its
//     own is escaped as a whole. L2Ns, L2Ls and L2C are about a URL, as it is spelled
//     and in its normal form: the names of which it is a location. THTTP has no
//     default: a service that is not to be had is an error there, after those of the
//     name.
//   - urn+m, urn+a, urn+c and urn+p in the place of an element, with or without a
//     slash, are reserved requests; any other urn+ is an error.
//   - /, /-/..., /.well-known/..., /robots.txt and /favicon.ico are pages and go
//     before any ELEMENT.
//
// A target keeps its escapes: they are the name's. Two kinds of escaping by
// others are undone, on paths alone: a name of which the colon behind the scheme
// is escaped was escaped as a whole, and is unescaped once; and characters that no
// URI has, which some clients leave as they are, are read as their escapes.
//
// # Queries
//
// "?s=" and "?c=" are the directives of 2012: a keyword given twice is ignored, so
// are unknown keywords, services and values, also those that the authority of the
// name does not know. s=I=I wants the other URI in "with=". Beside "s=", "format=" names
// a format, which goes before Accept. "?+" and "?=" are the
// components of RFC 8141. A q-component is appended to the query of the location, if
// its scheme has one, after "&" if there is one already, before its fragment; an
// r-component goes to the resolver, and is what the authority says it is. Any other
// query of a path is a plain one: ignored, or appended to that of the location if
// the authority says so; so is a component ignored that is malformed. Where a web
// name is registered that has the query, all of it is the name's. Without a slash the
// rules of 1995 hold: there everything else that begins with "?" is reserved (2.3)
// and refused.
//
// # Lists of names
//
// POST /-/resolve takes names as text/uri-list or as JSON Lines, and answers each
// with a line of JSON, in order and as soon as it is known.
//
// # Resources
//
// I2R and I2Rs pass on what a stranger says, so it has no origin here and no script
// (Content-Security-Policy: sandbox), what a browser would obey is offered to be
// kept in a file, and no cache keeps it unless the authority says for how long.
// I2Rs is multipart/alternative (RFC 2169, 3.4), also of one version or none.
//
// # Time
//
// "?at=" asks how a name was at a time of RFC 3339, or at the end of a day, UTC. A
// value that does not begin like a date is somebody else's and ignored as above; one
// that does and is none is 400. The answer is a memento (RFC 7089): Memento-Datetime
// is the time of the revision that it shows, rounded up to the second, also of
// redirections and tombstones. It is not there for a time to come, as of which the
// answer may change. Before the name was public it is unknown; where the
// content was redacted it is refused for legal reasons (451).
//
// A path of a name is its own TimeGate (pattern 1.1): with Accept-Datetime it
// answers 302 to the memento, the first one for earlier times. Every answer on a
// path links to it, and to the TimeMap: /-/timemap/NAME, with the same directives,
// lists the mementos as application/link-format, the newest first. Who made a
// revision, and why, is not told in public. Targets without a slash and those with
// components of RFC 8141 are not negotiated.
//
// # Dates and tags
//
// Last-Modified is the time of the last change, rounded up to the second and never
// later than Date: so a client that asked within the second of a change learns of
// the next one in that second. An ETag is strong: a digest of the representation,
// and another one for each content coding. Unless answer or authority say how long
// they may be kept, answers are sent with "no-cache": every reuse is preceded by a
// conditional request (1995, 5). Those that depend on the country of the asker are
// private.
package server
